//! Checks of data that the published engine uses and that reading all elements does not cover: first and last
//! entries of indexes, numbers of entries, the record after the last edge, and the metadata about features and times.

use isomorph_error::{Findings, Place, Result};
use isomorph_storage::Blob;

use super::partition::{Partition, half_word, word};
use super::{Binary, Meta};
use crate::binary::layout::{EDGE_RECORD, MAP_RECORD};
use crate::block::Depth;
use crate::feature::FeatureColumns;
use crate::rules;

/// Bytes that are read at a time, in whole records.
const BUFFER: u64 = 64 << 10;

/// Runs these checks.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub(crate) fn check(binary: &Binary, findings: &mut Findings) -> Result<()> {
    let (mut of_nodes, mut of_edges) = (0, 0);
    for partition in &binary.partitions {
        numbers_of_entries(&partition.map, findings)?;
        begins_with_0(&partition.neighbors, findings)?;
        for (slots, features) in
            [(&partition.node_index, &partition.node_features), (&partition.edge_index, &partition.edge_features)]
        {
            begins_with_0(&features.index, findings)?;
            let (size, at) = if std::ptr::eq(slots, &partition.node_index) { (8, 0) } else { (EDGE_RECORD, 8) };
            let first = word_at(slots, at)?;
            let last = word_at(slots, slots.size() - size as u64 + at)?;
            if first != 0 {
                wrong(slots, format!("the first feature begins at {first}, expected 0"), findings);
            }
            if last != features.slots {
                wrong(slots, format!("features end with {last}, but there are {}", features.slots), findings);
            }
        }
        of_nodes = of_nodes.max(most(&partition.node_index, 8, 0)?);
        of_edges = of_edges.max(most(&partition.edge_index, EDGE_RECORD, 8)?);
        behind_the_last(partition, findings)?;
        if let Some(times) = &partition.times {
            let watermark = word_at(times, 0)?.cast_signed();
            if watermark != binary.meta.watermark {
                let message = format!(
                    "the watermark is {watermark}, but in {} it is {}",
                    binary.meta.file, binary.meta.watermark
                );
                wrong(times, message, findings);
            }
            in_order(partition, times, findings)?;
        }
    }
    metadata(&binary.meta, [of_nodes, of_edges], findings);
    Ok(())
}

/// Checks that edges of one type from one entry are sorted by their creation, and that each is created before it is
/// removed.
fn in_order(partition: &Partition, times: &Blob, findings: &mut Findings) -> Result<()> {
    // Type and creation time of the previous edge of the same entry.
    let mut last: Option<(i32, i64)> = None;
    partition.edges(0..partition.entries, &FeatureColumns::default(), Depth::Bare, &mut |start, block| {
        let mut begins = block.nodes.edges_before.iter().peekable();
        for (at, (ty, life)) in block.edges.types.iter().zip(&block.edges.lives).enumerate() {
            while begins.next_if(|before| **before as usize <= at).is_some() {
                last = None;
            }
            let (Some(created), Some(removed)) = (life.created, life.removed) else { continue };
            let mut found = |message| findings.push(&rules::TIME_ORDER, message, times.place().row(start + at as u64));
            if removed != -1 && removed < created {
                found(format!("the edge is created at {created} and removed at {removed}"));
            }
            if let Some((_, before)) = last.filter(|(of, before)| of == ty && *before > created) {
                found(format!("the edge is created at {created}, but the previous edge at {before}"));
            }
            last = Some((*ty, created));
        }
        Ok(())
    })
}

fn wrong(blob: &Blob, message: String, findings: &mut Findings) {
    findings.push(&rules::BOUNDS, message, blob.place());
}

fn word_at(blob: &Blob, at: u64) -> Result<u64> {
    Ok(word(&blob.read(at..at + 8)?))
}

fn begins_with_0(index: &Blob, findings: &mut Findings) -> Result<()> {
    let first = word_at(index, 0)?;
    if first != 0 {
        wrong(index, format!("the first entry is {first}, expected 0"), findings);
    }
    Ok(())
}

/// Checks the numbers of entries in the map, by which the engine finds their features and edges.
fn numbers_of_entries(map: &Blob, findings: &mut Findings) -> Result<()> {
    let mut entry = 0;
    each(map, MAP_RECORD, |record| {
        let stated = word(&record[8..]);
        if stated != entry {
            let message = format!("entry {entry} states the number {stated}");
            findings.push(&rules::BOUNDS, message, map.place().row(entry));
        }
        entry += 1;
    })
}

/// Checks the record after the last edge, which ends its features.
fn behind_the_last(partition: &Partition, findings: &mut Findings) -> Result<()> {
    let index = &partition.edge_index;
    let record = index.read(index.size() - EDGE_RECORD as u64..index.size())?;
    let (target, ty, weight) = (word(&record), half_word(&record[16..]), half_word(&record[20..]));
    if (target, ty, weight) != (0, 0, (-1f32).to_bits()) {
        wrong(index, "the record after the last edge must have target 0, type 0 and weight -1".to_owned(), findings);
    }
    Ok(())
}

/// Returns the largest number of features of an element. The first feature of each is at offset `at` of records of
/// `size` bytes.
fn most(index: &Blob, size: usize, at: usize) -> Result<u64> {
    let (mut before, mut most) = (None, 0);
    each(index, size, |record| {
        let slot = word(&record[at..]);
        most = most.max(slot.saturating_sub(before.unwrap_or(slot)));
        before = Some(slot);
    })?;
    Ok(most)
}

/// Calls `take` with all records of a file.
fn each(blob: &Blob, size: usize, mut take: impl FnMut(&[u8])) -> Result<()> {
    let (mut at, step) = (0, BUFFER / size as u64 * size as u64);
    while at < blob.size() {
        let end = blob.size().min(at + step);
        blob.read(at..end)?.chunks_exact(size).for_each(&mut take);
        at = end;
    }
    Ok(())
}

fn metadata(meta: &Meta, most: [u64; 2], findings: &mut Findings) {
    let stated = [u64::from(meta.node_features), u64::from(meta.edge_features)];
    for (what, (stated, found)) in ["node", "edge"].into_iter().zip(stated.into_iter().zip(most)) {
        if stated != found {
            let message = format!("there are {stated} features of {what}s, but the partitions have up to {found}");
            findings.push(&rules::COUNTS, message, Place::file(meta.file).in_field(format!("{what}_feature_count")));
        }
    }
}
