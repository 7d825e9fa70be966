//! Writes a graph as tables: a file for each type, and the mapping file beside them; or a sheet of a workbook for each.

mod layout;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt64Array, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::type_name::{ITEM, list_of};
use isomorph_model::{
    Batch, Columns, Delivery, Direction, EdgeBatch, Ends, Graph, KeyKind, LabelColumn, NodeBatch, Sink, ValueKind,
    Written,
};
use isomorph_storage::{Scratch, StagedFile, Staging};
use isomorph_tables::{
    ColumnEncoding, CsvDialect, Encoding, Quoting, ROW_GROUP_ROWS, TableWriter, WriteOptions as Writing,
};

use crate::find::MAPPING;
use crate::neo4j;
use crate::sql::{Column, ExternalTable, Script};
use crate::workbook::Book;
pub use layout::check_workbook;
use layout::laid_out;
pub(crate) use layout::{free, script};

/// The least rows of a row group.
const LEAST_ROWS: usize = 1 << 14;

/// What tables are written as, or found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A file for each table.
    Tables(Encoding),
    /// CSV whose headers are those of Neo4j's admin import.
    Neo4j,
    /// The sheets of a workbook.
    Workbook,
    /// JSON lines of KGX: nodes and edges of one type each.
    Kgx,
}

impl Form {
    /// The encoding of all tables, as the mapping says it: a sheet is read as CSV.
    pub fn encoding(self) -> Encoding {
        match self {
            Form::Tables(encoding) => encoding,
            Form::Neo4j | Form::Workbook => Encoding::Csv,
            Form::Kgx => Encoding::JsonLines,
        }
    }
}

/// How tables are written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// What is written.
    pub form: Form,
    /// Temporary files, for the sheets of a workbook.
    pub scratch: Option<Scratch>,
}

/// Tables that are being written.
pub struct TablesWriter<'a> {
    staging: &'a Staging,
    encoding: Encoding,
    /// Whether the mapping is written, too.
    has_mapping: bool,
    script: Script,
    /// Tables of nodes, then those of edges.
    tables: Vec<Open>,
    nodes: usize,
    direction: Vec<Direction>,
    /// Rows that wait in memory for each table of Parquet.
    row_group_rows: usize,
    /// The workbook, if tables are its sheets.
    book: Option<Book>,
}

/// A table that is being written.
struct Open {
    file: String,
    schema: SchemaRef,
    writer: Option<TableWriter<StagedFile>>,
    finished: bool,
    key: KeyKind,
    has_labels: bool,
    /// What every row has in a column of its own, for Neo4j: the type of nodes, or the relation.
    name: Option<String>,
    /// Columns of keys that a dictionary of Parquet does not make smaller.
    without_dictionary: Vec<String>,
}

impl<'a> TablesWriter<'a> {
    /// Begins the tables of a graph of nodes and edges.
    ///
    /// # Errors
    /// When the graph has more than that, or values that the encoding does not have.
    pub fn create(staging: &'a Staging, graph: &Graph, options: WriteOptions) -> Result<Self> {
        let (encoding, (script, tables)) = (options.form.encoding(), laid_out(graph, options.form)?);
        let direction: Vec<Direction> = graph.edges.iter().map(|ty| ty.direction).collect();
        let nodes = graph.nodes.len();
        // Edges of all types may come mixed: then the tables of all of them are open together.
        let row_group_rows = (ROW_GROUP_ROWS / direction.len().max(1)).max(LEAST_ROWS);
        let book = match options.form {
            Form::Workbook => Some(Book::new(options.scratch, tables.iter().map(|table| table.file.as_str()))?),
            Form::Tables(_) | Form::Neo4j | Form::Kgx => None,
        };
        let has_mapping = options.form != Form::Kgx;
        Ok(TablesWriter { staging, encoding, has_mapping, script, tables, nodes, direction, row_group_rows, book })
    }

