//! Rows that were read from triples, sorted: nodes by position, edges by triple.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt64Array, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::faces::EdgeRows;
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Batch, Columns, Direction, EdgeBatch, EdgeType, Ends, Graph, KeyKind, LabelVocabulary, NodeBatch, NodeType, Part,
    Property, Relation, part,
};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use crate::arrow_limits::halves;
use crate::mapping::arrays::malformed;
use crate::mapping::property_bags::{label_lists, labels_of, relations_of};
use crate::mapping::split::in_order;

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
        let labels = batch.labels.as_ref().map(label_lists);
        let own = batch.keys.clone().into_iter().chain(labels);
        let columns = with_properties(own.collect(), &ty.properties, &batch.properties, batch.rows);
        let (ty_at, schema) = (batch.ty, node_schema(ty));
        let payload = record(&schema, columns, batch.rows)?;
        if self.nodes[ty_at].is_none() {
            self.nodes[ty_at] = Some(self.sorter(schema)?);
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

fn with_properties(mut own: Vec<ArrayRef>, properties: &[Property], columns: &Columns, rows: usize) -> Vec<ArrayRef> {
    let column = |(property, column): (&Property, &Option<ArrayRef>)| {
        column.clone().unwrap_or_else(|| new_null_array(&property.data_type, rows))
    };
    own.extend(properties.iter().zip(columns).map(column));
    own
}

fn record(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(malformed)
}

fn fields(own: Vec<DataType>, properties: &[Property]) -> SchemaRef {
    let all = own.into_iter().chain(properties.iter().map(|property| property.data_type.clone()));
    let fields = all.enumerate().map(|(at, data_type)| Field::new(at.to_string(), data_type, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn node_schema(ty: &NodeType) -> SchemaRef {
    let key = (ty.key.kind != KeyKind::Row).then(|| ty.key.data_type.clone());
    let labels = (ty.labels != LabelVocabulary::None).then(|| list_of(DataType::Utf8));
    fields(key.into_iter().chain(labels).collect(), &ty.properties)
}

fn edge_schema(graph: &Graph, ty: &EdgeType) -> SchemaRef {
    let end = |at: usize| match graph.nodes.get(at) {
        Some(ty) if ty.key.kind != KeyKind::Row => ty.key.data_type.clone(),
        _ => DataType::UInt64,
    };
    let mut own = vec![end(ty.source), end(ty.target)];
    own.extend((ty.relation == Relation::PerRow).then_some(DataType::Utf8));
    own.extend((ty.direction == Direction::PerRow).then_some(DataType::Boolean));
    own.extend(ty.key.as_ref().map(|key| key.data_type.clone()));
    fields(own, &ty.properties)
}

/// Edges as columns: ends, properties, and, if rows have them, relations, directions and keys.
///
/// # Errors
/// If the batch does not fit its type.
pub(super) fn record_of(graph: &Graph, ty: &EdgeType, batch: &EdgeBatch) -> Result<RecordBatch> {
    let of_ends = |ends: &Ends| -> ArrayRef {
        match ends {
            Ends::Keys(keys) => Arc::clone(keys),
            Ends::Rows(rows) => Arc::new(rows.clone()),
        }
    };
    let mut own = vec![of_ends(&batch.source), of_ends(&batch.target)];
    if let Some(relations) = &batch.relations {
        own.push(take(&relations.names, &relations.index, None).map_err(malformed)?);
    }
    own.extend(batch.directed.iter().map(|directed| Arc::new(directed.clone()) as ArrayRef));
    own.extend(batch.keys.iter().cloned());
    let columns = with_properties(own, &ty.properties, &batch.properties, batch.rows);
    record(&edge_schema(graph, ty), columns, batch.rows)
}

/// The nodes of type `at`.
pub(super) fn nodes_part<'a>(graph: &'a Graph, at: usize, sorted: &'a SortedEdges) -> Box<dyn Part + 'a> {
    let open = move || {
        let ty = graph.nodes.get(at).ok_or_else(|| Error::usage("no such node type"))?;
        Ok((ty, sorted.stream()?, 0))
    };
    part::opened(Some(sorted.rows()), open, move |(ty, stream, next)| {
        let Some(batch) = stream.next_batch()? else { return Ok(None) };
        let (rows, start) = (batch.other.len(), *next);
        *next += rows as u64;
        if ty.key.kind == KeyKind::Row {
            in_order(batch.aligned.values(), start)?;
        }
        let mut columns = batch.payload.columns().iter().cloned();
        let keys = if ty.key.kind == KeyKind::Row { None } else { columns.next() };
        let labels = if ty.labels == LabelVocabulary::None { None } else { columns.next() };
        let labels = labels.map(|lists| labels_of(&lists)).transpose()?;
        let properties = columns.map(Some).collect();
        Ok(Some(Batch::Nodes(NodeBatch { ty: at, start, numbers: None, rows, keys, labels, properties })))
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
    let missing = || Error::malformed("a temporary file lacks a column");
    let mut ends = |at: usize| -> Result<Ends> {
        let column = columns.next().ok_or_else(missing)?;
        let is_row = graph.nodes.get(at).is_none_or(|ty| ty.key.kind == KeyKind::Row);
        Ok(if is_row { Ends::Rows(column.as_primitive::<UInt64Type>().clone()) } else { Ends::Keys(column) })
    };
    let (source, target) = (ends(ty.source)?, ends(ty.target)?);
    let relations = match ty.relation {
        Relation::PerRow => Some(relations_of(&columns.next().ok_or_else(missing)?)?),
        Relation::Fixed(_) => None,
    };
    let directed = if ty.direction == Direction::PerRow { columns.next() } else { None };
    let keys = if ty.key.is_some() { columns.next() } else { None };
    Ok(EdgeBatch {
        ty: at,
        rows: rows.num_rows(),
        relations,
        source,
        target,
        layers: None,
        directed: directed.and_then(|directed| directed.as_boolean_opt().cloned()),
        keys,
        properties: columns.map(Some).collect(),
    })
}
