//! Sorted runs: what one thread has gathered within its memory, in a temporary file.
//!
//! A run has its different terms in order and, for each partition, its triples as pairs of positions of terms in that
//! order: once by subject, once by object. Texts are compared when a run sorts its terms and when the terms of runs are
//! merged, and never for a triple.

use std::cmp::Ordering;
use std::io::{BufWriter, Write};

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::ScratchFile;

use super::intern::Interner;
use super::order;

/// Bytes that are gathered before they are written.
const BLOCK: usize = 256 << 10;

/// A run in a temporary file that may hold several.
#[derive(Debug)]
pub(super) struct Run {
    /// Where its terms begin: tag, length and text of each.
    pub(super) terms_at: u64,
    pub(super) terms_end: u64,
    /// Number of terms.
    pub(super) terms: u32,
    /// Ascending by partition.
    pub(super) partitions: Vec<PartitionRun>,
}

/// The triples of one partition in a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartitionRun {
    pub(super) partition: u32,
    /// Where the pairs by subject begin; those by object follow.
    pub(super) at: u64,
    /// Number of triples.
    pub(super) count: u64,
}

/// The tag of terms that are not literals: see [`term_order`].
pub(super) const RESOURCE: u32 = 0;

/// The order of equal texts by their tags: first terms that are not literals, then literals by their datatypes, whose
/// number is one less than the tag.
pub(super) fn term_order(datatypes: &[String], one: u32, other: u32) -> Ordering {
    let datatype = |tag: u32| tag.checked_sub(1).map(|at| datatypes.get(at as usize).map_or("", String::as_str));
    datatype(one).cmp(&datatype(other))
}

/// Gathered triples: the number of a partition of this run, and the numbers of two terms.
pub(super) type Row = [u32; 3];

/// Sorts terms and rows and appends them to `file`. `partitions` maps the numbers in rows to those of all runs.
///
/// # Errors
/// [`Kind::NoSpace`], [`Kind::Io`].
pub(super) fn write(
    file: &mut ScratchFile,
    terms: &mut Interner,
    rows: &mut Vec<Row>,
    partitions: &[u32],
    datatypes: &[String],
) -> Result<Run> {
    terms.close();
    let sorted = order::sorted(terms, &|one, other| term_order(datatypes, one, other));
    let terms_at = file.size();
    let mut out = BufWriter::with_capacity(BLOCK, file);
    let mut places = vec![0u32; sorted.len()];
    let mut terms_end = terms_at;
    for (place, id) in (0..).zip(&sorted) {
        let term = terms.tagged(*id);
        if let Some(out) = places.get_mut(*id as usize) {
            *out = place;
        }
        out.write_all(term)?;
        terms_end += term.len() as u64;
    }
    drop(sorted);
    // Rows by partition, as pairs.
    let mut ends = vec![0usize; partitions.len() + 1];
    for [partition, ..] in rows.iter() {
        if let Some(count) = ends.get_mut(*partition as usize + 1) {
            *count += 1;
        }
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut pairs = vec![0u64; rows.len()];
    let place = |id: u32| u64::from(places.get(id as usize).copied().unwrap_or_default());
    for [partition, subject, object] in rows.iter() {
        let Some(at) = ends.get_mut(*partition as usize) else { continue };
        if let Some(pair) = pairs.get_mut(*at) {
            *pair = place(*subject) << 32 | place(*object);
        }
        *at += 1;
    }
    *rows = Vec::new();
    let (mut written, mut position, mut start) = (Vec::new(), terms_end, 0);
    for (partition, end) in partitions.iter().zip(&ends) {
        let pairs = pairs.get_mut(start..*end).unwrap_or_default();
        start = *end;
        pairs.sort_unstable();
        let count = dedup(pairs);
        let pairs = &mut pairs[..count];
        if count == 0 {
            continue;
        }
        put(&mut out, pairs)?;
        pairs.iter_mut().for_each(|pair| *pair = pair.rotate_left(32));
        pairs.sort_unstable();
        put(&mut out, pairs)?;
        written.push(PartitionRun { partition: *partition, at: position, count: count as u64 });
        position += 16 * count as u64;
    }
    out.flush()?;
    written.sort_unstable_by_key(|run| run.partition);
    let count = u32::try_from(terms.len()).map_err(|_| Error::new(Kind::TooLarge, "too many terms in a run"))?;
    Ok(Run { terms_at, terms_end, terms: count, partitions: written })
}

/// Moves items that differ from the one before them to the front, and returns their number.
fn dedup(sorted: &mut [u64]) -> usize {
    let mut kept = 0;
    for at in 0..sorted.len() {
        if kept == 0 || sorted[at] != sorted[kept - 1] {
            sorted[kept] = sorted[at];
            kept += 1;
        }
    }
    kept
}

fn put(out: &mut impl Write, pairs: &[u64]) -> Result<()> {
    pairs.iter().try_for_each(|pair| out.write_all(&pair.to_le_bytes())).map_err(Error::from)
}
