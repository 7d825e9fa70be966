//! The part of a scan that the format can do itself. The format may return more: columns are selected and filters
//! applied again here.

use isomorph_model::predicate::Renamed;
use isomorph_model::{DynamicFilter, Graph, Narrowing, Predicate, Property, Tables, ValueKind};

use crate::schema::Role;
use crate::table::{Table, TableKind};

/// What is wanted of a table of nodes or edges of which the columns at `positions` are read, and rows that pass `filter`, whose columns are those of the
/// table; nothing for other tables.
pub(crate) fn narrowing(
    graph: &Graph,
    table: &Table,
    positions: &[usize],
    filter: Option<&Predicate>,
) -> Option<Narrowing> {
    let properties = match table.kind() {
        TableKind::Nodes(ty) => &graph.nodes.get(ty)?.properties,
        TableKind::Edges(ty) => &graph.edges.get(ty)?.properties,
        _ => return None,
    };
    let roles: Vec<Role> = positions.iter().filter_map(|at| table.roles().get(*at).copied()).collect();
    let mut wanted: Vec<usize> =
        roles.iter().filter_map(|role| if let Role::Property(at) = role { Some(*at) } else { None }).collect();
    wanted.sort_unstable();
    Some(Narrowing {
        keys: roles.contains(&Role::Key),
        labels: roles.contains(&Role::Labels),
        properties: wanted,
        filter: filter.and_then(|filter| filter.known_part(&mut |column| pushed(column, table, properties))),
        dynamic: Vec::new(),
    })
}

/// A dynamic filter on columns of a table of nodes or edges, by their names or `@ROLE`, with the names that the description has for them.
pub(crate) fn dynamic(graph: &Graph, table: &Table, filter: &DynamicFilter) -> Renamed {
    let properties = match table.kind() {
        TableKind::Nodes(ty) => graph.nodes.get(ty).map(|ty| &ty.properties),
        TableKind::Edges(ty) => graph.edges.get(ty).map(|ty| &ty.properties),
        _ => None,
    };
    let properties = properties.map(Vec::as_slice).unwrap_or_default();
    Renamed::new(filter, &mut |column| {
        let at = table.column(column).ok()?;
        pushed(table.schema().fields().get(at)?.name(), table, properties)
    })
}

/// The name in the description of a column that can be compared by the format: plain properties, keys and relations.
fn pushed(column: &str, table: &Table, properties: &[Property]) -> Option<String> {
    let at = table.schema().index_of(column).ok()?;
    match table.roles().get(at)? {
        Role::Key => Some(Narrowing::KEY.to_owned()),
        Role::Relation => Some(Narrowing::RELATION.to_owned()),
        Role::Property(at) => property_named(properties.get(*at)?),
        _ => None,
    }
}

/// The name of a property that can be compared; `None` if the name has another meaning.
fn property_named(property: &Property) -> Option<String> {
    let is_known = property.kind == ValueKind::Plain && !Narrowing::NAMES.contains(&property.name.as_str());
    is_known.then(|| property.name.clone())
}

/// The tables of a format that a table belongs to, and the name of the column of a role there, if it can be looked up;
/// `None` for other tables.
pub(crate) fn named(graph: &Graph, table: TableKind, role: Role) -> Option<(Tables, String)> {
    let (tables, properties) = match table {
        TableKind::Nodes(ty) => (Tables::Nodes(ty), &graph.nodes.get(ty)?.properties),
        TableKind::Edges(ty) => (Tables::Edges(ty), &graph.edges.get(ty)?.properties),
        _ => return None,
    };
    let name = match role {
        Role::Key => Narrowing::KEY.to_owned(),
        Role::Row => Narrowing::ROW.to_owned(),
        Role::Source => Narrowing::SOURCE.to_owned(),
        Role::Target => Narrowing::TARGET.to_owned(),
        Role::Relation => Narrowing::RELATION.to_owned(),
        Role::Property(at) => property_named(properties.get(at)?)?,
        _ => return None,
    };
    Some((tables, name))
}
