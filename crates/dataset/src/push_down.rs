//! The part of a scan that the format can do itself. The format may return more: columns are selected and filters
//! applied again here.

use isomorph_model::{Graph, Narrowing, Predicate, Property, Tables, ValueKind};

use crate::schema::Role;
use crate::table::{Table, TableKind};

/// The request for a table of nodes or edges: the columns at `positions`, and rows that pass `filter` and `asked`,
/// which uses the names of the description; `None` for other tables.
pub(crate) fn narrowing(
    graph: &Graph,
    table: &Table,
    positions: &[usize],
    filter: Option<&Predicate>,
    asked: Option<Predicate>,
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
        filter: Predicate::both(
            filter.and_then(|filter| filter.known_part(&mut |column| pushed(column, table, properties))),
            asked,
        ),
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
