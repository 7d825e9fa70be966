//! Facts about a snapshot that only reading shows: which predicates have literals, and the number of live triples.

use std::collections::HashMap;

use isomorph_error::Result;

use super::{GraphLake, Order};
use crate::snapshot::{Living, NamedGraph};
use crate::term;

/// Counts of a snapshot, without the graph of quoted triples.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Triples with a resource as object.
    pub(super) edges: u64,
    /// Triples with literals, by predicate.
    pub(super) literals: HashMap<String, u64>,
}

impl Survey {
    fn add(&mut self, predicate: &str, living: Living) {
        self.edges = self.edges.saturating_add(living.triples.saturating_sub(living.literals));
        if living.literals > 0 {
            let all = self.literals.entry(predicate.to_owned()).or_default();
            *all = all.saturating_add(living.literals);
        }
    }
}

impl GraphLake {
    /// Counts a snapshot: what its writers did not count is read, if that is at most the given number of records;
    /// returns `None` if there are more.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub(super) fn survey(&self) -> Result<Option<Survey>> {
        let graphs = self.snapshot.graphs.iter().filter(|graph| graph.name != term::QUOTED_GRAPH);
        let graphs: Vec<_> = graphs.map(|graph| (graph, self.stated(graph))).collect();
        let unknown = graphs.iter().flat_map(|(graph, stated)| {
            let files = graph.once().chain(&graph.tombstones);
            files.filter(|file| stated.get(file.predicate.as_str()).is_none_or(Option::is_none))
        });
        let records = unknown.map(|file| file.triple_count).fold(0, u64::saturating_add);
        if records > self.options.survey_up_to { Ok(None) } else { self.counted(&graphs).map(Some) }
    }

    /// The stated number of live triples of a graph. It is not used if deleted triples stay deleted (`naive`).
    pub(crate) fn stated<'g>(&self, graph: &'g NamedGraph) -> HashMap<&'g str, Option<Living>> {
        if self.options.naive { HashMap::new() } else { graph.living() }
    }

    fn counted(&self, graphs: &[(&NamedGraph, HashMap<&str, Option<Living>>)]) -> Result<Survey> {
        let mut survey = Survey::default();
        for (graph, stated) in graphs {
            for predicate in graph.all_predicates() {
                if let Some(Some(living)) = stated.get(predicate) {
                    survey.add(predicate, *living);
                    continue;
                }
                survey.add(predicate, self.count(graph, predicate)?);
            }
        }
        Ok(survey)
    }

    /// Counts the live triples of a predicate by reading them.
    pub(crate) fn count(&self, graph: &NamedGraph, predicate: &str) -> Result<Living> {
        let mut living = Living::default();
        let mut merge = self.merge(graph, predicate, Order::Subject)?;
        while let Some(triple) = merge.next()? {
            living.triples += 1;
            living.literals += u64::from(triple.literal);
        }
        Ok(living)
    }
}