    fn put(&mut self, at: usize, columns: Vec<ArrayRef>, rows: usize) -> Result<()> {
        let table = self.tables.get_mut(at).ok_or_else(|| Error::usage("no such table"))?;
        let file = table.file.clone();
        let placed = |error: Error| error.at(Place::file(file.as_str()));
        let is_neo4j = table.name.is_some();
        let columns = columns.iter().zip(table.schema.fields()).map(|(column, field)| match is_neo4j {
            true => fitted(&neo4j::as_read(column, field.name())?, field),
            false => fitted(column, field),
        });
        let columns = columns.collect::<Result<Vec<_>>>().map_err(placed)?;
        if self.encoding == Encoding::JsonLines {
            let declared = self.script.tables.get(at).map(|table| table.columns.as_slice()).unwrap_or_default();
            let json = columns.iter().zip(declared).filter(|(_, column)| column.ty.kind == ValueKind::Json);
            json.into_iter().try_for_each(|(column, own)| strict_json(column, own)).map_err(placed)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&table.schema), columns, &options)
            .map_err(|error| placed(Error::malformed(error.to_string())))?;
        if table.finished {
            return Err(Error::usage("rows of a table come after it was finished"));
        }
        if let Some(book) = &mut self.book {
            return book.write(at, &batch).map_err(placed);
        }
        let declared = &self.script.tables[at];
        table.writer(self.staging, self.encoding, declared, self.row_group_rows)?.write(&batch).map_err(placed)
    }

    /// Finishes tables, whose rows have all come.
    fn finish_tables(&mut self, which: std::ops::Range<usize>) -> Result<()> {
        let tables = self.tables.iter_mut().zip(&self.script.tables).enumerate();
        for (at, (table, declared)) in tables.take(which.end).skip(which.start) {
            if std::mem::replace(&mut table.finished, true) {
                continue;
            }
            match &mut self.book {
                Some(book) => book.finish_table(at, &table.schema)?,
                None => table.finish(self.staging, self.encoding, declared, self.row_group_rows)?,
            }
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        let table = self.tables.get(nodes.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let keys: ArrayRef = match &nodes.keys {
            _ if table.key == KeyKind::Row => {
                Arc::new((nodes.start..nodes.start + nodes.rows as u64).collect::<UInt64Array>())
            }
            Some(keys) => Arc::clone(keys),
            None => return Err(Error::usage("nodes have no keys")),
        };
        let mut columns = vec![keys];
        if let Some(name) = &table.name {
            let labels = nodes.labels.as_ref().filter(|_| table.has_labels);
            columns.push(neo4j::labels(name, labels, nodes.rows, &table.file)?);
        } else if table.has_labels {
            columns.push(match (&nodes.labels, self.encoding) {
                (Some(labels), Encoding::Csv) => label_texts(labels, nodes.rows)?,
                (Some(labels), _) => label_lists(labels, nodes.rows),
                (None, Encoding::Csv) => new_null_array(&DataType::Utf8, nodes.rows),
                (None, _) => new_null_array(&list_of(DataType::Utf8), nodes.rows),
            });
        }
        let from = columns.len();
        let schema = Arc::clone(&table.schema);
        push(&nodes.properties, &schema, from, nodes.rows, &mut columns);
        self.put(nodes.ty, columns, nodes.rows)
    }

    fn edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        self.finish_tables(0..self.nodes)?;
        let at = self.nodes + edges.ty;
        let table = self.tables.get(at).ok_or_else(|| Error::usage("no such edge type"))?;
        let key = |ends: &Ends| match ends {
            Ends::Keys(keys) => Arc::clone(keys),
            Ends::Rows(rows) => Arc::new(rows.clone()) as ArrayRef,
        };
        let mut columns = vec![key(&edges.source), key(&edges.target)];
        if let Some(name) = &table.name {
            columns.push(Arc::new(StringArray::from(vec![name.as_str(); edges.rows])));
        }
        if self.direction.get(edges.ty) == Some(&Direction::PerRow) {
            columns.push(match &edges.directed {
                Some(directed) => Arc::new(directed.clone()),
                None => new_null_array(&DataType::Boolean, edges.rows),
            });
        }
        let from = columns.len();
        let schema = Arc::clone(&table.schema);
        push(&edges.properties, &schema, from, edges.rows, &mut columns);
        self.put(at, columns, edges.rows)
    }
}

