//! Matches patterns in a store.

use std::io::Write;
use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_graphlake::{
    self as graphlake, Bindings, GraphLake, Join, JoinStep, QUOTED_GRAPH, Solutions as Found, TripleId,
};
use isomorph_model::faces::{Object, Quad};

use super::pattern::{QuadPattern, Query};
use super::solutions::{self, Solutions};
use super::triple::{Triple, Triples, push_line};
use crate::progress::Progress;

/// Lines of N-Quads that are passed on at once, in bytes.
const PIECE: usize = 512 << 10;

/// Patterns that are matched in a store.
pub(super) struct LakeMatches<'l> {
    pub(super) lake: &'l GraphLake,
    pub(super) query: Query,
    pub(super) ids: bool,
    /// Asked from time to time whether the work should go on.
    pub(super) progress: &'l dyn Progress,
}

impl<'l> LakeMatches<'l> {
    /// Prepares to match `query` in `lake`.
    ///
    /// # Errors
    /// If the store has two names for a quoted triple, or cannot be read.
    pub fn new(lake: &'l GraphLake, mut query: Query, progress: &'l dyn Progress) -> Result<Self> {
        query.patterns.iter_mut().try_for_each(|pattern| pattern.store(|term| lake.stored(term)))?;
        Ok(LakeMatches { lake, query, ids: false, progress })
    }

    /// The same with the ids of triples, as the store has them.
    pub fn with_ids(mut self, ids: bool) -> Self {
        self.ids = ids;
        self
    }

    /// The pattern, if there is only one.
    fn one(&self) -> Result<&QuadPattern> {
        match self.query.patterns.as_slice() {
            [one] => Ok(one),
            _ => Err(Error::usage("several patterns return solutions, not triples")),
        }
    }

