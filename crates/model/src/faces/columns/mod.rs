//! Converts quads to a property graph in memory, in columns: like [`super::FromQuads`], for graphs whose properties are plain
//! columns, for quads in any order, and without a separate string for each.

mod rows;
mod terms;
mod values;

use std::collections::HashMap;

use self::terms::{NONE, Terms, narrow};
use self::values::Values;
use super::{BASE, DIRECTED, Names, Object, POSITION, Quad, RDF_REIFIES, RDF_TYPE, decoded};
use crate::{Graph, KeyKind, ValueKind, term, xsd};

pub use self::rows::{EdgeRange, QuadRows};

/// The predicates with a built-in meaning, in the order in which they are numbered first.
const MEANINGFUL: [&str; 4] = [RDF_TYPE, RDF_REIFIES, POSITION, DIRECTED];
const TYPE: u32 = 0;
const REIFIES: u32 = 1;
const POSITIONED: u32 = 2;
const UNDIRECTED: u32 = 3;

/// Collects quads.
pub struct QuadColumns {
    graph: Graph,
    base: String,
    /// The prefix of the terms of each node type.
    prefixes: Vec<String>,
    terms: Terms,
    /// The node type of each term, or [`NONE`].
    types: Vec<u32>,
    /// The previous subject.
    subject: u32,
    predicates: Terms,
    /// By predicate: node types of the ends, and the edge type.
    relations: Vec<Vec<[u32; 3]>>,
    /// The same for edge types whose relation differs by row.
    any_relation: Vec<[u32; 3]>,
    /// By predicate.
    values: Vec<Values>,
    datatypes: Terms,
    graphs: Terms,
    groups: Vec<Group>,
    numbers: HashMap<[u32; 3], usize>,
    is_full: bool,
    by_keys: bool,
}

/// Edges of one type, relation and named graph.
#[derive(Default)]
struct Group {
    ty: u32,
    predicate: u32,
    /// Triples.
    plain: Vec<[u32; 2]>,
    /// Reifiers, with the ends of their triples.
    reified: Vec<[u32; 3]>,
}

/// A triple that is an edge of the graph.
#[derive(Debug, Clone, Copy)]
pub struct Triple {
    ty: u32,
    predicate: u32,
    ends: [u32; 2],
}

impl QuadColumns {
    /// Creates a collector for a graph as described by `graph`, from quads whose IRIs are below `base`, or [`BASE`]; `None`
    /// if it has properties other than plain columns and JSON.
    pub fn new(graph: &Graph, base: Option<&str>) -> Option<Self> {
        let of_nodes = graph.nodes.iter().flat_map(|ty| &ty.properties);
        let mut properties = of_nodes.chain(graph.edges.iter().flat_map(|ty| &ty.properties));
        let is_plain = properties.all(|property| matches!(property.kind, ValueKind::Plain | ValueKind::Json));
        let has_terms = graph.nodes.iter().any(|ty| ty.key.kind == KeyKind::Term);
        if !is_plain || has_terms || !graph.values.is_empty() {
            return None;
        }
        let base = base.unwrap_or(BASE).to_owned();
        let names = Names { graph, base: base.clone() };
        let any = graph.edges.iter().zip(0..).filter(|(ty, _)| ty.relation.fixed().is_none());
        let mut columns = QuadColumns {
            prefixes: (0..graph.nodes.len()).map(|ty| names.prefix(ty)).collect(),
            any_relation: any.map(|(ty, at)| [narrow(ty.source), narrow(ty.target), at]).collect(),
            graph: graph.clone(),
            base,
            terms: Terms::default(),
            types: Vec::new(),
            subject: NONE,
            predicates: Terms::default(),
            relations: Vec::new(),
            values: Vec::new(),
            datatypes: Terms::default(),
            graphs: Terms::default(),
            groups: Vec::new(),
            numbers: HashMap::new(),
            is_full: false,
            by_keys: false,
        };
        MEANINGFUL.iter().for_each(|predicate| {
            columns.predicate(predicate);
        });
        Some(columns)
    }

    /// As [`FromQuads::ordered_by_keys`](super::FromQuads::ordered_by_keys).
    pub fn ordered_by_keys(mut self, ordered: bool) -> Self {
        self.by_keys = ordered;
        self
    }

    /// Adds a quad.
    pub fn take(&mut self, quad: &Quad<'_>) {
        let predicate = self.predicate(quad.predicate);
        let subject = self.subject(quad.subject);
        match quad.object {
            Object::Term(object) => {
                if let Some(Triple { ty, ends, .. }) = self.edge(subject, predicate, object) {
                    self.group(ty, predicate, quad.graph).plain.push(ends);
                } else if predicate != REIFIES {
                    self.value(predicate, subject, object, NONE);
                } else if let Some(triple) = self.quoted(object) {
                    self.reified(subject, triple, quad.graph);
                }
            }
            Object::Literal { lexical, datatype, language, .. } => {
                let datatype = if language.is_some() || datatype.is_empty() { xsd::STRING } else { datatype };
                let datatype = self.datatypes.number(datatype).0;
                self.value(predicate, subject, lexical, datatype);
            }
        }
    }

    /// Returns the edge that a triple is.
    pub fn triple(&mut self, subject: &str, predicate: &str, object: &str) -> Option<Triple> {
        let predicate = self.predicate(predicate);
        let subject = self.subject(subject);
        self.edge(subject, predicate, object)
    }

