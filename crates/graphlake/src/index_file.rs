//! Index files next to large files: the offset of a record at regular intervals, a filter of any size, and the
//! positions of triples by id. Index files are optional: without one, or with one that does not match its file, the
//! file is read once instead.
//!
//! Little-endian. `GLIX`, version 2 (u32), bytes and records of the file (u64 each), XXH64 of its bytes (u64), bytes
//! between known records (u32), number of known records (u32), length of the common prefix of their texts (u32), total
//! length of the rests of their texts (u32), blocks of the filter (u32), numbers of triples by id (u32), XXH64 of the
//! header up to here and of everything up to the ids (u64), XXH64 of the ids (u64). Then: offsets of the known records
//! (u64 each); the end of the rest of each text (u32 each, the highest bit says that it was cut); the common prefix;
//! the rests, at most 32 bytes of each; the blocks of the filter (see [`crate::Bloom`]); and the positions of triples
//! by their ids, see [`crate::id_index`].

use std::ops::Range;

use isomorph_error::{Result, index};
use isomorph_storage::{Blob, Budget, Reservation};
use twox_hash::XxHash64;

use crate::bloom::Bloom;
use crate::id_index::{self, Ids};

/// Bytes between two known records of an index.
pub(crate) const STEP: u64 = 4 << 10;

/// Files shorter than this many bytes have no index: they are read whole.
pub(crate) const SMALL: u64 = 64 << 10;

/// The extension after the name of the file.
pub(crate) const ENDING: &str = ".glx";

/// Maximum number of bytes of a text after the common prefix.
const TEXT: usize = 32;

const MAGIC: &[u8; 8] = b"GLIX\x02\0\0\0";

/// Bytes of the header.
const HEADER: usize = 72;

/// Bytes that are read first: the header and, in most cases, everything except the ids.
const FIRST: u64 = 128 << 10;

/// Maximum number of bytes that are read first.
const LARGEST: u64 = 16 << 20;

/// The bit of an end that says that the text was cut.
const CUT: u32 = 1 << 31;

/// The offsets of known records of a file, by their first texts; ascending by text and by offset.
#[derive(Debug, Default)]
pub(crate) struct Sparse {
    offsets: Vec<u64>,
    ends: Vec<u32>,
    common: Vec<u8>,
    texts: Vec<u8>,
}

/// Collects known records of a file that is being written or read.
#[derive(Debug, Default)]
pub(crate) struct SparseBuilder {
    offsets: Vec<u64>,
    texts: Vec<u8>,
    ends: Vec<usize>,
}

impl SparseBuilder {
    /// Whether the record at `offset` becomes a known record.
    pub(crate) fn wants(&self, offset: u64) -> bool {
        self.offsets.last().is_none_or(|last| offset >= last + STEP)
    }

    /// The number of known records.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Adds a record with these bytes as its first text.
    pub(crate) fn push<'b>(&mut self, text: impl IntoIterator<Item = &'b [u8]>, offset: u64) {
        text.into_iter().for_each(|part| self.texts.extend_from_slice(part));
        self.ends.push(self.texts.len());
        self.offsets.push(offset);
    }

    /// Memory that it takes, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (self.texts.len() + self.offsets.len() * 16) as u64
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a file has so few known records that their texts have less than 2^31 bytes"
    )]
    pub(crate) fn finish(self) -> Sparse {
        let text = |at: usize| {
            let start = at.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or_default();
            self.ends.get(at).and_then(|end| self.texts.get(start..*end)).unwrap_or_default()
        };
        let (first, last) = (text(0), text(self.ends.len().saturating_sub(1)));
        // The common prefix of the least and the greatest is common to all.
        let common = first.iter().zip(last).take_while(|(one, other)| one == other).count();
        let mut sparse =
            Sparse { offsets: self.offsets.clone(), common: first[..common].to_vec(), ..Sparse::default() };
        for at in 0..self.ends.len() {
            let rest = text(at).get(common..).unwrap_or_default();
            let kept = &rest[..rest.len().min(TEXT)];
            sparse.texts.extend_from_slice(kept);
            let cut = if kept.len() < rest.len() { CUT } else { 0 };
            sparse.ends.push(sparse.texts.len() as u32 | cut);
        }
        sparse
    }
}

impl Sparse {
    fn text(&self, at: usize) -> (&[u8], bool) {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or_default();
        let start = at.checked_sub(1).map_or(0, |at| end(at) & !CUT);
        let end = end(at);
        (self.texts.get(start as usize..(end & !CUT) as usize).unwrap_or_default(), end & CUT != 0)
    }

