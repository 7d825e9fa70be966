//! The types of a graph that consists of dataframes, and their batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, SchemaRef};
use isomorph::convert::REPEATED_KEY;
use isomorph::error::Place;
use isomorph::model::label::LabelBuilder;
use isomorph::model::{
    Batch, Direction, EdgeBatch, EdgeType, Ends, Key, KeyKind, LabelColumn, LabelVocabulary, MemoryGraph, NodeBatch,
    NodeType, Property, Relation, Relations,
};
use isomorph::storage::Resources;
use isomorph::tables::lookup::{KeyRowsBuilder, LookupOptions};
use isomorph::{Error, Result, did_you_mean};

use super::columns::{converted, is_property, no_nulls, property, role, written};
use super::directed::Directed;
use super::ends::distinct;
use super::{Edges, Nodes, empty};
use crate::work::Watch;

/// Names of the column of keys, if nothing else says which one it is.
const KEYS: &[&str] = &["id", "key"];

/// Names of the columns of ends.
const ENDS: [&[&str]; 2] = [&["source", "src", "from"], &["target", "dst", "to"]];

/// Makes a graph of tables. Nodes of types without a table are the ends of their edges.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for tables without the named columns, and types that do not exist;
/// [`isomorph::Kind::Malformed`] for nulls in keys and ends, and keys that occur twice: not every format notices these.
pub(crate) fn graph(
    name: Option<String>,
    mut nodes: Vec<Nodes>,
    edges: Vec<Edges>,
    resources: &Resources,
    watch: &Watch,
) -> Result<MemoryGraph> {
    let mut memory = empty(name);
    if nodes.is_empty() {
        let named = edges.iter().flat_map(|edges| edges.types.iter().flatten());
        let mut names: Vec<String> = Vec::new();
        named.for_each(|name| {
            if !names.contains(name) {
                names.push(name.clone())
            }
        });
        if names.is_empty() && !edges.is_empty() {
            names.push("node".to_owned());
        }
        nodes.extend(names.into_iter().map(|name| Nodes { name, table: None, key: None, labels: None }));
    }
    if nodes.is_empty() {
        return Err(Error::usage("there are no tables").hint("nodes={\"person\": dataframe}"));
    }
    let names: Vec<String> = nodes.iter().map(|nodes| nodes.name.clone()).collect();
    if let Some((at, name)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        return Err(Error::usage(format!("node type {name:?} is given twice (table {})", at + 1)));
    }
    let mut read = Vec::new();
    for edges in edges {
        read.push(ReadEdges::of(edges, &names, watch)?);
    }
    for (ty, own) in nodes.into_iter().enumerate() {
        match own.table {
            Some(_) => add_nodes(&mut memory, ty, own, resources, watch)?,
            None => add_ends(&mut memory, ty, own.name, &read)?,
        }
    }
    for edges in read {
        edges.add(&mut memory)?;
    }
    Ok(memory)
}

/// The position of a column: the named one; otherwise the one with a role, or a usual name.
pub(super) fn column(
    schema: &SchemaRef,
    named: Option<&str>,
    wanted: &str,
    usual: &[&str],
    what: &str,
) -> Result<Option<usize>> {
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    if let Some(name) = named {
        return match names().position(|own| own == name) {
            Some(at) => Ok(Some(at)),
            None => {
                let near = did_you_mean(name, names());
                let error = Error::usage(format!("there is no column {name:?}{near}")).at(what);
                Err(error.hint(format!("the columns are {}", names().collect::<Vec<_>>().join(", "))))
            }
        };
    }
    let by_role = schema.fields().iter().position(|field| role(field) == Some(wanted));
    let by_name = || usual.iter().find_map(|usual| names().position(|own| own == *usual));
    Ok(by_role.or_else(by_name))
}

