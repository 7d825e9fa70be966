//! How a sort divides its memory.

use isomorph_error::index;

/// Smallest and largest block of a run, decoded, bytes.
const BLOCK: (u64, u64) = (4 << 10, 512 << 10);

/// Blocks of one run that a merge may hold: the one it reads, and those whose rows are still being collected.
const BLOCKS_IN_HAND: u64 = 3;

/// More files than this are not kept open.
const MAX_RUNS: usize = 128;

/// More memory than this does not make merging faster, bytes.
const MOST_WORKING: u64 = 96 << 20;

/// Shares of one sort's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryPlan {
    /// For edges that wait in the buffer, bytes.
    pub buffer: u64,
    /// For encoding and merging, bytes.
    pub working: u64,
    /// A block of a run, decoded, bytes.
    pub block: usize,
    /// Runs that the last merge may read: as many as all its streams have memory for.
    pub fan_in: usize,
    /// Runs of one level that are kept before they are merged into one: as many as a single stream has memory for.
    pub max_runs: usize,
    streams: u64,
}

impl MemoryPlan {
    /// Divides `memory` bytes; `streams` will read the result at once.
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

    /// Memory for all streams over runs whose largest blocks take these many bytes each.
    pub fn merging(&self, largest: impl Iterator<Item = usize>) -> u64 {
        largest.map(|bytes| bytes as u64).sum::<u64>() * BLOCKS_IN_HAND * self.streams
    }
}
