//! Results as record batches: a row for each node, with its type and key.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array, new_empty_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use isomorph_dataset::{KeysByRow, KeysByRowBuilder};
use isomorph_error::Result;
use isomorph_model::{Batch, KeyKind, Request, Tables};

use crate::array::{Array, at};
use crate::nodes::{NOBODY, Nodes, unread};
use crate::read::Relations;

/// Rows of a batch.
const BATCH: usize = 8192;

/// What was noticed while a graph was read.
#[derive(Debug, Default)]
pub struct ReadOf {
    /// The relations of the edges that were read, with numbers of edges.
    pub relations: Relations,
    /// Hyperedges, which are not walked; `None` if their number is unknown.
    pub hyperedges: Option<u64>,
    /// Keys that several nodes of a type have; edges refer to the first of these nodes.
    pub repeated_keys: u64,
    /// Nodes that only edges name.
    pub without_rows: u64,
}

impl ReadOf {
    pub(crate) fn of(nodes: &Nodes, relations: Relations) -> Self {
        let hyperedges = nodes.source.graph().hyperedges.iter().map(|ty| ty.rows).sum();
        let (repeated_keys, without_rows) = (nodes.repeated_keys(), nodes.without_rows());
        ReadOf { relations, hyperedges, repeated_keys, without_rows }
    }

    /// Number of edges between nodes.
    pub fn edges(&self) -> u64 {
        self.relations.all().iter().map(|one| one.edges - one.dangling).sum()
    }
}

/// The types and keys of nodes.
pub(crate) struct Keys<'n> {
    nodes: &'n Nodes,
    keys: KeysByRow,
    data_type: DataType,
}

impl<'n> Keys<'n> {
    /// Reads the keys of all nodes; beyond the budget they are in temporary files.
    ///
    /// # Errors
    /// If keys cannot be read.
    pub fn read(nodes: &'n Nodes) -> Result<Self> {
        let graph = nodes.source.graph();
        let mut keys = KeysByRow::builder(graph, &nodes.resources);
        let keyed: Vec<usize> =
            (0..).zip(&graph.nodes).filter(|(_, ty)| ty.key.kind != KeyKind::Row).map(|(at, _)| at).collect();
        let requests = match keyed.len() > 1 && nodes.source.is_one_table(Tables::AllNodes) {
            true => vec![Request::of_all_keys()],
            false => keyed.iter().map(|at| Request::of(Tables::NodeKeys(*at))).collect(),
        };
        for request in &requests {
            read_keys(nodes, request, &mut keys)?;
        }
        let own: Vec<DataType> = graph.nodes.iter().map(|ty| type_of(ty.key.kind, &ty.key.data_type)).collect();
        // Keys of several types in one column: as integers if all are, else as text.
        let data_type = match own.as_slice() {
            [] => DataType::Utf8,
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
            _ => DataType::Utf8,
        };
        Ok(Keys { nodes, keys: keys.finish()?, data_type })
    }

    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The types and keys of nodes; null for [`NOBODY`].
    ///
    /// # Errors
    /// If temporary files cannot be read, or there are fewer nodes than the graph states.
    pub fn of(&self, nodes: &[u32]) -> Result<[ArrayRef; 2]> {
        let names: Vec<&str> = self.nodes.types().collect();
        let of_type: Vec<Option<usize>> = nodes.iter().map(|node| self.type_of(*node)).collect();
        let types = StringArray::from_iter(of_type.iter().map(|ty| ty.and_then(|ty| names.get(ty))));
        // For each type the rows of its nodes, and after all types the keys of nodes without rows.
        let mut rows: Vec<Vec<u64>> = vec![Vec::new(); names.len()];
        let mut texts: Vec<Option<String>> = Vec::new();
        let mut places = Vec::with_capacity(nodes.len());
        for (node, ty) in nodes.iter().zip(&of_type) {
            let place = match (ty, ty.map(|_| self.nodes.row_of(*node))) {
                (Some(ty), Some(Ok(row))) => rows.get_mut(*ty).map(|rows| {
                    rows.push(row);
                    (*ty, rows.len() - 1)
                }),
                (_, Some(Err(key))) => {
                    texts.push(Some(key));
                    Some((names.len(), texts.len() - 1))
                }
                _ => None,
            };
            places.push(place.unwrap_or_else(|| {
                texts.push(None);
                (names.len(), texts.len() - 1)
            }));
        }
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(names.len() + 1);
        for (ty, rows) in rows.iter().enumerate() {
            columns.push(match rows.is_empty() {
                true => new_empty_array(&self.data_type),
                false => cast(&self.keys.gather(ty, rows)?, &self.data_type).map_err(unread)?,
            });
        }
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        columns.push(cast(&texts, &self.data_type).map_err(unread)?);
        let columns: Vec<&dyn arrow_array::Array> = columns.iter().map(AsRef::as_ref).collect();
        let keys = interleave(&columns, &places).map_err(unread)?;
        Ok([Arc::new(types), keys])
    }

