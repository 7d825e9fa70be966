//! Conversion between the two views of a graph: the same nodes and edges as a property graph and as RDF quads.
//!
//! [`Quads`] converts batches to quads, and [`FromQuads`] converts such quads back to a property graph. The mapping is the
//! GraphLake column of `docs/mapping.md`:
//!
//! | property graph | RDF |
//! |---|---|
//! | node | IRI: base, type, `/`, percent-encoded key; `rdf:type` with the type's IRI states that it exists |
//! | label | `rdf:type` of the label's IRI |
//! | value | literal of an XML Schema datatype, in canonical form; a list is one `rdf:JSON` literal, a set several literals |
//! | null | no triple |
//! | edge | triple |
//! | its key, properties, missing direction, and parallel edges | a reifier of the triple, with triples of its own |
//! | RDF term as key, IRI as relation or name | itself |
//!
//! A triple with n ≥ 1 reifiers is n edges; a triple without reifiers is one edge. The round trip from RDF needs nothing else;
//! that from a property graph needs the description ([`crate::Graph`]) with its types, widths and names.

mod columns;
mod from_rdf;
mod lexical;
mod long_years;
mod node_order;
mod resources;
#[cfg(test)]
mod tests;
mod to_rdf;
mod triples;

pub use columns::{EdgeRange, QuadColumns, QuadRows, Triple};
pub use from_rdf::{EdgeRows, FromQuads, Rows};
pub use lexical::{JsonDigits, holds};
pub use resources::{RESOURCE, description, literal_fields};
pub use to_rdf::Quads;
pub use triples::{Estimate, InGraph, Pattern, QuadTaker, TripleLookUps, Triples};

use std::fmt::Write as _;

use arrow_schema::DataType;
use isomorph_error::Result;

use crate::{Graph, KeyKind, Property, ValueKind, Written, well_known};

/// The default base of IRIs.
pub const BASE: &str = "urn:x-isomorph:";

/// The predicate of edges without direction. No name maps to this IRI, because `#` is always encoded.
pub const DIRECTED: &str = "urn:x-isomorph:model#directed";

/// The predicate of a node's position, if positions are significant in addition to keys: triples have no order.
pub const POSITION: &str = "urn:x-isomorph:model#position";

/// Appended to the name of a bag's member that is also the name of a column.
const MEMBER: &str = "member";

/// `rdf:type`.
pub const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// `rdf:reifies`.
pub const RDF_REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";

/// The datatype of JSON literals.
pub const RDF_JSON: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";

/// A quad. Terms are canonical texts, see [`crate::term`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quad<'a> {
    /// An IRI, a blank node or a triple term.
    pub subject: &'a str,
    /// An IRI.
    pub predicate: &'a str,
    /// The object.
    pub object: Object<'a>,
    /// The named graph; `None` is the default graph.
    pub graph: Option<&'a str>,
}

/// The object of a quad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object<'a> {
    /// An IRI, a blank node or a triple term.
    Term(&'a str),
    /// A literal.
    Literal {
        /// Its lexical form.
        lexical: &'a str,
        /// IRI of its datatype.
        datatype: &'a str,
        /// Its language.
        language: Option<&'a str>,
        /// Its base direction, `ltr` or `rtl`.
        direction: Option<&'a str>,
    },
}

/// A destination of quads.
pub trait QuadSink: Send {
    /// Adds a named graph, which may stay empty.
    ///
    /// # Errors
    /// Returns an error if the name is not valid, or it cannot be written.
    fn graph(&mut self, name: &str) -> Result<()>;