/// Which of the usual pairs of names the ends have, if several names of one end are there and nothing else says the ends.
///
/// # Errors
/// [`isomorph::Kind::Usage`] if that is not exactly one pair.
fn usual_ends(schema: &SchemaRef, named: &[Option<String>; 2], what: &str) -> Result<Option<usize>> {
    let has = |name: &str| schema.fields().iter().any(|field| field.name() == name);
    let said = |at: usize, role_of: &str| {
        named[at].is_some() || schema.fields().iter().any(|field| role(field) == Some(role_of))
    };
    let several = |at: usize, role_of: &str| !said(at, role_of) && ENDS[at].iter().filter(|name| has(name)).count() > 1;
    if !several(0, "source") && !several(1, "target") {
        return Ok(None);
    }
    let pairs: Vec<usize> = (0..ENDS[0].len()).filter(|pair| has(ENDS[0][*pair]) && has(ENDS[1][*pair])).collect();
    match pairs.as_slice() {
        [only] if !said(0, "source") && !said(1, "target") => Ok(Some(*only)),
        _ => {
            let there = ENDS.iter().flat_map(|names| names.iter()).filter(|name| has(name)).copied();
            let there = there.collect::<Vec<_>>().join(", ");
            let error = Error::usage(format!("several columns could be the ends of the edges: {there}")).at(what);
            Err(error.hint("source=, target=    the columns of the keys"))
        }
    }
}

fn required(found: Option<usize>, schema: &SchemaRef, option: &str, what: &str) -> Result<usize> {
    found.ok_or_else(|| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let error = Error::usage(format!("there is no column for {option}")).at(what);
        error.hint(format!("{option}=    one of the columns {}", names.join(", ")))
    })
}

/// The declaration of a key: integers or text.
fn key_of(field: &Field, what: &str) -> Result<Key> {
    let data_type = written(field, what)?;
    let kind = match &data_type {
        DataType::Utf8 => KeyKind::Utf8,
        other if other.is_integer() => KeyKind::Int,
        _ => {
            let found = isomorph::model::type_name::type_name(field.data_type());
            return Err(Error::usage(format!("keys must be integers or text, found {found}"))
                .at(Place::file(what).in_field(field.name().as_str()))
                .hint("convert the column to int64 or to text"));
        }
    };
    Ok(Key { kind, data_type, name: None })
}

/// The columns that are properties, with their positions.
fn properties(schema: &SchemaRef, taken: &[usize], what: &str) -> Result<Vec<(usize, Property)>> {
    let mut found: Vec<(usize, Property)> = Vec::new();
    let is_pandas = schema.metadata().contains_key("pandas");
    for (at, field) in schema.fields().iter().enumerate().filter(|(at, _)| !taken.contains(at)) {
        // An index without a name numbers rows; it is no column that anybody made.
        if is_pandas && field.name().starts_with("__index_level_") {
            continue;
        }
        match role(field) {
            _ if is_property(field) => {}
            // The position of a node is where it is in the table.
            Some("row" | "question") => continue,
            Some(role) => {
                let error = Error::unsupported(format!("columns of role {role} cannot be written from a dataframe"));
                let error = error.at(Place::file(what).in_field(field.name().as_str()));
                return Err(error.hint("isomorph.convert(…)    keeps them").hint("select(…)    leave the column out"));
            }
            None => {}
        }
        let own = property(field, what)?;
        if found.iter().any(|(_, other)| other.name == own.name) {
            let place = Place::file(what).in_field(field.name().as_str());
            return Err(Error::usage(format!("two columns are called {:?}", field.name())).at(place));
        }
        found.push((at, own));
    }
    Ok(found)
}

fn cells(batch: &RecordBatch, own: &[(usize, Property)], what: &str) -> Result<Vec<Option<ArrayRef>>> {
    let of = |(at, property): &(usize, Property)| {
        let name = batch.schema_ref().field(*at).name().clone();
        converted(batch.column(*at), &property.data_type, &name, what).map(Some)
    };
    own.iter().map(of).collect()
}