    fn type_of(&self, node: u32) -> Option<usize> {
        if node == NOBODY { None } else { self.nodes.type_of(node) }
    }
}

fn read_keys(nodes: &Nodes, request: &Request, keys: &mut KeysByRowBuilder) -> Result<()> {
    for batch in nodes.source.scan(request)?.into_iter().flatten() {
        if let Batch::Nodes(batch) = batch? {
            keys.add(&batch)?;
        }
    }
    Ok(())
}

fn type_of(kind: KeyKind, declared: &DataType) -> DataType {
    match kind {
        KeyKind::Row => DataType::UInt64,
        KeyKind::Int if declared.is_unsigned_integer() => DataType::UInt64,
        KeyKind::Int => DataType::Int64,
        _ => DataType::Utf8,
    }
}

/// A value for each node.
pub(crate) enum Values {
    /// Numbers.
    Numbers(Array<f64>),
    /// Counts; [`NOBODY`] is null.
    Counts(Array<u32>),
    /// Nodes.
    Nodes(Array<u32>),
}

/// The order of the rows of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Of the nodes: type after type, in the order of their rows.
    Nodes,
    /// The greatest values first; of equal ones in the order of the nodes.
    Greatest,
    /// The smallest values first; of equal ones in the order of the nodes.
    Smallest,
}

/// A value for each node of a graph.
pub struct NodeValues {
    pub(crate) nodes: Nodes,
    pub(crate) values: Values,
    pub(crate) column: &'static str,
    /// What was noticed while the graph was read.
    pub read: ReadOf,
    /// Iterations that were made, if it is a result of iterations.
    pub iterations: Option<u32>,
    /// By how much values of all nodes together changed in the last iteration, for PageRank.
    pub change: Option<f64>,
}

impl std::fmt::Debug for NodeValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeValues").field("nodes", &self.nodes).field("column", &self.column).finish_non_exhaustive()
    }
}

impl NodeValues {
    /// The nodes.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The value of a node as a number; `None` for a node without one, or that does not exist.
    pub fn value(&self, node: u32) -> Option<f64> {
        if node >= self.nodes.len() {
            return None;
        }
        match &self.values {
            Values::Numbers(numbers) => Some(at(numbers, node)).filter(|number| number.is_finite()),
            Values::Counts(counts) | Values::Nodes(counts) => {
                Some(at(counts, node)).filter(|count| *count != NOBODY).map(f64::from)
            }
        }
    }

    /// The nodes that come first in an order, at most `limit`.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    fn first(&self, order: Order, limit: u64) -> Result<(Array<u32>, usize)> {
        let count = self.nodes.len();
        let mut all: Array<u32> = Array::zeros(u64::from(count), 0, &self.nodes.resources)?;
        all.iter_mut().zip(0..).for_each(|(slot, node)| *slot = node);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(all.len());
        let value = |node: &u32| self.value(*node).unwrap_or(f64::INFINITY);
        let compare = |one: &u32, other: &u32| {
            let by_value = value(one).total_cmp(&value(other));
            let by_value = if order == Order::Greatest { by_value.reverse() } else { by_value };
            by_value.then(one.cmp(other))
        };
        if order != Order::Nodes {
            if limit < all.len() && limit > 0 {
                all.select_nth_unstable_by(limit - 1, compare);
            }
            if let Some(first) = all.get_mut(..limit) {
                first.sort_unstable_by(compare);
            }
        }
        Ok((all, limit))
    }

    /// The columns of the rows.
    pub fn schema(&self) -> SchemaRef {
        let graph = self.nodes.source.graph();
        let own: Vec<DataType> = graph.nodes.iter().map(|ty| type_of(ty.key.kind, &ty.key.data_type)).collect();
        let same = own.windows(2).all(|two| two.first() == two.last());
        self.schema_with(own.first().filter(|_| same).unwrap_or(&DataType::Utf8))
    }

    fn schema_with(&self, key: &DataType) -> SchemaRef {
        let mut fields = vec![Field::new("type", DataType::Utf8, true), Field::new("key", key.clone(), true)];
        match self.values {
            Values::Numbers(_) => fields.push(Field::new(self.column, DataType::Float64, true)),
            Values::Counts(_) => fields.push(Field::new(self.column, DataType::UInt32, true)),
            Values::Nodes(_) => {
                fields.push(Field::new(format!("{}_type", self.column), DataType::Utf8, true));
                fields.push(Field::new(self.column, key.clone(), true));
            }
        }
        Arc::new(Schema::new(fields))
    }

    /// The rows, `type`, `key` and the value, in an order, at most `limit`.
    ///
    /// # Errors
    /// If keys cannot be read, or there is no space for temporary files.
    pub fn rows(&self, order: Order, limit: Option<u64>) -> Result<NodeRows<'_>> {
        let (all, end) = self.first(order, limit.unwrap_or(u64::MAX))?;
        let keys = Keys::read(&self.nodes)?;
        let schema = self.schema_with(keys.data_type());
        Ok(NodeRows { of: self, keys, all, left: 0..end, schema })
    }
}