    /// The offset from which to look for records with the first text `key`: there is none before it.
    pub(crate) fn begin(&self, key: &[u8]) -> u64 {
        // Of equal texts, the first may be before the first known one; of a text that was cut, only the beginning is
        // known.
        let at = self.partition(key, |text, cut, rest| if cut { text < head(rest, text.len()) } else { text < rest });
        at.checked_sub(1).and_then(|at| self.offsets.get(at)).copied().unwrap_or_default()
    }

    /// The end of the search: from there on, in a file of this many bytes, no record has a first text of `key` or less.
    pub(crate) fn end(&self, key: &[u8], size: u64) -> u64 {
        let at = self.partition(key, |text, cut, rest| if cut { text <= head(rest, text.len()) } else { text <= rest });
        self.offsets.get(at).copied().unwrap_or(size)
    }

    /// The number of known records before `key`. `before` gets the rest of a text after the common prefix, whether it
    /// was cut, and the rest of the key.
    fn partition(&self, key: &[u8], before: impl Fn(&[u8], bool, &[u8]) -> bool) -> usize {
        match head(key, self.common.len()).cmp(&self.common) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => self.offsets.len(),
            std::cmp::Ordering::Equal => {
                let rest = key.get(self.common.len()..).unwrap_or_default();
                let (mut low, mut high) = (0, self.offsets.len());
                while low < high {
                    let middle = low.midpoint(high);
                    let (text, cut) = self.text(middle);
                    if before(text, cut, rest) { low = middle + 1 } else { high = middle }
                }
                low
            }
        }
    }

    /// Texts that divide the file into sections of about this many bytes: not less than the least text after the first
    /// section, and so on.
    pub(crate) fn divided(&self, bytes: u64) -> Vec<String> {
        let step = usize::try_from((bytes / STEP).max(1)).unwrap_or(usize::MAX);
        let mut texts: Vec<String> = Vec::new();
        for at in (step..self.offsets.len()).step_by(step) {
            let whole = [self.common.as_slice(), self.text(at).0].concat();
            // The text may have been cut inside a character.
            let sound = std::str::from_utf8(&whole).map_or_else(|error| error.valid_up_to(), |text| text.len());
            let text = String::from_utf8_lossy(&whole[..sound]).into_owned();
            if texts.last().is_none_or(|last| *last < text) {
                texts.push(text);
            }
        }
        texts
    }

    /// Memory that it takes, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (self.offsets.len() * 12 + self.texts.len() + self.common.len()) as u64
    }

    /// The byte range between a known record and the next one, in a file of this many bytes.
    pub(crate) fn block(&self, at: u32, size: u64) -> Option<Range<u64>> {
        let start = *self.offsets.get(at as usize)?;
        Some(start..self.offsets.get(at as usize + 1).copied().unwrap_or(size))
    }
}

/// At most this many bytes from the beginning.
fn head(text: &[u8], length: usize) -> &[u8] {
    text.get(..length).unwrap_or(text)
}

/// An index that was read.
#[derive(Debug)]
pub(crate) struct Sidecar {
    pub(crate) sparse: Sparse,
    pub(crate) bloom: Option<Bloom>,
    /// The position of the ids in the index file, and the hash of their bytes.
    ids: Range<u64>,
    /// Their number.
    ids_count: u64,
    ids_hash: u64,
    _memory: Reservation,
}

/// The file that an index belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) size: u64,
    pub(crate) records: u64,
    /// `xxh64:` and 16 digits, if the snapshot states it.
    pub(crate) checksum: Option<&'a str>,
}

