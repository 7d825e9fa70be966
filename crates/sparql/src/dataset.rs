//! The index as the evaluator sees it.

use std::sync::Arc;

use isomorph::error::{Error, Result};
use oxrdf::Term;
use spareval::{InternalQuad, QueryableDataset};

use crate::builder::DEFAULT_GRAPH;
use crate::index::{Positions, Rows, TripleIndex};
use crate::term::{self, Finding};

/// A term during evaluation: equal terms are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// The number of a term of the graph.
    Known(u32),
    /// A term that the graph does not have.
    Other(Arc<Term>),
}

/// An index that answers an evaluator.
#[derive(Clone, Copy)]
pub(crate) struct Face<'a>(pub &'a TripleIndex);

/// Quads that match a pattern.
pub(crate) enum Found<'a> {
    None,
    Failed(Option<Box<Error>>),
    Triples(std::slice::Iter<'a, [u32; 3]>, Positions),
    Quads(std::slice::Iter<'a, [u32; 4]>, Positions),
}

impl Iterator for Found<'_> {
    type Item = Result<InternalQuad<Id>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let quad = |row: &[u32], Positions([s, p, o, g]): &Positions| {
            let term = |at: usize| row.get(at).copied().map_or(Id::Known(DEFAULT_GRAPH), Id::Known);
            Ok(InternalQuad {
                subject: term(*s),
                predicate: term(*p),
                object: term(*o),
                graph_name: row.get(*g).copied().map(Id::Known),
            })
        };
        match self {
            Found::None => None,
            Found::Failed(error) => error.take().map(|error| Err(*error)),
            Found::Triples(rows, positions) => rows.next().map(|row| quad(row, positions)),
            Found::Quads(rows, positions) => rows.next().map(|row| quad(row, positions)),
        }
    }
}

impl<'a> Face<'a> {
    fn find(&self, terms: [Option<&Id>; 3], graph: Option<Option<&Id>>) -> Found<'a> {
        let mut known = [None; 3];
        for (known, term) in known.iter_mut().zip(terms) {
            match term {
                None => {}
                Some(Id::Known(number)) => *known = Some(*number),
                // No quad has it.
                Some(Id::Other(_)) => return Found::None,
            }
        }
        let rows = match graph {
            None => self.0.in_named_graphs(known),
            Some(None) => self.0.in_graph(DEFAULT_GRAPH, known),
            Some(Some(Id::Known(graph))) => self.0.in_graph(*graph, known),
            Some(Some(Id::Other(_))) => return Found::None,
        };
        match rows {
            Ok(Rows::Triples(rows, positions)) => Found::Triples(rows.iter(), positions),
            Ok(Rows::Quads(rows, positions)) => Found::Quads(rows.iter(), positions),
            Err(error) => Found::Failed(Some(Box::new(error))),
        }
    }
}

impl<'a> QueryableDataset<'a> for Face<'a> {
    type InternalTerm = Id;
    type Error = Error;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Id>,
        predicate: Option<&Id>,
        object: Option<&Id>,
        graph_name: Option<Option<&Id>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Id>, Error>> + use<'a> {
        self.find([subject, predicate, object], graph_name)
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Id, Error>> + use<'a> {
        self.0.graphs.iter().map(|graph| Ok(Id::Known(*graph)))
    }

    fn contains_internal_graph_name(&self, graph_name: &Id) -> Result<bool, Error> {
        Ok(match graph_name {
            Id::Known(graph) => self.0.graphs.binary_search(graph).is_ok(),
            Id::Other(_) => false,
        })
    }

    fn internalize_term(&self, term: Term) -> Result<Id, Error> {
        let found = term::of_term(&term, &mut Vec::new(), &mut Finding(&self.0.terms))?;
        Ok(found.map_or_else(|| Id::Other(Arc::new(term)), Id::Known))
    }

    fn externalize_term(&self, term: Id) -> Result<Term, Error> {
        match term {
            Id::Known(number) => term::term(self.0.terms.key(number).unwrap_or_default(), &self.0.terms),
            Id::Other(term) => Ok(Arc::unwrap_or_clone(term)),
        }
    }
}