impl Open {
    fn new(
        file: String,
        columns: &[Column],
        encoding: Encoding,
        (key, has_labels, name): (KeyKind, bool, Option<String>),
    ) -> Self {
        let field = |column: &Column| {
            // Lists in CSV are text: labels are the only ones, unless the table is for Neo4j.
            let is_list = matches!(column.ty.data_type, DataType::List(_)) && encoding == Encoding::Csv;
            let is_spelled = name.is_some() && neo4j::is_spelled(&column.ty.data_type);
            let data_type = if is_list || is_spelled { DataType::Utf8 } else { column.ty.data_type.clone() };
            Field::new(&column.name, data_type, !column.required)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        Open { file, schema, writer: None, finished: false, key, has_labels, name, without_dictionary: Vec::new() }
    }

    /// The writer, which is created at the first call.
    fn writer(
        &mut self,
        staging: &Staging,
        encoding: Encoding,
        table: &ExternalTable,
        row_group_rows: usize,
    ) -> Result<&mut TableWriter<StagedFile>> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let raw = table.columns.iter().filter(|column| column.ty.kind == ValueKind::Json);
                let options = Writing {
                    csv: CsvDialect { quoting: Quoting::Sparing, ..CsvDialect::default() },
                    raw_json: raw.map(|column| column.name.clone()).collect(),
                    row_group_rows,
                    encodings: self
                        .without_dictionary
                        .iter()
                        .map(|name| (name.clone(), ColumnEncoding::Plain))
                        .collect(),
                    ..Writing::default()
                };
                let file = staging.create(&self.file)?;
                TableWriter::create(file, encoding, &self.schema, &options)?
            }
        };
        Ok(self.writer.insert(writer))
    }

    fn finish(
        &mut self,
        staging: &Staging,
        encoding: Encoding,
        table: &ExternalTable,
        row_group_rows: usize,
    ) -> Result<()> {
        self.writer(staging, encoding, table, row_group_rows)?;
        if let Some(writer) = self.writer.take() {
            let (file, _) = writer.finish()?;
            file.finish()?;
        }
        Ok(())
    }
}

/// Appends the columns of properties, which are those of the schema from `from` on.
fn push(properties: &Columns, schema: &Schema, from: usize, rows: usize, columns: &mut Vec<ArrayRef>) {
    for (column, field) in properties.iter().zip(schema.fields().iter().skip(from)) {
        columns.push(match column {
            Some(column) => Arc::clone(column),
            None => new_null_array(field.data_type(), rows),
        });
    }
}

/// Fails where a cell is JSON only as Python writes it.
fn strict_json(column: &ArrayRef, own: &Column) -> Result<()> {
    let texts = column.as_string_opt::<i32>().into_iter().flat_map(|texts| texts.iter()).flatten();
    for text in texts {
        serde_json::from_str::<&serde_json::value::RawValue>(text).map_err(|error| {
            let what = format!("JSON lines have no place for a value that JSON does not have: {error}");
            Error::new(Kind::WouldLose, what)
                .at(Place::field(&own.name))
                .hint("--to parquet, --to csv    keep it as text")
        })?;
    }
    Ok(())
}

/// The column as the type of the field, which holds its values.
fn fitted(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    if column.data_type() == field.data_type() {
        return Ok(Arc::clone(column));
    }
    let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
    let failed = |error: arrow_schema::ArrowError| {
        Error::new(Kind::WouldLose, error.to_string()).at(Place::field(field.name())).caused_by(error)
    };
    arrow_cast::cast_with_options(column, field.data_type(), &options).map_err(failed)
}

/// Labels as lists; nodes without labels have none.
fn label_lists(labels: &LabelColumn, rows: usize) -> ArrayRef {
    let field = Field::new(ITEM, DataType::Utf8, true);
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(field);
    for row in 0..rows {
        labels.row(row).for_each(|label| lists.values().append_value(label));
        lists.append(true);
    }
    Arc::new(lists.finish())
}

/// Labels as JSON.
fn label_texts(labels: &LabelColumn, rows: usize) -> Result<ArrayRef> {
    let mut texts = StringBuilder::new();
    for row in 0..rows {
        let all: Vec<&str> = labels.row(row).collect();
        texts.append_value(serde_json::to_string(&all).map_err(|error| Error::malformed(error.to_string()))?);
    }
    Ok(Arc::new(texts.finish()))
}

impl Sink for TablesWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        let nodes = (0..self.nodes).map(Delivery::Nodes);
        nodes.chain((0..self.direction.len()).map(Delivery::EdgesAsTheyCome)).collect()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(&nodes),
            Batch::Edges(edges) => self.edges(&edges),
            _ => Err(Error::usage("tables hold only nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.finish_tables(0..self.tables.len())?;
        if let Some(book) = self.book {
            return book.finish(self.staging, self.script);
        }
        if self.has_mapping {
            let mut file = self.staging.create(MAPPING)?;
            std::io::Write::write_all(&mut file, self.script.to_string().as_bytes())?;
            file.finish()?;
        }
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
