//! Node-link JSON: an object with a list of nodes and a list of edges, as NetworkX, D3 and KGX have it.

mod read;
pub mod rules;
mod write;

use isomorph_error::{Result, Rule};
use isomorph_model::Graph;
use isomorph_records::json::first_members;
use isomorph_records::{Form, Head, Reader, RecordRules, Syntax};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

pub(crate) use read::PairsReader;

/// The document with members of the file that are neither nodes nor edges.
pub const MEMBERS: &str = "members";

/// In the metadata of a graph: the name of the list of edges, and whether it is a multigraph.
pub(crate) const EDGES: &str = "nodelink.edges";
pub(crate) const MULTIGRAPH: &str = "nodelink.multigraph";

/// The two vocabularies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vocabulary {
    /// What the ends of edges are called.
    pub source: &'static str,
    pub target: &'static str,
    /// Whether the file states directions and parallel edges.
    pub has_head: bool,
}

pub(crate) const OF_NETWORKX: Vocabulary = Vocabulary { source: "source", target: "target", has_head: true };
pub(crate) const OF_KGX: Vocabulary = Vocabulary { source: "subject", target: "object", has_head: false };

/// Node-link JSON of NetworkX and D3.
pub struct NodeLink;

/// JSON of KGX.
pub struct Kgx;

const RULES: RecordRules =
    RecordRules { id: &rules::ID, end: &rules::END, value: &rules::VALUE, mixed: &rules::IDS, hyperedge: None };

impl Syntax for NodeLink {
    fn name(&self) -> &'static str {
        "node-link JSON"
    }

    fn rules(&self) -> RecordRules {
        RULES
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(PairsReader::new(file, OF_NETWORKX)?))
    }

    fn numbers_nodes(&self) -> bool {
        true
    }

    fn single_edges(&self, head: &Head) -> Option<&'static Rule> {
        (head.metadata.get(MULTIGRAPH).map(String::as_str) == Some("false")).then_some(&rules::MULTIGRAPH)
    }
}

impl Syntax for Kgx {
    fn name(&self) -> &'static str {
        "KGX JSON"
    }

    fn rules(&self) -> RecordRules {
        RULES
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(PairsReader::new(file, OF_KGX)?))
    }
}

impl NodeLink {
    /// Returns whether the file at `location` begins like node-link JSON.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        Ok(vocabulary_at(location)?.is_some_and(|own| own == OF_NETWORKX))
    }

    /// Returns what writes it.
    pub fn form() -> Box<dyn Form> {
        Box::new(write::PairsForm::new(OF_NETWORKX))
    }

    /// Returns whether a node, or an edge, may have a property of this name.
    pub fn is_property(name: &str) -> bool {
        name != "id"
    }

    /// The same for an edge. `key` distinguishes parallel edges in NetworkX: a property of that name that other graphs have would
    /// merge those of which it is the same.
    pub fn is_edge_property(name: &str) -> bool {
        !matches!(name, "source" | "target" | "key")
    }
}

impl Kgx {
    /// Returns whether the file at `location` begins like KGX JSON.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        Ok(vocabulary_at(location)?.is_some_and(|own| own == OF_KGX))
    }

    /// Returns what writes it.
    pub fn form() -> Box<dyn Form> {
        Box::new(write::PairsForm::new(OF_KGX))
    }

    /// Returns whether a node may have a property of this name.
    pub fn is_property(name: &str) -> bool {
        name != "id"
    }

    /// The same for an edge.
    pub fn is_edge_property(name: &str) -> bool {
        !matches!(name, "subject" | "object")
    }
}

/// Returns the documents that are written.
pub const DOCUMENTS: &[&str] = &[crate::OF_GRAPH, MEMBERS];

/// Returns the vocabulary of a file. The name decides where no edge tells, and no member of NetworkX is there.
fn vocabulary_at(location: &Location) -> Result<Option<Vocabulary>> {
    let begin = crate::detect::beginning(location)?;
    let name = location.file_name();
    let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let is_told = || {
        let members = first_members(&begin);
        members.iter().any(|(name, value)| {
            matches!(name.as_str(), "directed" | "multigraph" | "links") || name == "edges" && value.contains('{')
        })
    };
    let found = looks_like(&begin);
    Ok(if found == Some(OF_NETWORKX) && stem.ends_with(".kgx.json") && !is_told() { Some(OF_KGX) } else { found })
}

/// Returns the vocabulary of a file that begins like this.
fn looks_like(begin: &[u8]) -> Option<Vocabulary> {
    let members = first_members(begin);
    // JSON-LD may call its members by any name.
    if members.iter().any(|(name, _)| name == "@context" || name == "@graph") {
        return None;
    }
    let value = |name: &str| members.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    // The first item of a list: its beginning, or nothing if the list is empty.
    let first = |list: &str| list.strip_prefix('[').map(|rest| rest.trim_start().to_owned());
    let is_records =
        |list: &str| first(list).is_some_and(|item| item.starts_with('{') || item.starts_with(']') || item.is_empty());
    let has = |record: &str, names: &[&str]| {
        let own = first_members(record.as_bytes());
        names.iter().all(|name| own.iter().any(|(other, _)| other == name))
    };
    if let Some(edges) = value("edges").or_else(|| value("links")).filter(|list| is_records(list)) {
        let item = first(edges)?;
        if has(&item, &["subject", "object"]) && !has(&item, &["source"]) {
            return Some(OF_KGX);
        }
        if has(&item, &["source", "target"]) {
            // Without nodes, which may come later, an end that is a list belongs to something else.
            let own = first_members(item.as_bytes());
            let is_list = own.iter().any(|(name, value)| name == "source" && value.starts_with(['[', '{']));
            return (value("nodes").is_some() || !is_list).then_some(OF_NETWORKX);
        }
        // No edge: NetworkX says more of a graph, D3 calls the list links, and KGX has ids.
        let is_said = ["directed", "multigraph", "graph", "links"].iter().any(|name| value(name).is_some());
        let node = value("nodes").and_then(first);
        if item.starts_with(']') && !is_said && node.is_some_and(|node| has(&node, &["id"])) {
            return Some(OF_KGX);
        }
        // Or one that is too long.
        let is_open = item.starts_with(']') || item.is_empty() || !item.contains('}');
        return (is_open && value("nodes").is_some_and(is_records)).then_some(OF_NETWORKX);
    }
    // The list of nodes is longer than what was read.
    let nodes = value("nodes").filter(|list| is_records(list))?;
    let item = first(nodes)?;
    match () {
        () if members.last().is_none_or(|(name, _)| name != "nodes") => None,
        () if has(&item, &["id", "category"]) && value("directed").is_none() => Some(OF_KGX),
        () if has(&item, &["id"]) || value("directed").is_some() => Some(OF_NETWORKX),
        () => None,
    }
}

/// Returns the member with the edges of a graph that is written.
pub(crate) fn edges_member(graph: &Graph, vocabulary: Vocabulary) -> &'static str {
    let links = vocabulary == OF_NETWORKX && graph.metadata.get(EDGES).is_some_and(|name| name == "links");
    if links { "links" } else { "edges" }
}
