//! An external sort of triples: in memory as long as the budget lasts, then in temporary files that are merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io::Write;

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

use crate::read::Order;
use crate::triple::Triple;

/// Numbers before the texts of a row: partition, kind of object, lengths of the three texts.
const HEAD: usize = 17;

/// Bytes of the index for each row in memory.
const INDEX: u64 = size_of::<u64>() as u64;

/// Most and fewest bytes of a run that are read at once.
const BLOCK: usize = 256 << 10;
const LEAST_BLOCK: usize = 16 << 10;

/// Runs that are merged at once.
const MOST_RUNS: usize = 256;

/// A run does not begin to spill below this, bytes.
const LEAST: u64 = 1 << 20;

/// Sorts triples by partition and then in one order, and leaves out those that are there already.
pub(super) struct Sorter {
    order: Order,
    rows: Vec<u8>,
    index: Vec<u64>,
    held: Reservation,
    /// What the rows may take, bytes.
    memory: u64,
    scratch: Scratch,
    runs: Vec<ScratchFile>,
}

/// Reads a row in memory.
fn row(bytes: &[u8]) -> (u32, RowTexts<'_>, usize) {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    };
    let ends = [number(5), number(9), number(13)];
    let mut at = HEAD;
    let texts = ends.map(|length| {
        let start = at;
        at += length as usize;
        bytes.get(start..at).unwrap_or_default()
    });
    (number(0), RowTexts { literal: bytes.get(4) == Some(&1), texts }, at)
}

/// Subject, object and datatype as bytes.
struct RowTexts<'a> {
    literal: bool,
    texts: [&'a [u8]; 3],
}

impl RowTexts<'_> {
    fn compare(&self, other: &RowTexts<'_>, order: Order) -> Ordering {
        let [subject, object, datatype] = self.texts;
        let [other_subject, other_object, other_datatype] = other.texts;
        let subjects = || subject.cmp(other_subject);
        let objects = || (object, self.literal, datatype).cmp(&(other_object, other.literal, other_datatype));
        match order {
            Order::Subject => subjects().then_with(objects),
            Order::Object => objects().then_with(subjects),
        }
    }
}

fn compare(one: &[u8], other: &[u8], order: Order) -> Ordering {
    let ((partition, texts, _), (other_partition, other_texts, _)) = (row(one), row(other));
    partition.cmp(&other_partition).then_with(|| texts.compare(&other_texts, order))
}

impl Sorter {
    /// An empty sort that may take `memory` bytes of `budget` before it goes to temporary files.
    pub(super) fn new(order: Order, budget: &Budget, memory: u64, scratch: &Scratch) -> Result<Self> {
        let held = budget.reserve(0)?;
        let memory = memory.max(LEAST);
        Ok(Sorter {
            order,
            rows: Vec::new(),
            index: Vec::new(),
            held,
            memory,
            scratch: scratch.clone(),
            runs: Vec::new(),
        })
    }

    /// Adds a triple. Its parts are below 2^31 bytes.
    pub(super) fn push(&mut self, partition: u32, triple: &Triple) -> Result<()> {
        let bytes = (HEAD + triple.bytes()) as u64 + INDEX;
        // Vectors grow by doubling: what is reserved is what they may come to take.
        let needed = 2 * (self.rows.len() as u64 + self.index.len() as u64 * INDEX + bytes);
        let missing = needed.saturating_sub(self.held.bytes());
        let fits = needed <= self.memory && (missing == 0 || self.held.try_grow(missing.max(LEAST / 4)));
        if !fits {
            self.spill()?;
            let missing = (2 * bytes).saturating_sub(self.held.bytes());
            self.held.grow(missing)?;
        }
        self.index.push(self.rows.len() as u64);
        self.rows.extend_from_slice(&partition.to_le_bytes());
        self.rows.push(u8::from(triple.literal));
        let texts = [&triple.subject, &triple.object, &triple.datatype];
        texts.iter().for_each(|text| self.rows.extend_from_slice(&(text.len() as u32).to_le_bytes()));
        texts.iter().for_each(|text| self.rows.extend_from_slice(text.as_bytes()));
        Ok(())
    }

