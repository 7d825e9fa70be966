//! Numbers of terms during an evaluation: those of the graph, and those of terms that the graph does not have.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use isomorph::error::{Error, Kind, Result};
use isomorph::storage::{Budget, Reservation};
use oxrdf::Term;
use oxrdf::vocab::xsd;
use spareval::ExpressionTerm;

use super::table::UNBOUND;
use crate::builder::too_large;
use crate::dataset::Id;
use crate::dictionary::Dictionary;
use crate::term::{self, Finding};

/// What a term that the graph does not have takes in memory, beside its text: itself, and its places in a table and a list.
const TERM_BYTES: u64 = 160;

/// Terms and their numbers.
pub(super) struct Numbers<'g> {
    known: &'g Dictionary,
    /// The largest number of a term of the graph.
    last: u32,
    /// The number of `xsd:integer`; 0 if the graph has no such literal.
    integer: u32,
    others: RwLock<Others>,
    budget: Budget,
}

struct Others {
    terms: Vec<Arc<Term>>,
    numbers: HashMap<Arc<Term>, u32>,
    held: Reservation,
}

impl<'g> Numbers<'g> {
    pub fn new(known: &'g Dictionary, budget: &Budget) -> Result<Self> {
        let last = u32::try_from(known.len()).map_err(|_| too_many())?;
        let others = Others { terms: Vec::new(), numbers: HashMap::new(), held: budget.reserve(0)? };
        let integer = Term::from(xsd::INTEGER.into_owned());
        let integer = term::of_term(&integer, &mut Vec::new(), &mut Finding(known))?.unwrap_or(UNBOUND);
        Ok(Numbers { known, last, integer, others: RwLock::new(others), budget: budget.clone() })
    }

    /// The largest number of a term of the graph.
    pub fn last_known(&self) -> u32 {
        self.last
    }

    /// The number of a term: it gets one if it has none.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if there are too many terms, or no memory for this one.
    pub fn number(&self, term: &Term) -> Result<u32> {
        if let Some(number) = term::of_term(term, &mut Vec::new(), &mut Finding(self.known))? {
            return Ok(number);
        }
        if let Some(number) = self.others.read().unwrap_or_else(PoisonError::into_inner).numbers.get(term) {
            return Ok(*number);
        }
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = others.numbers.get(term) {
            return Ok(*number);
        }
        let next = u32::try_from(others.terms.len() + 1).ok().and_then(|count| self.last.checked_add(count));
        // The largest number is no term: it is an error in the memory of results.
        let number = next.filter(|number| *number < u32::MAX).ok_or_else(too_many)?;
        let bytes = TERM_BYTES + text_bytes(term);
        if !others.held.try_grow(bytes) {
            return Err(too_large(&self.budget, bytes));
        }
        let term = Arc::new(term.clone());
        others.terms.push(Arc::clone(&term));
        others.numbers.insert(term, number);
        Ok(number)
    }

    /// The number of `xsd:integer`; 0 if the graph has no such literal.
    pub fn integer(&self) -> u32 {
        self.integer
    }

    /// The key of a term of the graph.
    pub fn key(&self, number: u32) -> Option<&'g [u8]> {
        if number > self.last { None } else { self.known.key(number) }
    }

    /// A term that the graph does not have.
    pub fn other(&self, number: u32) -> Option<Arc<Term>> {
        let at = number.checked_sub(self.last)?.checked_sub(1)?;
        self.others.read().unwrap_or_else(PoisonError::into_inner).terms.get(at as usize).cloned()
    }

    /// The term as the evaluator of rows sees it.
    pub fn id(&self, number: u32) -> Id {
        match self.other(number) {
            Some(term) => Id::Other(term),
            None => Id::Known(number),
        }
    }

    /// The term with a number; `None` for [`UNBOUND`].
    ///
    /// # Errors
    /// If there is no such term, which is an internal error.
    pub fn term(&self, number: u32) -> Result<Option<Term>> {
        if number == UNBOUND {
            return Ok(None);
        }
        match self.other(number) {
            Some(term) => Ok(Some(Term::clone(&term))),
            None => term::term(self.known.key(number).unwrap_or_default(), self.known).map(Some),
        }
    }

    /// The value of a term, as the evaluator of rows sees it.
    ///
    /// # Errors
    /// As [`Numbers::term`].
    pub fn value(&self, number: u32) -> Result<Option<ExpressionTerm>> {
        Ok(self.term(number)?.map(ExpressionTerm::from))
    }
}

fn too_many() -> Error {
    Error::new(Kind::TooLarge, "more than 4,294,967,294 different terms")
}

/// Bytes of the texts of a term.
fn text_bytes(term: &Term) -> u64 {
    let length = match term {
        Term::NamedNode(iri) => iri.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len() + literal.datatype().as_str().len(),
        Term::Triple(_) => 400,
    };
    2 * length as u64
}
