//! A property graph as triples: how it is written to formats that only have RDF (`docs/mapping.md`).
//!
//! To *lift* is to write a graph as RDF, to *lower* is the inverse; the terms are those of SAWSDL.
//! [`isomorph_model::faces`] defines the triples. In the forward direction, a [`Lifter`] is in front of a sink of
//! quads: it needs parallel edges to be adjacent, and a sink can request this order. On the way back, [`Lowered`]
//! collects the triples of each subject: in memory if they fit, otherwise by sorting.

mod edge_forms;
mod in_memory;
mod lifter;
mod lowered;
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

use super::{InVocabulary, IriMap, Vocabulary};

pub use edge_forms::{EdgeProperties, in_form};
pub use lifter::Lifter;
pub use lowered::Lowered;
pub use text::LoweredText;

/// The node types and the edge types in a scan of `tables`.
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

/// Whether ends of edges are rows: if neither end has a key.
fn end_form(graph: &Graph, ty: usize) -> EndForm {
    let keyless = |at: usize| graph.nodes.get(at).is_some_and(|ty| ty.key.kind == KeyKind::Row);
    match graph.edges.get(ty) {
        Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
        _ => EndForm::Keys,
    }
}

/// The namespace of RDF's own vocabulary.
const RDF_NAMESPACE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// The relation between a property graph and its triples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lifting {
    /// The property graph.
    pub graph: Graph,
    /// The beginning of all generated IRIs.
    pub base: String,
    /// Whether properties of edges are about statements (`rdf:Statement`), for texts without triple terms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub statements: bool,
    /// How properties of edges are written instead, if neither as statements nor with triple terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_properties: Option<EdgeProperties>,
    /// The IRIs of a vocabulary, instead of those below the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri_map: Option<IriMap>,
    /// Whether 32-bit floats in JSON have the digits of the equal 64-bit number; earlier versions wrote the shortest
    /// digits.
    #[serde(default)]
    pub wide_floats: bool,
    /// Whether nodes state no positions where integer keys tell their order; earlier versions wrote all positions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered_by_keys: bool,
}

impl Lifting {
    /// The lifting of a graph of nodes and edges, with IRIs below `base`, if given.
    ///
    /// # Errors
    /// If the graph has more than nodes and edges, or values that cannot be literals; [`Kind::Usage`] if the base is
    /// not an absolute IRI.
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
                let what = format!("values of type {} cannot be literals", property.data_type);
                return Err(Error::new(Kind::Unsupported, what).at(Place::field(format!("{of}.{}", property.name))));
            }
        }
        Ok(Lifting {
            graph: graph.clone(),
            base: base.to_owned(),
            statements: false,
            edge_properties: None,
            iri_map: None,
            wide_floats: true,
            ordered_by_keys: true,
        })
    }

    /// Sets how properties of edges are written without triple terms.
    pub(crate) fn write_as(&mut self, form: EdgeProperties) {
        // Earlier versions read statements.
        self.statements = form == EdgeProperties::Reification;
        self.edge_properties = Some(form).filter(|form| *form != EdgeProperties::Reification);
    }

    /// The map to the vocabulary, if there is one.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] if its IRIs begin like the others.
    pub fn vocabulary(&self) -> Result<Option<Vocabulary>> {
        self.iri_map.as_ref().map(|map| Vocabulary::of(map, &self.graph, &self.base)).transpose()
    }

    /// How properties of edges are written; `None` if they have reifiers of triple terms.
    pub fn edge_form(&self) -> Option<EdgeProperties> {
        if self.statements { Some(EdgeProperties::Reification) } else { self.edge_properties }
    }

    /// Prefixes for texts: the base, each node type whose name is a valid prefix, and the namespaces of literal types.
    pub fn prefixes(&self) -> Vec<(String, String)> {
        let known =
            [("rdf", RDF_NAMESPACE), ("xsd", xsd::NAMESPACE)].map(|(name, iri)| (name.to_owned(), iri.to_owned()));
        let is_plain =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let types = self.graph.nodes.iter().map(|ty| ty.name.as_str());
        let types = types.filter(|name| is_plain(name) && known.iter().all(|(known, _)| known != name));
        let map = self.iri_map.clone().unwrap_or_default();
        let types = types.filter(|name| !map.prefixes.contains_key(*name));
        let start = |name: &str| map.keys.get(name).cloned().unwrap_or_else(|| format!("{}{name}/", self.base));
        let types: Vec<_> = types.map(|name| (name.to_owned(), start(name))).collect();
        let base = (String::new(), self.base.clone());
        known.into_iter().chain(map.prefixes.clone()).chain([base]).chain(types).collect()
    }
}

/// Whether an IRI can start with this: it has a scheme, and no character that is not allowed in IRIs.
fn is_base(base: &str) -> bool {
    let scheme = base.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !base.contains(|c: char| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\'))
}
