//! Which quads a query can read: everything else need not be loaded.

use isomorph::model::faces::{Object, Quad};
use oxrdf::{BaseDirection, Literal, NamedNode};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use crate::visit::parts;

/// Patterns beyond this number are not worth a comparison for each quad.
const MOST: usize = 64;

/// The datatype of plain text.
const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// The quads that a query can read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// `None`: all of them.
    patterns: Option<Vec<WantedPattern>>,
}

/// What is known of some wanted quads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedPattern {
    pub subject: Option<String>,
    pub predicate: Option<String>,
    pub object: Option<WantedObject>,
    pub graph: WantedGraph,
    /// Patterns with the same number must match together: what one of them does not allow, no other can use.
    pub group: usize,
    /// The variables of subject and object.
    pub names: [Option<String>; 2],
}

/// A known object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WantedObject {
    Iri(String),
    Literal { lexical: String, datatype: String, language: Option<String>, direction: Option<&'static str> },
}

/// The graphs of wanted quads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WantedGraph {
    Any,
    Default,
    Named,
    One(String),
}

impl Wanted {
    /// All quads.
    pub fn all() -> Self {
        Wanted::default()
    }

    /// The quads that `query` can read.
    pub fn of(query: &Query) -> Self {
        let (Query::Select { pattern, dataset, .. }
        | Query::Construct { pattern, dataset, .. }
        | Query::Ask { pattern, dataset, .. }) = query
        else {
            // A description is made of all triples of what it describes.
            return Wanted::all();
        };
        // With FROM, the graphs of patterns are others than they seem.
        let graph = if dataset.is_some() { WantedGraph::Any } else { WantedGraph::Default };
        let mut gathered = Gathered { patterns: Vec::new(), groups: 0, all: false, fixed: dataset.is_some() };
        gathered.pattern(pattern, &graph);
        let all = gathered.all || gathered.patterns.len() > MOST;
        Wanted { patterns: (!all).then_some(gathered.patterns) }
    }

    /// Whether what was loaded for this is enough for `other`.
    pub fn covers(&self, other: &Wanted) -> bool {
        // Patterns of one group leave out what the others do not allow, so none stands for another one.
        self.patterns.is_none() || self == other
    }

    /// The patterns; `None` if all quads are wanted.
    pub(crate) fn patterns(&self) -> Option<&[WantedPattern]> {
        self.patterns.as_deref()
    }

    /// Whether the query can read a quad.
    pub(crate) fn has(&self, quad: &Quad<'_>) -> bool {
        self.patterns.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| pattern.has(quad)))
    }
}

impl WantedPattern {
    fn has(&self, quad: &Quad<'_>) -> bool {
        self.predicate.as_ref().is_none_or(|predicate| predicate == quad.predicate)
            && self.subject.as_ref().is_none_or(|subject| subject == quad.subject)
            && self.object.as_ref().is_none_or(|object| object.is(&quad.object))
            && match &self.graph {
                WantedGraph::Any => true,
                WantedGraph::Default => quad.graph.is_none(),
                WantedGraph::Named => quad.graph.is_some(),
                WantedGraph::One(name) => quad.graph == Some(name),
            }
    }
}

impl WantedObject {
    fn is(&self, object: &Object<'_>) -> bool {
        match (self, object) {
            (WantedObject::Iri(iri), Object::Term(term)) => iri == term,
            (
                WantedObject::Literal { lexical, datatype, language, direction },
                Object::Literal { lexical: text, datatype: of, language: tag, direction: way },
            ) => {
                lexical == text
                    && match (language, tag) {
                        (None, None) => datatype == if of.is_empty() { XSD_STRING } else { of },
                        (Some(language), Some(tag)) => language.eq_ignore_ascii_case(tag) && direction == way,
                        _ => false,
                    }
            }
            _ => false,
        }
    }

    /// The same as an object of the model.
    pub fn object(&self) -> Object<'_> {
        match self {
            WantedObject::Iri(iri) => Object::Term(iri),
            WantedObject::Literal { lexical, datatype, language, direction } => {
                Object::Literal { lexical, datatype, language: language.as_deref(), direction: *direction }
            }
        }
    }

    fn of(literal: &Literal) -> Self {
        WantedObject::Literal {
            lexical: literal.value().to_owned(),
            datatype: literal.datatype().as_str().to_owned(),
            language: literal.language().map(str::to_ascii_lowercase),
            direction: literal.direction().map(|direction| match direction {
                BaseDirection::Ltr => "ltr",
                BaseDirection::Rtl => "rtl",
            }),
        }
    }
}

struct Gathered {
    patterns: Vec<WantedPattern>,
    /// The number of groups so far.
    groups: usize,
    all: bool,
    /// Whether graphs are not restricted: FROM decides what they are.
    fixed: bool,
}

