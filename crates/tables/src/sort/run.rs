//! Sorted runs in temporary files.

use std::io::Write;
use std::ops::Range;

use isomorph_error::Result;
use isomorph_storage::{Blob, Scratch, ScratchFile, parallel};

use super::memory::SortedRows;
use super::payload::Payload;
use super::rows::Rows;

/// The number of blocks that a thread encodes before they are written.
const ENCODED_AT_ONCE: usize = 8;

/// The minimum space that is released at a time, bytes, because each release is a system call.
const RELEASED_AT_ONCE: u64 = 64 << 10;

/// The unit in which a run is read.
pub(super) struct Block {
    /// The range in the file, bytes.
    place: Range<u64>,
    /// Number of edges.
    pub rows: usize,
    /// Aligned end of the last edge.
    pub last: u64,
}

/// Sorted edges in blocks, in a separate file.
pub(super) struct Run {
    /// Keeps the file alive and its size counted.
    file: ScratchFile,
    blob: Blob,
    pub blocks: Vec<Block>,
    pub rows: u64,
    /// The size of the largest block in memory, bytes.
    pub largest: usize,
}

impl Run {
    /// Reads a block.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io), [`Kind::Malformed`](isomorph_error::Kind::Malformed) for a failing disk.
    pub fn read(&self, block: &Block, payload: &Payload) -> Result<Rows> {
        Rows::decode(&self.blob.read(block.place.clone())?, payload)
    }
}

/// Releases the space of blocks that will not be read again, one after another.
pub(super) struct Release {
    /// The position of the first of them.
    from: usize,
    /// The start of the space that is not released yet, bytes.
    kept: Option<u64>,
}

impl Release {
    /// Releases the blocks from `from` on.
    pub fn new(from: usize) -> Self {
        Release { from, kept: None }
    }

    /// Marks block `block` as done.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn passed(&mut self, run: &Run, block: usize) -> Result<()> {
        let Some(Block { place, .. }) = run.blocks.get(block).filter(|_| block >= self.from) else { return Ok(()) };
        let kept = self.kept.get_or_insert(place.start);
        if place.end.saturating_sub(*kept) >= RELEASED_AT_ONCE {
            *kept = run.file.release(*kept..place.end)?;
        }
        Ok(())
    }
}

/// Writes a run.
pub(super) struct RunWriter {
    file: ScratchFile,
    blocks: Vec<Block>,
    rows: u64,
    largest: usize,
}

impl RunWriter {
    pub fn new(scratch: &Scratch) -> Result<Self> {
        Ok(RunWriter { file: scratch.create()?, blocks: Vec::new(), rows: 0, largest: 0 })
    }

    /// Appends a block.
    ///
    /// # Errors
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn write(&mut self, block: &Encoded) -> Result<()> {
        let start = self.file.size();
        self.file.write_all(&block.bytes)?;
        let place = start..start + block.bytes.len() as u64;
        self.blocks.push(Block { place, rows: block.rows, last: block.last });
        self.rows += block.rows as u64;
        self.largest = self.largest.max(block.in_memory);
        Ok(())
    }

    /// Writes sorted edges in blocks of `block_rows`.
    ///
    /// # Errors
    /// Same as [`RunWriter::write`].
    pub fn write_sorted(
        &mut self,
        sorted: &SortedRows,
        block_rows: usize,
        with_sequence: bool,
        threads: usize,
    ) -> Result<()> {
        let window = block_rows * threads.max(1) * ENCODED_AT_ONCE;
        for start in (0..sorted.len()).step_by(window) {
            let end = sorted.len().min(start + window);
            let blocks = (start..end).step_by(block_rows).map(|first| first..end.min(first + block_rows)).collect();
            let encode = |rows| Encoded::new(&sorted.read(rows, with_sequence)?);
            for block in parallel::map(threads, blocks, encode) {
                self.write(&block?)?;
            }
        }
        Ok(())
    }

    /// Returns the run for reading.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn finish(self) -> Result<Run> {
        let blob = self.file.blob()?;
        Ok(Run { file: self.file, blob, blocks: self.blocks, rows: self.rows, largest: self.largest })
    }
}

/// An encoded block.
pub(super) struct Encoded {
    bytes: Vec<u8>,
    rows: usize,
    last: u64,
    in_memory: usize,
}

impl Encoded {
    pub fn new(rows: &Rows) -> Result<Self> {
        Ok(Encoded {
            bytes: rows.encode()?,
            rows: rows.len(),
            last: rows.aligned.last().copied().unwrap_or(0),
            in_memory: rows.bytes()?,
        })
    }
}
