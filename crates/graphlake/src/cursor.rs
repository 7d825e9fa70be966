//! Reads one file of triples from its first record to its last.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, Budget, Reservation};

use crate::lookup::Wanted;
use crate::read::Order;
use crate::record::{Prefixes, Step, decode};
use crate::rules;
use crate::snapshot::DataFile;
use crate::triple::Triple;
use crate::verified::Proof;

/// Bytes that are fetched at once.
const BLOCK: u64 = 256 << 10;

/// Bytes of sections of remote files that are fetched together, because each request takes time.
const TOGETHER: u64 = 4 << 20;

/// Records of at least this many bytes count against the budget: their bytes, their texts, and those of the previous
/// record.
const LARGE: u64 = 1 << 20;
const COPIES: u64 = 3;

/// Overhead of a triple in memory, in addition to its texts, in bytes.
const OVERHEAD: u64 = size_of::<Triple>() as u64 + 16;

/// A file from which triples are taken one after another.
pub(crate) struct Cursor {
    blob: Blob,
    prefixes: Prefixes,
    /// The order that the records must have; `None` if no caller relies on it.
    order: Option<Order>,
    /// Sections to read after the current one, ascending.
    stretches: VecDeque<Range<u64>>,
    /// Those of them that were fetched already.
    ahead: VecDeque<Bytes>,
    /// The end of the section that is being read.
    end: u64,
    /// Whether the file is read from start to end, so that records can be counted.
    whole: bool,
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
    /// For a file that had to be sorted: its remaining triples, in reverse.
    sorted: Option<(Vec<Triple>, Reservation)>,
    budget: Budget,
    /// Memory of the largest record so far, if it is large.
    large: Option<Reservation>,
    /// The checksum of the whole file, for callers that read all of it.
    proof: Option<Arc<Proof>>,
    /// The number of records of the whole file.
    stated: Option<u64>,
}

impl Cursor {
    /// Opens `blob`; with an order, a record that breaks it is an error.
    pub(crate) fn new(blob: Blob, prefixes: Prefixes, order: Option<Order>, budget: &Budget) -> Self {
        Cursor {
            end: blob.size(),
            blob,
            prefixes,
            order,
            stretches: VecDeque::new(),
            ahead: VecDeque::new(),
            whole: true,
            block: Bytes::new(),
            at: 0,
            fetched: 0,
            triple: Triple::default(),
            before: Triple::default(),
            records: 0,
            sorted: None,
            budget: budget.clone(),
            large: None,
            proof: None,
            stated: None,
        }
    }

    /// The same for a file that is read completely, by this cursor alone or together with others that have the same
    /// `proof`: its checksum and its number of records must be those in its metadata.
    pub(crate) fn proved(mut self, file: &DataFile, proof: Option<Arc<Proof>>) -> Self {
        (self.proof, self.stated) = (proof, Some(file.triple_count));
        self
    }

    /// Allows reading a part only: the file as a whole is not checked.
    pub(crate) fn unproved(&mut self) {
        (self.proof, self.stated) = (None, None);
    }

