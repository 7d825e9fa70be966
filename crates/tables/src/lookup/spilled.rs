//! Keys in temporary files, sorted by number or hash.

use std::ops::Range;

use arrow_array::StringArray;
use arrow_array::cast::AsArray;
use isomorph_error::Result;
use isomorph_storage::parallel;
use xxhash_rust::xxh3::xxh3_64;

use super::column::KeyKind;
use super::options::LookupOptions;
use super::repeats::{Repeat, Repeats};
use crate::sort::{EdgeStream, SortedBatch, SortedEdges};

/// The number of bits of a text's hash by which texts are sorted: enough to distinguish most texts, few enough to be stored
/// as small differences.
const HASH_BITS: u32 = 40;

/// Up to this many keys with the same hash, a search compares each.
const FEW: usize = 8;

/// Returns the number by which a text is sorted. Texts with equal numbers are distinguished by their bytes.
#[inline]
pub(super) fn text_ordinal(text: &[u8]) -> u64 {
    xxh3_64(text) >> (u64::BITS - HASH_BITS)
}

/// The rows of all keys of a node type that do not fit into memory. For a [`BulkLookup`](super::BulkLookup).
pub struct SpilledKeys {
    /// Number or hash of the key, row, and the key if it is a text.
    pub(super) sorted: SortedEdges,
    pub(super) options: LookupOptions,
    kind: KeyKind,
    rows: u64,
    repeats: Repeats,
}

impl SpilledKeys {
    pub(super) fn new(sorted: SortedEdges, kind: KeyKind, rows: u64, options: LookupOptions) -> Result<Self> {
        let text = kind == KeyKind::Text;
        let repeats_in = |part| -> Result<Repeats> {
            let mut groups = Groups::new(sorted.stream_part(part)?, text);
            while groups.advance()? {}
            Ok(groups.repeats)
        };
        let mut repeats = Repeats::default();
        for part in parallel::map(options.threads, sorted.parts(options.threads), repeats_in) {
            repeats.merge(part?);
        }
        Ok(SpilledKeys { sorted, options, kind, rows, repeats })
    }

    /// Returns the number of keys, including repeated ones.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the type of the keys.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the keys that occur more than once. They refer to their first row.
    pub fn repeats(&self) -> &Repeats {
        &self.repeats
    }
}

/// Sorted keys, group by group. A group is one number, or all texts with one hash.
pub(super) struct Groups<'a> {
    stream: EdgeStream<'a>,
    batch: Option<SortedBatch>,
    at: usize,
    text: bool,
    /// The number or hash of the keys in the group, if there is one.
    pub ordinal: Option<u64>,
    /// The row and text of each key in the group.
    keys: Vec<(u64, Range<usize>)>,
    bytes: Vec<u8>,
    pub repeats: Repeats,
}

impl<'a> Groups<'a> {
    pub fn new(stream: EdgeStream<'a>, text: bool) -> Self {
        Groups {
            stream,
            batch: None,
            at: 0,
            text,
            ordinal: None,
            keys: Vec::new(),
            bytes: Vec::new(),
            repeats: Repeats::default(),
        }
    }

    /// Moves to the next group; returns false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        self.ordinal = None;
        self.keys.clear();
        self.bytes.clear();
        loop {
            if self.batch.as_ref().is_none_or(|batch| self.at == batch.aligned.len()) {
                self.batch = self.stream.next_batch()?;
                self.at = 0;
            }
            let Some(batch) = self.batch.take() else { break };
            let done = self.collect(&batch);
            self.batch = Some(batch);
            if done {
                break;
            }
        }
        if self.keys.len() > FEW {
            self.tidy();
        }
        Ok(self.ordinal.is_some())
    }

    /// Adds the keys of the current group from `batch`; returns false if the group may continue in the next batch.
    fn collect(&mut self, batch: &SortedBatch) -> bool {
        let (ordinals, rows) = (batch.aligned.values(), batch.other.values());
        let texts: Option<&StringArray> = if self.text { batch.payload.column(0).as_string_opt() } else { None };
        while let Some(&ordinal) = ordinals.get(self.at) {
            if *self.ordinal.get_or_insert(ordinal) != ordinal {
                return true;
            }
            self.add(rows[self.at], texts.map_or(b"", |texts| texts.value(self.at).as_bytes()));
            self.at += 1;
        }
        false
    }

    fn add(&mut self, row: u64, text: &[u8]) {
        let same = self.keys.iter().take(FEW).find(|(_, range)| &self.bytes[range.clone()] == text);
        if let Some((first, _)) = same {
            self.repeats.add(Repeat { row, first: *first });
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.keys.push((row, start..self.bytes.len()));
    }

    /// Sorts a large group by text, and finds repeated keys in it.
    fn tidy(&mut self) {
        let Groups { keys, bytes, repeats, .. } = self;
        let text = |range: &Range<usize>| &bytes[range.clone()];
        keys.sort_by(|a, b| text(&a.1).cmp(text(&b.1)).then(a.0.cmp(&b.0)));
        keys.dedup_by(|key, first| {
            let same = text(&key.1) == text(&first.1);
            if same {
                repeats.add(Repeat { row: key.0, first: first.0 });
            }
            same
        });
    }

    /// Returns the first row of a key in this group; integers match any text.
    pub fn find(&self, text: &[u8]) -> Option<u64> {
        let own = |range: &Range<usize>| &self.bytes[range.clone()];
        if self.keys.len() <= FEW {
            return self.keys.iter().find(|(_, range)| own(range) == text).map(|(row, _)| *row);
        }
        let at = self.keys.binary_search_by(|(_, range)| own(range).cmp(text)).ok()?;
        Some(self.keys[at].0)
    }
}
