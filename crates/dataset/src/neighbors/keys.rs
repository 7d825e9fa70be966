//! Keys of a few nodes that are given by row, and whether a node exists.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, KeyKind, NodeId, Request, Source, Tables};

/// The keys of nodes of type `ty`, in the order of `rows`. If parts state which rows they have, only the parts with one
/// of these rows are read.
///
/// # Errors
/// If a row does not exist, or keys cannot be read.
pub(super) fn of_rows(source: &dyn Source, ty: usize, rows: &UInt64Array) -> Result<ArrayRef> {
    if source.graph().nodes.get(ty).is_none_or(|ty| ty.key.kind == KeyKind::Row) {
        return Ok(Arc::new(rows.clone()));
    }
    let mut wanted: Vec<u64> = rows.values().to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found: Vec<ArrayRef> = Vec::new();
    let parts = source.scan(&Request::of(Tables::NodeKeys(ty)))?;
    // If other rows are stored between the nodes, as edges are in NOCK, a part counts these too.
    let all: Option<u64> = parts.iter().map(|part| part.rows()).sum();
    let counts_nodes = all.is_some() && all == source.graph().nodes.get(ty).and_then(|ty| ty.rows);
    let mut start = Some(0u64).filter(|_| counts_nodes);
    for mut part in parts {
        if found.iter().map(|keys| keys.len()).sum::<usize>() == wanted.len() {
            break;
        }
        let end = start.zip(part.rows()).map(|(start, rows)| start.saturating_add(rows));
        let range = start.zip(end);
        start = end;
        if range.is_some_and(|(start, end)| within(&wanted, start, end).is_empty()) {
            continue;
        }
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let inside = within(&wanted, nodes.start, nodes.start.saturating_add(nodes.rows as u64));
            if let Some(keys) = nodes.keys.as_ref().filter(|_| !inside.is_empty()) {
                let at: UInt64Array = inside.iter().map(|row| row - nodes.start).collect();
                found.push(take(keys.as_ref(), &at, None).map_err(broken)?);
            }
            Ok(())
        })?;
    }
    let found: Vec<&dyn Array> = found.iter().map(AsRef::as_ref).collect();
    if found.iter().map(|keys| keys.len()).sum::<usize>() != wanted.len() {
        return Err(Error::malformed("an edge refers to a node that does not exist").hint("isomorph validate PATH"));
    }
    if found.is_empty() {
        return Ok(Arc::new(UInt64Array::from(Vec::<u64>::new())));
    }
    let keys = concat(&found).map_err(broken)?;
    let at: UInt64Array = rows.values().iter().map(|row| wanted.partition_point(|other| other < row) as u64).collect();
    take(keys.as_ref(), &at, None).map_err(broken)
}

/// Checks that the node exists, for nodes whose type has no edges to search: reads the keys of the type.
///
/// # Errors
/// Returns [`Kind::NotFound`] if it does not exist; and errors of reading the keys.
pub fn must_exist(source: &dyn Source, ty: usize, node: NodeId<'_>) -> Result<()> {
    let own = source.graph().nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
    let row = match node {
        NodeId::Row(row) => Some(row),
        // A text that is not a number is not a row.
        NodeId::Key(key) if own.key.kind == KeyKind::Row => key.parse().ok(),
        NodeId::Key(_) => None,
    };
    let mut is_there = false;
    for mut part in source.scan(&Request::of(Tables::NodeKeys(ty)))? {
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            is_there |= match (node, row, &nodes.keys) {
                (_, Some(row), _) => (nodes.start..nodes.start.saturating_add(nodes.rows as u64)).contains(&row),
                (NodeId::Key(key), None, Some(keys)) => {
                    let names = cast(keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()))?;
                    names.as_string::<i32>().iter().any(|name| name == Some(key))
                }
                _ => false,
            };
            Ok(())
        })?;
    }
    match (is_there, node) {
        (true, _) => Ok(()),
        (false, NodeId::Key(key)) => Err(Error::new(Kind::NotFound, format!("there is no node {key:?}"))),
        (false, NodeId::Row(row)) => Err(Error::new(Kind::NotFound, format!("there is no node in row {row}"))),
    }
}

/// The part of `sorted` from `start` to `end`, exclusive.
fn within(sorted: &[u64], start: u64, end: u64) -> &[u64] {
    let from = sorted.partition_point(|row| *row < start);
    let to = sorted.partition_point(|row| *row < end);
    sorted.get(from..to).unwrap_or_default()
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::malformed(format!("keys cannot be selected: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use arrow_array::Int64Array;
    use arrow_array::types::Int64Type;

    use isomorph_model::{Graph, Key, MemoryGraph, NodeBatch, NodeType};

    #[test]
    fn keys_come_in_the_order_of_the_rows() {
        let graph = Graph { nodes: vec![NodeType::new("n", Key::int64())], ..Graph::default() };
        let batch = |start: u64, keys: Vec<i64>| {
            let rows = keys.len();
            let keys = Some(Arc::new(Int64Array::from(keys)) as ArrayRef);
            Batch::Nodes(NodeBatch { ty: 0, start, numbers: None, rows, keys, labels: None, properties: Vec::new() })
        };
        let source = MemoryGraph {
            graph,
            batches: vec![batch(0, vec![10, 11]), batch(2, vec![12, 13, 14]), batch(5, vec![15])],
        };
        let keys = of_rows(&source, 0, &UInt64Array::from(vec![5, 0, 3, 0])).unwrap();
        assert_eq!(keys.as_primitive::<Int64Type>().values(), &[15, 10, 13, 10]);
        assert!(of_rows(&source, 0, &UInt64Array::from(vec![6])).is_err());
        for (node, is_there) in
            [(NodeId::Row(5), true), (NodeId::Row(6), false), (NodeId::Key("14"), true), (NodeId::Key("4"), false)]
        {
            assert_eq!(must_exist(&source, 0, node).is_ok(), is_there, "{node:?}");
        }
        assert_eq!(of_rows(&source, 0, &UInt64Array::from(Vec::<u64>::new())).unwrap().len(), 0);
    }
}
