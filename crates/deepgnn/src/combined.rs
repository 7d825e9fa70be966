//! Nodes that are stated in several lines or partitions, combined into one node each.
//!
//! The engine answers with the first statement that has what is requested, and with the edges of all. The model does
//! the same: the first value of each property is used, in the order of partitions and lines. If ids ascend, nothing is
//! repeated, which a pass over the ids determines. Otherwise, ids are sorted, and only if some are repeated, the nodes
//! are sorted as well, within the budget.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, UInt64Array, new_null_array};
use arrow_schema::{ArrowError, Field, Schema};
use arrow_select::concat::{concat, concat_batches};
use arrow_select::take::take as take_rows;
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::{Batch, Graph, NodeBatch, Part, Property, part};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, EdgeStream, SortOptions, SortedEdges};

use crate::batches::NODE;
use crate::binary::DUMMY;
use crate::block::{Block, Depth};
use crate::rules;
use crate::source::{DeepGnn, Form};

/// Rows of a batch while sorting.
const ROWS: usize = 1 << 14;

/// The statements of all nodes, sorted by id and, for one node, by their precedence.
pub(crate) struct United {
    sorted: SortedEdges,
    /// Number of columns.
    width: usize,
}

/// A pass over ids that determines whether any is repeated.
struct Ids {
    last: Option<u64>,
    ascend: bool,
}

impl Ids {
    fn see(&mut self, block: &Block) {
        let nodes = block.nodes.ids.iter().zip(&block.nodes.types);
        for (id, _) in nodes.filter(|(_, ty)| **ty != DUMMY) {
            self.ascend &= self.last < Some(*id);
            self.last = Some(*id);
        }
    }
}

