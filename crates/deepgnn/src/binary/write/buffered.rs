//! Buffered writing of files in large blocks.
//!
//! If a file is written in blocks of 2 MiB, aligned to pages of that size, Linux keeps it in pages of this size in
//! memory, and a process that maps it (the sampling engine) finds its records sooner. A file that is written in smaller
//! blocks is in small pages until it is read again.

use std::io::Write;

use isomorph_error::Result;
use isomorph_storage::{StagedFile, Staging};

use crate::binary::layout::EDGE_RECORD;

/// Block size of one file of one partition: a large page.
const PIECE: usize = 2 << 20;

/// Total size of the blocks of all partitions, as long as that leaves a page for each.
const PIECES: usize = 8 << 20;

/// A file and its buffer.
pub(super) struct Gathered {
    file: StagedFile,
    buffer: Vec<u8>,
    /// Block size in bytes.
    piece: usize,
}

impl Gathered {
    /// Begins a file of one of `partitions` partitions.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn create(staging: &Staging, name: &str, partitions: u32) -> Result<Self> {
        let piece = (PIECES / partitions.max(1) as usize).clamp(4 << 10, PIECE);
        Ok(Gathered { file: staging.create(name)?, buffer: Vec::with_capacity(piece + EDGE_RECORD), piece })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.piece { self.write_pieces() } else { Ok(()) }
    }

    fn write_pieces(&mut self) -> Result<()> {
        let whole = self.buffer.len() - self.buffer.len() % self.piece;
        self.file.write_all(&self.buffer[..whole])?;
        self.buffer.drain(..whole);
        Ok(())
    }

    /// Writes the rest of the buffer.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.file.write_all(&self.buffer)?;
        self.file.finish()?;
        Ok(())
    }
}
