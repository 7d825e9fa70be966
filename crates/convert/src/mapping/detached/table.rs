//! The tables: Parquet files with a column for the keys, the labels or the directions, and one for each property.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Columns, EdgeBatch, KeyKind, NodeBatch, Property};
use isomorph_storage::{Blob, Location, StagedFile, Staging};
use isomorph_tables::{Batches, Encoding, ReadOptions, Selection, TableReader, TableWriter, WriteOptions};

use super::{Detachment, edges_file, nodes_file};
use crate::mapping::CARRY_FITS;
use crate::mapping::arrays::{as_type, label_lists, malformed};
use crate::sidecar::{Bound, FOLDER};

/// Rows of a row group: a batch of readers, which read them concurrently.
const GROUP_ROWS: usize = 1 << 17;

/// The schema of the table of a type of nodes.
fn of_nodes(record: &Detachment, ty: usize) -> Result<SchemaRef> {
    let own = record.whole.nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
    let mut first = Vec::new();
    if own.key.kind != KeyKind::Row {
        first.push(Field::new("@key", own.key.data_type.clone(), false));
    }
    if record.has_labels(ty) {
        first.push(Field::new("@labels", DataType::new_list(DataType::Utf8, true), true));
    }
    Ok(schema(first, own.properties.iter()))
}

/// The schema of the table of a type of edges.
fn of_edges(record: &Detachment, ty: usize) -> Result<SchemaRef> {
    let own = record.whole.edges.get(ty).ok_or_else(|| Error::usage("no such edge type"))?;
    let first = record.has_directions(ty).then(|| Field::new("@directed", DataType::Boolean, true));
    let detached = record.detached(ty);
    Ok(schema(first.into_iter().collect(), detached.iter().filter_map(|at| own.properties.get(*at))))
}

/// Columns are found by their positions; their names, which differ, are for people.
fn schema<'p>(mut fields: Vec<Field>, properties: impl Iterator<Item = &'p Property>) -> SchemaRef {
    for property in properties {
        let mut name = property.name.clone();
        while fields.iter().any(|field| *field.name() == name) {
            name.push('_');
        }
        fields.push(Field::new(name, property.data_type.clone(), true));
    }
    Arc::new(Schema::new(fields))
}

/// The tables of a conversion that are being written.
pub(crate) struct TableFiles {
    nodes: Vec<Option<Writing>>,
    edges: Vec<Option<Writing>>,
}

struct Writing {
    name: String,
    schema: SchemaRef,
    writer: TableWriter<StagedFile>,
}

