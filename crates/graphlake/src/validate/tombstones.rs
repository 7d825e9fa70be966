//! Deletions without effect: a triple that was inserted in the version that deletes it is live (R26).

use std::collections::HashSet;

use isomorph_error::{Findings, Place, Result};

use crate::read::GraphLake;
use crate::rules;
use crate::snapshot::{NamedGraph, file_of};

pub(super) fn tombstones(lake: &GraphLake, findings: &mut Findings) -> Result<()> {
    if lake.options.naive {
        return Ok(());
    }
    for graph in lake.snapshot.graphs.iter().filter(|graph| !graph.tombstones.is_empty()) {
        for predicate in suspicious(graph) {
            match in_vain(lake, graph, predicate) {
                Ok(0) => {}
                Ok(count) => {
                    let (triples, live) = if count == 1 { ("triple", "lives") } else { ("triples", "live") };
                    let message = format!(
                        "{count} {triples} of {predicate} {live}, because the deletion has the same version as the triple"
                    );
                    let place = Place::file(file_of(&lake.snapshot.id)).in_field(format!("graphs[{}]", graph.name));
                    findings.push(&rules::TOMBSTONE, message, place);
                }
                // Broken files were reported before.
                Err(error) if error.broken_rule().is_some() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Predicates that have triples and deletions of the same version.
fn suspicious(graph: &NamedGraph) -> Vec<&str> {
    let data = graph.subject_files.iter().chain(&graph.object_files);
    let versions: HashSet<(&str, i64)> = data.map(|file| (file.predicate.as_str(), file.snapshot_version)).collect();
    let deletions = graph.tombstones.iter().map(|file| (file.predicate.as_str(), file.snapshot_version));
    let mut found: Vec<&str> = deletions.filter(|one| versions.contains(one)).map(|(predicate, _)| predicate).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn in_vain(lake: &GraphLake, graph: &NamedGraph, predicate: &str) -> Result<u64> {
    let mut merge = lake.merge_noting(graph, predicate)?;
    while merge.next()?.is_some() {}
    Ok(merge.revived.in_vain)
}
