//! The tables that a graph is written as, and the mapping that says so.

use std::collections::HashSet;

use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::{Direction, Graph, KeyKind, LabelVocabulary, Property, ValueKind};
use isomorph_tables::{Encoding, SHEET_COLUMNS, check_sheet_text};

use super::{Form, Open};
use crate::sql::{
    Column, ColumnType, Edge, End, ExternalTable, Hints, Properties, PropertyGraph, Script, TableOptions, Vertex,
};
use crate::workbook::SheetNames;
use crate::{holds, neo4j};

/// The most nodes whose keys are put into dictionaries of Parquet, which have at most 1 MiB: of more, they would be given up.
const FEW: u64 = 100_000;

/// The ending of files.
fn extension(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Csv => "csv",
        Encoding::Parquet => "parquet",
        Encoding::Arrow => "arrow",
        Encoding::JsonLines => "jsonl",
        Encoding::Orc => "orc",
    }
}

/// The mapping of a graph to tables.
///
/// # Errors
/// When the graph has more than nodes and edges, or values that the encoding does not have.
pub(crate) fn script(graph: &Graph, form: Form) -> Result<Script> {
    Ok(laid_out(graph, form)?.0)
}

/// The mapping of a graph to tables, and the tables.
pub(super) fn laid_out(graph: &Graph, form: Form) -> Result<(Script, Vec<Open>)> {
    let (encoding, is_neo4j) = (form.encoding(), form == Form::Neo4j);
    check(graph, form)?;
    let mut script = Script {
        graph: PropertyGraph { name: graph.name.clone().unwrap_or_else(|| "g".to_owned()), ..PropertyGraph::default() },
        ..Script::default()
    };
    let spaces = is_neo4j.then(|| neo4j::Spaces::of(graph));
    let listed = |properties: &[Property]| listed(properties, is_neo4j);
    let column = |property: &Property| column(property, is_neo4j);
    let array_delimiter = is_neo4j.then_some(neo4j::ITEMS);
    let (mut names, mut tables) = (Names::default(), Vec::new());
    for (at, ty) in graph.nodes.iter().enumerate() {
        let (name, file) = names.give(if form == Form::Kgx { "nodes" } else { &ty.name }, form);
        let mut taken: Vec<&str> = ty.properties.iter().map(|property| property.name.as_str()).collect();
        let fields = spaces.as_ref().map(|spaces| spaces.nodes(at, ty));
        let key = match ty.key.name.as_deref().filter(|name| !taken.contains(name) && !name.is_empty()) {
            Some(name) => name.to_owned(),
            None => free("id", &taken),
        };
        let key = fields.as_ref().map_or(key, |fields| fields.id.clone());
        taken.push(&key);
        let has_labels = ty.labels != LabelVocabulary::None;
        let labels = has_labels.then(|| free(if form == Form::Kgx { "category" } else { "labels" }, &taken));
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
        let mut open = Open::new(file.clone(), &columns, encoding, (ty.key.kind, has_labels, own));
        // No key occurs twice.
        open.without_dictionary.push(key.clone());
        tables.push(open);
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
        let (name, file) = names.give(if form == Form::Kgx { "edges" } else { &wanted }, form);
        let mut taken: Vec<String> = ty.properties.iter().map(|property| property.name.clone()).collect();
        let mut role = |wanted: &str| {
            let name = free(wanted, &taken.iter().map(String::as_str).collect::<Vec<_>>());
            taken.push(name.clone());
            name
        };
        let fields = spaces.as_ref().map(|spaces| spaces.edges(ty));
        let ends = if form == Form::Kgx { ["subject", "object"] } else { ["source", "target"] };
        let ends = ends.map(&mut role);
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
        let mut open = Open::new(file.clone(), &columns, encoding, (KeyKind::Row, false, own));
        let sides = [(&ends[0], ty.source), (&ends[1], ty.target)].into_iter();
        let many =
            sides.filter(|(_, node)| graph.nodes.get(*node).and_then(|ty| ty.rows).is_some_and(|rows| rows > FEW));
        open.without_dictionary.extend(many.map(|(name, _)| name.clone()));
        tables.push(open);
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
        let (name, file) = names.give("nothing", form);
        script.tables.push(table(name, file, Vec::new(), encoding, &TableOptions::default()));
    }
    Ok((script, tables))
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
    sheets: SheetNames,
}

impl Names {
    /// The name of a table and its location.
    fn give(&mut self, wanted: &str, form: Form) -> (String, String) {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let mut stem: String = wanted.chars().map(plain).take(60).collect();
        if stem.is_empty() || stem.starts_with('-') {
            stem.insert(0, '_');
        }
        let mut number = 1;
        loop {
            let numbered = |name: &str| if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
            let (table, file) = (numbered(wanted), numbered(&stem));
            let (lower, lower_file) = (table.to_lowercase(), file.to_lowercase());
            if !table.is_empty() && !self.tables.contains(&lower) && !self.files.contains(&lower_file) {
                self.tables.insert(lower);
                self.files.insert(lower_file);
                let location = match form {
                    // Sheets have shorter names.
                    Form::Workbook => format!("#{}", self.sheets.give(&file)),
                    Form::Tables(_) | Form::Neo4j | Form::Kgx => format!("{file}.{}", extension(form.encoding())),
                };
                return (table, location);
            }
            number += 1;
        }
    }
}

/// Fails where a graph has more than tables hold.
fn check(graph: &Graph, form: Form) -> Result<()> {
    let encoding = form.encoding();
    let holds = |property: &Property| match form {
        Form::Neo4j => neo4j::holds(property),
        Form::Tables(_) | Form::Workbook | Form::Kgx => holds(encoding, property),
    };
    let refused = |what: String| Err(Error::unsupported(what));
    if !graph.hyperedges.is_empty() || !graph.groups.is_empty() || !graph.values.is_empty() {
        return refused("tables hold only nodes and edges".to_owned());
    }
    if form == Form::Kgx && (graph.nodes.len(), graph.edges.len()) != (1, 1) {
        return refused("KGX has one table of nodes and one of edges".to_owned());
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

/// Fails where a type of a graph has more columns than a sheet, or longer names.
///
/// # Errors
/// [`isomorph_error::Kind::WouldLose`].
pub fn check_workbook(graph: &Graph) -> Result<()> {
    let (_, tables) = laid_out(graph, Form::Workbook)?;
    for table in tables {
        let place = |error: Error| error.at(Place::file(table.file.as_str()));
        if table.schema.fields().len() > SHEET_COLUMNS {
            let what = format!("a sheet has at most {SHEET_COLUMNS} columns, and this type needs more");
            return Err(place(
                Error::new(Kind::WouldLose, what).hint("--to parquet, --to csv    tables without this limit"),
            ));
        }
        let names = table.schema.fields().iter().map(|field| field.name());
        names.into_iter().try_for_each(|name| check_sheet_text(name)).map_err(place)?;
    }
    Ok(())
}
