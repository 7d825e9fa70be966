//! One pattern in triples that are read one after another, to the end or to the last one that is needed.

use std::collections::HashSet;

use isomorph_error::Result;
use isomorph_graphlake::{TripleId, each_id};
use isomorph_model::faces::{Quad, Triples};

use super::pattern::QuadPattern;
use super::triple::push_line;
use crate::progress::Progress;

/// The most triples that are remembered, so that each is returned once.
pub(super) const MOST_REMEMBERED: u64 = 1 << 16;

/// Quads between two checks for cancellation.
const AT_ONCE: u64 = 1 << 14;

/// Triples, and one pattern.
pub(super) struct Stream<'s> {
    pub triples: &'s dyn Triples,
    pub pattern: &'s QuadPattern,
    /// Whether ids are passed on as well.
    pub ids: bool,
    pub progress: &'s dyn Progress,
}

impl Stream<'_> {
    /// Passes the first `most` matching triples on, each once, and then stops reading. Returns whether these are all.
    ///
    /// # Errors
    /// If the triples cannot be read, as far as they are read; and errors of `take`.
    pub fn first(
        &self,
        most: u64,
        take: &mut (dyn FnMut(&Quad<'_>, Option<TripleId>) -> Result<()> + Send),
    ) -> Result<bool> {
        let is_distinct = self.triples.are_distinct();
        let (mut seen, mut line) = (HashSet::new(), String::new());
        let (mut read, mut found) = (0u64, 0u64);
        self.progress.begin("match", None);
        let done = self.triples.each(&mut |quad| {
            read += 1;
            if read.is_multiple_of(AT_ONCE) {
                self.progress.advance(0)?;
            }
            if !self.pattern.fits(quad) {
                return Ok(true);
            }
            if !is_distinct {
                line.clear();
                push_line(&mut line, quad, None);
                if !seen.insert(line.clone()) {
                    return Ok(true);
                }
            }
            let id = if self.ids { Some(each_id(quad, &mut |_| Ok(()))?) } else { None };
            take(quad, id)?;
            found += 1;
            Ok(found < most)
        });
        self.progress.end();
        done?;
        Ok(found < most)
    }
}