    /// Passes a quad on if it fits, with quoted triples as triple terms, and with its id if requested. Returns the
    /// result of `take`.
    fn meant<T>(
        &self,
        pattern: &QuadPattern,
        quad: &Quad<'_>,
        take: impl FnOnce(&Quad<'_>, Option<TripleId>) -> Result<T>,
    ) -> Result<Option<T>> {
        if pattern.agrees(quad) { self.spelt(quad, self.ids, take).map(Some) } else { Ok(None) }
    }

    /// Passes a quad on with quoted triples as triple terms.
    fn spelt<T>(
        &self,
        quad: &Quad<'_>,
        ids: bool,
        take: impl FnOnce(&Quad<'_>, Option<TripleId>) -> Result<T>,
    ) -> Result<T> {
        // Ids identify triples as the store represents them.
        let id = ids.then(|| TripleId::of(quad.subject, quad.predicate, &quad.object));
        let object = if let Object::Term(term) = quad.object { self.lake.spelt(term)? } else { None };
        let quad = Quad { object: object.as_deref().map_or(quad.object, Object::Term), ..*quad };
        take(&quad, id)
    }

    /// Passes all matches of the one pattern to `take`, until it returns false.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for several patterns; and errors of reading the store and of `take`.
    fn each(&self, take: &mut dyn FnMut(&Quad<'_>, Option<TripleId>) -> Result<bool>) -> Result<()> {
        let asked = self.one()?;
        let pattern = asked.pattern();
        let solutions = Found::new(self.lake, &asked.question(), Arc::new(Bindings::unit()))?;
        let mut solutions = solutions.with_small_batches();
        while let Some(found) = solutions.next_batch()? {
            self.progress.advance(0)?;
            for row in 0..found.rows.len() {
                if self.meant(asked, &found.quad(row, &pattern), &mut *take)? == Some(false) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The number of matches, if the files state it.
    fn known(&self, pattern: &QuadPattern) -> Option<u64> {
        let estimate = self.lake.estimate(&pattern.question());
        (estimate.is_exact() && self.query.is_free()).then_some(estimate.high)
    }

    /// Counts the matches of the one pattern, or the solutions of several, on this number of threads.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, threads: usize) -> Result<u64> {
        let [asked] = self.query.patterns.as_slice() else {
            let (patterns, variables) = self.query.joined();
            let mut count = 0;
            Join::new(self.lake, &patterns, variables)?.each(threads, &mut |found| {
                count += found.rows() as u64;
                self.progress.advance(0)
            })?;
            return Ok(count);
        };
        if let Some(known) = self.known(asked) {
            return Ok(known);
        }
        if self.query.is_free() {
            return self.lake.ask_count(&asked.question(), Arc::new(Bindings::unit()), threads);
        }
        self.lake.matching_count(threads, &asked.pattern(), |quad| asked.agrees(quad))
    }

    /// The first `limit` matches of the one pattern. Further matches are not searched for; their number is returned if
    /// the files state it.
    ///
    /// # Errors
    /// As [`LakeMatches::each`].
    pub fn triples(&self, limit: u64) -> Result<Triples> {
        let (mut triples, mut ended) = (Vec::new(), false);
        self.each(&mut |quad, id| {
            triples.push(Triple::of(quad, id));
            ended = triples.len() as u64 >= limit;
            Ok(!ended)
        })?;
        let more = match self.known(self.one()?) {
            Some(known) => Some(known.saturating_sub(triples.len() as u64)),
            None => Some(0).filter(|_| !ended),
        };
        Ok(Triples { triples, more })
    }

    /// The first `limit` solutions; reading ends after the last of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn solutions(&self, limit: u64) -> Result<Solutions> {
        solutions::of_lake(self, limit)
    }

    /// The order in which the patterns would be matched, and the expected number of matches for each. Reads no triple.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn plan(&self) -> Result<Vec<JoinStep>> {
        let (patterns, variables) = self.query.joined();
        Ok(Join::new(self.lake, &patterns, variables)?.plan().to_vec())
    }

    /// The triples with these ids, once for each graph that contains them, and the same as lines of N-Quads. A triple
    /// that is only quoted and in no graph is returned once; as it is not a statement, its line is a comment.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn by_ids(&self, ids: &[TripleId]) -> Result<(Vec<Triple>, String)> {
        let (mut found, mut lines) = (Vec::new(), String::new());
        for id in ids {
            let (before, mut quoted) = (found.len(), None);
            self.lake.by_id(id, &mut |quad| {
                self.spelt(&quad, true, |quad, id| {
                    if quad.graph == Some(QUOTED_GRAPH) {
                        let meant = Quad { graph: None, ..*quad };
                        let mut line = "# only quoted: ".to_owned();
                        push_line(&mut line, &meant, id.filter(|_| self.ids));
                        quoted = Some((Triple { only_quoted: true, ..Triple::of(&meant, id) }, line));
                        return Ok(());
                    }
                    push_line(&mut lines, quad, id.filter(|_| self.ids));
                    found.push(Triple::of(quad, id));
                    Ok(())
                })
            })?;
            if let (true, Some((triple, line))) = (found.len() == before, quoted) {
                found.push(triple);
                lines.push_str(&line);
            }
        }
        Ok((found, lines))
    }

    /// Writes the matches of the one pattern as lines of N-Quads: the first `limit`, or all. Without a limit, `threads`
    /// read and format the lines.
    ///
    /// # Errors
    /// As [`LakeMatches::each`]; also if `out` cannot be written.
    pub fn lines(&self, limit: Option<u64>, threads: usize, out: &mut dyn Write) -> Result<()> {
        let asked = self.one()?;
        match limit {
            Some(limit) => {
                let (mut left, mut line) = (limit, String::new());
                self.each(&mut |quad, id| {
                    left = left.saturating_sub(1);
                    line.clear();
                    push_line(&mut line, quad, id);
                    out.write_all(line.as_bytes())?;
                    Ok(left > 0)
                })?;
            }
            None => {
                let pattern = asked.pattern();
                let worded = |found: graphlake::Found, give: &mut dyn FnMut(String) -> Result<()>| {
                    let mut lines = String::new();
                    for row in 0..found.rows.len() {
                        self.meant(asked, &found.quad(row, &pattern), |quad, id| {
                            push_line(&mut lines, quad, id);
                            Ok(())
                        })?;
                        if lines.len() >= PIECE {
                            give(std::mem::take(&mut lines))?;
                        }
                    }
                    if lines.is_empty() { Ok(()) } else { give(lines) }
                };
                let (question, bindings) = (asked.question(), Arc::new(Bindings::unit()));
                let mut write = |lines: String| {
                    self.progress.advance(0)?;
                    Ok(out.write_all(lines.as_bytes())?)
                };
                self.lake.ask_as(&question, bindings, threads, worded, &mut write)?;
            }
        }
        Ok(out.flush()?)
    }
}
