//! Matches patterns in a graph of any format.

use std::io::Write;

use isomorph_error::Result;
use isomorph_graphlake::{Estimate, GraphLake, TripleId, each_id};
use isomorph_model::faces::{self, Quad};
use isomorph_storage::Resources;

use super::copy::{Copy, Keep};
use super::lake::LakeMatches;
use super::pattern::{QuadPattern, Query};
use super::solutions::Solutions;
use super::stream::{MOST_REMEMBERED, Stream};
use super::triple::{Triple, Triples, push_line};
use crate::drivers::lake;
use crate::open::Opened;
use crate::progress::Progress;
use crate::rdf_form::RdfForm;

/// What is searched.
pub enum Searched<'g> {
    /// A store, by look-ups.
    Store(&'g GraphLake),
    /// Triples that must be read: by a pass, or in a sorted copy.
    Read(Box<dyn faces::Triples + 'g>),
}

impl<'g> Searched<'g> {
    /// An opened graph: the triples that it stores, without its sidecar; or its RDF form, with generated IRIs that begin
    /// with `base`.
    pub fn of(opened: &'g Opened, base: Option<&'g str>, resources: &'g Resources, progress: &'g dyn Progress) -> Self {
        match (lake(opened.native.as_ref()), opened.native.triples()) {
            (Some(lake), _) => Searched::Store(lake),
            (None, Some(triples)) => Searched::Read(Box::new(triples)),
            (None, None) => Searched::Read(Box::new(RdfForm::of(opened, base, resources, progress))),
        }
    }
}

/// A pattern, in the order in which the patterns are evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The number of the pattern, from 0.
    pub pattern: usize,
    /// Whether it is evaluated with the values that were found so far.
    pub per_row: bool,
    /// The number of matches, for each row of these values if it is evaluated with them; `None` if it is not known
    /// before the graph was read.
    pub estimate: Option<Estimate>,
}

/// Patterns that are matched in a graph. Quoted triples are matched and returned as triple terms, however the graph
/// represents them.
pub struct Matches<'g> {
    searched: Searched<'g>,
    query: Query,
    resources: &'g Resources,
    progress: &'g dyn Progress,
    ids: bool,
}

impl std::fmt::Debug for Matches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matches").field("query", &self.query).finish_non_exhaustive()
    }
}

impl<'g> Matches<'g> {
    /// Prepares to match `query`; nothing is read.
    pub fn new(searched: Searched<'g>, query: Query, resources: &'g Resources, progress: &'g dyn Progress) -> Self {
        Matches { searched, query, resources, progress, ids: false }
    }

    /// The same with the ids of triples: those that a store has or would have.
    #[must_use]
    pub fn with_ids(mut self, ids: bool) -> Self {
        self.ids = ids;
        self
    }

