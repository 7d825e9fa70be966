//! V9: both orders hold the same triples.

use std::collections::BTreeMap;

use isomorph_error::{Findings, Place};

use super::files::{Sum, Sums};
use crate::read::GraphLake;
use crate::rules;
use crate::snapshot::{DataFile, NamedGraph, file_of};

/// Sums of triples by predicate and version.
type ByVersion<'a> = BTreeMap<(&'a str, i64), Sum>;

pub(super) fn orders<'a>(lake: &'a GraphLake, sums: &Sums<'a>, findings: &mut Findings) {
    for graph in &lake.snapshot.graphs {
        let both = (together(sums, &graph.subject_files), together(sums, &graph.object_files));
        if let (Some(subject), Some(object)) = both {
            differences(lake, graph, &subject, &object, findings);
        }
    }
}

fn differences(
    lake: &GraphLake,
    graph: &NamedGraph,
    subject: &ByVersion<'_>,
    object: &ByVersion<'_>,
    findings: &mut Findings,
) {
    // These were found in the metadata.
    let found = graph.of_one_order();
    let mut keys: Vec<&(&str, i64)> =
        subject.keys().chain(object.keys()).filter(|(predicate, _)| !found.contains_key(predicate)).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys.into_iter().filter(|key| subject.get(*key) != object.get(*key)) {
        let count = |sums: &ByVersion<'_>| sums.get(key).map_or(0, |(_, count)| *count);
        let (by_subject, by_object) = (count(subject), count(object));
        let message = match by_subject == by_object {
            true => {
                format!("{}, version {}: both orders have {by_subject} triples, but not the same ones", key.0, key.1)
            }
            false => format!("{}, version {}: {by_subject} triples by subject, {by_object} by object", key.0, key.1),
        };
        let place = Place::file(file_of(&lake.snapshot.id)).in_field(format!("graphs[{}]", graph.name));
        findings.push(&rules::ORDERS_DIFFER, message, place);
    }
}

/// Sums of files by predicate and version; `None` if a file could not be read, which was reported before.
fn together<'a>(sums: &Sums<'a>, files: &'a [DataFile]) -> Option<ByVersion<'a>> {
    let mut all = ByVersion::new();
    for file in files {
        let (sum, count) = sums.get(file)?;
        let own = all.entry((file.predicate.as_str(), file.snapshot_version)).or_default();
        *own = (own.0.wrapping_add(sum), own.1 + count);
    }
    Some(all)
}
