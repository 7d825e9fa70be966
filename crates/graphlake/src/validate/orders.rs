//! V9: both orders hold the same triples. A triple counts once, also if several files of an order and a version hold it.

use std::collections::{BTreeMap, BTreeSet};

use isomorph_error::{Findings, Kind, Place, Result};

use super::files::{Sum, Sums, add};
use crate::id::TripleId;
use crate::merge::Merge;
use crate::read::{GraphLake, Order};
use crate::rules;
use crate::snapshot::{DataFile, NamedGraph, file_of};

/// Sums of triples by predicate and version.
type ByVersion<'a> = BTreeMap<(&'a str, i64), Sum>;

pub(super) fn orders<'a>(lake: &'a GraphLake, sums: &Sums<'a>, findings: &mut Findings) -> Result<()> {
    for graph in &lake.snapshot.graphs {
        let both = (together(sums, &graph.subject_files), together(sums, &graph.object_files));
        if let (Some(subject), Some(object)) = both {
            differences(lake, graph, &subject, &object, findings)?;
        }
    }
    Ok(())
}

/// Whether both orders of a predicate hold the same triples of each version, as sets; false if files cannot be read in
/// their order. Reads them.
///
/// # Errors
/// Returns an error if a file cannot be read at all.
pub(crate) fn are_alike(lake: &GraphLake, graph: &NamedGraph, predicate: &str) -> Result<bool> {
    let files = graph.subject_files.iter().chain(&graph.object_files).filter(|file| file.predicate == predicate);
    let versions: BTreeSet<i64> = files.map(|file| file.snapshot_version).collect();
    for version in versions {
        let [subject, object] =
            [Order::Subject, Order::Object].map(|order| set(lake, graph, (predicate, version), order));
        let (subject, object) = (subject?, object?);
        if subject.is_none() || subject != object {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The sum of the different triples of a predicate and a version in one order; `None` if a file is broken, or must be
/// sorted to be read.
fn set(lake: &GraphLake, graph: &NamedGraph, (predicate, version): (&str, i64), order: Order) -> Result<Option<Sum>> {
    let files = if order == Order::Subject { &graph.subject_files } else { &graph.object_files };
    let files = files.iter().filter(|file| file.predicate == predicate && file.snapshot_version == version);
    let sum = || -> Result<Sum> {
        let mut merge = Merge::new(order, false);
        for file in files.filter(|file| file.triple_count > 0) {
            merge.add(lake.cursor(file, order)?, version, false, false)?;
        }
        let (mut sum, mut line) = (Sum::default(), String::new());
        while let Some(triple) = merge.next()? {
            add(&mut sum, &TripleId::with(&mut line, &triple.subject, predicate, &triple.as_object()));
        }
        Ok(sum)
    };
    match sum() {
        Ok(sum) => Ok(Some(sum)),
        Err(error) if error.broken_rule().is_some() => Ok(None),
        Err(error) if matches!(error.kind(), Kind::TooLarge | Kind::Unsupported) => Ok(None),
        Err(error) => Err(error),
    }
}

fn differences(
    lake: &GraphLake,
    graph: &NamedGraph,
    subject: &ByVersion<'_>,
    object: &ByVersion<'_>,
    findings: &mut Findings,
) -> Result<()> {
    // These were found in the metadata.
    let found = graph.of_one_order();
    let mut keys: Vec<&(&str, i64)> =
        subject.keys().chain(object.keys()).filter(|(predicate, _)| !found.contains_key(predicate)).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys.into_iter().filter(|key| subject.get(*key) != object.get(*key)) {
        let [one, other] = [Order::Subject, Order::Object].map(|order| set(lake, graph, *key, order));
        let (one, other) = (one?, other?);
        if one.is_some() && one == other {
            continue;
        }
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
    Ok(())
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
