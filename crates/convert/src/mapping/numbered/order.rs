//! Nodes in the order of their rows: files sort them by id and distribute them over partitions.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, new_null_array};
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Graph, NodeBatch, Part, Request, Source, Tables, part};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use crate::mapping::arrays::malformed;

/// Sorted nodes.
pub(super) struct InOrder {
    sorted: SortedEdges,
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
    let options = SortOptions::new(budget, &scratch).payload(schema(source.graph())).memory(budget.available() / 2);
    let sorter = EdgeSorter::new(options)?;
    let mut sequence = 0;
    for mut part in source.scan(&Request::of(Tables::Nodes(0)))? {
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let (Some(keys), positions) = (&nodes.keys, position(&nodes)?) else {
                return Err(Error::unsupported("nodes have no ids"));
            };
            let ids = super::forward::ids_of(keys)?;
            let columns = columns(source.graph(), &nodes)?;
            sorter.push(positions.values(), ids.values(), Some(&columns), sequence)?;
            sequence += nodes.rows as u64;
            Ok(())
        })?;
    }
    Ok(Some(InOrder { sorted: sorter.finish()? }))
}

fn schema(graph: &Graph) -> Arc<Schema> {
    let properties = graph.nodes.iter().flat_map(|ty| &ty.properties).enumerate();
    let fields = properties.map(|(at, property)| Field::new(at.to_string(), property.data_type.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn columns(graph: &Graph, nodes: &NodeBatch) -> Result<RecordBatch> {
    let properties = graph.nodes.iter().flat_map(|ty| &ty.properties).zip(&nodes.properties);
    let column = |(property, column): (&isomorph_model::Property, &Option<ArrayRef>)| {
        column.clone().unwrap_or_else(|| new_null_array(&property.data_type, nodes.rows))
    };
    let options = RecordBatchOptions::new().with_row_count(Some(nodes.rows));
    RecordBatch::try_new_with_options(schema(graph), properties.map(column).collect(), &options).map_err(malformed)
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
                let (rows, first) = (batch.other.len(), start);
                start += rows as u64;
                let keys: ArrayRef = Arc::new(batch.other);
                let properties = batch.payload.columns().iter().cloned().map(Some).collect();
                Ok(Some(Batch::Nodes(NodeBatch {
                    ty: 0,
                    start: first,
                    numbers: None,
                    rows,
                    keys: Some(keys),
                    labels: None,
                    properties,
                })))
            },
        )
    }
}
