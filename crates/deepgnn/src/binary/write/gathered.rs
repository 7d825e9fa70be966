//! What is written to a file, gathered into pieces.
//!
//! A file that is written in pieces of 2 MiB, each where a page of that size would begin, lies in such pages in the memory of Linux, and
//! who maps it (the sampling engine) finds its records sooner. In smaller pieces it lies in small ones until it is read again.

use std::io::Write;

use isomorph_error::Result;
use isomorph_storage::{StagedFile, Staging};

use crate::binary::layout::EDGE_RECORD;

/// Bytes of a piece of one file of one partition: a large page.
const PIECE: usize = 2 << 20;

/// The same for all partitions together, as long as that leaves a page for each.
const PIECES: usize = 8 << 20;

/// A file and what is gathered for it.
pub(super) struct Gathered {
    file: StagedFile,
    buffer: Vec<u8>,
    /// Bytes of a piece.
    piece: usize,
}

impl Gathered {
    /// Begins a file, of one of so many partitions.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
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

    /// Writes what is left.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.file.write_all(&self.buffer)?;
        self.file.finish()?;
        Ok(())
    }
}
