//! Quads as they are stored, with what is quoted apart: for who knows quoted triples by their ids.

use isomorph_error::Result;
use isomorph_model::faces::Quad;

use super::{GraphLake, Order};
use crate::id::TripleId;
use crate::term;

impl GraphLake {
    /// Whether a scan shows all triples of the snapshot.
    pub fn is_whole(&self) -> bool {
        self.narrowed.is_none()
    }

    /// Hands over every quoted triple with its id. What it quotes itself is the IRI of an id.
    ///
    /// # Errors
    /// When a file is missing, cut or broken, or `take` returns an error.
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

    /// Hands over every other quad as it is stored: quoted triples are the IRIs of their ids.
    ///
    /// # Errors
    /// As [`GraphLake::quads`].
    pub fn unquoted(&self, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let sections = self.sections(Order::Subject);
        let mut unquoted = sections.iter().filter(|section| section.graph_name() != term::QUOTED_GRAPH);
        unquoted.try_for_each(|section| self.quads_of(section, take))
    }
}
