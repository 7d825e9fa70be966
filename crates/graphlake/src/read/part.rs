//! The parts of a scan: one for each graph and predicate, and one for the graphs without triples.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use isomorph_error::Result;
use isomorph_model::batch::GroupBatch;
use isomorph_model::{Batch, Part};

use super::GraphLake;
use super::batches::Collector;
use crate::snapshot::NamedGraph;
use crate::{lookup, term};

/// Which triples of a part are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Those between resources.
    pub(super) edges: bool,
    /// Those with literals.
    pub(super) values: bool,
    /// Rows of a batch.
    pub(super) rows: usize,
}

/// The triples of one predicate in one graph, or a stretch of them.
pub(super) struct PredicatePart<'a> {
    pub(super) lake: &'a GraphLake,
    pub(super) graph: &'a NamedGraph,
    pub(super) predicate: &'a str,
    /// Number of the value table of the predicate, if it can have literals.
    pub(super) table: Option<usize>,
    pub(super) wanted: Wanted,
    /// Which stretch, of so many.
    pub(super) stretch: lookup::Wanted,
    pub(super) stretches: u64,
}

impl Part for PredicatePart<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let quoted = self.lake.quoted()?;
        let name = term::graph_name(&self.graph.name);
        let Wanted { edges: wants_edges, values: wants_values, rows } = self.wanted;
        let mut merge = self.lake.stretch(self.graph, self.predicate, &self.stretch)?;
        let (mut edges, mut values) = (Collector::default(), Collector::default());
        while let Some(triple) = merge.next()? {
            match (triple.literal, self.table) {
                (false, _) if wants_edges => {
                    edges.push(triple, quoted)?;
                    if edges.is_full(rows) {
                        take(edges.edges(self.predicate, name))?;
                    }
                }
                (true, Some(table)) if wants_values => {
                    values.push(triple, quoted)?;
                    if values.is_full(rows) {
                        take(values.values(table, name))?;
                    }
                }
                (true, None) => return Err(self.miscounted()),
                _ => {}
            }
        }
        if !edges.is_empty() {
            take(edges.edges(self.predicate, name))?;
        }
        if let Some(table) = self.table.filter(|_| !values.is_empty()) {
            take(values.values(table, name))?;
        }
        Ok(())
    }

    fn rows(&self) -> Option<u64> {
        // Of copies and deleted triples nothing is known before reading; for progress this is good enough.
        Some(self.lake.size_of(self.graph, self.predicate, |file| file.triple_count) / self.stretches.max(1))
    }
}

impl PredicatePart<'_> {
    fn miscounted(&self) -> isomorph_error::Error {
        let message =
            format!("{} has no literals, say literal_count or living_literal_count, and there is one", self.predicate);
        isomorph_error::Error::broken(&crate::rules::COUNT, message)
            .at(isomorph_error::Place::file(crate::snapshot::file_of(&self.lake.snapshot.id)))
    }
}

/// The graphs that have no triples.
pub(super) struct EmptyGraphs<'a> {
    pub(super) lake: &'a GraphLake,
}

impl Part for EmptyGraphs<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let mut names: Vec<&str> = Vec::new();
        if let Some(narrowed) = &self.lake.narrowed {
            names.extend(narrowed.empty.iter().map(String::as_str));
        }
        if self.lake.narrowed.is_none() {
            names.extend(self.lake.empty_graphs()?);
        }
        if names.is_empty() {
            return Ok(());
        }
        let keys: ArrayRef = Arc::new(StringArray::from(names));
        take(Batch::Groups(GroupBatch { kind: 0, start: 0, keys, properties: Vec::new() }))
    }
}
