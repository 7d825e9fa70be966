//! Writes a graph as tables: a file for each type, and the mapping file beside them.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt64Array, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::type_name::{ITEM, list_of};
use isomorph_model::{
    Batch, Columns, Delivery, Direction, EdgeBatch, Ends, Graph, KeyKind, LabelColumn, LabelVocabulary, NodeBatch,
    Property, Sink, ValueKind, Written,
};
use isomorph_storage::{StagedFile, Staging};
use isomorph_tables::{CsvDialect, Encoding, Quoting, ROW_GROUP_ROWS, TableWriter, WriteOptions as Writing};

use crate::find::MAPPING;
use crate::sql::{
    Column, ColumnType, Edge, End, ExternalTable, Hints, Properties, PropertyGraph, Script, TableOptions, Vertex,
};
use crate::{holds, neo4j};

/// The least rows of a row group.
const LEAST_ROWS: usize = 1 << 14;

/// How tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// The encoding of all tables.
    pub encoding: Encoding,
    /// Whether headers are those of Neo4j's admin import, in CSV.
    pub neo4j: bool,
}

/// The ending of files.
pub(crate) fn extension(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Csv => "csv",
        Encoding::Parquet => "parquet",
        Encoding::Arrow => "arrow",
        Encoding::JsonLines => "jsonl",
        Encoding::Orc => "orc",
    }
}

/// Tables that are being written.
pub struct TablesWriter<'a> {
    staging: &'a Staging,
    encoding: Encoding,
    script: Script,
    /// Tables of nodes, then those of edges.
    tables: Vec<Open>,
    nodes: usize,
    direction: Vec<Direction>,
    /// Rows that wait in memory for each table of Parquet.
    row_group_rows: usize,
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
}

/// The mapping of a graph to tables.
///
/// # Errors
/// When the graph has more than nodes and edges, or values that the encoding does not have.
pub(crate) fn script(graph: &Graph, options: WriteOptions) -> Result<Script> {
    Ok(laid_out(graph, options)?.0)
}