/// The labels of nodes, from lists of text.
fn labels(column: &ArrayRef, all: &mut Vec<String>, before: u64, field: &str, what: &str) -> Result<LabelColumn> {
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let column = converted(column, &list, field, what)?;
    let lists = column.as_list::<i32>();
    let mut builder = LabelBuilder::default();
    for row in 0..lists.len() {
        if lists.is_null(row) {
            builder.push([]);
            continue;
        }
        let texts = lists.value(row);
        if texts.null_count() > 0 {
            let place = Place::file(what).row(before + row as u64).in_field(field);
            return Err(Error::malformed("a label must not be null").at(place));
        }
        let texts: Vec<&str> = texts.as_string::<i32>().iter().flatten().collect();
        texts.iter().for_each(|text| {
            if !all.iter().any(|known| known == text) {
                all.push((*text).to_owned())
            }
        });
        builder.push(texts);
    }
    Ok(builder.finish())
}

fn add_nodes(memory: &mut MemoryGraph, ty: usize, own: Nodes, resources: &Resources, watch: &Watch) -> Result<()> {
    let Some(table) = own.table else { return Ok(()) };
    let (schema, batches, what) = table.read(watch)?;
    let what = what.as_str();
    let row = schema.fields().iter().position(|field| role(field) == Some("row"));
    let key = column(&schema, own.key.as_deref(), "key", KEYS, what)?;
    let key = match (key, row) {
        (Some(key), _) => Some(key),
        (None, Some(_)) => None,
        (None, None) => Some(required(None, &schema, "key", what)?),
    };
    let labels_at = column(&schema, own.labels.as_deref(), "labels", &[], what)?;
    let taken: Vec<usize> = key.into_iter().chain(row).chain(labels_at).collect();
    let own_properties = properties(&schema, &taken, what)?;
    let declared = match key {
        Some(at) => {
            let field = schema.field(at);
            let is_nameless = role(field) == Some("key") && field.name() == "key";
            let key = key_of(field, what)?;
            if is_nameless { key } else { key.named(field.name().as_str()) }
        }
        None => Key::row(),
    };
    let (mut start, mut all) = (0u64, Vec::new());
    let options = LookupOptions::new(&resources.budget, &resources.scratch).memory(resources.budget.limit() / 4);
    let mut different = KeyRowsBuilder::new(options.threads(resources.threads));
    for batch in batches {
        watch.check()?;
        let keys = match key {
            None => None,
            Some(at) => {
                no_nulls(batch.column(at), start, schema.field(at).name(), what)?;
                let keys = converted(batch.column(at), &declared.data_type, schema.field(at).name(), what)?;
                different.push(keys.as_ref())?;
                Some(keys)
            }
        };
        let labels =
            labels_at.map(|at| labels(batch.column(at), &mut all, start, schema.field(at).name(), what)).transpose()?;
        let (rows, properties) = (batch.num_rows(), cells(&batch, &own_properties, what)?);
        memory.batches.push(Batch::Nodes(NodeBatch { ty, start, numbers: None, rows, keys, labels, properties }));
        start += rows as u64;
    }
    if let Some(repeat) = different.finish()?.repeats().shown().first() {
        let message = format!("rows {} and {} have the same key", repeat.first, repeat.row);
        let field = key.map_or("", |at| schema.field(at).name().as_str());
        return Err(Error::broken(&REPEATED_KEY, message).at(Place::file(what).row(repeat.row).in_field(field)));
    }
    let mut described = NodeType::new(own.name, declared);
    described.labels = if labels_at.is_some() { LabelVocabulary::Declared(all) } else { LabelVocabulary::None };
    described.properties = own_properties.into_iter().map(|(_, property)| property).collect();
    described.rows = Some(start);
    memory.graph.nodes.push(described);
    Ok(())
}

