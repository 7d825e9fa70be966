//! What only reading tells of a snapshot: which predicates have literals, and how many triples live.

use std::collections::HashMap;

use isomorph_error::Result;

use super::{GraphLake, Order};
use crate::snapshot::{Living, NamedGraph};
use crate::term;

/// Counts of a snapshot, without the graph of quoted triples.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Triples whose object is a resource.
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
    /// Counts a snapshot: what its writers have not counted is read, if that is at most so many records; nothing when there are
    /// more.
    ///
    /// # Errors
    /// When a file cannot be read.
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

    /// What the snapshot says of how many triples of a graph live. That is not asked where deleted triples stay deleted.
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

    /// How many triples of a predicate live, by reading them.
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
