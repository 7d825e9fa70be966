//! Reifiers for texts without triple terms: properties of an edge are about an `rdf:Statement` of it.
//!
//! `_:e rdf:reifies <<( s p o )>>` becomes `_:e` of the class `rdf:Statement` with `rdf:subject`, `rdf:predicate` and
//! `rdf:object`, which RDF has had since 1.0. Only graphs that were lifted are written and read in this way: in any
//! other graph these are ordinary triples.

use std::collections::HashMap;

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Object, Quad, QuadSink, RDF_REIFIES, RDF_TYPE};
use isomorph_model::term;
use isomorph_storage::{Budget, Reservation};

use crate::mapping::CARRY_FITS;
use crate::mapping::quad_pass::QuadPass;

const STATEMENT: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement";

/// Subject, predicate and object of a statement, in the order of a triple.
const PARTS: [&str; 3] = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#subject",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#predicate",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#object",
];

/// Writes statements instead of triple terms.
pub(super) struct AsStatements;

impl QuadPass for AsStatements {
    fn quad(&mut self, quad: &Quad<'_>, inner: &mut dyn QuadSink) -> Result<()> {
        let parts = match quad.object {
            Object::Term(object) if quad.predicate == RDF_REIFIES => term::resources(object),
            _ => None,
        };
        let Some(parts) = parts else { return inner.quad(quad) };
        inner.quad(&Quad { predicate: RDF_TYPE, object: Object::Term(STATEMENT), ..*quad })?;
        PARTS
            .into_iter()
            .zip(parts)
            .try_for_each(|(predicate, part)| inner.quad(&Quad { predicate, object: Object::Term(part), ..*quad }))
    }
}

/// Reads statements as reifiers of triple terms. Their parts can be in any order; incomplete statements are held.
pub(super) struct FromStatements {
    /// By name and graph.
    open: HashMap<(String, Option<String>), [Option<String>; 3]>,
    held: Reservation,
    triple: String,
}

impl FromStatements {
    /// Creates an empty reader; what it holds counts in `budget`.
    ///
    /// # Errors
    /// If nothing of the budget is left.
    pub fn new(budget: &Budget) -> Result<Self> {
        Ok(FromStatements { open: HashMap::new(), held: budget.reserve(0)?, triple: String::new() })
    }

    /// Takes a quad and passes on the result.
    ///
    /// # Errors
    /// Returns the errors of `take`; also if what is held does not fit into memory.
    pub fn take(&mut self, quad: Quad<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let Object::Term(object) = quad.object else { return take(quad) };
        if quad.predicate == RDF_TYPE && object == STATEMENT {
            return Ok(());
        }
        let Some(part) = PARTS.iter().position(|part| *part == quad.predicate) else { return take(quad) };
        let name = (quad.subject.to_owned(), quad.graph.map(str::to_owned));
        let bytes = (name.0.len() + object.len()) as u64 + COST;
        self.held.grow(bytes)?;
        let parts = self.open.entry(name).or_default();
        if let Some(place) = parts.get_mut(part) {
            *place = Some(object.to_owned());
        }
        let [Some(subject), Some(predicate), Some(object)] = parts else { return Ok(()) };
        self.triple.clear();
        term::push_triple(&mut self.triple, subject, predicate, object);
        self.open.remove(&(quad.subject.to_owned(), quad.graph.map(str::to_owned)));
        if self.open.is_empty() {
            self.held.shrink(self.held.bytes());
        }
        take(Quad { predicate: RDF_REIFIES, object: Object::Term(&self.triple), ..quad })
    }

    /// Finishes after the last quad.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if a statement lacks a part.
    pub fn finish(self) -> Result<()> {
        match self.open.keys().next() {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("the statement {name} about an edge lacks its subject, predicate or object");
                Err(Error::broken(&CARRY_FITS, message))
            }
        }
    }
}

/// Approximate size of an entry apart from its texts, in bytes.
const COST: u64 = 160;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(quads: &[(&str, &str, &str)]) -> Result<Vec<String>> {
        let budget = Budget::new(1 << 20);
        let (mut statements, mut found) = (FromStatements::new(&budget)?, Vec::new());
        for (subject, predicate, object) in quads {
            let quad = Quad { subject, predicate, object: Object::Term(object), graph: None };
            statements.take(quad, &mut |quad| {
                let Object::Term(object) = quad.object else { return Ok(()) };
                found.push(format!("{} {} {object}", quad.subject, quad.predicate));
                Ok(())
            })?;
        }
        statements.finish()?;
        assert_eq!(budget.used(), 0);
        Ok(found)
    }

    #[test]
    fn parts_may_come_in_any_order() {
        let [subject, predicate, object] = PARTS;
        let quads = [
            ("_:f", object, "urn:o"),
            ("_:e", object, "_:o"),
            ("_:f", subject, "urn:s"),
            ("_:e", RDF_TYPE, STATEMENT),
            ("_:e", predicate, "urn:p"),
            ("urn:s", "urn:p", "urn:o"),
            ("_:e", subject, "urn:s"),
            ("_:f", predicate, "urn:q"),
        ];
        let expected = [
            "urn:s urn:p urn:o".to_owned(),
            format!("_:e {RDF_REIFIES} <<( <urn:s> <urn:p> _:o )>>"),
            format!("_:f {RDF_REIFIES} <<( <urn:s> <urn:q> <urn:o> )>>"),
        ];
        assert_eq!(read(&quads).unwrap(), expected);
    }

    #[test]
    fn a_part_that_is_missing_is_an_error() {
        let error = read(&[("_:e", PARTS[0], "urn:s"), ("_:e", PARTS[2], "urn:o")]).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(CARRY_FITS.id));
    }
}
