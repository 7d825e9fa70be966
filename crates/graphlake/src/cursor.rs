//! Reading one file of triples from its first record to its last.

use std::cmp::Ordering;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, Budget, Reservation};

use crate::read::Order;
use crate::record::{Prefixes, Step, decode};
use crate::rules;
use crate::triple::Triple;

/// Bytes that are fetched at once.
const BLOCK: u64 = 256 << 10;

/// Bytes that are fetched at once where a few records are wanted.
const SMALL_BLOCK: u64 = 32 << 10;

/// What a triple that is kept in memory needs beside its texts, bytes.
const OVERHEAD: u64 = size_of::<Triple>() as u64 + 16;

/// A file, from which triples are taken one after another.
pub(crate) struct Cursor {
    blob: Blob,
    prefixes: Prefixes,
    /// Order that the records must have; nothing when nobody relies on it.
    order: Option<Order>,
    /// Bytes that are fetched at once.
    once: u64,
    /// The fetched bytes that are not decoded yet begin here.
    block: Bytes,
    at: usize,
    /// Offset of the block's end in the file.
    fetched: u64,
    /// The triple that was read last.
    pub(crate) triple: Triple,
    before: Triple,
    /// Records read so far.
    pub(crate) records: u64,
    /// For a file that had to be sorted: what is left of it, last first.
    sorted: Option<(Vec<Triple>, Reservation)>,
}

impl Cursor {
    /// Begins `blob`; with an order, a record that breaks it is an error.
    pub(crate) fn new(blob: Blob, prefixes: Prefixes, order: Option<Order>) -> Self {
        Cursor {
            blob,
            prefixes,
            order,
            once: BLOCK,
            block: Bytes::new(),
            at: 0,
            fetched: 0,
            triple: Triple::default(),
            before: Triple::default(),
            records: 0,
            sorted: None,
        }
    }

    /// The same for a file whose order is not known: it is tried first, and the file is sorted in memory if it has
    /// none.
    pub(crate) fn of_unsorted(blob: Blob, prefixes: Prefixes, order: Order, budget: &Budget) -> Result<Self> {
        let mut trial = Cursor::new(blob.clone(), prefixes.clone(), Some(order));
        loop {
            match trial.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(Cursor::new(blob, prefixes, Some(order))),
                Err(error) if error.broken_rule() == Some(&rules::ORDER) => break,
                Err(error) => return Err(error),
            }
        }
        let mut all = Vec::new();
        let mut memory = budget.reserve(0)?;
        let mut cursor = Cursor::new(blob, prefixes, None);
        while cursor.advance()? {
            memory.grow(cursor.triple.bytes() as u64 + OVERHEAD).map_err(|error| error.at(cursor.blob.place()))?;
            all.push(cursor.triple.clone());
        }
        all.sort_unstable_by(|one, other| other.compare(one, order));
        all.dedup();
        cursor.sorted = Some((all, memory));
        Ok(cursor)
    }

    /// Whether it was sorted in memory: then it has no offsets.
    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted.is_some()
    }

    /// Goes to the next triple; false at the end.
    ///
    /// # Errors
    /// When the file cannot be read, a record is broken, or it is not in its order.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        if let Some((sorted, _)) = &mut self.sorted {
            let next = sorted.pop();
            self.triple = next.unwrap_or_default();
            return Ok(!self.triple.subject.is_empty());
        }
        if self.order.is_some() {
            std::mem::swap(&mut self.triple, &mut self.before);
        }
        let start = self.offset();
        let mut length = match self.decode().map_err(|error| self.at_record(error, start))? {
            Some(length) => length,
            None => return Ok(false),
        };
        while let Step::Needs(needed) = length {
            self.fetch(needed as u64)?;
            length = self.decode().map_err(|error| self.at_record(error, start))?.unwrap_or(Step::Needs(needed));
        }
        if let Step::Record(length) = length {
            self.at += length;
        }
        if let Some(order) = self.order
            && self.records > 0
            && self.before.compare(&self.triple, order) != Ordering::Less
        {
            let message = match self.before.compare(&self.triple, order) {
                Ordering::Equal => "a triple stands twice".to_owned(),
                _ => {
                    format!("{:?} stands behind {:?}", shown(self.triple.first(order)), shown(self.before.first(order)))
                }
            };
            return Err(self.at_record(Error::broken(&rules::ORDER, message), start));
        }
        self.records += 1;
        Ok(true)
    }

    /// What the bytes at hand are; nothing at the end of the file.
    fn decode(&mut self) -> Result<Option<Step>> {
        let left = self.blob.size() - self.offset();
        if left == 0 {
            return Ok(None);
        }
        decode(self.block.get(self.at..).unwrap_or_default(), left, &self.prefixes, &mut self.triple).map(Some)
    }

    /// Makes at least `needed` bytes from the current record on available. The record was found to be in the file.
    fn fetch(&mut self, needed: u64) -> Result<()> {
        let start = self.offset();
        let end = start.saturating_add(needed.max(self.once)).min(self.blob.size());
        self.block = self.blob.read(start..end)?;
        self.at = 0;
        self.fetched = end;
        Ok(())
    }

    /// Begins at a record that is not the first, to read little.
    pub(crate) fn begin_at(&mut self, offset: u64) {
        self.once = SMALL_BLOCK;
        self.fetched = offset.min(self.blob.size());
    }

    /// Where the next record begins in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.fetched - (self.block.len() - self.at) as u64
    }

    fn at_record(&self, error: Error, start: u64) -> Error {
        if error.kind() != Kind::Malformed {
            return error;
        }
        error.at(Place::file(self.blob.name()).row(self.records).offset(start))
    }

    /// The place of the record that was read last.
    pub(crate) fn place(&self) -> Place {
        Place::file(self.blob.name()).row(self.records.saturating_sub(1))
    }
}

/// As much of a text as an error shows.
pub(crate) fn shown(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).nth(80).unwrap_or(text.len());
    &text[..end]
}
