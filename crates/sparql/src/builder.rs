//! Collects the quads of a graph.

use std::collections::HashSet;
use std::sync::Arc;

use isomorph::error::{Error, Kind, Result};
use isomorph::model::faces::Quad;
use isomorph::storage::{Budget, Reservation};

use crate::dictionary::Dictionary;
use crate::index::TripleIndex;
use crate::patterns::Wanted;
use crate::term::{self, Adding};

/// Quads between two checks of the memory in use.
const AT_ONCE: u32 = 1 << 12;

/// The number of the default graph.
pub(crate) const DEFAULT_GRAPH: u32 = 0;

/// Collects quads for a [`TripleIndex`], within a budget. Several can be filled on several threads, and then become one.
pub struct Builder {
    pub(crate) terms: Dictionary,
    /// Graph, subject, predicate, object.
    pub(crate) rows: Vec<[u32; 4]>,
    pub(crate) graphs: HashSet<u32>,
    wanted: Arc<Wanted>,
    held: Reservation,
    budget: Budget,
    key: Vec<u8>,
    /// Subject, predicate and graph of the last quad, which are often the same again.
    last: [(String, u32); 3],
    /// Quads since the last check.
    unchecked: u32,
    /// All quads that were read, wanted or not.
    read: u64,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("quads", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Builder {
    /// Starts to collect the wanted quads.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the budget is used up.
    pub fn new(wanted: &Arc<Wanted>, budget: &Budget) -> Result<Self> {
        Ok(Builder {
            terms: Dictionary::default(),
            rows: Vec::new(),
            graphs: HashSet::new(),
            wanted: Arc::clone(wanted),
            held: budget.reserve(0)?,
            budget: budget.clone(),
            key: Vec::new(),
            last: Default::default(),
            unchecked: 0,
            read: 0,
        })
    }

    /// Another one for the same quads, to be filled by another thread, and absorbed.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the budget is used up.
    pub fn alike(&self) -> Result<Self> {
        Ok(Builder { terms: self.terms.alike(), ..Builder::new(&self.wanted, &self.budget)? })
    }

    /// The number of quads that were read, including those that are not wanted.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Adds a named graph, which may have no quads.
    ///
    /// # Errors
    /// As [`Builder::quad`].
    pub fn graph(&mut self, name: &str) -> Result<()> {
        self.graph_number(Some(name)).map(|_| ())
    }

    /// Adds a quad, if it is wanted.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the budget is used up.
    pub fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.read += 1;
        // The names of graphs are answers themselves.
        let graph = self.graph_number(quad.graph)?;
        if !self.wanted.has(quad) {
            return Ok(());
        }
        let subject = self.number(0, quad.subject)?;
        let predicate = self.number(1, quad.predicate)?;
        let object = term::of_object(&quad.object, &mut self.key, &mut Adding(&mut self.terms))?.ok_or_else(lost)?;
        self.rows.push([graph, subject, predicate, object]);
        self.unchecked += 1;
        if self.unchecked >= AT_ONCE { self.check() } else { Ok(()) }
    }

    fn graph_number(&mut self, graph: Option<&str>) -> Result<u32> {
        let Some(name) = graph else { return Ok(DEFAULT_GRAPH) };
        let number = self.number(2, name)?;
        if self.graphs.insert(number) {
            self.unchecked += 1;
        }
        Ok(number)
    }

    /// The number of a resource at a position.
    fn number(&mut self, at: usize, text: &str) -> Result<u32> {
        if let Some((_, number)) = self.last.get(at).filter(|(last, number)| *number > 0 && last == text) {
            return Ok(*number);
        }
        let number = term::of_resource(text, &mut self.key, &mut Adding(&mut self.terms))?.ok_or_else(lost)?;
        if let Some((last, of)) = self.last.get_mut(at) {
            last.clear();
            last.push_str(text);
            *of = number;
        }
        Ok(number)
    }

    fn memory(&self) -> u64 {
        self.terms.memory() + (size_of::<[u32; 4]>() * self.rows.capacity() + 8 * self.graphs.capacity()) as u64
    }

    /// Checks that the memory in use is within the budget.
    fn check(&mut self) -> Result<()> {
        self.unchecked = 0;
        let missing = self.memory().saturating_sub(self.held.bytes());
        if missing > 0 && !self.held.try_grow(missing) {
            return Err(too_large(&self.budget, missing));
        }
        Ok(())
    }

    /// Takes everything that another builder has collected.
    ///
    /// # Errors
    /// As [`Builder::quad`].
    pub fn absorb(&mut self, other: Builder) -> Result<()> {
        if self.rows.is_empty() && self.terms.len() == 0 {
            let read = self.read;
            *self = other;
            self.read += read;
            return Ok(());
        }
        let numbers = self.terms.absorb(&other.terms)?;
        let number = |old: u32| match (old as usize).checked_sub(1) {
            None => Ok(DEFAULT_GRAPH),
            Some(at) => numbers.get(at).copied().ok_or_else(lost),
        };
        self.rows.reserve_exact(other.rows.len());
        for [graph, subject, predicate, object] in &other.rows {
            self.rows.push([number(*graph)?, number(*subject)?, number(*predicate)?, number(*object)?]);
        }
        for graph in &other.graphs {
            self.graphs.insert(number(*graph)?);
        }
        self.read += other.read;
        drop(other);
        self.check()
    }

    /// Sorts what was collected.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the budget is used up.
    pub fn finish(mut self) -> Result<TripleIndex> {
        self.check()?;
        TripleIndex::new(self.terms, self.rows, self.graphs, &self.budget, self.held)
    }
}

fn lost() -> Error {
    Error::malformed("internal error: a term has no number")
}

/// The error for a graph that does not fit.
pub(crate) fn too_large(budget: &Budget, bytes: u64) -> Error {
    let message = format!(
        "the quads that this query can read do not fit into memory: need {bytes} bytes more, {} of {} are available",
        budget.available(),
        budget.limit()
    );
    Error::new(Kind::TooLarge, message).hint("raise --memory").hint(
        "isomorph convert PATH NAME.lake, and query the store: constants in patterns are then looked up in its files",
    )
}
