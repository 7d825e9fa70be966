//! The partitions of a scan: one for each graph and predicate, and one for the graphs without triples.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use isomorph_error::Result;
use isomorph_model::batch::GroupBatch;
use isomorph_model::{Batch, Part, part};

use super::batches::Collector;
use super::quoted::Quoted;
use super::{GraphLake, Order};
use crate::merge::Merge;
use crate::snapshot::NamedGraph;
use crate::{lookup, term};

/// Which triples of a partition are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Those with resources as objects.
    pub(super) edges: bool,
    /// Those with literals as objects.
    pub(super) values: bool,
    /// Rows of a batch.
    pub(super) rows: usize,
}

/// The triples of one predicate in one graph, or a section of them.
pub(super) struct PredicatePart<'a> {
    pub(super) lake: &'a GraphLake,
    pub(super) graph: &'a NamedGraph,
    pub(super) predicate: &'a str,
    /// Number of the value table of the predicate, if it can have literals.
    pub(super) table: Option<usize>,
    pub(super) wanted: Wanted,
    /// The number of the section, and the number of sections.
    pub(super) stretch: lookup::Wanted,
    pub(super) stretches: u64,
    /// In which order they come: by object where some of these are wanted.
    pub(super) order: Order,
    /// Holds the memory of what is looked up.
    pub(super) _asked: Option<lookup::Asked>,
}

impl<'a> PredicatePart<'a> {
    /// The partition of a scan.
    pub(super) fn part(self) -> Box<dyn Part + 'a> {
        // Duplicates and deleted triples are unknown before reading; the count is accurate enough for progress.
        let all = self.lake.size_of(self.graph, self.predicate, |file| file.triple_count);
        let rows = all / self.stretches.max(1);
        part::opened(Some(rows), || self.open(), PredicateReader::next)
    }

    fn open(self) -> Result<PredicateReader<'a>> {
        let quoted = self.lake.quoted()?;
        let merge = match self.order {
            Order::Subject => self.lake.stretch(self.graph, self.predicate, &self.stretch),
            Order::Object => self.lake.with_objects(self.graph, self.predicate, &self.stretch),
        }?;
        Ok(PredicateReader { part: self, quoted, merge, edges: Collector::default(), values: Collector::default() })
    }
}

/// The triples of a predicate that are being read.
struct PredicateReader<'a> {
    part: PredicatePart<'a>,
    quoted: &'a Quoted,
    merge: Merge,
    edges: Collector,
    values: Collector,
}

impl PredicateReader<'_> {
    fn next(&mut self) -> Result<Option<Batch>> {
        let part = &self.part;
        let name = term::graph_name(&part.graph.name);
        let Wanted { edges: wants_edges, values: wants_values, rows } = part.wanted;
        let (edges, values) = (&mut self.edges, &mut self.values);
        while let Some(triple) = self.merge.next()? {
            match (triple.literal, part.table) {
                (false, _) if wants_edges => {
                    edges.push(triple, self.quoted)?;
                    if edges.is_full(rows) {
                        return Ok(Some(edges.edges(part.predicate, name)));
                    }
                }
                (true, Some(table)) if wants_values => {
                    values.push(triple, self.quoted)?;
                    if values.is_full(rows) {
                        return Ok(Some(values.values(table, name)));
                    }
                }
                (true, None) => return Err(part.miscounted()),
                _ => {}
            }
        }
        if !edges.is_empty() {
            return Ok(Some(edges.edges(part.predicate, name)));
        }
        let table = part.table.filter(|_| !values.is_empty());
        Ok(table.map(|table| values.values(table, name)))
    }
}

impl PredicatePart<'_> {
    fn miscounted(&self) -> isomorph_error::Error {
        let message = format!("{} has a literal, but its literal_count or living_literal_count is 0", self.predicate);
        isomorph_error::Error::broken(&crate::rules::COUNT, message)
            .at(isomorph_error::Place::file(crate::snapshot::file_of(&self.lake.snapshot.id)))
    }
}

/// The graphs without triples.
pub(super) fn empty_graphs(lake: &GraphLake) -> Box<dyn Part + '_> {
    let names = move || -> Result<Option<ArrayRef>> {
        let names: Vec<&str> = match &lake.narrowed {
            Some(narrowed) => narrowed.empty.iter().map(String::as_str).collect(),
            None => lake.empty_graphs()?,
        };
        Ok(if names.is_empty() { None } else { Some(Arc::new(StringArray::from(names))) })
    };
    part::opened(None, names, |names| {
        let groups = |keys| Batch::Groups(GroupBatch { kind: 0, start: 0, keys, properties: Vec::new() });
        Ok(names.take().map(groups))
    })
}