impl Writing {
    fn write(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<()> {
        let fields = self.schema.fields().iter().zip(&columns);
        let columns = fields.map(|(field, column)| {
            as_type(column, field.data_type()).map_err(|error| error.at(Place::field(field.name().clone())))
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map_err(malformed)?;
        self.writer.write(&batch)
    }

    fn finish(self) -> Result<Bound> {
        let (file, _) = self.writer.finish()?;
        Ok(Bound::new(format!("{FOLDER}/{}", self.name), &file.finish()?))
    }
}

impl TableFiles {
    /// Creates the tables of `record` in the sidecar of the output.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(staging: &Staging, directory: bool, record: &Detachment) -> Result<TableFiles> {
        let create = |name: String, schema: SchemaRef| -> Result<Writing> {
            let file = match directory {
                true => staging.create(&format!("{FOLDER}/{name}"))?,
                false => staging.companion().create(&name)?,
            };
            let options = WriteOptions { row_group_rows: GROUP_ROWS, ..WriteOptions::default() };
            let writer = TableWriter::create(file, Encoding::Parquet, &schema, &options)?;
            Ok(Writing { name, schema, writer })
        };
        let nodes = record.nodes.iter().enumerate();
        let nodes = nodes.map(|(ty, table)| table.then(|| create(nodes_file(ty), of_nodes(record, ty)?)).transpose());
        let edges = record.edges.iter().enumerate();
        let edges = edges.map(|(ty, table)| table.then(|| create(edges_file(ty), of_edges(record, ty)?)).transpose());
        Ok(TableFiles { nodes: nodes.collect::<Result<_>>()?, edges: edges.collect::<Result<_>>()? })
    }

    /// Adds nodes to their table, if they have one.
    pub(super) fn nodes(&mut self, record: &Detachment, batch: &NodeBatch) -> Result<()> {
        let Some(Some(table)) = self.nodes.get_mut(batch.ty) else { return Ok(()) };
        let mut columns = Vec::new();
        columns.extend(batch.keys.clone());
        if record.has_labels(batch.ty) {
            columns.push(match &batch.labels {
                Some(labels) => label_lists(labels),
                None => new_null_array(&DataType::new_list(DataType::Utf8, true), batch.rows),
            });
        }
        let properties = record.whole.nodes.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        push(&mut columns, properties.iter().zip(&batch.properties), batch.rows);
        table.write(columns, batch.rows)
    }

    /// Adds columns of edges to their table, if they have one.
    pub(super) fn edges(&mut self, record: &Detachment, batch: &EdgeBatch) -> Result<()> {
        let Some(Some(table)) = self.edges.get_mut(batch.ty) else { return Ok(()) };
        let mut columns: Vec<ArrayRef> = Vec::new();
        if record.has_directions(batch.ty) {
            columns.push(match &batch.directed {
                Some(directed) => Arc::new(directed.clone()),
                None => new_null_array(&DataType::Boolean, batch.rows),
            });
        }
        let properties = record.whole.edges.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let detached = record.detached(batch.ty);
        push(
            &mut columns,
            detached.iter().filter_map(|at| properties.get(*at).zip(batch.properties.get(*at))),
            batch.rows,
        );
        table.write(columns, batch.rows)
    }

    /// Completes the tables; returns what binds the sidecar to them.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(self) -> Result<Vec<Bound>> {
        self.nodes.into_iter().chain(self.edges).flatten().map(Writing::finish).collect()
    }
}

fn push<'c>(columns: &mut Vec<ArrayRef>, all: impl Iterator<Item = (&'c Property, &'c Option<ArrayRef>)>, rows: usize) {
    columns.extend(all.map(|(property, column)| match column {
        Some(column) => Arc::clone(column),
        None => new_null_array(&property.data_type, rows),
    }));
}

/// A table that is read.
pub(super) struct Stored {
    reader: TableReader,
    schema: SchemaRef,
    place: String,
}

impl Stored {
    /// Opens the table of a type of nodes.
    pub fn nodes(folder: &Location, record: &Detachment, ty: usize) -> Result<Stored> {
        Stored::open(folder, nodes_file(ty), of_nodes(record, ty)?)
    }

    /// Opens the table of a type of edges.
    pub fn edges(folder: &Location, record: &Detachment, ty: usize) -> Result<Stored> {
        Stored::open(folder, edges_file(ty), of_edges(record, ty)?)
    }

    fn open(folder: &Location, name: String, schema: SchemaRef) -> Result<Stored> {
        let place = folder.join(&name)?;
        let options = ReadOptions { embedded_types: true, ..ReadOptions::default() };
        let reader = TableReader::open(Blob::open(&place)?, Encoding::Parquet, &options)?;
        let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        if names(reader.schema()) != names(&schema) {
            return Err(
                Error::broken(&CARRY_FITS, "the table has other columns than the sidecar says").at(place.to_string())
            );
        }
        Ok(Stored { reader, schema, place: place.to_string() })
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.reader.row_count().unwrap_or_default()
    }

    /// The numbers of the first rows of pieces that can be read concurrently, and how many rows each has.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        (0..self.reader.row_groups()).filter_map(|group| {
            let rows = self.reader.rows_of_group(group)?;
            Some((group, rows.start, rows.end - rows.start))
        })
    }

    /// Reads a piece, or all of them; only the first `columns` of them, if that is set.
    pub fn read(&self, piece: Option<usize>, columns: Option<usize>, batch_rows: usize) -> Result<Batches> {
        let mut selection = Selection::all().batch_rows(batch_rows);
        if let Some(piece) = piece {
            selection = selection.row_groups(piece..piece + 1);
        }
        if let Some(columns) = columns {
            selection = selection.columns(self.schema.fields().iter().take(columns).map(|field| field.name().clone()));
        }
        self.reader.batches(&selection)
    }

    /// The columns of a batch in their types.
    pub fn columns(&self, batch: &RecordBatch) -> Result<Columns> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| as_type(column, field.data_type()).map(Some));
        columns.collect::<Result<_>>().map_err(|error| error.at(self.place.clone()))
    }
}
