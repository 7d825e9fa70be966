//! Triples as a face of a graph: what is asked, and what a source of triples gives.
//!
//! A source gives its quads ([`Triples`]): all of them, to one reader that may stop, or to several at once. One that
//! finds triples without reading all of them also gives [`TripleLookUps`]. Everything else that is asked of triples –
//! patterns with common variables, numbers, ids – is made of these two above, for every format in the same way.

use isomorph_error::Result;

use super::{Object, Quad};

/// The graphs to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InGraph<'a> {
    /// All of them, each separately.
    #[default]
    Any,
    /// The default graph.
    Default,
    /// A named graph.
    Named(&'a str),
}

/// What is known of the wanted quads; `None` matches anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pattern<'a> {
    /// IRI, or blank node.
    pub subject: Option<&'a str>,
    /// IRI.
    pub predicate: Option<&'a str>,
    /// IRI, blank node or literal.
    pub object: Option<Object<'a>>,
    /// The graphs.
    pub graph: InGraph<'a>,
}

/// A number of solutions: in total, if all positions of a question are known or variables; for each row of the
/// bindings, on average, if some are columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The likely number.
    pub rows: f64,
    /// A lower bound, provided that the data match its metadata.
    pub low: u64,
    /// An upper bound.
    pub high: u64,
}

impl Estimate {
    /// No solution.
    pub const NONE: Estimate = Estimate { rows: 0.0, low: 0, high: 0 };

    /// Whether the number is exact.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Estimate) -> Estimate {
        Estimate {
            rows: self.rows + other.rows,
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }
}

/// Takes quads on a thread of its own.
pub trait QuadTaker: Send {
    /// Takes the name of a graph, which may have no triples.
    ///
    /// # Errors
    /// Returns an error to end reading.
    fn graph(&mut self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Takes a quad.
    ///
    /// # Errors
    /// Returns an error to end reading.
    fn quad(&mut self, quad: &Quad<'_>) -> Result<()>;
}

/// A graph that can be read as triples. Terms are canonical texts (see [`crate::term`]), quoted triples are triple
/// terms, however the source represents them.
pub trait Triples: Send + Sync {
    /// Passes every quad to one of `takers`, in any distribution and order; a quad may be passed on repeatedly. A
    /// source that cannot be read on several threads uses only the first one.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, or is not sound; and the first error of a taker.
    fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()>;

    /// Whether [`Triples::each`] passes each quad on once.
    fn are_distinct(&self) -> bool;

    /// Passes quads on, always in the same order, until `take` returns false; then reading ends.
    ///
    /// # Errors
    /// As [`Triples::shared`], as far as the source was read.
    fn each(&self, take: &mut (dyn FnMut(&Quad<'_>) -> Result<bool> + Send)) -> Result<()> {
        let mut until = Until { take, ended: false };
        match self.shared(&mut [&mut until]) {
            Err(_) if until.ended => Ok(()),
            read => read,
        }
    }

    /// Finds triples without reading all of them, if the source can.
    fn look_ups(&self) -> Option<&dyn TripleLookUps> {
        None
    }
}

impl<T: Triples + ?Sized> Triples for &T {
    fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()> {
        (**self).shared(takers)
    }

    fn are_distinct(&self) -> bool {
        (**self).are_distinct()
    }

    fn each(&self, take: &mut (dyn FnMut(&Quad<'_>) -> Result<bool> + Send)) -> Result<()> {
        (**self).each(take)
    }

    fn look_ups(&self) -> Option<&dyn TripleLookUps> {
        (**self).look_ups()
    }
}

/// A source that finds the triples of a pattern without reading all others.
pub trait TripleLookUps: Send + Sync {
    /// The names of its named graphs, including those without triples.
    fn graphs(&self) -> Vec<&str>;

    /// Estimates how many quads match. Nothing is read for this.
    fn estimate(&self, pattern: &Pattern<'_>) -> Estimate;

    /// Passes the quads that match to `take`, each once, reading on this many threads.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, and errors of `take`.
    fn matching(
        &self,
        pattern: &Pattern<'_>,
        threads: usize,
        take: &mut dyn FnMut(&Quad<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// Takes quads until it has enough.
struct Until<'t> {
    take: &'t mut (dyn FnMut(&Quad<'_>) -> Result<bool> + Send),
    ended: bool,
}

impl QuadTaker for Until<'_> {
    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        if !self.ended && (self.take)(quad)? {
            return Ok(());
        }
        self.ended = true;
        // Sources end with an error of their taker.
        Err(isomorph_error::Error::new(isomorph_error::Kind::Cancelled, "no more triples are wanted"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Ten quads, passed on one after another, and the number of those that were read.
    struct Ten(std::sync::atomic::AtomicUsize);

    impl Triples for Ten {
        fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()> {
            for number in 0..10 {
                self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let subject = format!("urn:{number}");
                let quad = Quad { subject: &subject, predicate: "urn:p", object: Object::Term("urn:o"), graph: None };
                takers[0].quad(&quad)?;
            }
            Ok(())
        }

        fn are_distinct(&self) -> bool {
            true
        }
    }

    #[test]
    fn reading_ends_when_no_more_is_wanted() {
        for (most, expected) in [(3, 3), (10, 10), (20, 10)] {
            let (ten, mut taken) = (Ten(0.into()), 0);
            ten.each(&mut |_| {
                taken += 1;
                Ok(taken < most)
            })
            .unwrap();
            assert_eq!((taken, ten.0.into_inner()), (expected, expected));
        }
        let failed = Ten(0.into()).each(&mut |_| Err(isomorph_error::Error::usage("own"))).unwrap_err();
        assert_eq!(failed.kind(), isomorph_error::Kind::Usage);
    }
}
