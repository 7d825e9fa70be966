//! A reader that fails on events that are too long, because the XML parser would buffer them completely.

use std::io::{self, BufRead, Read};

/// Maximum length of one tag or text, in bytes.
pub const LONGEST: usize = 64 << 20;

/// Counts the bytes since the last event.
pub(crate) struct Guard<R> {
    inner: R,
    /// Bytes of the current event.
    taken: usize,
}

impl<R: BufRead> Guard<R> {
    pub fn new(inner: R) -> Self {
        Guard { inner, taken: 0 }
    }

    /// Starts an event.
    pub fn begin(&mut self) {
        self.taken = 0;
    }

    /// Returns whether an event was too long.
    pub fn is_over(&self) -> bool {
        self.taken > LONGEST
    }
}

impl<R: BufRead> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Guard<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_over() {
            return Err(io::Error::other("a tag or a text is too long"));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount;
        self.inner.consume(amount);
    }
}
