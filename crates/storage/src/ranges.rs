//! Merging nearby ranges, so that they are fetched together.

use std::ops::Range;

use bytes::Bytes;

/// Gaps up to this size are read rather than skipped in a local file, bytes.
pub(crate) const LOCAL_GAP: u64 = 16 << 10;
/// The same for an object store, where each request takes tens of milliseconds.
pub(crate) const REMOTE_GAP: u64 = 1 << 20;

/// Returns the smallest sorted set of ranges that covers `wanted`, after joining ranges that are at most `gap` bytes apart.
pub(crate) fn merged(wanted: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = wanted.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the bytes of `wanted` from what was fetched for `merged`.
pub(crate) fn cut(wanted: &Range<u64>, merged: &[Range<u64>], fetched: &[Bytes]) -> Bytes {
    if wanted.is_empty() {
        return Bytes::new();
    }
    let index = merged.partition_point(|range| range.start <= wanted.start) - 1;
    let offset = |position: u64| usize::try_from(position - merged[index].start).unwrap_or(usize::MAX);
    fetched[index].slice(offset(wanted.start)..offset(wanted.end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::cast_possible_truncation, reason = "the ranges of a short text")]
    use super::*;

    #[test]
    fn close_and_overlapping_ranges_become_one() {
        let wanted = [100..110, 0..10, 5..20, 30..30, 24..26];
        assert_eq!(merged(&wanted, 4), [0..26, 100..110]);
        assert_eq!(merged(&wanted, 3), [0..20, 24..26, 100..110]);
        assert_eq!(merged(&[], 4), Vec::<Range<u64>>::new());
    }

    #[test]
    fn every_range_is_cut_out_of_what_was_fetched() {
        let data: Vec<u8> = (0..=255).collect();
        let wanted = [100..110, 0..10, 5..20, 30..30, 24..26, 255..256];
        for gap in [0, 4, 1000] {
            let merged = merged(&wanted, gap);
            let fetched: Vec<Bytes> = merged
                .iter()
                .map(|range| Bytes::copy_from_slice(&data[range.start as usize..range.end as usize]))
                .collect();
            for range in &wanted {
                assert_eq!(cut(range, &merged, &fetched), data[range.start as usize..range.end as usize]);
            }
        }
    }
}
