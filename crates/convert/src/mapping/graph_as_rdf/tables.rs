//! Rows that were read from triples, sorted: nodes by position, edges by triple.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Result};
use isomorph_model::faces::EdgeRows;
use isomorph_model::{Batch, EdgeBatch, EdgeType, Ends, Graph, KeyKind, NodeBatch, Part, part};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use crate::arrow_limits::halves;
use crate::mapping::arrays::malformed;
use crate::mapping::one_table::in_order;
use crate::spilled_rows::{edge_batch, edge_record, edge_schema, missing, node_batch, node_record};

/// Tables of a graph that are being filled.
pub(super) struct Tables<'a> {
    graph: &'a Graph,
    budget: &'a Budget,
    scratch: &'a Scratch,
    /// Memory of each sort in bytes.
    memory: u64,
    nodes: Vec<Option<EdgeSorter>>,
    edges: Vec<Option<EdgeSorter>>,
    /// Number of rows so far, which also numbers them.
    rows: u64,
}

/// Tables of a graph.
pub(super) struct Sorted {
    pub nodes: Vec<Option<SortedEdges>>,
    pub edges: Vec<Option<SortedEdges>>,
}

impl<'a> Tables<'a> {
    /// Creates empty tables of `graph`, whose sorts share `memory` bytes of `budget`.
    pub fn new(graph: &'a Graph, budget: &'a Budget, scratch: &'a Scratch, memory: u64) -> Self {
        let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
        let memory = memory / (nodes + edges).max(1) as u64;
        let none = |count: usize| (0..count).map(|_| None).collect();
        Tables { graph, budget, scratch, memory, nodes: none(nodes), edges: none(edges), rows: 0 }
    }

    fn sorter(&self, schema: SchemaRef) -> Result<EdgeSorter> {
        EdgeSorter::new(SortOptions::new(self.budget, self.scratch).payload(schema).memory(self.memory))
    }

    /// Adds nodes at their places, by two columns, or in order of arrival.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn nodes(&mut self, batch: NodeBatch, places: Option<[UInt64Array; 2]>) -> Result<()> {
        let ty = self.graph.nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let rows = batch.rows as u64;
        let numbers = UInt64Array::from_iter_values(self.rows..self.rows + rows);
        let (ty_at, payload) = (batch.ty, node_record(ty, &batch)?);
        if self.nodes[ty_at].is_none() {
            self.nodes[ty_at] = Some(self.sorter(payload.schema())?);
        }
        if let Some(sorter) = &self.nodes[ty_at] {
            let [first, second] = places.unwrap_or_else(|| [numbers.clone(), numbers]);
            sorter.push(first.values(), second.values(), Some(&payload), self.rows)?;
        }
        self.rows += rows;
        Ok(())
    }

    /// Adds edges.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn edges(&mut self, rows: EdgeRows) -> Result<()> {
        let EdgeRows { batch, triples, reified } = rows;
        let ty = self.graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        // Edges of reifiers sort before the triple itself.
        let bit = u64::from(!reified);
        let (first, mut second): (Vec<u64>, Vec<u64>) = triples.iter().map(|id| halves(*id)).unzip();
        second.iter_mut().for_each(|half| *half = *half & !1 | bit);
        let (ty_at, payload) = (batch.ty, record_of(self.graph, ty, &batch)?);
        let schema = payload.schema();
        if self.edges[ty_at].is_none() {
            self.edges[ty_at] = Some(self.sorter(schema)?);
        }
        if let Some(sorter) = &self.edges[ty_at] {
            sorter.push(&first, &second, Some(&payload), self.rows)?;
        }
        self.rows += batch.rows as u64;
        Ok(())
    }

    /// Finishes after the last row.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn finish(self) -> Result<Sorted> {
        let sorted = |all: Vec<Option<EdgeSorter>>| -> Result<Vec<Option<SortedEdges>>> {
            all.into_iter().map(|sorter| sorter.map(EdgeSorter::finish).transpose()).collect()
        };
        Ok(Sorted { nodes: sorted(self.nodes)?, edges: sorted(self.edges)? })
    }
}

