//! Everything as triples: how a property graph is written where there is nothing but RDF (`docs/mapping.md`).
//!
//! To *lift* is to say a graph in RDF, to *lower* is the way back; the words are those of SAWSDL. What the triples look like
//! is said in [`isomorph_model::faces`]. On the way there a [`Lifter`] stands before a sink of quads: it needs parallel edges
//! together, and that is an order that a sink asks for. On the way back [`Lowered`] brings together what is said of each
//! subject: in memory where it fits, else by sorting.

mod in_memory;
mod lifter;
mod lowered;
mod native;
mod neighbors;
mod predicate_object;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use std::ops::Range;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{BASE, holds};
use isomorph_model::{EndForm, Graph, KeyKind, Tables as Scanned, xsd};
use serde::{Deserialize, Serialize};

pub use lifter::Lifter;
pub use lowered::Lowered;
pub use native::Native;
pub use statements::AsStatements;
pub use text::LoweredText;

/// The node types and the edge types that a scan of `tables` is of.
fn types_of(graph: &Graph, tables: Scanned) -> (Range<usize>, Range<usize>) {
    match tables {
        Scanned::All => (0..graph.nodes.len(), 0..graph.edges.len()),
        Scanned::AllNodes => (0..graph.nodes.len(), 0..0),
        Scanned::AllEdges => (0..0, 0..graph.edges.len()),
        Scanned::Nodes(ty) | Scanned::NodeKeys(ty) => (ty..ty + 1, 0..0),
        Scanned::Edges(ty) | Scanned::EdgeEnds(ty) => (0..0, ty..ty + 1),
        Scanned::Rest => (0..0, 0..0),
    }
}

/// Whether ends of edges are rows: where neither has a key.
fn end_form(graph: &Graph, ty: usize) -> EndForm {
    let keyless = |at: usize| graph.nodes.get(at).is_some_and(|ty| ty.key.kind == KeyKind::Row);
    match graph.edges.get(ty) {
        Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
        _ => EndForm::Keys,
    }
}

/// What the names of RDF's own vocabulary begin with.
const RDF_NAMESPACE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// The relation between a property graph and the triples that say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lifting {
    /// The property graph.
    pub graph: Graph,
    /// What all IRIs begin with that are made.
    pub base: String,
    /// Whether what is said about edges is said about statements, where a text has no triple terms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub statements: bool,
    /// Whether floats of 32 bits in JSON have the digits that mean them in 64; earlier versions wrote the shortest.
    #[serde(default)]
    pub wide_floats: bool,
}

impl Lifting {
    /// The lifting of a graph of nodes and edges, with IRIs below `base`, if one is given.
    ///
    /// # Errors
    /// When the graph has more than nodes and edges, or values that are no literals; [`Kind::Usage`] when the base is no
    /// absolute IRI.
    pub fn of(graph: &Graph, base: Option<&str>) -> Result<Lifting> {
        let base = base.unwrap_or(BASE);
        if !is_base(base) {
            return Err(Error::usage(format!("{base:?} cannot be the beginning of IRIs"))
                .hint("--base http://example.org/graph/"));
        }
        let plain = graph.hyperedges.is_empty() && graph.groups.is_empty() && graph.values.is_empty();
        let by_term = graph.nodes.iter().any(|ty| matches!(ty.key.kind, KeyKind::Term | KeyKind::Tuple));
        let unkeyed = |at: usize| graph.nodes.get(at).is_none_or(|ty| ty.key.kind == KeyKind::Row && ty.implied);
        if !plain || by_term || graph.edges.iter().any(|ty| ty.layered || unkeyed(ty.source) || unkeyed(ty.target)) {
            return Err(Error::unsupported("only nodes and edges with columns can be lifted to RDF"));
        }
        let nodes = graph.nodes.iter().map(|ty| (ty.name.as_str(), &ty.properties));
        let edges = graph.edges.iter().map(|ty| (ty.relation.fixed().unwrap_or_default(), &ty.properties));
        for (of, properties) in nodes.chain(edges) {
            if let Some(property) = properties.iter().find(|property| !holds(property)) {
                let what = format!("values of type {} are no literals", property.data_type);
                return Err(Error::new(Kind::Unsupported, what).at(Place::field(format!("{of}.{}", property.name))));
            }
        }
        Ok(Lifting { graph: graph.clone(), base: base.to_owned(), statements: false, wide_floats: true })
    }

    /// Short names for what IRIs begin with, for texts that have them: the base, each node type that is called like a prefix, and
    /// what types of literals are called by.
    pub fn prefixes(&self) -> Vec<(String, String)> {
        let known =
            [("rdf", RDF_NAMESPACE), ("xsd", xsd::NAMESPACE)].map(|(name, iri)| (name.to_owned(), iri.to_owned()));
        let is_plain =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let types = self.graph.nodes.iter().map(|ty| ty.name.as_str());
        let types = types.filter(|name| is_plain(name) && known.iter().all(|(known, _)| known != name));
        let types: Vec<_> = types.map(|name| (name.to_owned(), format!("{}{name}/", self.base))).collect();
        known.into_iter().chain([(String::new(), self.base.clone())]).chain(types).collect()
    }
}

/// Whether an IRI begins so: a scheme, and nothing that no IRI has.
fn is_base(base: &str) -> bool {
    let scheme = base.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !base.contains(|c: char| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\'))
}