/// The mapping of a graph to tables, and the tables.
fn laid_out(graph: &Graph, options: WriteOptions) -> Result<(Script, Vec<Open>)> {
    let encoding = options.encoding;
    check(graph, options)?;
    let mut script = Script {
        graph: PropertyGraph { name: graph.name.clone().unwrap_or_else(|| "g".to_owned()), ..PropertyGraph::default() },
        ..Script::default()
    };
    let spaces = options.neo4j.then(|| neo4j::Spaces::of(graph));
    let listed = |properties: &[Property]| listed(properties, options.neo4j);
    let column = |property: &Property| column(property, options.neo4j);
    let array_delimiter = options.neo4j.then_some(neo4j::ITEMS);
    let (mut names, mut tables) = (Names::default(), Vec::new());
    for (at, ty) in graph.nodes.iter().enumerate() {
        let (name, file) = names.give(&ty.name, encoding);
        let mut taken: Vec<&str> = ty.properties.iter().map(|property| property.name.as_str()).collect();
        let fields = spaces.as_ref().map(|spaces| spaces.nodes(at, ty));
        let key = match ty.key.name.as_deref().filter(|name| !taken.contains(name) && !name.is_empty()) {
            Some(name) => name.to_owned(),
            None => free("id", &taken),
        };
        let key = fields.as_ref().map_or(key, |fields| fields.id.clone());
        taken.push(&key);
        let has_labels = ty.labels != LabelVocabulary::None;
        let labels = has_labels.then(|| free("labels", &taken));
        let labels = fields.as_ref().map_or(labels, |fields| Some(fields.labels.to_owned()));
        let key_type = match ty.key.kind {
            KeyKind::Row => DataType::Int64,
            KeyKind::Utf8 | KeyKind::Term => DataType::Utf8,
            _ => ty.key.data_type.clone(),
        };
        let mut columns = vec![required(&key, key_type)];
        columns.extend(labels.iter().map(|name| Column {
            name: name.clone(),
            ty: ColumnType::plain(list_of(DataType::Utf8)),
            required: false,
        }));
        columns.extend(ty.properties.iter().map(column));
        let table_options = TableOptions {
            labels: labels.filter(|_| has_labels),
            type_label: fields.is_some() && has_labels,
            array_delimiter,
            row_keys: ty.key.kind == KeyKind::Row,
            ..TableOptions::default()
        };
        let own = fields.is_some().then(|| ty.name.clone());
        tables.push(Open::new(file.clone(), &columns, encoding, (ty.key.kind, has_labels, own)));
        let mut properties = listed(&ty.properties);
        if let (Some(name), Properties::Listed(all)) = (fields.and_then(|fields| fields.key), &mut properties) {
            // The key has its own name.
            all.insert(0, (key.clone(), name));
        }
        script.graph.vertices.push(Vertex {
            table: name.clone(),
            alias: name.clone(),
            key: Some(key),
            label: ty.name.clone(),
            properties,
            at: Default::default(),
        });
        script.tables.push(table(name, file, columns, encoding, &table_options));
    }
    for ty in &graph.edges {
        let (source, relation, target) = graph.edge_name(ty);
        let is_alone = graph.edges.iter().filter(|other| other.relation == ty.relation).count() == 1
            && !graph.nodes.iter().any(|node| node.name == relation);
        let wanted = if is_alone { relation.clone() } else { format!("{source}_{relation}_{target}") };
        let (name, file) = names.give(&wanted, encoding);
        let mut taken: Vec<String> = ty.properties.iter().map(|property| property.name.clone()).collect();
        let mut role = |wanted: &str| {
            let name = free(wanted, &taken.iter().map(String::as_str).collect::<Vec<_>>());
            taken.push(name.clone());
            name
        };
        let fields = spaces.as_ref().map(|spaces| spaces.edges(ty));
        let ends = [role("source"), role("target")];
        let ends = fields.as_ref().map_or(ends, |fields| fields.ends.clone());
        let directed = (ty.direction == Direction::PerRow).then(|| role("directed"));
        let directed = directed.map(|name| fields.as_ref().map_or(name, |fields| fields.directed.clone()));
        let end = |side: usize, node: usize| -> Result<(Column, End)> {
            let of = script.graph.vertices.get(node).zip(script.tables.get(node));
            let (vertex, table) = of.ok_or_else(|| Error::usage("an edge type ends in no node type"))?;
            let key = table.columns.first().ok_or_else(|| Error::usage("a table has no columns"))?;
            let column = Column { name: ends[side].clone(), ..key.clone() };
            let references = vertex.alias.clone();
            let end =
                End { column: ends[side].clone(), references, referenced: vertex.key.clone(), at: Default::default() };
            Ok((column, end))
        };
        let ((first, from), (second, to)) = (end(0, ty.source)?, end(1, ty.target)?);
        let mut columns = vec![first, second];
        columns.extend(fields.iter().map(|fields| required(fields.relation, DataType::Utf8)));
        columns.extend(directed.iter().map(|name| Column {
            name: name.clone(),
            ty: ColumnType::plain(DataType::Boolean),
            required: false,
        }));
        columns.extend(ty.properties.iter().map(column));
        let table_options = TableOptions {
            directed,
            undirected: ty.direction == Direction::Undirected,
            array_delimiter,
            ..TableOptions::default()
        };
        let own = fields.map(|_| relation.clone());
        tables.push(Open::new(file.clone(), &columns, encoding, (KeyKind::Row, false, own)));
        script.graph.edges.push(Edge {
            table: name.clone(),
            key: None,
            source: from,
            target: to,
            label: relation,
            properties: listed(&ty.properties),
            at: Default::default(),
        });
        script.tables.push(table(name, file, columns, encoding, &table_options));
    }
    if script.tables.is_empty() {
        // It has no file: it says of a graph without types in which encoding that is.
        let (name, file) = names.give("nothing", encoding);
        script.tables.push(table(name, file, Vec::new(), encoding, &TableOptions::default()));
    }
    Ok((script, tables))
}

impl<'a> TablesWriter<'a> {
    /// Begins the tables of a graph of nodes and edges.
    ///
    /// # Errors
    /// When the graph has more than that, or values that the encoding does not have.
    pub fn create(staging: &'a Staging, graph: &Graph, options: WriteOptions) -> Result<Self> {
        let (encoding, (script, tables)) = (options.encoding, laid_out(graph, options)?);
        let direction: Vec<Direction> = graph.edges.iter().map(|ty| ty.direction).collect();
        let nodes = graph.nodes.len();
        // Edges of all types may come mixed: then the tables of all of them are open together.
        let row_group_rows = (ROW_GROUP_ROWS / direction.len().max(1)).max(LEAST_ROWS);
        Ok(TablesWriter { staging, encoding, script, tables, nodes, direction, row_group_rows })
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
        let declared = &self.script.tables[at];
        table.writer(self.staging, self.encoding, declared, self.row_group_rows)?.write(&batch).map_err(placed)
    }