    /// Adds a quad. Adding it again has no effect.
    ///
    /// # Errors
    /// Returns an error if a term is not valid, or it cannot be written.
    fn quad(&mut self, quad: &Quad<'_>) -> Result<()>;

    /// Writes the remaining quads. `advance` is called with the number of further quads that were written, and may cancel
    /// the work.
    ///
    /// # Errors
    /// Returns an error if something cannot be written, or `advance` returns an error.
    fn finish(self: Box<Self>, advance: &dyn Fn(u64) -> Result<()>) -> Result<Written>;
}

impl<'a> Object<'a> {
    /// Creates a literal without a language.
    pub fn plain(lexical: &'a str, datatype: &'a str) -> Self {
        Object::Literal { lexical, datatype, language: None, direction: None }
    }
}

/// Appends a name or key as part of an IRI: letters, digits and `-._~` unchanged, all other bytes percent-encoded.
pub fn push_encoded(out: &mut String, name: &str) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    // Names are mostly plain, so runs of plain characters are copied at once.
    let mut rest = name;
    while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
        let (plain, other) = rest.split_at(at);
        out.push_str(plain);
        let encoded = other.chars().next().map_or(0, char::len_utf8);
        for byte in other.bytes().take(encoded) {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        rest = other.get(encoded..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Separators between an IRI and a name that is appended to it: no encoded name contains them. An IRI may contain only one
/// `#`, so the second one is used if there is one already.
const MARKS: [char; 2] = ['#', '!'];

/// Appends the separator before a name that would otherwise be ambiguous.
fn push_mark(iri: &mut String) {
    iri.push(if iri.contains('#') { '!' } else { '#' });
}

/// Decodes a name that was encoded by [`push_encoded`].
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let digits = part.get(..2).filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(part.get(2..)?.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Returns the default lexical form of properties that every row has, which is not written: truth 1, and not RDF.
fn unsaid(property: &Property) -> Option<&'static str> {
    match (property.name.as_str(), &property.data_type) {
        _ if property.nullable || property.kind != ValueKind::Plain => None,
        (well_known::TRUTH, DataType::Float32 | DataType::Float64) => Some("1.0"),
        (well_known::IS_RDF, DataType::Boolean) => Some("false"),
        _ => None,
    }
}

/// Maps names to IRIs below a base.
struct Names<'g> {
    graph: &'g Graph,
    base: String,
}

impl Names<'_> {
    fn below(&self, name: &str) -> String {
        let mut iri = self.base.clone();
        push_encoded(&mut iri, name);
        iri
    }

    /// Returns the IRI of a label: that of its name, unless a node type has that IRI.
    fn label(&self, name: &str) -> String {
        match self.graph.node_type(name) {
            None => self.below(name),
            Some(_) => {
                let mut iri = format!("{}label", self.base);
                push_mark(&mut iri);
                push_encoded(&mut iri, name);
                iri
            }
        }
    }

    /// Returns the label of an IRI.
    fn label_of(&self, iri: &str) -> Option<String> {
        let name = iri.strip_prefix(&self.base)?;
        decoded(name.strip_prefix("label").and_then(|name| name.strip_prefix(MARKS)).unwrap_or(name))
    }

    /// Returns the IRI of a property or relation of a type. Names from RDF are IRIs already.
    fn predicate(&self, node: usize, name: &str) -> String {
        if self.is_term(node) { name.to_owned() } else { self.below(name) }
    }

    fn is_term(&self, node: usize) -> bool {
        self.graph.nodes.get(node).is_some_and(|ty| ty.key.kind == KeyKind::Term)
    }

    /// Returns the prefix of the keys of a node type.
    fn prefix(&self, node: usize) -> String {
        match self.graph.nodes.get(node) {
            Some(ty) if ty.key.kind != KeyKind::Term => self.below(&ty.name) + "/",
            _ => String::new(),
        }
    }

    /// Returns the node type and key of a term.
    fn node(&self, term: &str) -> Option<(usize, String)> {
        let below = term.strip_prefix(&self.base).and_then(|rest| rest.split_once('/'));
        let typed = below.and_then(|(ty, key)| Some((self.graph.node_type(&decoded(ty)?)?, decoded(key)?)));
        typed.filter(|(ty, _)| !self.is_term(*ty)).or_else(|| {
            let ty = (0..self.graph.nodes.len()).find(|ty| self.is_term(*ty))?;
            Some((ty, term.to_owned()))
        })
    }
}