/// The bytes of an index file for a file with this hash. `ids` are first bytes of ids and known records, ascending.
#[expect(clippy::cast_possible_truncation, reason = "no file is so large that it has 2^32 of anything")]
pub(crate) fn encode(of: &Of<'_>, hash: u64, sparse: &Sparse, bloom: Option<&Bloom>, ids: &[(u32, u32)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + index(sparse.memory()) + 8 * ids.len());
    out.extend_from_slice(MAGIC);
    [of.size, of.records, hash].iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    let blocks = bloom.map_or(0, Bloom::blocks);
    let counts = [index(STEP), sparse.offsets.len(), sparse.common.len(), sparse.texts.len(), blocks, ids.len()];
    counts.iter().for_each(|count| out.extend_from_slice(&(*count as u32).to_le_bytes()));
    let hashes = out.len();
    out.extend_from_slice(&[0; 16]);
    sparse.offsets.iter().for_each(|offset| out.extend_from_slice(&offset.to_le_bytes()));
    sparse.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
    out.extend_from_slice(&sparse.common);
    out.extend_from_slice(&sparse.texts);
    if let Some(bloom) = bloom {
        bloom.push_blocks(&mut out);
    }
    let front = hash_of(&out[..hashes], &out[HEADER..]);
    let start = out.len();
    id_index::push(&mut out, ids, sparse.offsets.len() as u64);
    let behind = XxHash64::oneshot(0, &out[start..]);
    out[hashes..hashes + 8].copy_from_slice(&front.to_le_bytes());
    out[hashes + 8..HEADER].copy_from_slice(&behind.to_le_bytes());
    out
}

fn hash_of(header: &[u8], rest: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = XxHash64::with_seed(0);
    hasher.write(header);
    hasher.write(rest);
    hasher.finish()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

impl Sidecar {
    /// Reads everything except the ids; `None` if the bytes are not an index of that file, or the budget is exhausted.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub(crate) fn read(blob: &Blob, of: &Of<'_>, budget: &Budget) -> Result<Option<Sidecar>> {
        if blob.size() < HEADER as u64 {
            return Ok(None);
        }
        // For remote files, everything except the ids at once, as far as the size can be estimated.
        let likely = of.size / STEP * 48 + of.records.saturating_mul(3) / 2;
        let first = if blob.is_remote() { likely.clamp(FIRST, LARGEST) } else { FIRST };
        let first = blob.read(0..first.min(blob.size()))?;
        let Some(ends) = Ends::of(&first, blob.size()) else { return Ok(None) };
        let Some(memory) = budget.try_reserve(ends.front - HEADER as u64) else { return Ok(None) };
        let front = if ends.front <= first.len() as u64 {
            first.slice(..index(ends.front))
        } else {
            let mut all = first.to_vec();
            all.extend_from_slice(&blob.read(first.len() as u64..ends.front)?);
            all.into()
        };
        Ok(Sidecar::of(&front, of, &ends, memory))
    }

    fn of(front: &[u8], of: &Of<'_>, ends: &Ends, memory: Reservation) -> Option<Sidecar> {
        let hash = u64_at(front, 24)?;
        let fits = u64_at(front, 8)? == of.size
            && u64_at(front, 16)? == of.records
            && of.checksum.is_none_or(|stated| stated == format!("xxh64:{hash:016x}"))
            && hash_of(front.get(..HEADER - 16)?, front.get(HEADER..)?) == u64_at(front, HEADER - 16)?;
        if !fits {
            return None;
        }
        let mut at = HEADER;
        let mut take = |length: usize| {
            let part = front.get(at..at + length);
            at += length;
            part
        };
        let offsets = take(8 * ends.known)?.chunks_exact(8).filter_map(|bytes| u64_at(bytes, 0)).collect();
        let lengths = take(4 * ends.known)?.chunks_exact(4).filter_map(|bytes| u32_at(bytes, 0)).collect();
        let (common, texts) = (take(ends.common)?.to_vec(), take(ends.texts)?.to_vec());
        let bloom = if ends.blocks > 0 { Some(Bloom::of_blocks(take(32 * ends.blocks)?)) } else { None };
        let sparse = Sparse { offsets, ends: lengths, common, texts };
        if sparse.offsets.iter().any(|offset| *offset >= of.size) {
            return None;
        }
        let (ids, ids_count, ids_hash) = (ends.front..ends.all, ends.ids, u64_at(front, HEADER - 8)?);
        Some(Sidecar { sparse, bloom, ids, ids_count, ids_hash, _memory: memory })
    }

    /// Reads the ids; `None` if there are none, if they are damaged, or if the budget is exhausted.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub(crate) fn ids(&self, blob: &Blob, budget: &Budget) -> Result<Option<Ids>> {
        if self.ids.is_empty() || self.ids.end != blob.size() {
            return Ok(None);
        }
        let Some(memory) = budget.try_reserve(self.ids.end - self.ids.start) else { return Ok(None) };
        let bytes = blob.read(self.ids.clone())?;
        let sound = XxHash64::oneshot(0, &bytes) == self.ids_hash;
        Ok(sound.then(|| Ids::new(bytes, self.ids_count, self.sparse.offsets.len() as u64, memory)))
    }
}