    /// Adds a quad that reifies a triple.
    pub fn reify(&mut self, reifier: &str, triple: Triple, graph: Option<&str>) {
        let reifier = self.subject(reifier);
        self.reified(reifier, triple, graph);
    }

    /// Returns its size in memory, bytes; the rows take half as much again.
    pub fn memory(&self) -> u64 {
        let groups = self.groups.iter().map(|group| 8 * group.plain.capacity() + 12 * group.reified.capacity());
        let groups = groups.sum::<usize>() as u64;
        let values = self.values.iter().map(Values::memory).sum::<u64>();
        let terms = self.terms.memory() + 4 * self.types.capacity() as u64;
        terms + values + groups + self.predicates.memory() + self.datatypes.memory() + self.graphs.memory()
    }

    /// Whether some quads did not fit, because offsets have 32 bits; then the result is unusable.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Finishes the collection.
    ///
    /// # Errors
    /// Returns an error if a key does not match the type in the description, or if keys are rows
    /// and one before others is missing.
    pub fn finish(self) -> isomorph_error::Result<QuadRows> {
        QuadRows::new(self)
    }

    fn subject(&mut self, text: &str) -> u32 {
        if self.subject == NONE || self.terms.text(self.subject) != text {
            self.subject = self.term(text);
        }
        self.subject
    }

    fn term(&mut self, text: &str) -> u32 {
        let (number, is_new) = self.terms.number(text);
        if is_new {
            self.types.push(self.type_of(text));
            // Columns are made from terms, and have offsets of 32 bits.
            self.is_full |= number >= NONE - 1 || self.terms.text_bytes() > 1 << 30;
        }
        number
    }

    /// Returns the node type of a term, or [`NONE`].
    fn type_of(&self, text: &str) -> u32 {
        if !text.starts_with(&self.base) {
            return NONE;
        }
        for (prefix, ty) in self.prefixes.iter().zip(0..) {
            if let Some(key) = text.strip_prefix(prefix.as_str())
                && (!key.contains('%') || decoded(key).is_some())
            {
                return ty;
            }
        }
        // Names with another encoding.
        self.names().node(text).map_or(NONE, |(ty, _)| narrow(ty))
    }

    fn names(&self) -> Names<'_> {
        Names { graph: &self.graph, base: self.base.clone() }
    }

    fn predicate(&mut self, text: &str) -> u32 {
        let (number, is_new) = self.predicates.number(text);
        if is_new {
            let names = self.names();
            let mut relations: Vec<[u32; 3]> = Vec::new();
            for (ty, at) in self.graph.edges.iter().zip(0..) {
                let is_own = ty.relation.fixed().is_some_and(|name| names.predicate(ty.source, name) == text);
                let ends = [narrow(ty.source), narrow(ty.target)];
                if is_own && !relations.iter().any(|known| known.starts_with(&ends)) {
                    relations.push([ends[0], ends[1], at]);
                }
            }
            self.relations.push(relations);
            self.values.push(Values::default());
        }
        number
    }

    fn edge(&mut self, subject: u32, predicate: u32, object: &str) -> Option<Triple> {
        let relations = self.relations.get(predicate as usize)?;
        if relations.is_empty() && self.any_relation.is_empty() {
            return None;
        }
        let source = *self.types.get(subject as usize)?;
        if source == NONE {
            return None;
        }
        let object = self.term(object);
        let target = *self.types.get(object as usize)?;
        let relations = self.relations.get(predicate as usize)?;
        let mut found = relations.iter().chain(&self.any_relation);
        let [_, _, ty] = *found.find(|[from, to, _]| (*from, *to) == (source, target))?;
        Some(Triple { ty, predicate, ends: [subject, object] })
    }

    /// Returns the edge that a triple term is.
    fn quoted(&mut self, text: &str) -> Option<Triple> {
        // A quoted subject does not count as the previous subject: the next quad may have the same subject as this one.
        let subject = self.subject;
        let found = match term::resources(text) {
            Some([subject, predicate, object]) => self.triple(subject, predicate, object),
            None => match term::parts(text) {
                Some((subject, predicate, term::Part::Term(object))) => self.triple(&subject, &predicate, &object),
                _ => None,
            },
        };
        self.subject = subject;
        found
    }

    fn reified(&mut self, reifier: u32, triple: Triple, graph: Option<&str>) {
        let Triple { ty, predicate, ends } = triple;
        self.group(ty, predicate, graph).reified.push([reifier, ends[0], ends[1]]);
    }

    fn group(&mut self, ty: u32, predicate: u32, graph: Option<&str>) -> &mut Group {
        let graph = graph.map_or(NONE, |graph| self.graphs.number(graph).0);
        let next = self.groups.len();
        let at = *self.numbers.entry([ty, predicate, graph]).or_insert(next);
        if at == next {
            self.groups.push(Group { ty, predicate, ..Group::default() });
        }
        &mut self.groups[at]
    }

    fn value(&mut self, predicate: u32, subject: u32, text: &str, datatype: u32) {
        let Some(values) = self.values.get_mut(predicate as usize) else { return };
        match values.has_room(text.len()) {
            true => values.push(subject, text, datatype),
            false => self.is_full = true,
        }
    }
}
