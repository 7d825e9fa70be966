//! Changing an annnet graph where it lies: what is given as tables becomes vertices, edges, attributes, a slice.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use isomorph_annnet::OpenOptions as AnnnetOptions;
use isomorph_annnet::update::{self, AttributeTable, Changes, Update, UpdateOptions, Updated};
use isomorph_annnet::{Annnet, WriteOptions, write_cache};
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Blob, Changed, Location, Reservation};
use isomorph_tables::{CsvDialect, Encoding, ReadOptions, Selection, TableReader};

use super::rows::{declared, encoding_of};
use crate::driver::Format;
use crate::open::home_of;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::sidecar::Sidecar;
use isomorph_storage::Resources;

/// What an annnet graph gets. Tables are Parquet, ORC, CSV or JSON lines files; their names say which, and their columns
/// what is meant ([`isomorph_annnet::update`]).
#[derive(Debug, Clone, Default)]
pub struct Extension {
    /// New vertices.
    pub vertices: Option<Location>,
    /// New edges.
    pub edges: Option<Location>,
    /// An attribute table that takes the place of the one that is there.
    pub table: Option<(AttributeTable, Location)>,
    /// A slice, new or with other members.
    pub slice: Option<(String, Location)>,
    /// An entry of the history: a JSON object.
    pub history: Option<String>,
    /// Views for look-ups, made or renewed when everything else is done.
    pub views: bool,
    /// Types of columns of text that the graph does not have yet: `score:double`.
    pub columns: Vec<String>,
    /// The time of the entry, instead of the clock's.
    pub epoch: Option<SystemTime>,
}

impl Extension {
    /// Whether the graph itself is to be changed.
    fn changes_something(&self) -> bool {
        let Extension { vertices, edges, table, slice, history, .. } = self;
        vertices.is_some() || edges.is_some() || table.is_some() || slice.is_some() || history.is_some()
    }
}

/// What was changed, and how long it took.
#[derive(Debug, Clone)]
pub struct Extended {
    /// What the format says of it; nothing when nothing but views was asked for.
    pub updated: Option<Updated>,
    /// The files of views that were written.
    pub views: Option<Changed>,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Changes the annnet graph at `location`. With an archive everything is written again.
///
/// # Errors
/// When there is no such graph, a table does not fit it, or it carries another graph, which it would no longer be. Nothing
/// is changed then.
pub fn extend_annnet(
    location: &Location,
    extension: &Extension,
    formats: &Registry,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Extended> {
    let started = Instant::now();
    if formats.at(location)? != Format::ANNNET {
        return Err(Error::usage("only annnet graphs get vertices, edges, slices and entries of a history")
            .at(location.to_string())
            .hint("--type TYPE --table FILE    columns of a table for nodes of a GraphAr graph"));
    }
    let open = AnnnetOptions {
        budget: resources.budget.clone(),
        scratch: Some(resources.scratch.clone()),
        ..AnnnetOptions::default()
    };
    let (home, directory) = home_of(location, Format::ANNNET);
    if Sidecar::read(&home, directory, formats)?.is_some() {
        return Err(Error::new(Kind::WouldLose, "this graph carries another one, which has none of this")
            .at(location.to_string())
            .hint("isomorph sidecar drop PATH    keep it as the annnet graph that it is"));
    }
    let options = UpdateOptions { open, compression: None, created: extension.epoch };
    let updated = match extension.changes_something() {
        true => {
            let update = Update::begin(location, &options)?;
            let (changes, _held) = changes(update.annnet(), extension, resources, progress)?;
            Some(update.make(&changes)?)
        }
        false => None,
    };
    let views = extension.views.then(|| {
        let writing = WriteOptions {
            budget: resources.budget.clone(),
            scratch: Some(resources.scratch.clone()),
            ..WriteOptions::default()
        };
        // What was changed before stays changed.
        write_cache(location, &writing).map_err(|error| match updated.is_some() {
            true => error.hint("the graph was changed; the views alone were not made"),
            false => error,
        })
    });
    let views = views.transpose()?;
    Ok(Extended { updated, views, seconds: started.elapsed().as_secs_f64() })
}

/// What is given as tables, read; with the memory that it takes.
fn changes(
    known: &Annnet,
    extension: &Extension,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(Changes, Reservation)> {
    let mut held = resources.budget.reserve(0)?;
    let mut read =
        |file: &Location, rows: update::Rows| read(file, known, rows, &extension.columns, &mut held, progress);
    let mut changes = Changes { history: extension.history.clone(), ..Changes::default() };
    if let Some(file) = &extension.vertices {
        changes.vertices = read(file, update::Rows::Vertices)?;
    }
    if let Some(file) = &extension.edges {
        changes.edges = read(file, update::Rows::Edges)?;
    }
    if let Some((table, file)) = &extension.table {
        changes.table = Some((*table, read(file, update::Rows::Table(*table))?));
    }
    if let Some((name, file)) = &extension.slice {
        changes.slice = Some((name.clone(), read(file, update::Rows::Slice)?));
    }
    Ok((changes, held))
}

/// All rows of a table. Text has the types of the columns that the format or the graph knows, or that are given; else it is
/// text.
fn read(
    file: &Location,
    known: &Annnet,
    rows: update::Rows,
    given: &[String],
    held: &mut Reservation,
    progress: &dyn Progress,
) -> Result<Vec<RecordBatch>> {
    let name = file.to_string();
    let encoding = encoding_of(file.file_name()).ok_or_else(|| {
        Error::usage("the name of the table does not say how it is encoded")
            .at(name.as_str())
            .hint("a name that ends with .parquet, .parq, .orc, .csv, .json, .jsonl or .ndjson")
    })?;
    let mut fields: Vec<Field> = Vec::new();
    for column in given {
        if let (name, Some(data_type)) = declared(column)? {
            fields.push(Field::new(name, data_type, true));
        }
    }
    if encoding.is_text() {
        for (name, data_type) in update::columns(known, rows) {
            if fields.iter().any(|field| *field.name() == name) {
                continue;
            }
            // A cell of CSV holds no list: it is taken apart where it is wanted.
            let data_type = match encoding == Encoding::Csv && data_type.is_nested() {
                true => arrow_schema::DataType::Utf8,
                false => data_type,
            };
            fields.push(Field::new(name, data_type, true));
        }
    }
    let blob = Blob::open(file)?;
    let csv = CsvDialect { keep_other_columns: true, ..CsvDialect::default() };
    let options = |fields: Vec<Field>| ReadOptions {
        csv: csv.clone(),
        refuse_unknown_keys: true,
        // As tables of annnet are read: spans of time and names of zones stand nowhere else.
        embedded_types: true,
        ..ReadOptions::declared(Arc::new(Schema::new(fields)))
    };
    if encoding == Encoding::Csv {
        let header = TableReader::open(blob.clone(), encoding, &options(Vec::new()))?;
        fields.retain(|field| header.schema().field_with_name(field.name()).is_ok());
    }
    let reader = TableReader::open(blob, encoding, &options(fields))?;
    progress.begin("table", reader.row_count());
    let mut batches = Vec::new();
    for batch in reader.batches(&Selection::all())? {
        let batch = batch?;
        held.grow(batch.get_array_memory_size() as u64)?;
        progress.advance(batch.num_rows() as u64)?;
        batches.push(batch);
    }
    progress.end();
    Ok(batches)
}
