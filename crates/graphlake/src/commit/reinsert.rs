//! Deleted triples that are inserted again: deletions are rewritten without them.
//!
//! Readers that compare versions do not need this. Readers that follow the specification literally, for which any
//! deletion counts forever, then see the same triples.

use std::collections::BTreeSet;

use isomorph_error::Result;
use isomorph_storage::Additions;

use super::Lake;
use super::work::{Fate, Row, Rows};
use crate::GraphLake;
use crate::bloom::Bloom;
use crate::read::Order;
use crate::snapshot::DataFile;
use crate::triple::Triple;
use crate::write::{FileWriter, Partition};

/// If there are more new triples than this, the filter of a file of deletions is not tested for each.
const ASKED: usize = 64;

/// The changes to deletions.
#[derive(Debug, Default)]
pub(super) struct Revived {
    /// Ids of files that are no longer listed.
    pub(super) removed: Vec<String>,
    /// Files without the triples that were inserted again, of the same versions.
    pub(super) added: Vec<DataFile>,
}

/// Rewrites the deletions of a predicate that would, for some readers, hide inserted triples.
pub(super) fn revive(
    lake: &Lake,
    additions: &Additions,
    open: &GraphLake,
    partition: &Partition<'_>,
    rows: &Rows,
) -> Result<Revived> {
    let mut revived = Revived::default();
    let Some(graph) = open.snapshot.graphs.first() else { return Ok(revived) };
    let inserts: Vec<&Triple> = rows.inserts().collect();
    if (inserts.is_empty() && rows.spilled.subject.is_empty()) || graph.tombstones.is_empty() {
        return Ok(revived);
    }
    let mut memory = lake.writing.budget.reserve(0)?;
    let mut again: BTreeSet<Row> = BTreeSet::new();
    let mut note = |triple: &Triple| -> Result<()> {
        memory.grow(triple.bytes() as u64 + 128)?;
        again.insert(Row(triple.clone()));
        Ok(())
    };
    for file in &graph.tombstones {
        let order = order_of(file);
        if inserts.len() > ASKED || inserts.iter().any(|triple| may_have(file, triple.first(order))) {
            let mut cursor = open.cursor(file, order)?;
            while cursor.advance()? {
                if inserts.binary_search_by(|one| one.compare(&cursor.triple, Order::Subject)).is_ok() {
                    note(&cursor.triple)?;
                }
            }
        }
    }
    if !rows.spilled.subject.is_empty() {
        // In an object store, objects become visible only now.
        additions.settle()?;
        for file in graph.tombstones.iter().filter(|file| !file.is_inverse) {
            for new in rows.spilled.subject.iter().filter(|new| overlap(file, new)) {
                common(open, file, new, &mut note)?;
            }
        }
    }
    for file in &graph.tombstones {
        let order = order_of(file);
        if !again.iter().any(|row| may_have(file, row.0.first(order))) {
            continue;
        }
        let mut probe = Row(Triple::default());
        let mut comes_again = |triple: &Triple| {
            probe.0.clone_from(triple);
            again.contains(&probe) && rows.rows.get(&probe) != Some(&Fate::Delete)
        };
        let mut cursor = open.cursor(file, order)?;
        let mut has_some = false;
        while !has_some && cursor.advance()? {
            has_some = comes_again(&cursor.triple);
        }
        if !has_some {
            continue;
        }
        let own = Partition { version: file.snapshot_version, ..*partition };
        let mut writer = FileWriter::new(additions, &own, order, &lake.writing.budget)?;
        let mut cursor = open.cursor(file, order)?;
        while cursor.advance()? {
            if !comes_again(&cursor.triple) {
                writer.push(&cursor.triple)?;
            }
        }
        revived.removed.push(file.id.clone());
        revived.added.extend(writer.finish()?);
    }
    Ok(revived)
}

/// Triples that two files sorted by subject share.
fn common(
    open: &GraphLake,
    one: &DataFile,
    other: &DataFile,
    note: &mut dyn FnMut(&Triple) -> Result<()>,
) -> Result<()> {
    let (mut left, mut right) = (open.cursor(one, Order::Subject)?, open.cursor(other, Order::Subject)?);
    let (mut more_left, mut more_right) = (left.advance()?, right.advance()?);
    while more_left && more_right {
        match left.triple.compare(&right.triple, Order::Subject) {
            std::cmp::Ordering::Less => more_left = left.advance()?,
            std::cmp::Ordering::Greater => more_right = right.advance()?,
            std::cmp::Ordering::Equal => {
                note(&left.triple)?;
                (more_left, more_right) = (left.advance()?, right.advance()?);
            }
        }
    }
    Ok(())
}

fn order_of(file: &DataFile) -> Order {
    if file.is_inverse { Order::Object } else { Order::Subject }
}

/// Whether bounds and filter of a file allow that it has this first text.
fn may_have(file: &DataFile, key: &str) -> bool {
    let within = file.min_value.as_bytes() <= key.as_bytes() && key.as_bytes() <= file.max_value.as_bytes();
    within && Bloom::parse(&file.bloom_filter).is_none_or(|filter| filter.may_have(key.as_bytes()))
}

fn overlap(one: &DataFile, other: &DataFile) -> bool {
    one.min_value.as_bytes() <= other.max_value.as_bytes() && other.min_value.as_bytes() <= one.max_value.as_bytes()
}
