//! The triples of one partition in one order, from all runs, without duplicates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use isomorph_error::{Result, index};
use isomorph_storage::ScratchFile;

use super::dictionary::Dictionary;
use super::run::Run;
use crate::read::Order;

/// Maximum and minimum bytes of a run that are read at once.
const MOST: u64 = 128 << 10;
const LEAST: u64 = 8 << 10;

/// Merges sorted runs of pairs.
pub(super) struct Pairs<'a> {
    dictionary: &'a Dictionary,
    inputs: Vec<Input<'a>>,
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    last: Option<u64>,
}

/// The pairs of one run.
struct Input<'a> {
    file: &'a ScratchFile,
    run: usize,
    once: u64,
    read: u64,
    end: u64,
    block: Vec<u8>,
    /// The pairs of the block, by their new positions.
    pairs: Vec<u64>,
    at: usize,
}

impl<'a> Pairs<'a> {
    /// The pairs of `partition` in `order`, read with about `memory` bytes: the position of the term to sort by in the
    /// upper half, that of the other in the lower.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Io`].
    pub(super) fn new(
        files: &'a [(ScratchFile, Vec<Run>)],
        dictionary: &'a Dictionary,
        partition: u32,
        order: Order,
        memory: u64,
    ) -> Result<Self> {
        let mut inputs = Vec::new();
        let runs = files.iter().flat_map(|(file, runs)| runs.iter().map(move |run| (file, run)));
        for (run, (file, written)) in runs.enumerate() {
            let at = written.partitions.binary_search_by_key(&partition, |found| found.partition);
            if let Some(found) = at.ok().and_then(|at| written.partitions.get(at)) {
                let read = found.at + if order == Order::Object { 8 * found.count } else { 0 };
                let end = read + 8 * found.count;
                inputs.push(Input { file, run, once: 0, read, end, block: Vec::new(), pairs: Vec::new(), at: 0 });
            }
        }
        let once = (memory / (inputs.len() as u64 + 1)).clamp(LEAST, MOST) / 8 * 8;
        let mut pairs = Pairs { dictionary, inputs, heap: BinaryHeap::new(), last: None };
        for number in 0..pairs.inputs.len() {
            pairs.inputs[number].once = once;
            pairs.refill(number)?;
        }
        Ok(pairs)
    }

    fn refill(&mut self, number: usize) -> Result<()> {
        let Some(input) = self.inputs.get_mut(number) else { return Ok(()) };
        if let Some(pair) = input.next(self.dictionary)? {
            self.heap.push(Reverse((pair, number)));
        }
        Ok(())
    }

    /// Returns the next pair.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Io`].
    pub(super) fn next(&mut self) -> Result<Option<u64>> {
        if let [only] = self.inputs.as_mut_slice() {
            // A run has no duplicates. The first pair is in the heap.
            return match self.heap.pop() {
                Some(Reverse((pair, _))) => Ok(Some(pair)),
                None => only.next(self.dictionary),
            };
        }
        loop {
            let Some(mut top) = self.heap.peek_mut() else { return Ok(None) };
            let Reverse((pair, number)) = *top;
            let more = match self.inputs.get_mut(number) {
                Some(input) => input.next(self.dictionary)?,
                None => None,
            };
            match more {
                Some(more) => *top = Reverse((more, number)),
                None => {
                    std::collections::binary_heap::PeekMut::pop(top);
                }
            }
            if self.last != Some(pair) {
                self.last = Some(pair);
                return Ok(Some(pair));
            }
        }
    }
}

impl Input<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "a pair is two numbers of 32 bits")]
    fn next(&mut self, dictionary: &Dictionary) -> Result<Option<u64>> {
        if let Some(pair) = self.pairs.get(self.at) {
            self.at += 1;
            return Ok(Some(*pair));
        }
        let more = self.once.min(self.end - self.read);
        if more == 0 {
            return Ok(None);
        }
        self.block.resize(index(more), 0);
        self.file.read_exact_at(&mut self.block, self.read)?;
        self.read += more;
        // All at once, because positions are far apart: so the machine waits for many of them at the same time.
        let place = |at: u64| u64::from(dictionary.place(self.run, at as u32));
        self.pairs.clear();
        self.pairs.extend(self.block.chunks_exact(8).map(|bytes| {
            let pair = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            place(pair >> 32) << 32 | place(pair)
        }));
        self.at = 1;
        Ok(self.pairs.first().copied())
    }
}