    fn sort(&mut self) {
        let (rows, order) = (&self.rows, self.order);
        let at = |at: &u64| rows.get(*at as usize..).unwrap_or_default();
        self.index.sort_unstable_by(|one, other| compare(at(one), at(other), order));
        self.index.dedup_by(|one, other| compare(at(one), at(other), order) == Ordering::Equal);
    }

    /// Writes what is in memory to a run.
    fn spill(&mut self) -> Result<()> {
        if self.index.is_empty() {
            return Ok(());
        }
        self.sort();
        let mut file = std::io::BufWriter::with_capacity(BLOCK, self.scratch.create()?);
        for at in &self.index {
            let bytes = self.rows.get(*at as usize..).unwrap_or_default();
            let (_, _, length) = row(bytes);
            file.write_all(bytes.get(..length).unwrap_or_default())?;
        }
        let file = file.into_inner().map_err(|error| Error::from(error.into_error()))?;
        self.runs.push(file);
        self.rows.clear();
        self.index.clear();
        if self.runs.len() >= MOST_RUNS {
            let runs = std::mem::take(&mut self.runs);
            let mut merged = std::io::BufWriter::with_capacity(BLOCK, self.scratch.create()?);
            let mut sorted = Merged::new(runs, self.order, self.memory)?;
            while let Some(bytes) = sorted.next_row()? {
                merged.write_all(bytes)?;
            }
            self.runs.push(merged.into_inner().map_err(|error| Error::from(error.into_error()))?);
        }
        Ok(())
    }

    /// The triples in order, each once.
    pub(super) fn finish(mut self) -> Result<Sorted> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Sorted::Memory { rows: self.rows, index: self.index, at: 0, _held: self.held });
        }
        self.spill()?;
        self.rows = Vec::new();
        self.index = Vec::new();
        let merged = Merged::new(self.runs, self.order, self.memory)?;
        let blocks = (merged.heap.len() * 2 * merged.block) as u64;
        match self.held.bytes().checked_sub(blocks) {
            Some(spare) => self.held.shrink(spare),
            None => self.held.grow(blocks - self.held.bytes())?,
        }
        Ok(Sorted::Runs { merged: Box::new(merged), _held: self.held })
    }
}

/// Sorted triples, to be taken once.
pub(super) enum Sorted {
    Memory { rows: Vec<u8>, index: Vec<u64>, at: usize, _held: Reservation },
    Runs { merged: Box<Merged>, _held: Reservation },
}

impl Sorted {
    /// Puts the next triple into `triple` and returns its partition; nothing at the end.
    pub(super) fn next(&mut self, triple: &mut Triple) -> Result<Option<u32>> {
        let bytes = match self {
            Sorted::Memory { rows, index, at, .. } => match index.get(*at) {
                Some(row) => {
                    *at += 1;
                    rows.get(*row as usize..).unwrap_or_default()
                }
                None => return Ok(None),
            },
            Sorted::Runs { merged, .. } => match merged.next_row()? {
                Some(bytes) => bytes,
                None => return Ok(None),
            },
        };
        let (partition, RowTexts { literal, texts }, _) = row(bytes);
        for (out, text) in [&mut triple.subject, &mut triple.object, &mut triple.datatype].into_iter().zip(texts) {
            out.clear();
            let text = std::str::from_utf8(text).map_err(|_| Error::malformed("a temporary file was changed"))?;
            out.push_str(text);
        }
        triple.literal = literal;
        Ok(Some(partition))
    }
}

/// Several runs as one.
pub(super) struct Merged {
    heap: BinaryHeap<Run>,
    /// The row that was given last.
    last: Vec<u8>,
    order: Order,
    /// Bytes of a run that are read at once.
    block: usize,
}

struct Run {
    file: ScratchFile,
    order: Order,
    /// Bytes that are read at once.
    once: usize,
    /// Offset in the file of the block's end.
    read: u64,
    block: Vec<u8>,
    at: usize,
    length: usize,
}

