//! Nodes and edges as record batches, and back: the rows of temporary files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Columns, Direction, EdgeBatch, EdgeType, Ends, KeyKind, LabelVocabulary, NodeBatch, NodeType, Property, Relation,
};

use crate::mapping::{as_type, label_lists, labels_of, malformed, relations_of};

/// The columns of nodes: the key and the labels, if the type has them, and the properties.
pub(crate) fn node_schema(ty: &NodeType) -> SchemaRef {
    let key = (ty.key.kind != KeyKind::Row).then(|| ty.key.data_type.clone());
    let labels = (ty.labels != LabelVocabulary::None).then(|| list_of(DataType::Utf8));
    schema(key.into_iter().chain(labels), &ty.properties)
}

/// Converts nodes to these columns.
///
/// # Errors
/// If the batch does not fit its type.
pub(crate) fn node_record(ty: &NodeType, batch: &NodeBatch) -> Result<RecordBatch> {
    let mut columns: Vec<Option<ArrayRef>> = Vec::with_capacity(batch.properties.len() + 2);
    if ty.key.kind != KeyKind::Row {
        columns.push(batch.keys.clone());
    }
    if ty.labels != LabelVocabulary::None {
        columns.push(batch.labels.as_ref().map(label_lists));
    }
    record(&node_schema(ty), columns, &batch.properties, batch.rows)
}

/// Converts these columns to nodes of type number `at`, the first of which has row `start`.
///
/// # Errors
/// If labels are not lists of text.
pub(crate) fn node_batch(ty: &NodeType, at: usize, start: u64, record: &RecordBatch) -> Result<NodeBatch> {
    let mut columns = record.columns().iter().cloned();
    let keys = if ty.key.kind == KeyKind::Row { None } else { columns.next() };
    let labels = if ty.labels == LabelVocabulary::None { None } else { columns.next() };
    let labels = labels.as_ref().map(labels_of).transpose()?;
    Ok(NodeBatch { keys, labels, properties: some(columns), ..NodeBatch::of(at, start, record.num_rows()) })
}

/// The columns of edges: `ends` and further columns of the caller, the relation and the direction, if rows have them, and
/// the properties.
pub(crate) fn edge_schema(ty: &EdgeType, ends: impl IntoIterator<Item = DataType>) -> SchemaRef {
    let relation = (ty.relation == Relation::PerRow).then_some(DataType::Utf8);
    let directed = (ty.direction == Direction::PerRow).then_some(DataType::Boolean);
    schema(ends.into_iter().chain(relation).chain(directed), &ty.properties)
}

/// Converts edges to these columns.
///
/// # Errors
/// If the batch does not fit its type.
pub(crate) fn edge_record(
    schema: &SchemaRef,
    ends: Vec<ArrayRef>,
    ty: &EdgeType,
    batch: &EdgeBatch,
) -> Result<RecordBatch> {
    let mut columns: Vec<Option<ArrayRef>> = ends.into_iter().map(Some).collect();
    if ty.relation == Relation::PerRow {
        let relations = batch.relations.as_ref().ok_or_else(|| malformed("edges do not name their relations"))?;
        columns.push(Some(take(&relations.names, &relations.index, None).map_err(malformed)?));
    }
    if ty.direction == Direction::PerRow {
        columns.push(batch.directed.clone().map(|directed| Arc::new(directed) as ArrayRef));
    }
    record(schema, columns, &batch.properties, batch.rows)
}

/// Converts these columns, without the ends and the further columns of the caller, to edges of type number `at`.
///
/// # Errors
/// If columns are missing, or relations are not text.
pub(crate) fn edge_batch(
    ty: &EdgeType,
    at: usize,
    (source, target): (Ends, Ends),
    mut columns: impl Iterator<Item = ArrayRef>,
) -> Result<EdgeBatch> {
    let relations = match ty.relation {
        Relation::PerRow => Some(relations_of(&columns.next().ok_or_else(missing)?)?),
        Relation::Fixed(_) => None,
    };
    let directed = if ty.direction == Direction::PerRow { columns.next() } else { None };
    Ok(EdgeBatch {
        relations,
        directed: directed.and_then(|directed| directed.as_boolean_opt().cloned()),
        properties: some(columns),
        ..EdgeBatch::between(at, source, target)
    })
}

pub(crate) fn missing() -> Error {
    Error::malformed("a temporary file lacks a column")
}

fn schema(own: impl Iterator<Item = DataType>, properties: &[Property]) -> SchemaRef {
    let all = own.chain(properties.iter().map(|property| property.data_type.clone()));
    let fields = all.enumerate().map(|(at, data_type)| Field::new(at.to_string(), data_type, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn record(schema: &SchemaRef, own: Vec<Option<ArrayRef>>, properties: &Columns, rows: usize) -> Result<RecordBatch> {
    let column = |(field, column): (&Arc<Field>, Option<ArrayRef>)| match column {
        Some(column) => as_type(&column, field.data_type()),
        None => Ok(new_null_array(field.data_type(), rows)),
    };
    let columns = own.into_iter().chain(properties.iter().cloned());
    let columns = schema.fields().iter().zip(columns).map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(malformed)
}

/// Columns of properties: none where no row has a value.
fn some(columns: impl Iterator<Item = ArrayRef>) -> Columns {
    columns.map(|column| Some(column).filter(|column| column.null_count() < column.len())).collect()
}