/// The counts of a header, checked against the size of the file before they are used.
struct Ends {
    known: usize,
    common: usize,
    texts: usize,
    blocks: usize,
    ids: u64,
    /// The start and the end of the ids.
    front: u64,
    all: u64,
}

impl Ends {
    fn of(header: &[u8], size: u64) -> Option<Ends> {
        if !header.starts_with(MAGIC) {
            return None;
        }
        let count = |number: usize| u32_at(header, 32 + 4 * number).map(u64::from);
        let [known, common, texts, blocks, ids] = [count(1)?, count(2)?, count(3)?, count(4)?, count(5)?];
        let front = HEADER as u64 + 12 * known + common + texts + 32 * blocks;
        let all = front + id_index::bytes(ids, known);
        let [known, common, texts, blocks] = [known, common, texts, blocks].map(index);
        (all == size).then_some(Ends { known, common, texts, blocks, ids, front, all })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sparse(texts: &[String]) -> Sparse {
        let mut builder = SparseBuilder::default();
        for (at, text) in texts.iter().enumerate() {
            builder.push([text.as_bytes()], at as u64 * STEP);
        }
        builder.finish()
    }

    fn texts() -> Vec<String> {
        let long = "y".repeat(40);
        let mut texts: Vec<String> = (0..300).map(|n| format!("http://example.org/{}", n * 7 % 1_000)).collect();
        texts.extend((0..50).map(|n| format!("http://example.org/{long}{}", n / 3)));
        texts.sort();
        texts
    }

    #[test]
    fn nothing_that_is_looked_for_stands_before_the_begin() {
        let texts = texts();
        let sparse = sparse(&texts);
        let mut keys = texts.clone();
        keys.extend(texts.iter().map(|text| format!("{text}x")));
        keys.extend(["", "http://example.org/", "http://f", "a", "http://example.org/yyyy"].map(str::to_owned));
        for key in keys {
            let begin = sparse.begin(key.as_bytes()) / STEP;
            let end = sparse.end(key.as_bytes(), texts.len() as u64 * STEP) / STEP;
            assert!(begin <= end && texts[end as usize..].iter().all(|text| *text > key), "{key}");
            // Every known record before it is smaller, and it is close to the first that is not.
            assert!(texts[..begin as usize].iter().all(|text| *text < key), "{key}");
            let first = texts.partition_point(|text| *text < key) as u64;
            assert!(begin + 1 >= first || key.len() > 50, "{key}: {begin} for {first}");
        }
    }

    #[test]
    fn what_was_changed_is_no_sidecar() {
        let budget = Budget::new(1 << 20);
        let sparse = sparse(&texts());
        let mut bloom = Bloom::with_blocks(3);
        bloom.add(b"x");
        let ids: Vec<(u32, u32)> = (0..100).map(|n| ((n / 2) << 26, n)).collect();
        let of = Of { size: 1 << 40, records: 7, checksum: Some("xxh64:00000000000000ff") };
        let bytes = encode(&of, 255, &sparse, Some(&bloom), &ids);
        let read = |bytes: &[u8], of: &Of<'_>| {
            let blob = Blob::from_bytes("x.glx", &bytes::Bytes::copy_from_slice(bytes));
            Sidecar::read(&blob, of, &budget).unwrap().map(|sidecar| {
                let ids = sidecar.ids(&blob, &budget).unwrap();
                (sidecar, ids)
            })
        };
        let (sidecar, found) = read(&bytes, &of).unwrap();
        let id = |prefix: u32| {
            let mut id = [0; 32];
            id[..4].copy_from_slice(&prefix.to_be_bytes());
            crate::id::TripleId(id)
        };
        assert_eq!(found.as_ref().unwrap().find(&id(7 << 26)).collect::<Vec<_>>(), [14, 15]);
        assert_eq!(found.unwrap().find(&id(50 << 26)).count(), 0);
        assert_eq!(sidecar.bloom, Some(bloom));
        drop(sidecar);
        for other in [Of { size: 5, ..of }, Of { records: 8, ..of }, Of { checksum: Some("xxh64:0"), ..of }] {
            assert!(read(&bytes, &other).is_none());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            // The damaged header is not trusted, or the damaged ids are not.
            assert!(read(&changed, &of).is_none_or(|(_, ids)| ids.is_none()), "byte {at}");
            assert!(read(&bytes[..at], &of).is_none(), "{at} bytes");
        }
        assert_eq!(budget.used(), 0);
    }
}
