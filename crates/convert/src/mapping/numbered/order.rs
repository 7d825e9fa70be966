//! Nodes in the order of their rows: files sort them by id and distribute them over partitions.

use std::sync::Arc;

use arrow_array::UInt64Array;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Key, NodeBatch, NodeType, Part, Request, Source, Tables, part};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use crate::spilled_rows::{node_batch, node_record, node_schema};

/// Sorted nodes.
pub(super) struct InOrder {
    sorted: SortedEdges,
    /// The columns, without the key.
    ty: NodeType,
}

/// Sorts the nodes of `source` by `position`; `None` if they are stored in that order. `by_id` states that positions
/// are ids.
///
/// # Errors
/// If nodes cannot be read, or there is no space for temporary files.
pub(super) fn sorted(
    source: &dyn Source,
    by_id: bool,
    position: &dyn Fn(&NodeBatch) -> Result<UInt64Array>,
    budget: &Budget,
) -> Result<Option<InOrder>> {
    let tables = if by_id { Tables::NodeKeys(0) } else { Tables::Nodes(0) };
    let (mut last, mut ascends) = (None, true);
    for mut part in source.scan(&Request::of(tables))? {
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            for position in position(&nodes)?.values() {
                ascends &= last < Some(*position);
                last = Some(*position);
            }
            Ok(())
        })?;
        if !ascends {
            break;
        }
    }
    if ascends {
        return Ok(None);
    }
    let scratch = Scratch::new(None)?;
    // Keys are sorted with the positions.
    let node = source.graph().nodes.first().ok_or_else(|| Error::usage("no such node type"))?;
    let ty = NodeType { key: Key::row(), ..node.clone() };
    let options = SortOptions::new(budget, &scratch).payload(node_schema(&ty)).memory(budget.available() / 2);
    let sorter = EdgeSorter::new(options)?;
    let mut sequence = 0;
    for mut part in source.scan(&Request::of(Tables::Nodes(0)))? {
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let (Some(keys), positions) = (&nodes.keys, position(&nodes)?) else {
                return Err(Error::unsupported("nodes have no ids"));
            };
            let ids = super::forward::ids_of(keys)?;
            let columns = node_record(&ty, &nodes)?;
            sorter.push(positions.values(), ids.values(), Some(&columns), sequence)?;
            sequence += nodes.rows as u64;
            Ok(())
        })?;
    }
    Ok(Some(InOrder { sorted: sorter.finish()?, ty }))
}

impl InOrder {
    /// All nodes, in batches.
    pub fn part(&self) -> Box<dyn Part + '_> {
        let mut start = 0;
        part::opened(
            Some(self.sorted.rows()),
            || self.sorted.stream(),
            move |stream| {
                let Some(batch) = stream.next_batch()? else { return Ok(None) };
                let nodes = node_batch(&self.ty, 0, start, &batch.payload)?;
                start += nodes.rows as u64;
                Ok(Some(Batch::Nodes(NodeBatch { keys: Some(Arc::new(batch.other)), ..nodes })))
            },
        )
    }
}