    /// The patterns.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The one pattern in triples that are read one after another, if that finds the first `limit` of them, each once.
    fn stream(&self, limit: Option<u64>) -> Option<Stream<'_>> {
        let (Searched::Read(triples), [pattern]) = (&self.searched, self.query.patterns.as_slice()) else {
            return None;
        };
        let triples = triples.as_ref();
        let is_once = triples.are_distinct() || limit.is_some_and(|limit| limit <= MOST_REMEMBERED);
        let is_possible = is_once && !pattern.has_ids();
        is_possible.then_some(Stream { triples, pattern, ids: self.ids, progress: self.progress })
    }

    /// Searches the store, or a copy of the triples that fit one of the patterns.
    fn in_store<T>(&self, work: impl FnOnce(&LakeMatches<'_>) -> Result<T>) -> Result<T> {
        let patterns: Vec<QuadPattern> = self.query.patterns.iter().map(QuadPattern::without_ids).collect();
        self.in_store_of(&|quad| Ok(patterns.iter().any(|pattern| pattern.fits(quad))), work)
    }

    fn in_store_of<T>(&self, keep: &Keep<'_>, work: impl FnOnce(&LakeMatches<'_>) -> Result<T>) -> Result<T> {
        let copy;
        let lake = match &self.searched {
            Searched::Store(lake) => lake,
            Searched::Read(triples) => {
                copy = Copy::of(triples.as_ref(), keep, self.resources, self.progress)?;
                copy.lake()
            }
        };
        work(&LakeMatches::new(lake, self.query.clone(), self.progress)?.with_ids(self.ids))
    }

    /// Counts the matches of the one pattern, or the solutions of several.
    ///
    /// # Errors
    /// If the graph cannot be read, or there is no space for a copy.
    pub fn count(&self) -> Result<u64> {
        let Some(stream) = self.stream(None) else {
            return self.in_store(|matches| matches.count(self.resources.threads));
        };
        let mut count = 0;
        Stream { ids: false, ..stream }.first(u64::MAX, &mut |_, _| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// The first `limit` matches of the one pattern. Further matches are not searched for; their number is returned if
    /// a store states it.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for several patterns; otherwise as [`Matches::count`].
    pub fn triples(&self, limit: u64) -> Result<Triples> {
        let Some(stream) = self.stream(Some(limit)) else { return self.in_store(|matches| matches.triples(limit)) };
        let mut triples = Vec::new();
        let all = stream.first(limit, &mut |quad, id| {
            triples.push(Triple::of(quad, id));
            Ok(())
        })?;
        Ok(Triples { triples, more: Some(0).filter(|_| all) })
    }

    /// Writes the matches of the one pattern as lines of N-Quads: the first `limit`, or all.
    ///
    /// # Errors
    /// As [`Matches::triples`]; also if `out` cannot be written.
    pub fn lines(&self, limit: Option<u64>, out: &mut (dyn Write + Send)) -> Result<()> {
        let Some(stream) = self.stream(limit) else {
            return self.in_store(|matches| matches.lines(limit, self.resources.threads, out));
        };
        let mut line = String::new();
        stream.first(limit.unwrap_or(u64::MAX), &mut |quad, id| {
            line.clear();
            push_line(&mut line, quad, id);
            Ok(out.write_all(line.as_bytes())?)
        })?;
        Ok(out.flush()?)
    }

    /// The first `limit` solutions. One pattern is searched for no further than for the last of them.
    ///
    /// # Errors
    /// As [`Matches::count`].
    pub fn solutions(&self, limit: u64) -> Result<Solutions> {
        let Some(stream) = self.stream(Some(limit)) else { return self.in_store(|matches| matches.solutions(limit)) };
        let variables = &self.query.variables;
        let mut solved = Solutions { variables: variables.clone(), ..Solutions::default() };
        solved.all = stream.first(limit, &mut |quad, id| {
            solved
                .rows
                .push(variables.iter().map(|name| stream.pattern.value(name, quad).unwrap_or_default()).collect());
            solved.ids.extend(id.map(|id| vec![id.to_string()]));
            Ok(())
        })?;
        Ok(solved)
    }

    /// The order in which the patterns would be evaluated in a store, and the expected number of matches for each. Reads
    /// no triple: for other graphs, order and numbers are known only after the pass that copies their triples.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn plan(&self) -> Result<Vec<Step>> {
        let Searched::Store(lake) = &self.searched else {
            let step = |pattern| Step { pattern, per_row: false, estimate: None };
            return Ok((0..self.query.patterns.len()).map(step).collect());
        };
        let plan = LakeMatches::new(lake, self.query.clone(), self.progress)?.plan()?;
        let step = |step: isomorph_graphlake::JoinStep| Step {
            pattern: step.pattern,
            per_row: step.per_row,
            estimate: Some(step.estimate),
        };
        Ok(plan.into_iter().map(step).collect())
    }

    /// The triples with these ids, once for each graph that contains them, and the same as lines of N-Quads. A triple
    /// that is only quoted and in no graph is returned once; as it is not a statement, its line is a comment.
    ///
    /// # Errors
    /// As [`Matches::count`].
    pub fn by_ids(&self, ids: &[TripleId]) -> Result<(Vec<Triple>, String)> {
        let keep = |quad: &Quad<'_>| {
            let mut quotes = false;
            let own = each_id(quad, &mut |quoted| {
                quotes |= ids.contains(&quoted);
                Ok(())
            })?;
            Ok(quotes || ids.contains(&own))
        };
        self.in_store_of(&keep, |matches| matches.by_ids(ids))
    }
}