impl Gathered {
    fn pattern(&mut self, pattern: &GraphPattern, graph: &WantedGraph) {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                self.groups += 1;
                patterns.iter().for_each(|triple| self.triple(triple, graph));
            }
            GraphPattern::Path { subject, path, object } => self.path(subject, path, object, graph),
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right }
            | GraphPattern::Lateral { left, right } => {
                self.pattern(left, graph);
                self.pattern(right, graph);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.pattern(left, graph);
                self.pattern(right, graph);
                expression.iter().for_each(|expression| self.expression(expression, graph));
            }
            GraphPattern::Filter { expr, inner } => {
                self.expression(expr, graph);
                self.pattern(inner, graph);
            }
            GraphPattern::Graph { name, inner } => {
                let inside = match name {
                    _ if self.fixed => WantedGraph::Any,
                    NamedNodePattern::NamedNode(name) => WantedGraph::One(name.as_str().to_owned()),
                    NamedNodePattern::Variable(_) => WantedGraph::Named,
                };
                self.pattern(inner, &inside);
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.expression(expression, graph);
                self.pattern(inner, graph);
            }
            GraphPattern::Values { .. } => {}
            GraphPattern::OrderBy { inner, expression } => {
                for key in expression {
                    let (OrderExpression::Asc(key) | OrderExpression::Desc(key)) = key;
                    self.expression(key, graph);
                }
                self.pattern(inner, graph);
            }
            GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.pattern(inner, graph),
            GraphPattern::Group { inner, aggregates, .. } => {
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.expression(expr, graph);
                    }
                }
                self.pattern(inner, graph);
            }
            GraphPattern::Service { .. } => self.all = true,
        }
    }

    fn triple(&mut self, triple: &TriplePattern, graph: &WantedGraph) {
        let predicate = match &triple.predicate {
            NamedNodePattern::NamedNode(predicate) => Some(predicate.as_str().to_owned()),
            NamedNodePattern::Variable(_) => None,
        };
        self.add(&triple.subject, predicate, &triple.object, graph);
    }

    fn add(&mut self, subject: &TermPattern, predicate: Option<String>, object: &TermPattern, graph: &WantedGraph) {
        let names = [subject, object].map(|term| match term {
            TermPattern::Variable(name) => Some(name.as_str().to_owned()),
            TermPattern::BlankNode(node) => Some(node.to_string()),
            _ => None,
        });
        let subject = match subject {
            TermPattern::NamedNode(iri) => Some(iri.as_str().to_owned()),
            _ => None,
        };
        let object = match object {
            TermPattern::NamedNode(iri) => Some(WantedObject::Iri(iri.as_str().to_owned())),
            TermPattern::Literal(literal) => Some(WantedObject::of(literal)),
            _ => None,
        };
        let wanted = WantedPattern { subject, predicate, object, graph: graph.clone(), group: self.groups, names };
        if wanted.subject.is_none() && wanted.predicate.is_none() && wanted.object.is_none() {
            self.all = true;
        }
        if !self.patterns.contains(&wanted) && self.patterns.len() <= MOST {
            self.patterns.push(wanted);
        }
    }

    fn path(
        &mut self,
        subject: &TermPattern,
        path: &PropertyPathExpression,
        object: &TermPattern,
        graph: &WantedGraph,
    ) {
        let mut predicates = Vec::new();
        if !predicates_of(path, &mut predicates) {
            // Paths of length zero start at every term of the graph.
            self.all = true;
            return;
        }
        self.groups += 1;
        // Only the ends of a path are the ends of the pattern, so the ends of its triples are unknown.
        // Each is a variable of its own: one that several patterns share has only the values that all of them have.
        let unknown = || TermPattern::BlankNode(oxrdf::BlankNode::default());
        for predicate in predicates {
            let predicate = Some(predicate.as_str().to_owned());
            match path {
                PropertyPathExpression::NamedNode(_) => self.add(subject, predicate, object, graph),
                _ => self.add(&unknown(), predicate, &unknown(), graph),
            }
        }
    }

    fn expression(&mut self, expression: &Expression, graph: &WantedGraph) {
        let (inside, pattern) = parts(expression);
        inside.into_iter().for_each(|one| self.expression(one, graph));
        if let Some(pattern) = pattern {
            self.pattern(pattern, graph);
        }
    }
}

/// Collects the predicates of a path. Returns false if it can read other triples.
fn predicates_of(path: &PropertyPathExpression, into: &mut Vec<NamedNode>) -> bool {
    match path {
        PropertyPathExpression::NamedNode(predicate) => {
            into.push(predicate.clone());
            true
        }
        PropertyPathExpression::Reverse(inner) | PropertyPathExpression::OneOrMore(inner) => predicates_of(inner, into),
        PropertyPathExpression::Sequence(first, second) | PropertyPathExpression::Alternative(first, second) => {
            predicates_of(first, into) && predicates_of(second, into)
        }
        PropertyPathExpression::ZeroOrMore(_)
        | PropertyPathExpression::ZeroOrOne(_)
        | PropertyPathExpression::NegatedPropertySet(_) => false,
    }
}