    /// The same for a file whose order is unknown: the order is checked first, and if the file is not in order, the
    /// wanted part is sorted in memory.
    pub(crate) fn of_unsorted(
        blob: Blob,
        prefixes: Prefixes,
        order: Order,
        wanted: &Wanted,
        (file, budget): (&DataFile, &Budget),
    ) -> Result<Self> {
        let proof = Proof::of(file).map(Arc::new);
        let mut trial = Cursor::new(blob.clone(), prefixes.clone(), Some(order), budget).proved(file, proof.clone());
        loop {
            match trial.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(Cursor::new(blob, prefixes, Some(order), budget)),
                Err(error) if error.broken_rule() == Some(&rules::ORDER) || error.kind() == Kind::Unsupported => break,
                Err(error) => return Err(error),
            }
        }
        let mut all = Vec::new();
        let mut memory = budget.reserve(0)?;
        let mut cursor = Cursor::new(blob, prefixes, None, budget).proved(file, proof);
        while cursor.advance()? {
            if !wanted.has(cursor.triple.first(order)) {
                continue;
            }
            memory.grow(cursor.triple.bytes() as u64 + OVERHEAD).map_err(|error| error.at(cursor.blob.place()))?;
            all.push(cursor.triple.clone());
        }
        all.sort_unstable_by(|one, other| other.compare(one, order));
        all.dedup();
        cursor.sorted = Some((all, memory));
        Ok(cursor)
    }

    /// Whether it was sorted in memory, in which case there are no offsets.
    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted.is_some()
    }

    /// Advances to the next triple; false at the end.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, a record is broken, or it is not in order.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        if let Some((sorted, _)) = &mut self.sorted {
            let next = sorted.pop();
            self.triple = next.unwrap_or_default();
            return Ok(!self.triple.subject.is_empty());
        }
        if self.order.is_some() {
            std::mem::swap(&mut self.triple, &mut self.before);
        }
        while self.offset() >= self.end {
            if !self.next_stretch()? {
                return self.ended();
            }
        }
        let start = self.offset();
        let mut length = self.decode().map_err(|error| self.at_record(error, start))?;
        while let Step::Needs(needed) = length {
            self.fetch(needed as u64)?;
            length = self.decode().map_err(|error| self.at_record(error, start))?;
        }
        if let Step::Record(length) = length {
            self.at += length;
        }
        if let Some(order) = self.order
            && self.records > 0
            && let Some(error) = misplaced(&self.before, &self.triple, order)
        {
            return Err(self.at_record(error, start));
        }
        self.records += 1;
        Ok(true)
    }

    /// There is no record after the last one.
    fn ended(&self) -> Result<bool> {
        if let Some(stated) = self.stated.filter(|stated| self.whole && *stated != self.records) {
            let message = format!("the file has {} records, but triple_count is {stated}", self.records);
            return Err(Error::broken(&rules::COUNT, message).at(self.blob.place()));
        }
        Ok(false)
    }

    /// What the buffered bytes begin with.
    fn decode(&mut self) -> Result<Step> {
        let left = self.blob.size() - self.offset();
        decode(self.block.get(self.at..).unwrap_or_default(), left, &self.prefixes, &mut self.triple)
    }

    /// Buffers at least `needed` bytes from the current record on. The record is known to be within the file.
    fn fetch(&mut self, needed: u64) -> Result<()> {
        let start = self.offset();
        if needed > LARGE {
            self.hold(COPIES.saturating_mul(needed)).map_err(|error| error.at(self.blob.place().offset(start)))?;
        }
        // Not more than is wanted, except for a record that is longer than its section.
        let wanted = self.end.saturating_sub(start).min(BLOCK);
        let end = start.saturating_add(needed.max(wanted)).min(self.blob.size());
        self.block = self.blob.read(start..end)?;
        self.at = 0;
        self.fetched = end;
        self.prove(start)
    }

    /// Passes the bytes that were fetched from `start` on to the checksum of the file.
    fn prove(&self, start: u64) -> Result<()> {
        let Some(proof) = &self.proof else { return Ok(()) };
        proof.take(&self.blob, start, &self.block, &self.budget)
    }

    /// Reserves memory, in bytes, for the largest record.
    fn hold(&mut self, bytes: u64) -> Result<()> {
        match &mut self.large {
            Some(held) => held.grow(bytes.saturating_sub(held.bytes())),
            None => {
                self.large = Some(self.budget.reserve(bytes)?);
                Ok(())
            }
        }
    }

    /// Advances to the next section; false if there is none.
    fn next_stretch(&mut self) -> Result<bool> {
        let Some(next) = self.stretches.pop_front() else { return Ok(false) };
        if self.ahead.is_empty() && self.blob.is_remote() && !self.stretches.is_empty() {
            let mut bytes = 0;
            let near = std::iter::once(&next).chain(&self.stretches).take_while(|stretch| {
                bytes += stretch.end - stretch.start;
                bytes <= TOGETHER
            });
            let near: Vec<Range<u64>> = near.cloned().collect();
            self.ahead = self.blob.read_ranges(&near)?.into();
        }
        self.at = 0;
        self.end = next.end;
        match self.ahead.pop_front() {
            Some(block) => {
                (self.block, self.fetched) = (block, next.end);
                self.prove(next.start)?;
            }
            None => (self.block, self.fetched) = (Bytes::new(), next.start),
        }
        Ok(true)
    }

    /// Reads only these sections of the file, ascending and disjoint, each from the start of a record to the start of
    /// another or to the end.
    pub(crate) fn only(&mut self, stretches: Vec<Range<u64>>) {
        self.whole = false;
        self.end = 0;
        let size = self.blob.size();
        self.stretches = stretches.into_iter().filter(|one| one.start < one.end && one.end <= size).collect();
    }

    /// The offset of the next record in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.fetched - (self.block.len() - self.at) as u64
    }

    fn at_record(&self, error: Error, start: u64) -> Error {
        if !matches!(error.kind(), Kind::Malformed | Kind::Unsupported) {
            return error;
        }
        let place = Place::file(self.blob.name());
        error.at(if self.whole { place.row(self.records) } else { place }.offset(start))
    }

    /// The position of the record that was read last.
    pub(crate) fn place(&self) -> Place {
        Place::file(self.blob.name()).row(self.records.saturating_sub(1))
    }
}

/// The error for a triple that does not come after the previous one. A file may be in order although its triples are
/// not, if it spells out `xsd:string`, which is implied, or has languages in upper case.
fn misplaced(before: &Triple, triple: &Triple, order: Order) -> Option<Error> {
    match before.compare(triple, order) {
        Ordering::Less => None,
        Ordering::Greater if before.is_written_before(triple, order) => {
            let spelt = [before, triple].into_iter().find_map(|one| one.written.as_deref()).unwrap_or_default();
            let message = format!("{:?}: the file is sorted by the spelling {spelt:?}", shown(triple.first(order)));
            Some(Error::unsupported(message).hint("--lenient    sort such files in memory"))
        }
        _ => Some(Error::broken(&rules::ORDER, out_of_order(before, triple, order))),
    }
}

/// Describes the violation if one triple follows another.
pub(crate) fn out_of_order(before: &Triple, triple: &Triple, order: Order) -> String {
    if before.compare(triple, order) == Ordering::Equal {
        return "a triple is repeated".to_owned();
    }
    let (first, first_before) = (triple.first(order), before.first(order));
    if first != first_before {
        return format!("{:?} comes after {:?}", shown(first), shown(first_before));
    }
    let (what, rest) = match order {
        Order::Subject => ("objects of one subject", [&triple.object, &before.object]),
        Order::Object => ("subjects of one object", [&triple.subject, &before.subject]),
    };
    match rest[0] == rest[1] {
        // Literals of the same text.
        true => format!("{:?}: the datatype {:?} comes after {:?}", shown(first), triple.datatype, before.datatype),
        false => format!(
            "{:?}: {:?} comes after {:?}; {what} must be in order, too (R20)",
            shown(first),
            shown(rest[0]),
            shown(rest[1])
        ),
    }
}

/// A shortened text for an error.
pub(crate) fn shown(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).nth(80).unwrap_or(text.len());
    &text[..end]
}
