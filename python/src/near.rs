//! The neighbours of a node as one table.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use isomorph::dataset::Sides;
use isomorph::model::{Direction, EdgeType, Graph as Model, KeyKind, NodeId, ValueKind};
use isomorph::{Error, Result};
use pyo3::prelude::*;

use crate::memory::InMemory;
use crate::work::Watch;

/// Whose neighbours, and which of them. Python passes all members.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    key: Option<String>,
    row: Option<u64>,
    node_type: Option<String>,
    relation: Option<String>,
    side: String,
    columns: Option<Vec<String>>,
    limit: Option<usize>,
}

/// Reads the neighbours: the columns `neighbor`, `type`, `relation`, `direction`, and the properties of all edge types that can occur. A
/// property that an edge type does not have is null.
pub(crate) fn read(graph: &isomorph::Graph, asked: &Asked, watch: &Watch) -> Result<InMemory> {
    let node = match (&asked.key, asked.row) {
        (Some(key), None) => NodeId::Key(key),
        (None, Some(row)) => NodeId::Row(row),
        _ => return Err(Error::usage("a node is named by its key, or by row=")),
    };
    let sides = match asked.side.as_str() {
        "out" => Sides::Out,
        "in" => Sides::In,
        "both" => Sides::Both,
        other => return Err(Error::usage(format!("side must be one of out, in, both; found {other:?}"))),
    };
    let mut neighbors = graph.neighbors(asked.node_type.as_deref(), node)?.sides(sides);
    if let Some(relation) = &asked.relation {
        neighbors = neighbors.relation(relation)?;
    }
    if let Some(columns) = &asked.columns {
        neighbors = neighbors.columns(columns.iter().cloned())?;
    }
    if let Some(limit) = asked.limit {
        neighbors = neighbors.limit(limit);
    }
    let model = graph.stored().source().graph();
    let ty = neighbors.node_type().and_then(|own| model.node_type(&own.name)).unwrap_or_default();
    let schema = schema(model, ty, sides, asked)?;
    let mut batches = Vec::new();
    for batch in neighbors.batches() {
        watch.check()?;
        let batch = batch?;
        let own = batch.to_record_batch()?;
        batches.push(fitted(&own, &batch.node_type.name, &schema)?);
    }
    Ok(InMemory::new(schema, batches))
}

/// The columns of all edge types that can have the node at an end.
fn schema(model: &Model, ty: usize, sides: Sides, asked: &Asked) -> Result<SchemaRef> {
    let mut keys: Option<DataType> = None;
    let mut properties: Vec<(FieldRef, &EdgeType)> = Vec::new();
    for edge in &model.edges {
        let is_named = |wanted: &String| edge.relation.fixed().is_none_or(|fixed| fixed == wanted);
        let is_undirected = edge.direction != Direction::Directed;
        let leaves = edge.source == ty && (is_undirected || sides != Sides::In);
        let arrives = edge.target == ty && (is_undirected || sides != Sides::Out);
        if !asked.relation.as_ref().is_none_or(is_named) || !(leaves || arrives) {
            continue;
        }
        for (_, other) in [(leaves, edge.target), (arrives, edge.source)].into_iter().filter(|(is_read, _)| *is_read) {
            let own = model.nodes.get(other).map_or(DataType::Null, |node| match node.key.kind {
                KeyKind::Row => DataType::UInt64,
                _ => node.key.data_type.clone(),
            });
            // Keys of several types are told as texts.
            keys = Some(if keys.as_ref().is_none_or(|known| *known == own) { own } else { DataType::Utf8 });
        }
        for property in &edge.properties {
            let name =
                if property.name.is_empty() && property.kind == ValueKind::Bag { "properties" } else { &property.name };
            if asked.columns.as_ref().is_some_and(|columns| !columns.iter().any(|column| column == name)) {
                continue;
            }
            match properties.iter().find(|(field, _)| field.name() == name) {
                None => properties.push((Arc::new(Field::new(name, property.data_type.clone(), true)), edge)),
                Some((field, _)) if *field.data_type() == property.data_type => {}
                Some((field, other)) => return Err(differ(model, field, other, edge)),
            }
        }
    }
    let mut fields: Vec<FieldRef> = Vec::new();
    let own = [
        ("neighbor", keys.unwrap_or(DataType::Utf8)),
        ("type", DataType::Utf8),
        ("relation", DataType::Utf8),
        ("direction", DataType::Utf8),
    ];
    for (name, data_type) in own {
        let mut name = name.to_owned();
        while properties.iter().any(|(field, _)| *field.name() == name) {
            name.insert(0, '_');
        }
        fields.push(Arc::new(Field::new(name, data_type, false)));
    }
    fields.extend(properties.into_iter().map(|(field, _)| field));
    Ok(Arc::new(Schema::new(fields)))
}

fn differ(model: &Model, field: &Field, one: &EdgeType, other: &EdgeType) -> Error {
    let name = |edge: &EdgeType| model.edge_name(edge).1;
    let (one, other) = (name(one), name(other));
    Error::usage(format!("{:?} has one type in edges {one} and another in edges {other}", field.name()))
        .hint(format!("relation={one:?}    one relation at a time"))
        .hint("columns=[…]    other properties")
}

/// A batch of one edge type, with all columns of `schema`.
fn fitted(batch: &RecordBatch, node_type: &str, schema: &SchemaRef) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let broken = |error: arrow_schema::ArrowError| Error::malformed(error.to_string()).caused_by(error);
    let columns = schema.fields().iter().enumerate().map(|(at, field)| -> Result<ArrayRef> {
        match at {
            0 => cast(batch.column(0), field.data_type()).map_err(broken),
            1 => Ok(Arc::new(arrow_array::StringArray::from_iter_values(std::iter::repeat_n(node_type, rows)))),
            2 | 3 => Ok(Arc::clone(batch.column(at - 1))),
            _ => {
                // The first three columns are not properties, whatever they are called.
                let own =
                    batch.schema_ref().fields().iter().enumerate().skip(3).find(|(_, own)| own.name() == field.name());
                Ok(own.map_or_else(|| new_null_array(field.data_type(), rows), |(at, _)| Arc::clone(batch.column(at))))
            }
        }
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(broken)
}
