//! What only reading tells of a snapshot: which predicates have literals, and how many triples live.

use std::collections::HashMap;

use isomorph_error::Result;

use super::{GraphLake, Order};
use crate::term;

/// Counts of a snapshot, without the graph of quoted triples.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Triples whose object is a resource.
    pub(super) edges: u64,
    /// Triples with literals, by predicate.
    pub(super) literals: HashMap<String, u64>,
}

impl GraphLake {
    /// Counts a snapshot of at most so many records; nothing when there are more, or when one is broken: reading and
    /// checking will say where.
    pub(super) fn survey(&self) -> Option<Survey> {
        let files = self.snapshot.graphs.iter().flat_map(|graph| graph.subject_files.iter().chain(&graph.tombstones));
        let records = files.map(|file| file.triple_count).fold(0, u64::saturating_add);
        if records > self.options.survey_up_to { None } else { self.counted().ok() }
    }

    fn counted(&self) -> Result<Survey> {
        let mut survey = Survey::default();
        for graph in self.snapshot.graphs.iter().filter(|graph| graph.name != term::QUOTED_GRAPH) {
            for predicate in graph.all_predicates() {
                let mut literals = 0;
                let mut merge = self.merge(graph, predicate, Order::Subject)?;
                while let Some(triple) = merge.next()? {
                    literals += u64::from(triple.literal);
                    survey.edges += u64::from(!triple.literal);
                }
                if literals > 0 {
                    *survey.literals.entry(predicate.to_owned()).or_default() += literals;
                }
            }
        }
        Ok(survey)
    }
}