/// Edges as columns: ends, the key, if edges have keys, and what [`edge_record`] adds.
///
/// # Errors
/// If the batch does not fit its type.
pub(super) fn record_of(graph: &Graph, ty: &EdgeType, batch: &EdgeBatch) -> Result<RecordBatch> {
    let end_type = |at: usize| match graph.nodes.get(at) {
        Some(ty) if ty.key.kind != KeyKind::Row => ty.key.data_type.clone(),
        _ => DataType::UInt64,
    };
    let key = ty.key.as_ref().map(|key| key.data_type.clone());
    let schema = edge_schema(ty, [end_type(ty.source), end_type(ty.target)].into_iter().chain(key));
    let of_ends = |ends: &Ends| -> ArrayRef {
        match ends {
            Ends::Keys(keys) => Arc::clone(keys),
            Ends::Rows(rows) => Arc::new(rows.clone()),
        }
    };
    let own = [of_ends(&batch.source), of_ends(&batch.target)].into_iter().chain(batch.keys.clone());
    edge_record(&schema, own.collect(), ty, batch)
}

/// The nodes of type `at`.
pub(super) fn nodes_part<'a>(graph: &'a Graph, at: usize, sorted: &'a SortedEdges) -> Box<dyn Part + 'a> {
    let open = move || {
        let ty = graph.nodes.get(at).ok_or_else(|| Error::usage("no such node type"))?;
        Ok((ty, sorted.stream()?, 0))
    };
    part::opened(Some(sorted.rows()), open, move |(ty, stream, next)| {
        let Some(batch) = stream.next_batch()? else { return Ok(None) };
        let start = *next;
        *next += batch.other.len() as u64;
        if ty.key.kind == KeyKind::Row {
            in_order(batch.aligned.values(), start)?;
        }
        node_batch(ty, at, start, &batch.payload).map(|nodes| Some(Batch::Nodes(nodes)))
    })
}

/// The edges of type `at`.
pub(super) fn edges_part<'a>(graph: &'a Graph, at: usize, sorted: &'a SortedEdges) -> Box<dyn Part + 'a> {
    // The triple of the last reifier.
    let mut said = None;
    part::opened(
        Some(sorted.rows()),
        || sorted.stream(),
        move |stream| {
            while let Some(batch) = stream.next_batch()? {
                let ids = batch.aligned.values().iter().zip(batch.other.values());
                let keep = ids.map(|(first, second)| {
                    let triple = Some((*first, *second & !1));
                    if second & 1 == 0 {
                        said = triple;
                        return Some(true);
                    }
                    Some(said != triple)
                });
                let keep: BooleanArray = keep.collect();
                let rows = filter_record_batch(&batch.payload, &keep).map_err(malformed)?;
                if rows.num_rows() > 0 {
                    return batch_of(graph, at, &rows).map(|edges| Some(Batch::Edges(edges)));
                }
            }
            Ok(None)
        },
    )
}

/// The edges of type `at` from the columns that [`record_of`] returned.
///
/// # Errors
/// If columns are missing.
pub(super) fn batch_of(graph: &Graph, at: usize, rows: &RecordBatch) -> Result<EdgeBatch> {
    let ty = graph.edges.get(at).ok_or_else(|| Error::usage("no such edge type"))?;
    let mut columns = rows.columns().iter().cloned();
    let mut ends = |at: usize| -> Result<Ends> {
        let column = columns.next().ok_or_else(missing)?;
        let is_row = graph.nodes.get(at).is_none_or(|ty| ty.key.kind == KeyKind::Row);
        Ok(if is_row { Ends::Rows(column.as_primitive::<UInt64Type>().clone()) } else { Ends::Keys(column) })
    };
    let ends = (ends(ty.source)?, ends(ty.target)?);
    let keys = if ty.key.is_some() { columns.next() } else { None };
    Ok(EdgeBatch { keys, ..edge_batch(ty, at, ends, columns)? })
}
