//! Conventions of two tables: one of nodes, one of edges.

use isomorph_error::Result;
use isomorph_model::type_name::list_of;
use isomorph_model::well_known;

use arrow_schema::DataType;

use super::{Guess, TableFile, only};
use crate::sql::{ColumnType, Hints, Properties, TableOptions};

const NODE: &str = "node";
const EDGE: &str = "edge";

/// Names of files of nodes and of edges.
const NODES: &[&str] = &["nodes", "node", "vertices", "vertex"];
const EDGES: &[&str] = &["edges", "edge", "links", "relationships", "rels"];

/// Names of keys, the likeliest first.
const KEYS: &[&str] = &["id", "node_id", "nodeid", "node", "key", "vertex_id", "vertex", "name"];

/// Pairs of names of ends.
const ENDS: &[(&str, &str)] = &[
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("from_id", "to_id"),
    ("source_id", "target_id"),
    ("start", "end"),
    ("subject", "object"),
    ("head", "tail"),
    ("u", "v"),
    ("node1", "node2"),
];

/// Properties of KGX that have several values, divided by `|` (KGX format, "multivalued").
const MULTIVALUED: &[&str] = &["xref", "synonym", "same_as", "publications", "provided_by", "in_taxon"];

fn has_role(file: &TableFile, names: &[&str]) -> bool {
    names.iter().any(|name| file.stem.eq_ignore_ascii_case(name))
}

/// KGX: nodes with `id` and `category`, edges with `subject`, `predicate` and `object`.
pub(super) fn kgx(files: &[TableFile]) -> Result<Option<Guess>> {
    let is_node = |file: &&TableFile| file.has("id") && file.has("category") && !file.has("subject");
    let is_edge = |file: &&TableFile| file.has("subject") && file.has("predicate") && file.has("object");
    let nodes: Vec<&TableFile> = files.iter().filter(is_node).collect();
    let edges: Vec<&TableFile> = files.iter().filter(is_edge).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let (Some(node), Some(edge)) = (only("nodes of KGX", &nodes)?, only("edges of KGX", &edges)?) else {
        return Ok(None);
    };
    let mut guess = Guess::new("KGX");
    let hints = |file: &TableFile, more: &[&str]| {
        let lists = MULTIVALUED.iter().chain(more).filter(|name| file.delimiter.is_some() && file.has(name));
        let list = |name: &&str| ((*name).to_owned(), ColumnType::plain(list_of(DataType::Utf8)));
        let mut types: Vec<(String, ColumnType)> = lists.map(list).collect();
        // Identifiers are CURIEs.
        let texts = ["id", "subject", "predicate", "object"].iter().filter(|name| file.has(name));
        types.extend(texts.map(|name| ((*name).to_owned(), ColumnType::plain(DataType::Utf8))));
        Hints { types, ..Hints::default() }
    };
    let text = node.delimiter.is_some();
    let of_node = TableOptions {
        labels: Some("category".to_owned()),
        array_delimiter: text.then_some('|'),
        ..TableOptions::default()
    };
    let table = guess.table(node, of_node, hints(node, &["category"]));
    guess.vertex(table.clone(), "id", NODE, Properties::All);
    guess.tell(node, "nodes: key id, labels category".to_owned());
    let of_edge = TableOptions {
        relation: Some("predicate".to_owned()),
        array_delimiter: edge.delimiter.is_some().then_some('|'),
        ..TableOptions::default()
    };
    let own = guess.table(edge, of_edge, hints(edge, &[]));
    guess.edge(own, [("subject", &table), ("object", &table)], EDGE, Properties::All);
    guess.tell(edge, "edges from subject to object: an edge type for each predicate".to_owned());
    Ok(Some(guess))
}

/// Gephi: nodes with `Id`, edges with `Source`, `Target` and one of its other columns.
pub(super) fn gephi(files: &[TableFile]) -> Result<Option<Guess>> {
    let is_edge = |file: &&TableFile| {
        file.has("Source") && file.has("Target") && ["Type", "Weight", "Id", "Label"].iter().any(|name| file.has(name))
    };
    let is_node = |file: &&TableFile| file.has("Id") && !file.has("Source");
    let nodes: Vec<&TableFile> = files.iter().filter(is_node).collect();
    let edges: Vec<&TableFile> = files.iter().filter(is_edge).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let (Some(node), Some(edge)) = (only("nodes of Gephi", &nodes)?, only("edges of Gephi", &edges)?) else {
        return Ok(None);
    };
    let mut guess = Guess::new("Gephi");
    let header = TableOptions::default();
    let table = guess.table(node, header.clone(), Hints::default());
    guess.vertex(table.clone(), "Id", NODE, Properties::All);
    guess.tell(node, "nodes: key Id".to_owned());
    let directed = edge.has("Type").then(|| "Type".to_owned());
    let by = if directed.is_some() { "direction by Type" } else { "all with a direction" };
    let types = directed.iter().map(|name| (name.clone(), ColumnType::plain(DataType::Utf8))).collect();
    let own = guess.table(edge, TableOptions { directed, ..header }, Hints { types, ..Hints::default() });
    let properties = edge.columns.iter().filter(|name| !["Source", "Target", "Type"].contains(&name.as_str()));
    let called = |name: &String| match name.as_str() {
        "Weight" => (name.clone(), well_known::WEIGHT.to_owned()),
        _ => (name.clone(), name.clone()),
    };
    let properties = Properties::Listed(properties.map(called).collect());
    guess.edge(own, [("Source", &table), ("Target", &table)], EDGE, properties);
    guess.tell(edge, format!("edges from Source to Target: {by}"));
    Ok(Some(guess))
}

/// Two tables that are called nodes and edges.
pub(super) fn plain(files: &[TableFile]) -> Result<Option<Guess>> {
    let nodes: Vec<&TableFile> = files.iter().filter(|file| has_role(file, NODES)).collect();
    let edges: Vec<&TableFile> = files.iter().filter(|file| has_role(file, EDGES)).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let (Some(node), Some(edge)) = (only("nodes", &nodes)?, only("edges", &edges)?) else { return Ok(None) };
    let known = KEYS.iter().find_map(|name| node.find(name));
    let (Some(key), [first, second, ..]) =
        (known.or(node.columns.first().map(String::as_str)), edge.columns.as_slice())
    else {
        return Ok(None);
    };
    let pair = ENDS.iter().find_map(|(source, target)| Some((edge.find(source)?, edge.find(target)?)));
    let (source, target) = pair.unwrap_or((first, second));
    let mut guess = Guess::new("two tables, nodes and edges");
    let header = TableOptions::default();
    let table = guess.table(node, header.clone(), Hints::default());
    guess.vertex(table.clone(), key, NODE, Properties::All);
    let why = if known.is_some() { "by its name" } else { "the first column" };
    guess.tell(node, format!("nodes: key {key}, {why}"));
    let own = guess.table(edge, header, Hints::default());
    guess.edge(own, [(source, &table), (target, &table)], EDGE, Properties::All);
    let why = if pair.is_some() { "by their names" } else { "the first two columns" };
    guess.tell(edge, format!("edges from {source} to {target}, {why}, all with a direction"));
    Ok(Some(guess))
}
