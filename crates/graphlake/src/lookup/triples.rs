//! The triples of a snapshot, for callers that do not know how it is stored.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Estimate, Object, Pattern, Quad, QuadTaker, TripleLookUps, Triples};
use isomorph_model::term::{TermKind, kind};

use super::Question;
use crate::read::{GraphLake, Order};
use crate::term::QUOTED_GRAPH;

impl Triples for GraphLake {
    fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()> {
        let Some((first, others)) = takers.split_first_mut() else { return Ok(()) };
        self.graphs().into_iter().try_for_each(|name| first.graph(name))?;
        let sections = self.divided_sections()?;
        let next = AtomicUsize::new(0);
        let work = |taker: &mut dyn QuadTaker| -> Result<()> {
            while let Some(section) = sections.get(next.fetch_add(1, Relaxed)) {
                self.statements_of(section, &mut |quad| taker.quad(&quad)).inspect_err(|_| {
                    // The others need not begin anything else.
                    next.store(sections.len(), Relaxed);
                })?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = others.iter_mut().map(|taker| scope.spawn(|| work(&mut **taker))).collect();
            let mut done = work(&mut **first);
            for thread in threads {
                let other = thread
                    .join()
                    .unwrap_or_else(|_| Err(Error::malformed("internal error: a thread that read the store failed")));
                done = done.and(other);
            }
            done
        })
    }

    fn are_distinct(&self) -> bool {
        true
    }

    fn each(&self, take: &mut (dyn FnMut(&Quad<'_>) -> Result<bool> + Send)) -> Result<()> {
        let mut ended = false;
        let read = self.statements(Order::Subject, &mut |quad| {
            ended = !take(&quad)?;
            if ended { Err(Error::new(isomorph_error::Kind::Cancelled, "no more triples are wanted")) } else { Ok(()) }
        });
        if ended { Ok(()) } else { read }
    }

    fn look_ups(&self) -> Option<&dyn TripleLookUps> {
        Some(self)
    }
}

impl TripleLookUps for GraphLake {
    fn graphs(&self) -> Vec<&str> {
        self.named_graphs().filter(|name| *name != QUOTED_GRAPH).collect()
    }

    fn estimate(&self, pattern: &Pattern<'_>) -> Estimate {
        self.estimate(&Question::from(pattern))
    }

    fn matching(
        &self,
        pattern: &Pattern<'_>,
        threads: usize,
        take: &mut dyn FnMut(&Quad<'_>) -> Result<()>,
    ) -> Result<()> {
        let stored = |term: &str| match kind(term) {
            TermKind::Triple => self.stored(term),
            _ => Ok(None),
        };
        let subject = pattern.subject.map(stored).transpose()?.flatten();
        let object = match pattern.object {
            Some(Object::Term(term)) => stored(term)?,
            _ => None,
        };
        let pattern = Pattern {
            subject: subject.as_deref().or(pattern.subject),
            object: object.as_deref().map(Object::Term).or(pattern.object),
            ..*pattern
        };
        let mut give = |quad: Quad<'_>| {
            if quad.graph == Some(QUOTED_GRAPH) {
                return Ok(());
            }
            let spelt = if let Object::Term(term) = quad.object { self.spelt(term)? } else { None };
            take(&Quad { object: spelt.as_deref().map_or(quad.object, Object::Term), ..quad })
        };
        match threads {
            0 | 1 => GraphLake::matching(self, &pattern, &mut give),
            threads => self.matching_on(threads, &pattern, &mut give),
        }
    }
}