/// Adds the nodes that edges name.
fn add_ends(memory: &mut MemoryGraph, ty: usize, name: String, edges: &[ReadEdges]) -> Result<()> {
    let what = format!("nodes of type {name}");
    let mut columns = Vec::new();
    for edges in edges {
        for (end, at) in edges.ends.iter().enumerate().filter(|(end, _)| edges.types[*end] == ty) {
            let field = edges.schema.field(*at);
            let data_type = key_of(field, &edges.what)?.data_type;
            let mut before = 0;
            for batch in &edges.batches {
                no_nulls(batch.column(*at), before, field.name(), &edges.what)?;
                before += batch.num_rows() as u64;
                columns.push(converted(batch.column(*at), &data_type, field.name(), &edges.what)?);
            }
            if edges.batches.is_empty() && end == 0 {
                columns.push(arrow_array::new_empty_array(&data_type));
            }
        }
    }
    let keys = distinct(&columns, &what)?;
    let kind = if *keys.data_type() == DataType::Utf8 { KeyKind::Utf8 } else { KeyKind::Int };
    let key = Key { kind, data_type: keys.data_type().clone(), name: Some("id".to_owned()) };
    let rows = keys.len();
    let mut described = NodeType::new(name, key);
    described.rows = Some(rows as u64);
    memory.graph.nodes.push(described);
    if rows > 0 {
        let (keys, properties) = (Some(keys), Vec::new());
        memory.batches.push(Batch::Nodes(NodeBatch {
            ty,
            start: 0,
            numbers: None,
            rows,
            keys,
            labels: None,
            properties,
        }));
    }
    Ok(())
}

/// A table of edges that was read.
struct ReadEdges {
    types: [usize; 2],
    relation: Option<String>,
    relation_at: Option<usize>,
    directed: Directed,
    ends: [usize; 2],
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    what: String,
}

impl ReadEdges {
    fn of(edges: Edges, names: &[String], watch: &Watch) -> Result<ReadEdges> {
        let Edges { types, relation, table, ends, directed } = edges;
        let what = table.what.clone();
        let ty = |name: &Option<String>, end: &str| match name {
            Some(name) => names.iter().position(|own| own == name).ok_or_else(|| {
                let near = did_you_mean(name, names.iter().map(String::as_str));
                Error::usage(format!("there is no node type {name:?}{near}")).at(what.as_str()).hint(names.join(", "))
            }),
            None if names.len() == 1 => Ok(0),
            None => {
                Err(Error::usage(format!("the type of the {end} must be named, because there are several node types"))
                    .at(what.as_str())
                    .hint("edges={(\"person\", \"knows\", \"person\"): dataframe}"))
            }
        };
        let types = [ty(&types[0], "source")?, ty(&types[1], "target")?];
        let (schema, batches, what) = table.read(watch)?;
        let pair = usual_ends(&schema, &ends, &what)?;
        let end = |at: usize, option: &str| {
            let usual = pair.map_or(ENDS[at], |pair| std::slice::from_ref(&ENDS[at][pair]));
            let found = column(&schema, ends[at].as_deref(), option, usual, &what)?;
            required(found, &schema, option, &what)
        };
        let ends = [end(0, "source")?, end(1, "target")?];
        if ends[0] == ends[1] {
            return Err(Error::usage("source and target are the same column").at(what));
        }
        let by_role = |wanted: &str| schema.fields().iter().position(|field| role(field) == Some(wanted));
        let relation_at = by_role("relation");
        let directed = Directed::of(directed, &schema, &what)?;
        if relation.is_none() && relation_at.is_none() {
            return Err(Error::usage("the edges have no relation").at(what).hint("edges={\"knows\": dataframe}"));
        }
        let relation_at = relation_at.filter(|_| relation.is_none());
        Ok(ReadEdges { types, relation, relation_at, directed, ends, schema, batches, what })
    }