/// Returns the statements of `graph`, if a node has several.
///
/// # Errors
/// Returns an error if they cannot be read or sorted.
pub(crate) fn united(
    graph: &DeepGnn,
    shown: &Graph,
    budget: &Budget,
    scratch: Option<&Scratch>,
) -> Result<Option<United>> {
    if !repeats(graph)? {
        return Ok(None);
    }
    let scratch = scratch.cloned().map_or_else(|| Scratch::new(None), Ok)?;
    let properties = properties(shown);
    let schema = schema(properties);
    let options = SortOptions::new(budget, &scratch).payload(Arc::clone(&schema)).memory(budget.available() / 2);
    let sorter = EdgeSorter::new(options)?;
    let mut sequence = 0;
    graph.node_blocks(Depth::Full, |block| {
        graph.columns.nodes(block, 0, ROWS, Depth::Full, &mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let ids = ids_of(&nodes)?;
            let zeros = vec![0; nodes.rows];
            let columns = record_batch(&schema, properties, &nodes)?;
            sorter.push(ids.values(), &zeros, Some(&columns), sequence)?;
            sequence += nodes.rows as u64;
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(Some(United { sorted: sorter.finish()?, width: properties.len() }))
}

/// Returns whether a node is stated more than once.
fn repeats(graph: &DeepGnn) -> Result<bool> {
    let mut ids = Ids { last: None, ascend: true };
    match &graph.form {
        // Opening the graph has determined this.
        Form::Text(_, survey) => ids.ascend = survey.ascends,
        Form::Binary(_) => graph.node_blocks(Depth::Bare, |block| {
            ids.see(block);
            Ok(())
        })?,
    }
    if ids.ascend {
        return Ok(false);
    }
    let mut sorted = graph.records()?;
    graph.node_blocks(Depth::Bare, |block| {
        let nodes = block.nodes.ids.iter().zip(&block.nodes.types);
        nodes.filter(|(_, ty)| **ty != DUMMY).try_for_each(|(id, _)| sorted.push_id(*id, 0))
    })?;
    let (mut before, mut found) = (None, false);
    sorted.each_id(|id, _| {
        found |= before == Some(id);
        before = Some(id);
        Ok(())
    })?;
    Ok(found)
}

fn properties(graph: &Graph) -> &[Property] {
    graph.nodes.first().map(|ty| ty.properties.as_slice()).unwrap_or_default()
}

fn schema(properties: &[Property]) -> Arc<Schema> {
    let fields = properties.iter().enumerate();
    let fields = fields.map(|(at, property)| Field::new(at.to_string(), property.data_type.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn ids_of(nodes: &NodeBatch) -> Result<UInt64Array> {
    let keys = nodes.keys.as_ref().and_then(|keys| keys.as_primitive_opt::<UInt64Type>());
    keys.cloned().ok_or_else(|| Error::usage("nodes without ids"))
}

fn record_batch(schema: &Arc<Schema>, properties: &[Property], nodes: &NodeBatch) -> Result<RecordBatch> {
    let columns = properties.iter().zip(&nodes.properties);
    let columns = columns
        .map(|(property, column)| column.clone().unwrap_or_else(|| new_null_array(&property.data_type, nodes.rows)));
    let options = RecordBatchOptions::new().with_row_count(Some(nodes.rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect(), &options).map_err(malformed)
}

fn malformed(error: ArrowError) -> Error {
    Error::malformed(error.to_string())
}

/// Returns the runs of equal ids: the start of each, and the number of rows at the end.
fn runs(ids: &UInt64Array) -> Vec<usize> {
    let values = ids.values();
    let begins = (0..values.len()).filter(|row| *row == 0 || values[row - 1] != values[*row]);
    begins.chain([values.len()]).collect()
}

/// Returns one row for each run: the first value that the run has in each column.
fn first_values(runs: &[usize], columns: &RecordBatch) -> Result<RecordBatch> {
    let pick = |column: &ArrayRef| {
        let rows = runs.windows(2).map(|run| {
            let first = (run[0]..run[1]).find(|row| column.is_valid(*row));
            row_number(first.unwrap_or(run[0]))
        });
        take_rows(column, &rows.collect::<UInt32Array>(), None)
    };
    let picked = columns.columns().iter().map(pick).collect::<Result<Vec<_>, _>>().map_err(malformed)?;
    let options = RecordBatchOptions::new().with_row_count(Some(runs.len().saturating_sub(1)));
    RecordBatch::try_new_with_options(columns.schema(), picked, &options).map_err(malformed)
}

/// Statements in their order.
struct Piece {
    ids: UInt64Array,
    /// The start of each node, and the number of rows at the end.
    begins: Vec<usize>,
    /// Number of nodes that are complete: the last one may continue. Its known values then start the next piece.
    settled: usize,
    columns: RecordBatch,
}

/// All statements, in pieces.
struct Pieces<'a> {
    stream: EdgeStream<'a>,
    pending: Option<(UInt64Array, RecordBatch)>,
}

impl Pieces<'_> {
    fn next(&mut self) -> Result<Option<Piece>> {
        while let Some(batch) = self.stream.next_batch()? {
            let (ids, columns) = match self.pending.take() {
                None => (batch.aligned, batch.payload),
                Some((ids, columns)) => {
                    let ids = concat(&[&ids as &dyn Array, &batch.aligned]).map_err(malformed)?;
                    let columns = concat_batches(&columns.schema(), [&columns, &batch.payload]).map_err(malformed)?;
                    (ids.as_primitive::<UInt64Type>().clone(), columns)
                }
            };
            let begins = runs(&ids);
            let [.., last, end] = *begins.as_slice() else { continue };
            let of_last = first_values(&[0, end - last], &columns.slice(last, end - last))?;
            self.pending = Some((ids.slice(last, 1), of_last));
            return Ok(Some(Piece { settled: begins.len() - 2, ids, begins, columns }));
        }
        let last = self.pending.take();
        Ok(last.map(|(ids, columns)| Piece { ids, begins: vec![0, 1], settled: 1, columns }))
    }
}

impl United {
    fn pieces(&self) -> Result<Pieces<'_>> {
        Ok(Pieces { stream: self.sorted.stream()?, pending: None })
    }

    /// Returns all nodes by id, as one part; with `bare`, only ids.
    pub fn part(&self, bare: bool, rows: usize) -> Box<dyn Part + '_> {
        let (mut start, at_once) = (0, rows.max(1));
        part::stepped(
            None,
            || self.pieces(),
            move |pieces, take| {
                let Some(Piece { ids, begins, settled: count, columns }) = pieces.next()? else { return Ok(false) };
                let settled = begins.get(..=count).unwrap_or_default();
                let firsts: UInt32Array = begins.iter().take(count).map(|row| row_number(*row)).collect();
                let ids = take_rows(&ids, &firsts, None).map_err(malformed)?;
                let columns = if bare { None } else { Some(first_values(settled, &columns)?) };
                for from in (0..count).step_by(at_once) {
                    let rows = at_once.min(count - from);
                    let properties = match &columns {
                        Some(columns) => {
                            columns.columns().iter().map(|column| Some(column.slice(from, rows))).collect()
                        }
                        None => vec![None; self.width],
                    };
                    let keys = Some(ids.slice(from, rows));
                    take(Batch::Nodes(NodeBatch {
                        ty: 0,
                        start,
                        numbers: None,
                        rows,
                        keys,
                        labels: None,
                        properties,
                    }))?;
                    start += rows as u64;
                }
                Ok(true)
            },
        )
    }

    /// Reports contradicting statements of a node.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn contradictions(&self, graph: &Graph, findings: &mut Findings) -> Result<()> {
        let properties = properties(graph);
        let mut pieces = self.pieces()?;
        while let Some(Piece { ids, begins, columns, .. }) = pieces.next()? {
            for run in begins.windows(2).filter(|run| run[1] - run[0] > 1) {
                for (property, column) in properties.iter().zip(columns.columns()) {
                    let mut stated = (run[0]..run[1]).filter(|row| column.is_valid(*row));
                    let Some(first) = stated.next() else { continue };
                    let first = column.slice(first, 1).to_data();
                    if stated.any(|row| column.slice(row, 1).to_data() != first) {
                        let message = format!("node {} has several values of {}", ids.value(run[0]), property.name);
                        findings.push(&rules::NODE_CONTRADICTED, message, Place::file(NODE));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Converts a row number of a piece for Arrow.
#[expect(clippy::cast_possible_truncation, reason = "a piece is a batch of a sorted scan, far below 2^32 rows")]
fn row_number(row: usize) -> u32 {
    row as u32
}