    /// Finishes tables, whose rows have all come.
    fn finish_tables(&mut self, which: std::ops::Range<usize>) -> Result<()> {
        for (table, declared) in self.tables.iter_mut().zip(&self.script.tables).take(which.end).skip(which.start) {
            table.finish(self.staging, self.encoding, declared, self.row_group_rows)?;
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
        Open { file, schema, writer: None, finished: false, key, has_labels, name }
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
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
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

fn required(name: &str, data_type: DataType) -> Column {
    Column { name: name.to_owned(), ty: ColumnType::plain(data_type), required: true }
}

fn column(property: &Property, for_neo4j: bool) -> Column {
    let ty = ColumnType {
        data_type: property.data_type.clone(),
        kind: if property.kind == ValueKind::Json { ValueKind::Json } else { ValueKind::Plain },
        cardinality: property.cardinality,
    };
    Column { name: field_of(property, for_neo4j), ty, required: !property.nullable }
}

fn listed(properties: &[Property], for_neo4j: bool) -> Properties {
    Properties::Listed(properties.iter().map(|own| (field_of(own, for_neo4j), own.name.clone())).collect())
}

/// The name of a property's column.
fn field_of(property: &Property, for_neo4j: bool) -> String {
    if for_neo4j { neo4j::field(property) } else { property.name.clone() }
}

fn table(
    name: String,
    location: String,
    columns: Vec<Column>,
    encoding: Encoding,
    options: &TableOptions,
) -> ExternalTable {
    ExternalTable {
        name,
        columns,
        encoding,
        location,
        options: options.written(),
        hints: Hints::default(),
        at: Default::default(),
    }
}

/// `wanted`, with `_` in front as long as it is taken.
pub(crate) fn free(wanted: &str, taken: &[&str]) -> String {
    let mut name = wanted.to_owned();
    while taken.contains(&name.as_str()) {
        name.insert(0, '_');
    }
    name
}

/// Names of tables and of their files, which differ also where upper and lower case are one.
#[derive(Default)]
struct Names {
    tables: HashSet<String>,
    files: HashSet<String>,
}

impl Names {
    fn give(&mut self, wanted: &str, encoding: Encoding) -> (String, String) {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let mut stem: String = wanted.chars().map(plain).take(60).collect();
        if stem.is_empty() || stem.starts_with('-') {
            stem.insert(0, '_');
        }
        let mut number = 1;
        loop {
            let stem = if number == 1 { stem.clone() } else { format!("{stem}_{number}") };
            let table = if number == 1 { wanted.to_owned() } else { format!("{wanted}_{number}") };
            let (lower, file) = (table.to_lowercase(), stem.to_lowercase());
            if !table.is_empty() && !self.tables.contains(&lower) && !self.files.contains(&file) {
                self.tables.insert(lower);
                self.files.insert(file);
                return (table, format!("{stem}.{}", extension(encoding)));
            }
            number += 1;
        }
    }
}

/// Fails where a graph has more than tables hold.
fn check(graph: &Graph, options: WriteOptions) -> Result<()> {
    let encoding = options.encoding;
    let holds = |property: &Property| match options.neo4j {
        true => neo4j::holds(property),
        false => holds(encoding, property),
    };
    let refused = |what: String| Err(Error::unsupported(what));
    if !graph.hyperedges.is_empty() || !graph.groups.is_empty() || !graph.values.is_empty() {
        return refused("tables hold only nodes and edges".to_owned());
    }
    for ty in &graph.nodes {
        let unheld = |property: &&Property| !holds(property) || property.name.is_empty();
        if let Some(property) = ty.properties.iter().find(unheld) {
            return refused(format!("{} has no column for {}.{}", encoding.name(), ty.name, property.name));
        }
        if ty.key.kind == KeyKind::Tuple {
            return refused(format!("the keys of {} are neither integers nor text", ty.name));
        }
    }
    for ty in &graph.edges {
        let Some(relation) = ty.relation.fixed() else {
            return refused("the edges of a table have one relation".to_owned());
        };
        if ty.key.is_some() || ty.layered {
            return refused(format!("the edges {relation} have keys or layers, which tables have no place for"));
        }
        if let Some(property) = ty.properties.iter().find(|property| !holds(property) || property.name.is_empty()) {
            return refused(format!("{} has no column for {relation}.{}", encoding.name(), property.name));
        }
    }
    Ok(())
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
        let mut file = self.staging.create(MAPPING)?;
        std::io::Write::write_all(&mut file, self.script.to_string().as_bytes())?;
        file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
