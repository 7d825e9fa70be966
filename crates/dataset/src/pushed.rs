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
    let mut pushed = Vec::new();
    filter.into_iter().for_each(|filter| push(filter, table, properties, &mut pushed));
    Some(Narrowing {
        keys: roles.contains(&Role::Key),
        labels: roles.contains(&Role::Labels),
        properties: wanted,
        filter: match pushed.len() {
            0 => None,
            1 => pushed.pop(),
            _ => Some(Predicate::And(pushed)),
        },
    })
}

/// Of the conditions that must all be true, those on plain properties and keys of nodes alone, by their names in the description.
fn push(filter: &Predicate, table: &Table, properties: &[Property], pushed: &mut Vec<Predicate>) {
    if let Predicate::And(all) = filter {
        return all.iter().for_each(|one| push(one, table, properties, pushed));
    }
    let name = |column: &str| -> Option<String> {
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
    };
    let mut all_known = true;
    let renamed = filter.renamed(&mut |column| {
        Ok(name(column).unwrap_or_else(|| {
            all_known = false;
            String::new()
        }))
    });
    pushed.extend(renamed.ok().filter(|_| all_known));
}
