//! The table whose columns are added: its key, its columns, and its rows by the node that they belong to.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_graphar::GraphAr;
use isomorph_model::type_name::parse_type;
use isomorph_model::{Batch, KeyKind, NodeType, Property, Request, Source, Tables};
use isomorph_storage::{Blob, Location};
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};
use isomorph_tables::{CsvDialect, Encoding, ReadOptions, Selection, TableReader};

use crate::parallel;
use crate::progress::Progress;
use isomorph_storage::Resources;

/// The column with the vertex row in GraphAr's own chunks.
const INDEX: &str = "_graphArVertexIndex";

/// The table, and the columns to add.
#[derive(Debug, Clone)]
pub struct TableColumns {
    /// A Parquet, ORC, CSV or JSON lines file; its name determines which.
    pub file: Location,
    /// The column that identifies the node: by the key of its type, or `_graphArVertexIndex` by its row. Default: the
    /// column with the name of the key, or the index.
    pub by: Option<String>,
    /// Names of the columns, optionally with a type after a colon: `score:double`. Default: all other columns. In text
    /// formats, a column without a type is text.
    pub columns: Option<Vec<String>>,
}

/// An opened table.
pub(super) struct Table {
    reader: TableReader,
    name: String,
    /// Name of the column that identifies the node.
    by: String,
    properties: Vec<Property>,
}

/// A hint for times that are outside the range of the table's unit.
fn in_milliseconds(error: Error) -> Error {
    let is_far = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &isomorph_tables::rules::TIME_UNIT));
    match error.place().field.clone() {
        Some(name) if is_far => error.hint(format!("--columns {name}:timestamp    read its times in milliseconds")),
        _ => error,
    }
}

impl Table {
    /// Opens the table for nodes of type `ty`.
    ///
    /// # Errors
    /// If it cannot be read, or lacks a column.
    pub fn open(table: &TableColumns, ty: &NodeType) -> Result<Self> {
        let name = table.file.to_string();
        let encoding = encoding_of(table.file.file_name()).ok_or_else(|| {
            Error::usage("the file type of the table cannot be determined from its name")
                .at(name.as_str())
                .hint("use a name that ends with .parquet, .parq, .orc, .csv, .json, .jsonl or .ndjson")
        })?;
        let wanted = table.columns.iter().flatten().map(|column| declared(column)).collect::<Result<Vec<_>>>()?;
        let key = ty.key.name.as_deref().filter(|_| ty.key.kind != KeyKind::Row);
        let typed = wanted.iter().filter_map(|(name, ty)| Some(Field::new(*name, ty.clone()?, true)));
        let mut fields: Vec<Field> = typed.collect();
        if encoding.is_text() {
            let untyped = wanted.iter().filter(|(_, ty)| ty.is_none());
            fields.extend(untyped.map(|(name, _)| Field::new(*name, DataType::Utf8, true)));
            let by = table.by.as_deref().or(key).filter(|by| *by != INDEX);
            fields.extend(by.map(|name| Field::new(name, ty.key.data_type.clone(), true)));
            let index = encoding == Encoding::Csv || table.by.as_deref() == Some(INDEX);
            fields.extend(index.then(|| Field::new(INDEX, DataType::Int64, true)));
        }
        let blob = Blob::open(&table.file)?;
        let csv = CsvDialect { keep_other_columns: true, ..CsvDialect::default() };
        let options = |fields: Vec<Field>| ReadOptions {
            csv: csv.clone(),
            // With the embedded schema, a duration is not read as an integer: GraphAr has no durations, and refuses it.
            embedded_types: true,
            ..ReadOptions::declared(Arc::new(Schema::new(fields)))
        };
        if encoding == Encoding::Csv {
            // Missing columns are reported below, with a better message.
            let header = TableReader::open(blob.clone(), encoding, &options(Vec::new()))?;
            fields.retain(|field| header.schema().field_with_name(field.name()).is_ok());
        }
        let reader = TableReader::open(blob, encoding, &options(fields))?;
        let has = |name: &str| reader.schema().field_with_name(name).is_ok();
        let found = |name: &str| -> Result<String> {
            if has(name) {
                return Ok(name.to_owned());
            }
            let all: Vec<&str> = reader.schema().fields().iter().map(|field| field.name().as_str()).collect();
            Err(Error::usage(format!("the table has no column {name}"))
                .at(table.file.to_string())
                .hint(format!("use one of {}", all.join(", "))))
        };
        let by = match (&table.by, key) {
            (Some(by), _) => found(by)?,
            (None, Some(key)) if has(key) => key.to_owned(),
            (None, _) if has(INDEX) => INDEX.to_owned(),
            (None, key) => {
                return Err(Error::usage("no column of the table identifies the nodes")
                    .at(name.as_str())
                    .hint(format!("--by COLUMN    the column with the key of {}{}", ty.name, called(key)))
                    .hint(format!("or a column {INDEX} with row numbers, from 0")));
            }
        };
        let names: Vec<String> = match &table.columns {
            Some(_) => wanted.iter().map(|(name, _)| found(name)).collect::<Result<_>>()?,
            None => {
                let all = reader.schema().fields().iter().map(|field| field.name());
                all.filter(|name| **name != by && *name != INDEX).cloned().collect()
            }
        };
        if names.is_empty() {
            return Err(Error::usage("the table has no column to add")
                .at(name.as_str())
                .hint("--columns score:double,note    the columns, if the file does not name them"));
        }
        let properties = names.iter().map(|name| property(reader.schema(), name)).collect();
        Ok(Table { reader, name, by, properties })
    }

