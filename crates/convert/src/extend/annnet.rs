//! Changes an annnet graph in place: tables become vertices, edges, attributes, a slice.

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

/// The additions to an annnet graph. Tables are Parquet, ORC, CSV or JSON lines files; their names determine the
/// format, and their columns the meaning ([`isomorph_annnet::update`]).
#[derive(Debug, Clone, Default)]
pub struct Extension {
    /// New vertices.
    pub vertices: Option<Location>,
    /// New edges.
    pub edges: Option<Location>,
    /// An attribute table that replaces the existing one.
    pub table: Option<(AttributeTable, Location)>,
    /// A slice, new or with other members.
    pub slice: Option<(String, Location)>,
    /// An entry of the history: a JSON object.
    pub history: Option<String>,
    /// Views for look-ups, created or updated after everything else.
    pub views: bool,
    /// Types of text columns that the graph does not have yet: `score:double`.
    pub columns: Vec<String>,
    /// The time of the entry, instead of the current time.
    pub epoch: Option<SystemTime>,
}

impl Extension {
    /// Whether the graph itself changes.
    fn changes_something(&self) -> bool {
        let Extension { vertices, edges, table, slice, history, .. } = self;
        vertices.is_some() || edges.is_some() || table.is_some() || slice.is_some() || history.is_some()
    }
}

/// What was changed, and the time it took.
#[derive(Debug, Clone)]
pub struct Extended {
    /// The summary of the format; `None` if only views were requested.
    pub updated: Option<Updated>,
    /// The files of views that were written.
    pub views: Option<Changed>,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Changes the annnet graph at `location`. An archive is rewritten.
///
/// # Errors
/// If there is no such graph, a table does not fit it, or its sidecar describes another graph, which the changed data
/// would no longer hold. Nothing is changed in these cases.
pub fn extend_annnet(
    location: &Location,
    extension: &Extension,
    formats: &Registry,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Extended> {
    let started = Instant::now();
    if formats.at(location)? != Format::ANNNET {
        return Err(Error::usage("vertices, edges, slices and history entries can only be added to annnet graphs")
            .at(location.to_string())
            .hint("--type TYPE --table FILE    add columns of a table to nodes of a GraphAr graph"));
    }
    let open = AnnnetOptions {
        budget: resources.budget.clone(),
        scratch: Some(resources.scratch.clone()),
        ..AnnnetOptions::default()
    };
    let (home, directory) = home_of(location, Format::ANNNET);
    if Sidecar::read(&home, directory, formats)?.is_some() {
        return Err(Error::new(
            Kind::WouldLose,
            "the sidecar of this graph describes another graph, which cannot have these additions",
        )
        .at(location.to_string())
        .hint("isomorph sidecar drop PATH    remove the sidecar; the data is then an ordinary annnet graph"));
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
        // Earlier changes are kept.
        write_cache(location, &writing).map_err(|error| match updated.is_some() {
            true => error.hint("the graph was changed; only the views were not written"),
            false => error,
        })
    });
    let views = views.transpose()?;
    Ok(Extended { updated, views, seconds: started.elapsed().as_secs_f64() })
}

/// Reads the tables; also returns the memory that they use.
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

/// Reads all rows of a table. Columns of text formats have the types that the format or the graph knows, or that are
/// given; other columns are text.
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
        Error::usage("the file type of the table cannot be determined from its name")
            .at(name.as_str())
            .hint("use a name that ends with .parquet, .parq, .orc, .csv, .json, .jsonl or .ndjson")
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
            // A cell of CSV cannot hold a list: it is parsed where it is used.
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
        // As for annnet's own tables: only the embedded schema states durations and time zones.
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
