//! Sequential reading of a blob.

use std::io::{self, BufRead, Read};

use bytes::{Buf, Bytes};

use crate::Blob;

/// The number of bytes of a local file that are fetched at a time.
const WINDOW: u64 = 256 << 10;
/// The same for an object, which is fetched in several parts at the same time.
const REMOTE_WINDOW: u64 = 16 << 20;

/// A buffered reader over a whole [`Blob`].
#[derive(Debug)]
pub struct BlobReader {
    blob: Blob,
    position: u64,
    /// Where reading ends.
    end: u64,
    window: Bytes,
}

impl BlobReader {
    pub(crate) fn new(blob: Blob) -> Self {
        BlobReader { position: 0, end: blob.size(), blob, window: Bytes::new() }
    }

    /// Reads only these bytes; nothing is fetched behind them.
    pub fn within(mut self, range: std::ops::Range<u64>) -> Self {
        self.end = range.end.min(self.blob.size());
        self.go_to(range.start);
        self
    }

    /// Returns the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position - self.window.len() as u64
    }

    /// Moves to a byte offset, where the next read starts. Beyond the end, reads return nothing.
    pub fn go_to(&mut self, offset: u64) {
        self.position = offset;
        self.window = Bytes::new();
    }
}

impl Read for BlobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.len().min(buffer.len());
        self.window.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

impl BufRead for BlobReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.window.is_empty() && self.position < self.end {
            let window = if self.blob.is_remote() { REMOTE_WINDOW } else { WINDOW };
            let end = self.end.min(self.position + window);
            self.window = self.blob.read(self.position..end).map_err(io::Error::other)?;
            self.position = end;
        }
        Ok(&self.window)
    }

    fn consume(&mut self, amount: usize) {
        self.window.advance(amount.min(self.window.len()));
    }
}