    /// Adds them, after all nodes.
    fn add(self, memory: &mut MemoryGraph) -> Result<()> {
        let (ty, what) = (memory.graph.edges.len(), self.what.as_str());
        let mut taken = self.ends.to_vec();
        taken.extend(self.directed.column());
        // A column of relations is left out where the type says the relation.
        taken.extend(self.schema.fields().iter().position(|field| role(field) == Some("relation")));
        let own = properties(&self.schema, &taken, what)?;
        let mut before = 0u64;
        for batch in &self.batches {
            let [source, target] = [0, 1].map(|end| self.end(memory, batch, end, before));
            let directed = match self.directed.column() {
                None => None,
                Some(at) => {
                    let name = self.schema.field(at).name();
                    no_nulls(batch.column(at), before, name, what)?;
                    let column = converted(batch.column(at), &DataType::Boolean, name, what)?;
                    Some(column.as_boolean().clone())
                }
            };
            let relations = self.relation_at.map(|at| self.relations(batch, at, before)).transpose()?;
            let (rows, properties) = (batch.num_rows(), cells(batch, &own, what)?);
            let (source, target) = (source?, target?);
            let edges =
                EdgeBatch { ty, rows, relations, source, target, layers: None, directed, keys: None, properties };
            memory.batches.push(Batch::Edges(edges));
            before += rows as u64;
        }
        let mut described = EdgeType::new(self.types[0], self.relation.clone().unwrap_or_default(), self.types[1]);
        if self.relation_at.is_some() {
            described.relation = Relation::PerRow;
        }
        described.direction = match self.directed {
            Directed::Column(_) => Direction::PerRow,
            Directed::All(true) => Direction::Directed,
            Directed::All(false) => Direction::Undirected,
        };
        described.properties = own.into_iter().map(|(_, property)| property).collect();
        described.rows = Some(before);
        let name = memory.graph.edge_name(&described);
        if self.relation_at.is_none() && memory.graph.edges.iter().any(|other| memory.graph.edge_name(other) == name) {
            let (source, relation, target) = name;
            return Err(Error::usage(format!("edges {source} {relation} {target} are given twice")));
        }
        memory.graph.edges.push(described);
        Ok(())
    }

    /// The ends of a batch, with the type of the keys of their nodes.
    fn end(&self, memory: &MemoryGraph, batch: &RecordBatch, end: usize, before: u64) -> Result<Ends> {
        let (at, what) = (self.ends[end], self.what.as_str());
        let field = self.schema.field(at);
        let column = batch.column(at);
        no_nulls(column, before, field.name(), what)?;
        let nodes = memory.graph.nodes.get(self.types[end]).ok_or_else(|| Error::usage("a node type is missing"))?;
        if nodes.key.kind == KeyKind::Row {
            let rows = converted(column, &DataType::UInt64, field.name(), what)?;
            return Ok(Ends::Rows(rows.as_primitive().clone()));
        }
        let own = key_of(field, what)?;
        if own.kind != nodes.key.kind {
            let word = |kind: KeyKind| if kind == KeyKind::Int { "integers" } else { "texts" };
            let (found, expected) = (word(own.kind), word(nodes.key.kind));
            return Err(Error::usage(format!(
                "{} has {found}, but the keys of nodes of type {} are {expected}",
                field.name(),
                nodes.name
            ))
            .at(Place::file(what).in_field(field.name().as_str())));
        }
        converted(column, &nodes.key.data_type, field.name(), what).map(Ends::Keys)
    }

    fn relations(&self, batch: &RecordBatch, at: usize, before: u64) -> Result<Relations> {
        let (field, what) = (self.schema.field(at), self.what.as_str());
        no_nulls(batch.column(at), before, field.name(), what)?;
        let texts = converted(batch.column(at), &DataType::Utf8, field.name(), what)?;
        let mut names: Vec<String> = Vec::new();
        let index: UInt32Array = texts
            .as_string::<i32>()
            .iter()
            .map(|text| {
                let text = text.unwrap_or_default();
                let at = names.iter().position(|name| name == text).unwrap_or_else(|| {
                    names.push(text.to_owned());
                    names.len() - 1
                });
                u32::try_from(at).ok()
            })
            .collect();
        Ok(Relations { names: StringArray::from(names), index })
    }
}
