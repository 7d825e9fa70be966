//! The positions of a file's triples by their ids: the last part of an index file.
//!
//! Ids are evenly distributed numbers. Their first bits select a bucket; the number of these bits is chosen so that a
//! bucket has about sixteen triples or a few more. The next eight bits are stored in the bucket, with the number of the
//! known record in front of the triple. An id therefore costs 25 or 26 bits instead of 64, and a look-up reads a
//! section of the file in vain about one time in ten.
//!
//! Little-endian. For each bucket its end (u32: the number of triples in it and in all buckets before it); for each
//! triple, by bucket and then by its bits, the eight bits (u8) and the number of the known record: u16 if at most
//! 65,536 are known, else u32.

use isomorph_error::index;
use isomorph_storage::Reservation;

use crate::id::TripleId;

/// Triples that share the first bits of their ids, approximately, as a power of two.
const SHARED: u32 = 4;

/// The maximum number of these first bits: eight more must remain of the 32 that are kept while a file is written.
const MOST: u32 = 24;

/// Number of known records that 16-bit numbers can distinguish.
const FEW: u64 = 1 << 16;

/// Number of bits that select a bucket.
fn bits(count: u64) -> u32 {
    count.checked_ilog2().unwrap_or_default().saturating_sub(SHARED).min(MOST)
}

/// Bytes of one triple.
fn width(known: u64) -> u64 {
    if known <= FEW { 3 } else { 5 }
}

/// Bytes for this many triples of a file with this many known records.
pub(crate) fn bytes(count: u64, known: u64) -> u64 {
    if count == 0 { 0 } else { (4 << bits(count)) + count * width(known) }
}

/// The first bytes of an id as a number.
pub(crate) fn prefix(id: &TripleId) -> u32 {
    let [a, b, c, d, ..] = id.0;
    u32::from_be_bytes([a, b, c, d])
}

/// The bucket of an id that begins with these bits, and the eight bits that follow.
fn place(prefix: u32, bits: u32) -> (usize, u8) {
    // In 64 bits, so that no shift overflows.
    let prefix = u64::from(prefix) << 32;
    (index(prefix.checked_shr(64 - bits).unwrap_or_default()), (prefix << bits >> 56) as u8)
}

/// Appends the index of a file with this many known records. `ids` are first bytes of ids and known records, ascending.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a file has less than 2^32 triples, and few known records where two bytes count them"
)]
pub(crate) fn push(out: &mut Vec<u8>, ids: &[(u32, u32)], known: u64) {
    let (count, narrow) = (ids.len() as u64, known <= FEW);
    if count == 0 {
        return;
    }
    let bits = bits(count);
    let mut end = 0;
    for bucket in 0..1usize << bits {
        end += ids.get(end..).map_or(0, |rest| rest.iter().take_while(|(id, _)| place(*id, bits).0 == bucket).count());
        out.extend_from_slice(&(end as u32).to_le_bytes());
    }
    for (id, record) in ids {
        out.push(place(*id, bits).1);
        match narrow {
            true => out.extend_from_slice(&(*record as u16).to_le_bytes()),
            false => out.extend_from_slice(&record.to_le_bytes()),
        }
    }
}

/// The positions of triples, by the first bytes of their ids.
#[derive(Debug)]
pub(crate) struct Ids {
    bytes: bytes::Bytes,
    bits: u32,
    narrow: bool,
    _memory: Reservation,
}

impl Ids {
    /// Reads the index of this many triples of a file with this many known records. Its length has been checked.
    pub(crate) fn new(bytes: bytes::Bytes, count: u64, known: u64, memory: Reservation) -> Self {
        Ids { bytes, bits: bits(count), narrow: known <= FEW, _memory: memory }
    }

    /// Returns the known records in front of triples whose ids begin like `id`.
    pub(crate) fn find(&self, id: &TripleId) -> impl Iterator<Item = u32> {
        let (bucket, wanted) = place(prefix(id), self.bits);
        let end = |bucket: usize| {
            let bytes = self.bytes.get(4 * bucket..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
        };
        let (start, end) = (bucket.checked_sub(1).map_or(0, end), end(bucket));
        let (width, narrow) = (if self.narrow { 3 } else { 5 }, self.narrow);
        let first = 4usize << self.bits;
        let of_bucket = self.bytes.get(first + width * start..first + width * end).unwrap_or_default();
        of_bucket.chunks_exact(width).filter_map(move |entry| {
            let (bits, record) = entry.split_first()?;
            (*bits == wanted).then_some(())?;
            match narrow {
                true => record.first_chunk().map(|record| u32::from(u16::from_le_bytes(*record))),
                false => record.first_chunk().map(|record| u32::from_le_bytes(*record)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_storage::Budget;

    use super::*;

    fn id(prefix: u32) -> TripleId {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&prefix.to_be_bytes());
        TripleId(id)
    }

    #[test]
    fn every_id_is_found_and_few_others() {
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        for (count, known) in [(1u64, 1u64), (15, 9), (5_000, 300), (5_000, 70_000), (100_000, 65_536)] {
            let mut ids: Vec<(u32, u32)> = (0..count).map(|_| (next(), (u64::from(next()) % known) as u32)).collect();
            ids.extend([(0, 0), (u32::MAX, known as u32 - 1)]);
            ids.sort_unstable();
            let mut out = Vec::new();
            push(&mut out, &ids, known);
            assert_eq!(out.len() as u64, bytes(ids.len() as u64, known));
            let memory = Budget::default().reserve(0).unwrap();
            let index = Ids::new(out.into(), ids.len() as u64, known, memory);
            assert!(
                ids.iter().all(|(prefix, record)| index.find(&id(*prefix)).any(|found| found == *record)),
                "{count}"
            );
            let vain: usize = (0..10_000).map(|_| index.find(&id(next())).count()).sum();
            assert!(vain < 1_500, "{count}: {vain}");
        }
        assert_eq!(bytes(0, 7), 0);
    }
}
