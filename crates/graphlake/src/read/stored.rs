//! Quads as they are stored, and quoted triples separately: for callers that handle quoted triples by their ids.

use isomorph_error::Result;
use isomorph_model::faces::Quad;

use super::{GraphLake, Order};
use crate::id::TripleId;
use crate::term;

impl GraphLake {
    /// Whether a scan returns all triples of the snapshot.
    pub fn is_whole(&self) -> bool {
        self.narrowed.is_none()
    }

    /// Passes every quoted triple with its id to `take`. Triples that it quotes are IRIs of ids.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated or damaged, or if `take` returns one.
    pub fn quoted_triples(&self, take: &mut dyn FnMut(TripleId, Quad<'_>) -> Result<()>) -> Result<()> {
        let mut line = String::new();
        let sections = self.sections(Order::Subject);
        let quoted = sections.iter().filter(|section| section.graph_name() == term::QUOTED_GRAPH);
        quoted.into_iter().try_for_each(|section| {
            self.quads_of(section, &mut |quad| {
                take(TripleId::with(&mut line, quad.subject, quad.predicate, &quad.object), quad)
            })
        })
    }

    /// Passes every other quad to `take` as it is stored: quoted triples are the IRIs of their ids.
    ///
    /// # Errors
    /// As [`GraphLake::quads`].
    pub fn unquoted(&self, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let sections = self.sections(Order::Subject);
        let mut unquoted = sections.iter().filter(|section| section.graph_name() != term::QUOTED_GRAPH);
        unquoted.try_for_each(|section| self.quads_of(section, take))
    }
}