impl Run {
    fn row(&self) -> &[u8] {
        self.block.get(self.at..self.at + self.length).unwrap_or_default()
    }

    /// Goes to the next row; false at the end.
    fn advance(&mut self) -> Result<bool> {
        self.at += self.length;
        self.length = 0;
        let mut needed = HEAD;
        loop {
            let bytes = self.block.get(self.at..).unwrap_or_default();
            if bytes.len() >= needed {
                let (_, _, length) = row(bytes);
                if bytes.len() >= length {
                    self.length = length;
                    return Ok(true);
                }
                needed = length;
            }
            if self.read >= self.file.size() {
                return Ok(false);
            }
            self.block.drain(..self.at);
            self.at = 0;
            let kept = self.block.len();
            let more = self.once.max(needed - kept).min((self.file.size() - self.read) as usize);
            self.block.resize(kept + more, 0);
            self.file.read_exact_at(&mut self.block[kept..], self.read)?;
            self.read += more as u64;
        }
    }
}

impl Ord for Run {
    /// The heap gives its greatest first: the smallest row.
    fn cmp(&self, other: &Self) -> Ordering {
        compare(other.row(), self.row(), self.order)
    }
}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Run {}

impl Merged {
    /// Begins to merge within about `memory` bytes.
    fn new(files: Vec<ScratchFile>, order: Order, memory: u64) -> Result<Self> {
        let share = memory / (2 * files.len().max(1) as u64);
        let block = usize::try_from(share).unwrap_or(BLOCK).clamp(LEAST_BLOCK, BLOCK);
        let mut heap = BinaryHeap::with_capacity(files.len());
        for file in files {
            let mut run = Run { file, order, once: block, read: 0, block: Vec::new(), at: 0, length: 0 };
            if run.advance()? {
                heap.push(run);
            }
        }
        Ok(Merged { heap, last: Vec::new(), order, block })
    }

    fn next_row(&mut self) -> Result<Option<&[u8]>> {
        let first = self.last.is_empty();
        loop {
            let Some(mut top) = self.heap.peek_mut() else { return Ok(None) };
            let again = !first && compare(&self.last, top.row(), self.order) == Ordering::Equal;
            if !again {
                self.last.clear();
                self.last.extend_from_slice(top.row());
            }
            if !top.advance()? {
                std::collections::binary_heap::PeekMut::pop(top);
            }
            if !again {
                return Ok(Some(&self.last));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Triples in no order, many of them twice.
    fn triples() -> Vec<(u32, Triple)> {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut triple = || {
            let (subject, object, literal) = (next(300), next(40), next(2) == 0);
            let datatype = if literal && next(3) == 0 { "urn:d".to_owned() } else { String::new() };
            let object = format!("{}{object}", "x".repeat(next(90) as usize));
            (next(3) as u32, Triple { subject: format!("urn:s{subject}"), object, literal, datatype })
        };
        (0..20_000).map(|_| triple()).collect()
    }

    #[test]
    fn little_memory_gives_the_same_as_much() {
        let triples = triples();
        for order in [Order::Subject, Order::Object] {
            let mut expected = triples.clone();
            expected.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.compare(&other.1, order)));
            expected.dedup();
            for memory in [0, 64 << 20] {
                let budget = Budget::new(128 << 20);
                let scratch = Scratch::new(None).unwrap();
                let mut sorter = Sorter::new(order, &budget, memory, &scratch).unwrap();
                triples.iter().for_each(|(partition, triple)| sorter.push(*partition, triple).unwrap());
                assert_eq!(sorter.runs.is_empty(), memory > 0);
                let mut sorted = sorter.finish().unwrap();
                let mut triple = Triple::default();
                for (partition, wanted) in &expected {
                    assert_eq!(sorted.next(&mut triple).unwrap(), Some(*partition));
                    assert_eq!(triple, *wanted);
                }
                assert_eq!(sorted.next(&mut triple).unwrap(), None);
                drop(sorted);
                assert_eq!(budget.used(), 0);
            }
        }
    }
}
