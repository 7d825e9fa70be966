//! What of a scan is asked of the format itself. It may answer with more: columns are chosen and filters are applied here once more.

use isomorph_model::{Graph, Narrowing, Predicate, Property, ValueKind};

use crate::schema::Role;
use crate::table::{Table, TableKind};

/// What is wanted of a table of nodes or edges of which the columns at `positions` are read, and rows that pass `filter`; nothing
/// for other tables.
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
    })
}

/// What the description calls a column that may be compared there: plain properties and keys of nodes.
fn pushed(column: &str, table: &Table, properties: &[Property]) -> Option<String> {
    let at = table.schema().index_of(column).ok()?;
    match table.roles().get(at)? {
        Role::Key if matches!(table.kind(), TableKind::Nodes(_)) => Some(Narrowing::KEY.to_owned()),
        Role::Property(at) => {
            let property = properties.get(*at).filter(|property| property.kind == ValueKind::Plain)?;
            // The name of the key is not to be mistaken for that of a property.
            (property.name != Narrowing::KEY).then(|| property.name.clone())
        }
        _ => None,
    }
}
