//! V9: both orders hold the same triples.

use std::collections::BTreeMap;

use isomorph_error::{Findings, Place, Result};

use crate::cursor::Cursor;
use crate::id::TripleId;
use crate::read::GraphLake;
use crate::record::Prefixes;
use crate::rules;
use crate::snapshot::{DataFile, NamedGraph, file_of};

/// A sum of the ids of triples, so that no order matters, and their number.
type Sums<'a> = BTreeMap<(&'a str, i64), (u128, u64)>;

pub(super) fn orders(lake: &GraphLake, findings: &mut Findings) -> Result<()> {
    for graph in &lake.snapshot.graphs {
        let (Some(subject), Some(object)) = (sums(lake, &graph.subject_files)?, sums(lake, &graph.object_files)?)
        else {
            continue;
        };
        differences(lake, graph, &subject, &object, findings);
    }
    Ok(())
}

fn differences(lake: &GraphLake, graph: &NamedGraph, subject: &Sums<'_>, object: &Sums<'_>, findings: &mut Findings) {
    let mut keys: Vec<&(&str, i64)> = subject.keys().chain(object.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys.into_iter().filter(|key| subject.get(*key) != object.get(*key)) {
        let count = |sums: &Sums<'_>| sums.get(key).map_or(0, |(_, count)| *count);
        let (by_subject, by_object) = (count(subject), count(object));
        let message = match by_subject == by_object {
            true => format!("{}, version {}: {by_subject} triples each, and not the same ones", key.0, key.1),
            false => format!("{}, version {}: {by_subject} by subject, {by_object} by object", key.0, key.1),
        };
        let place = Place::file(file_of(&lake.snapshot.id)).in_field(format!("graphs[{}]", graph.name));
        findings.push(&rules::ORDERS_DIFFER, message, place);
    }
}

/// Sums of files by predicate and version; nothing when a file cannot be read, which was found before.
fn sums<'a>(lake: &GraphLake, files: &'a [DataFile]) -> Result<Option<Sums<'a>>> {
    let mut sums = Sums::new();
    let mut line = String::new();
    for file in files {
        let sum = sums.entry((file.predicate.as_str(), file.snapshot_version)).or_default();
        let Ok(blob) = lake.file(file) else { return Ok(None) };
        let Ok(prefixes) = Prefixes::of(file, &lake.options) else { return Ok(None) };
        let mut cursor = Cursor::new(blob, prefixes, None);
        loop {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.broken_rule().is_some() => return Ok(None),
                Err(error) => return Err(error),
            }
            let triple = &cursor.triple;
            let TripleId(id) = TripleId::with(&mut line, &triple.subject, &file.predicate, &triple.as_object());
            let half = id.first_chunk::<16>().map_or(0, |half| u128::from_le_bytes(*half));
            *sum = (sum.0.wrapping_add(half), sum.1 + 1);
        }
    }
    Ok(Some(sums))
}