/// Rows of a result, in batches.
pub struct NodeRows<'v> {
    of: &'v NodeValues,
    keys: Keys<'v>,
    all: Array<u32>,
    left: Range<usize>,
    schema: SchemaRef,
}

impl NodeRows<'_> {
    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn batch(&self, nodes: &[u32]) -> Result<RecordBatch> {
        let mut columns = self.keys.of(nodes)?.to_vec();
        match &self.of.values {
            Values::Numbers(numbers) => {
                let cells = nodes.iter().map(|node| Some(at(numbers, *node)).filter(|number| number.is_finite()));
                columns.push(Arc::new(Float64Array::from_iter(cells)));
            }
            Values::Counts(counts) => {
                let cells = nodes.iter().map(|node| Some(at(counts, *node)).filter(|count| *count != NOBODY));
                columns.push(Arc::new(UInt32Array::from_iter(cells)));
            }
            Values::Nodes(others) => {
                let others: Vec<u32> = nodes.iter().map(|node| at(others, *node)).collect();
                columns.extend(self.keys.of(&others)?);
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(unread)
    }
}

impl Iterator for NodeRows<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        let now = self.left.start..self.left.end.min(self.left.start + BATCH);
        self.left.start = now.end;
        let batch = self.batch(self.all.get(now).unwrap_or_default());
        if batch.is_err() {
            self.left = 0..0;
        }
        Some(batch)
    }
}

/// Connected parts of a graph.
#[derive(Debug)]
pub struct Components {
    pub(crate) each: NodeValues,
    /// For each component the number of its nodes, and its first node; the greatest first, of equal ones the one with the first node first.
    pub(crate) sizes: Vec<(u64, u32)>,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> u64 {
        self.sizes.len() as u64
    }

    /// Number of nodes of each component, the greatest first.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.sizes.iter().map(|(size, _)| *size)
    }

    /// The component of each node, numbered from 1, the greatest first: a column `component`.
    pub fn each(&self) -> &NodeValues {
        &self.each
    }

    /// A row for each component: `component`, `nodes`, and type and key of its first node; at most `limit`.
    ///
    /// # Errors
    /// If keys cannot be read.
    pub fn rows(&self, limit: Option<u64>) -> Result<Vec<RecordBatch>> {
        let keys = Keys::read(&self.each.nodes)?;
        let schema = Arc::new(Schema::new(vec![
            Field::new("component", DataType::UInt64, false),
            Field::new("nodes", DataType::UInt64, false),
            Field::new("first_type", DataType::Utf8, true),
            Field::new("first_key", keys.data_type().clone(), true),
        ]));
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let shown = self.sizes.get(..limit.min(self.sizes.len())).unwrap_or_default();
        let mut batches = Vec::new();
        for (number, sizes) in shown.chunks(BATCH).enumerate() {
            let first = (number * BATCH) as u64 + 1;
            let nodes: Vec<u32> = sizes.iter().map(|(_, first)| *first).collect();
            let mut columns: Vec<ArrayRef> = vec![
                Arc::new(UInt64Array::from_iter_values((first..).take(sizes.len()))),
                Arc::new(UInt64Array::from_iter_values(sizes.iter().map(|(size, _)| *size))),
            ];
            columns.extend(keys.of(&nodes)?);
            batches.push(RecordBatch::try_new(Arc::clone(&schema), columns).map_err(unread)?);
        }
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(batches)
    }
}

/// A text column, for tests and callers that print.
pub(crate) fn texts(column: &ArrayRef) -> Result<StringArray> {
    Ok(cast(column, &DataType::Utf8).map_err(unread)?.as_string::<i32>().clone())
}
