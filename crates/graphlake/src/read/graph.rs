//! The description of a snapshot in the model.

use std::collections::HashSet;

use isomorph_model::Graph;
use isomorph_model::faces::description;
pub(super) use isomorph_model::faces::literal_fields;

use super::survey::Survey;
use crate::{DataFile, Snapshot, Store, term};

/// Predicates of a snapshot that may have literals according to its metadata, each once, in the order of the snapshot.
pub(super) fn literal_predicates(snapshot: &Snapshot) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for graph in snapshot.graphs.iter().filter(|graph| graph.name != term::QUOTED_GRAPH) {
        let may_have = |file: &&DataFile| file.literal_count != Some(0) && file.triple_count > 0;
        let with: HashSet<&str> = graph.once().filter(may_have).map(|file| file.predicate.as_str()).collect();
        all.extend(graph.all_predicates().into_iter().filter(|one| with.contains(one) && seen.insert(*one)));
    }
    all
}

pub(super) fn graph(store: &Store, snapshot: &Snapshot, survey: Option<&Survey>) -> Graph {
    let found = |predicate: &str| survey.map(|survey| survey.literals.get(predicate).copied().unwrap_or_default());
    let predicates = literal_predicates(snapshot).into_iter().filter(|predicate| found(predicate) != Some(0));
    let tables = predicates.map(|predicate| (predicate, found(predicate)));
    let mut graph = description(survey.map(|survey| survey.edges), tables);
    graph.metadata.insert("format_version".to_owned(), store.format_version.clone());
    graph
}
