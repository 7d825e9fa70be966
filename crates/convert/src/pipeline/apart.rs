//! Nodes of several types that share one table, for sinks that need them type by type: they are read once, and stored
//! by type.

use std::ops::Deref;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::{Batch, KeyKind, LabelVocabulary, NodeBatch, NodeType, Part, Request, Run, Source, Tables, part};
use isomorph_storage::Resources;
use isomorph_tables::by_table::{Apart, Collecting};

use super::sorted::arrow;
use crate::mapping::{forward, label_lists, labels_of};
use crate::parallel;
use crate::progress::Progress;

/// The share of the memory that these nodes may use, as a divisor.
const SHARE: u64 = 8;

/// Whether a pass over the nodes of each type reads all of them each time.
pub(crate) fn is_mixed(source: &dyn Source) -> bool {
    source.graph().nodes.len() > 1 && source.is_one_table(Tables::AllNodes)
}

/// A source whose nodes have been read and are stored by type; everything else is read from the source.
pub(crate) struct NodesApart<S> {
    inner: S,
    nodes: Apart,
}

impl<S> NodesApart<S>
where
    S: Deref + Send + Sync,
    S::Target: Source,
{
    /// Reads the nodes of all types, once.
    ///
    /// # Errors
    /// If they cannot be read, or there is no space for temporary files.
    pub fn read(inner: S, resources: &Resources, progress: &dyn Progress) -> Result<Self> {
        let types = inner.graph().nodes.as_slice();
        let memory = resources.budget.limit() / SHARE;
        let mut nodes = Collecting::new(types.iter().map(schema), &resources.budget, &resources.scratch, memory)?;
        let parts = inner.scan(&Request::of(Tables::AllNodes))?;
        progress.begin("nodes", parts.iter().map(|part| part.rows()).sum());
        let prepare = |batch: Batch| {
            let Batch::Nodes(batch) = batch else { return Err(Error::usage("expected a batch of nodes")) };
            let ty = types.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
            Ok((batch.ty, columns(ty, batch)?))
        };
        let read = parallel::in_order(parts, resources.threads, prepare, |(ty, batch)| {
            progress.advance(batch.num_rows() as u64)?;
            nodes.push(ty, &batch)
        });
        progress.end();
        read?;
        let nodes = nodes.finish()?;
        Ok(NodesApart { nodes, inner })
    }

    /// The nodes of a type, in one part for each block.
    fn parts<'a>(&'a self, ty: usize, at_once: usize) -> Result<Run<'a>> {
        let own = self.inner.graph().nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let mut start = 0;
        let parts = self.nodes.blocks(ty).enumerate().map(|(block, rows)| {
            let first = start;
            start += rows as u64;
            let mut left = None;
            let mut next = move || -> Result<Option<Batch>> {
                let (nodes, from) = match left.take() {
                    Some(left) => left,
                    None => (nodes(own, ty, first, &self.nodes.read(ty, block)?)?, 0),
                };
                if from >= nodes.rows {
                    return Ok(None);
                }
                let some = nodes.slice(from, at_once.min(nodes.rows - from));
                left = Some((nodes, from + some.rows));
                Ok(Some(Batch::Nodes(some)))
            };
            part::of(Some(rows as u64), std::iter::from_fn(move || next().transpose()))
        });
        Ok(parts.collect())
    }
}

/// The columns that represent a node of this type completely.
fn schema(ty: &NodeType) -> SchemaRef {
    let field = |name: String, data_type: &DataType| Field::new(name, data_type.clone(), true);
    let key = (ty.key.kind != KeyKind::Row).then(|| field("key".to_owned(), &ty.key.data_type));
    let labels = (ty.labels != LabelVocabulary::None).then(|| field("labels".to_owned(), &list_of(DataType::Utf8)));
    let properties = ty.properties.iter().enumerate().map(|(at, own)| field(at.to_string(), &own.data_type));
    Arc::new(Schema::new(key.into_iter().chain(labels).chain(properties).collect::<Vec<_>>()))
}

/// Converts nodes to these columns.
fn columns(ty: &NodeType, batch: NodeBatch) -> Result<RecordBatch> {
    let (schema, rows) = (schema(ty), batch.rows);
    let mut found: Vec<Option<ArrayRef>> = Vec::with_capacity(schema.fields().len());
    if ty.key.kind != KeyKind::Row {
        found.push(batch.keys);
    }
    if ty.labels != LabelVocabulary::None {
        found.push(batch.labels.as_ref().map(label_lists));
    }
    found.extend(batch.properties);
    let column = |(field, column): (&Arc<Field>, Option<ArrayRef>)| match column {
        Some(column) if column.data_type() == field.data_type() => Ok(column),
        Some(column) => {
            let options = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(&column, field.data_type(), &options).map_err(arrow)
        }
        None => Ok(new_null_array(field.data_type(), rows)),
    };
    let columns = schema.fields().iter().zip(found).map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(arrow)
}

/// Converts these columns back to nodes, the first of which has row `start`.
fn nodes(own: &NodeType, ty: usize, start: u64, batch: &RecordBatch) -> Result<NodeBatch> {
    let mut columns = batch.columns().iter().cloned();
    let keys = if own.key.kind == KeyKind::Row { None } else { columns.next() };
    let labels = if own.labels == LabelVocabulary::None { None } else { columns.next() };
    let labels = labels.as_ref().map(labels_of).transpose()?;
    let properties = columns.map(|column| Some(column).filter(|column| column.null_count() < column.len())).collect();
    Ok(NodeBatch { ty, start, numbers: None, rows: batch.num_rows(), keys, labels, properties })
}

impl<S> Source for NodesApart<S>
where
    S: Deref + Send + Sync,
    S::Target: Source,
{
    forward!(inner: graph edge_orders runs end_form about neighbors);

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let types = match request.tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => ty..ty + 1,
            Tables::AllNodes | Tables::All => 0..self.inner.graph().nodes.len(),
            _ => return self.inner.scan(request),
        };
        let mut parts = Vec::new();
        for ty in types {
            parts.extend(self.parts(ty, request.batch_rows.max(1))?);
        }
        if request.tables == Tables::All {
            parts.extend(self.inner.scan(&request.for_tables(Tables::AllEdges))?);
            parts.extend(self.inner.scan(&request.for_tables(Tables::Rest))?);
        }
        Ok(parts)
    }

    fn is_one_table(&self, tables: Tables) -> bool {
        tables == Tables::AllEdges && self.inner.is_one_table(tables)
    }
}
