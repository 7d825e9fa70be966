//! The meaning of cells whose Arrow type does not state it.

use isomorph_model::schema::Owner;
use isomorph_model::{Graph, Key, KeyKind, Property, ValueKind};

use crate::schema::Role;
use crate::table::TableKind;

/// The meaning of the cells of a column.
pub(crate) fn kind_of(graph: &Graph, table: TableKind, role: Role) -> ValueKind {
    let key = |key: Option<&Key>| match key.map(|key| key.kind) {
        Some(KeyKind::Term) => ValueKind::Term,
        _ => ValueKind::Plain,
    };
    let node = |ty: usize| key(graph.nodes.get(ty).map(|ty| &ty.key));
    let owner = |owner: Owner| match owner {
        Owner::Nodes(ty) => node(ty),
        Owner::Edges(ty) => key(graph.edges.get(ty).and_then(|ty| ty.key.as_ref())),
        Owner::Hyperedges(ty) => key(graph.hyperedges.get(ty).map(|ty| &ty.key)),
    };
    let of = |properties: &[Property], at: usize| {
        properties.get(at).map_or(ValueKind::Plain, |property| property.kind.clone())
    };
    let found = match table {
        TableKind::Nodes(at) => graph.nodes.get(at).map(|ty| match role {
            Role::Property(at) => of(&ty.properties, at),
            Role::Key => node(at),
            _ => ValueKind::Plain,
        }),
        TableKind::Edges(ty) => graph.edges.get(ty).map(|ty| match role {
            Role::Property(at) => of(&ty.properties, at),
            Role::Source => node(ty.source),
            Role::Target => node(ty.target),
            Role::Key => key(ty.key.as_ref()),
            _ => ValueKind::Plain,
        }),
        TableKind::Hyperedges(ty) => graph.hyperedges.get(ty).map(|ty| match role {
            Role::Property(at) => of(&ty.properties, at),
            Role::Key => key(Some(&ty.key)),
            _ => ValueKind::Plain,
        }),
        TableKind::Members(ty) => graph.hyperedges.get(ty).map(|ty| match role {
            Role::Owner => key(Some(&ty.key)),
            Role::Member => node(ty.ends),
            _ => ValueKind::Plain,
        }),
        TableKind::Values(table) => graph.values.get(table).map(|table| match role {
            Role::Property(at) => of(&table.qualifiers, at),
            Role::Value => table.property.kind.clone(),
            Role::Owner => owner(table.owner),
            _ => ValueKind::Plain,
        }),
        TableKind::Groups(kind) => graph.groups.get(kind).map(|kind| match role {
            Role::Property(at) => of(&kind.properties, at),
            Role::Key => key(Some(&kind.key)),
            _ => ValueKind::Plain,
        }),
        TableKind::Memberships { kind, table } => graph.groups.get(kind).and_then(|kind| {
            let table = kind.memberships.get(table)?;
            Some(match role {
                Role::Property(at) => of(&table.properties, at),
                Role::Group => key(Some(&kind.key)),
                Role::Member => owner(table.of),
                _ => ValueKind::Plain,
            })
        }),
    };
    found.unwrap_or(ValueKind::Plain)
}
