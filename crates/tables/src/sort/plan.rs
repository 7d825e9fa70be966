//! Divides the memory of a sort.

use isomorph_error::index;

/// The smallest and the largest decoded size of a block, bytes.
const BLOCK: (u64, u64) = (4 << 10, 512 << 10);

/// The maximum number of blocks of a run in a merge: the one that is being read, and those whose rows are still being
/// collected.
const BLOCKS_IN_HAND: u64 = 3;

/// The maximum number of open files.
const MAX_RUNS: usize = 128;

/// More memory than this does not make merging faster, bytes.
const MOST_WORKING: u64 = 96 << 20;

/// The shares of a sort's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryPlan {
    /// For edges in the buffer, bytes.
    pub buffer: u64,
    /// For encoding and merging, bytes.
    pub working: u64,
    /// The decoded size of a block, bytes.
    pub block: usize,
    /// The maximum number of runs in the last merge, limited by the memory of all its streams.
    pub fan_in: usize,
    /// The maximum number of runs of one level before they are merged, limited by the memory of a single stream.
    pub max_runs: usize,
    streams: u64,
}

impl MemoryPlan {
    /// Divides `memory` bytes; the result will be read by `streams` concurrent streams.
    pub fn new(memory: u64, streams: usize) -> Self {
        let streams = streams.max(1) as u64;
        let working = (memory / 4).min(MOST_WORKING);
        let block = (memory / 512 / streams).clamp(BLOCK.0, BLOCK.1);
        let runs = |bytes: u64| index(bytes / (block * BLOCKS_IN_HAND)).clamp(2, MAX_RUNS);
        MemoryPlan {
            buffer: memory - working,
            working,
            block: index(block),
            fan_in: runs(working / streams),
            max_runs: runs(working + (memory - working) / 2),
            streams,
        }
    }

    /// Returns the memory for all streams over runs whose largest blocks have these sizes.
    pub fn merging(&self, largest: impl Iterator<Item = usize>) -> u64 {
        largest.map(|bytes| bytes as u64).sum::<u64>() * BLOCKS_IN_HAND * self.streams
    }
}