    /// The new properties.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The rows of the table in the order of the nodes that they belong to.
    ///
    /// # Errors
    /// If a row identifies no node, or the same node as another row.
    pub fn sorted(
        &self,
        graph: &GraphAr,
        ty: usize,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<SortedEdges> {
        let nodes = &graph.graph().nodes[ty];
        let count = count(graph, ty)?;
        let keys = if self.by == INDEX { None } else { Some(keys(graph, ty, nodes, resources, progress)?) };
        let schema: SchemaRef = Arc::new(Schema::new(
            self.properties
                .iter()
                .map(|property| Field::new(&property.name, property.data_type.clone(), true))
                .collect::<Vec<_>>(),
        ));
        let options = SortOptions::new(&resources.budget, &resources.scratch).payload(Arc::clone(&schema));
        let sorter = EdgeSorter::new(options.threads(resources.threads))?;
        let columns = std::iter::once(self.by.as_str()).chain(self.properties.iter().map(|p| p.name.as_str()));
        progress.begin("table", self.reader.row_count());
        let mut first = 0u64;
        for batch in self.reader.batches(&Selection::all().columns(columns))? {
            let batch = batch.map_err(in_milliseconds)?;
            progress.advance(batch.num_rows() as u64)?;
            let column = |name: &str| {
                let missing = || Error::malformed(format!("the table lost its column {name}"));
                batch.column_by_name(name).ok_or_else(missing)
            };
            let rows = self.rows(column(&self.by)?, keys.as_ref(), count, first)?;
            let strict = CastOptions { safe: false, ..CastOptions::default() };
            let cells = self.properties.iter().map(|property| {
                cast_with_options(column(&property.name)?, &property.data_type, &strict)
                    .map_err(|error| Error::malformed(error.to_string()).at(Place::file(&self.name)))
            });
            let cells = cells.collect::<Result<Vec<ArrayRef>>>()?;
            let payload = RecordBatch::try_new(Arc::clone(&schema), cells)
                .map_err(|error| Error::malformed(error.to_string()).at(Place::file(&self.name)))?;
            let own: Vec<u64> = (first..first + batch.num_rows() as u64).collect();
            sorter.push(&rows, &own, Some(&payload), first)?;
            first += batch.num_rows() as u64;
        }
        progress.end();
        let sorted = sorter.finish()?;
        self.refuse_repeats(&sorted)?;
        Ok(sorted)
    }

    /// The rows of the nodes that a column identifies.
    fn rows(&self, column: &ArrayRef, keys: Option<&KeyRows>, count: u64, first: u64) -> Result<Vec<u64>> {
        let broken = |message: String, at: usize| {
            Err(Error::malformed(message).at(Place::file(&self.name).row(first + at as u64).in_field(&self.by)))
        };
        let mut rows = Vec::with_capacity(column.len());
        match keys {
            Some(keys) => {
                keys.translate(column.as_ref(), &mut rows).map_err(|error| error.at(Place::file(&self.name)))?;
            }
            None => {
                if !column.data_type().is_integer() {
                    let message = format!("row numbers must be integers, found values of type {}", column.data_type());
                    return Err(Error::malformed(message).at(Place::file(&self.name).in_field(&self.by)));
                }
                // A negative number is not a row, and neither is null.
                let numbers = cast(column, &DataType::UInt64)
                    .map_err(|error| Error::malformed(error.to_string()).at(Place::file(&self.name)))?;
                let numbers = numbers.as_any().downcast_ref::<UInt64Array>();
                rows.extend(numbers.into_iter().flatten().map(|row| row.filter(|row| *row < count).unwrap_or(ABSENT)));
            }
        }
        match rows.iter().position(|row| *row == ABSENT) {
            Some(at) if column.is_null(at) => broken("the row does not identify a node".to_owned(), at),
            Some(at) => {
                let key = arrow_cast::display::array_value_to_string(column, at).unwrap_or_default();
                broken(format!("the row refers to {key}, which is not a node of the graph"), at)
            }
            None => Ok(rows),
        }
    }

    fn refuse_repeats(&self, sorted: &SortedEdges) -> Result<()> {
        let mut last = None;
        let mut stream = sorted.stream()?;
        while let Some(batch) = stream.next_batch()? {
            for (row, own) in batch.aligned.values().iter().zip(batch.other.values()) {
                if last == Some(*row) {
                    let place = Place::file(&self.name).row(*own).in_field(&self.by);
                    return Err(Error::malformed("the row refers to the same node as another row").at(place));
                }
                last = Some(*row);
            }
        }
        Ok(())
    }
}

/// The rows of the nodes of a type, by key.
fn keys(
    graph: &GraphAr,
    ty: usize,
    nodes: &NodeType,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<KeyRows> {
    if nodes.key.kind == KeyKind::Row {
        return Err(Error::usage(format!("{} has no key", nodes.name)).hint(format!("--by {INDEX}")));
    }
    let options = LookupOptions::new(&resources.budget, &resources.scratch)
        .memory(resources.budget.limit() / 2)
        .threads(resources.threads);
    let mut builder = KeyRowsBuilder::new(options);
    let parts = graph.scan(&Request::of(Tables::NodeKeys(ty)))?;
    progress.begin("keys", nodes.rows);
    let read = parallel::in_order(parts, resources.threads, Ok, |batch| match batch {
        Batch::Nodes(nodes) => {
            progress.advance(nodes.rows as u64)?;
            nodes.keys.as_ref().map_or(Ok(()), |keys| builder.push(keys.as_ref()))
        }
        _ => Ok(()),
    });
    progress.end();
    read?;
    match builder.finish()? {
        Lookup::Memory(keys) => match keys.repeats().shown().first() {
            Some(repeat) => {
                let message = format!("rows {} and {} have the same key", repeat.first, repeat.row);
                Err(Error::malformed(message)
                    .at(Place::file(&nodes.name).row(repeat.row))
                    .hint(format!("--by {INDEX}    identify the nodes by row number")))
            }
            None => Ok(keys),
        },
        Lookup::Spilled(_) => Err(Error::new(Kind::TooLarge, "the keys of the nodes do not fit into memory")
            .hint("--memory 2GiB    or as much as is available")
            .hint(format!("--by {INDEX}    identify the nodes by row number"))),
    }
}

/// Number of nodes of a type.
fn count(graph: &GraphAr, ty: usize) -> Result<u64> {
    let parts = graph.scan(&Request::of(Tables::NodeKeys(ty)))?;
    let known: Option<u64> = parts.iter().map(|part| part.rows()).sum();
    match known.or(graph.graph().nodes[ty].rows) {
        Some(rows) => Ok(rows),
        None => Err(Error::new(Kind::Incomplete, "the number of nodes is unknown").hint("isomorph validate PATH")),
    }
}

/// Name and type from `score:double`.
pub(super) fn declared(column: &str) -> Result<(&str, Option<DataType>)> {
    let Some((name, ty)) = column.rsplit_once(':') else { return Ok((column, None)) };
    let ty = if ty == "timestamp" { "timestamp[ms]" } else { ty };
    let data_type = parse_type(ty).map_err(|_| {
        Error::usage(format!("{ty:?} is not a type")).hint("bool, int32, int64, float, double, string, date, timestamp")
    })?;
    Ok((name, Some(data_type)))
}

/// The property for a column: dictionaries and long texts become text, small integers become integers.
fn property(schema: &Schema, name: &str) -> Property {
    let data_type = schema.field_with_name(name).map_or(DataType::Utf8, |field| field.data_type().clone());
    Property::new(name, plain(data_type))
}

fn plain(data_type: DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, value) => plain(*value),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::Float16 => DataType::Float32,
        other => other,
    }
}

fn called(key: Option<&str>) -> String {
    key.map(|key| format!(", as in {key}")).unwrap_or_default()
}

pub(super) fn encoding_of(name: &str) -> Option<Encoding> {
    let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "parquet" | "parq" | "pq" => Some(Encoding::Parquet),
        "orc" => Some(Encoding::Orc),
        "csv" => Some(Encoding::Csv),
        "json" | "jsonl" | "ndjson" => Some(Encoding::JsonLines),
        _ => None,
    }
}
