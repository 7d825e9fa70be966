//! The stored bytes of a column chunk: fetched in advance if they are few, otherwise read ahead in windows, never
//! beyond what the reader will need.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Result, index};
use isomorph_storage::Blob;

/// The window size when a whole chunk is read, bytes.
pub(super) const THROUGH: u64 = 1 << 20;
/// The window size when most pages are skipped after reading their headers, bytes.
pub(super) const HOPPING: u64 = 16 << 10;

/// The bytes of a column chunk, addressed by their offset in the file.
pub(super) struct ChunkBytes {
    blob: Blob,
    chunk: Range<u64>,
    /// The parts of the chunk that will be read, sorted and without overlap. Reading ahead stays inside them.
    wanted: Arc<[Range<u64>]>,
    /// The bytes that were fetched in advance: offset and bytes, sorted.
    fetched: Vec<(u64, Bytes)>,
    window: (u64, Bytes),
    ahead: u64,
}

impl ChunkBytes {
    /// Creates a reader of `chunk`, of which `wanted` will be read, in windows of `ahead` bytes: [`THROUGH`] or [`HOPPING`].
    pub(super) fn new(blob: Blob, chunk: Range<u64>, wanted: Arc<[Range<u64>]>, ahead: u64) -> Self {
        ChunkBytes { blob, chunk, wanted, fetched: Vec::new(), window: (0, Bytes::new()), ahead }
    }

    /// Adds parts that were fetched in advance: offset and bytes, sorted.
    pub(super) fn with_fetched(mut self, fetched: Vec<(u64, Bytes)>) -> Self {
        self.fetched = fetched;
        self
    }

    /// Returns the range of the chunk in the file.
    pub(super) fn range(&self) -> Range<u64> {
        self.chunk.clone()
    }

    /// Reads exactly `length` bytes from `at`. The caller has checked that they are inside the chunk.
    pub(super) fn read(&mut self, at: u64, length: usize) -> Result<Bytes> {
        let end = at + length as u64;
        if let Some(bytes) = self.held(at, end) {
            return Ok(bytes);
        }
        self.fill(at, end.max(self.ahead_of(at)))?;
        Ok(self.window.1.slice(..length))
    }

    /// Reads some bytes from `at`: at least `least`, or all up to the end of the chunk if there are fewer.
    pub(super) fn glance(&mut self, at: u64, least: usize) -> Result<Bytes> {
        let least_end = at.saturating_add(least as u64).min(self.chunk.end);
        let (start, bytes) = match self.holder(at, least_end) {
            Some(held) => held,
            None => {
                self.fill(at, least_end.max(self.ahead_of(at)))?;
                &self.window
            }
        };
        Ok(bytes.slice(index(at - start)..))
    }

    fn fill(&mut self, start: u64, end: u64) -> Result<()> {
        self.window = (start, self.blob.read(start..end)?);
        Ok(())
    }

    /// Returns the buffer that covers `at..end`, if there is one.
    fn holder(&self, at: u64, end: u64) -> Option<&(u64, Bytes)> {
        let covers = |(start, bytes): &(u64, Bytes)| *start <= at && end <= *start + bytes.len() as u64;
        if covers(&self.window) {
            return Some(&self.window);
        }
        let behind = self.fetched.partition_point(|(start, _)| *start <= at);
        self.fetched[..behind].last().filter(|held| covers(held))
    }

    fn held(&self, at: u64, end: u64) -> Option<Bytes> {
        let (start, bytes) = self.holder(at, end)?;
        Some(bytes.slice(index(at - start)..index(end - start)))
    }

    /// Returns where a read that starts at `at` should end: not beyond the wanted part that contains it.
    fn ahead_of(&self, at: u64) -> u64 {
        let behind = self.wanted.partition_point(|part| part.start <= at);
        let end = self.wanted[..behind].last().map_or(at, |part| part.end.max(at));
        end.min(self.chunk.end).min(at.saturating_add(self.ahead))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reading_ahead_stays_inside_what_is_wanted() {
        let blob = Blob::from_bytes("x", &Bytes::from((0..200u8).collect::<Vec<_>>()));
        let mut bytes = ChunkBytes::new(blob.clone(), 10..190, vec![20..40, 100..190].into(), THROUGH);
        assert_eq!(bytes.read(20, 4).unwrap(), vec![20, 21, 22, 23]);
        assert_eq!(blob.bytes_read(), 20);
        assert_eq!(bytes.read(36, 4).unwrap(), vec![36, 37, 38, 39]);
        assert_eq!(blob.bytes_read(), 20);
        assert_eq!(bytes.glance(185, 50).unwrap().len(), 5);
        assert_eq!(blob.bytes_read(), 25);
        assert_eq!(bytes.read(50, 2).unwrap(), vec![50, 51]);
        assert_eq!(blob.bytes_read(), 27);
    }

    #[test]
    fn fetched_bytes_are_not_read_again() {
        let blob = Blob::from_bytes("x", &Bytes::from(vec![7; 100]));
        let fetched = vec![(0, Bytes::from(vec![1; 10])), (20, Bytes::from(vec![2; 10]))];
        let mut bytes = ChunkBytes::new(blob.clone(), 0..100, vec![].into(), THROUGH).with_fetched(fetched);
        assert_eq!(bytes.read(22, 3).unwrap(), vec![2; 3]);
        assert_eq!(blob.bytes_read(), 0);
        assert_eq!(bytes.read(12, 3).unwrap(), vec![7; 3]);
        assert_eq!(blob.bytes_read(), 3);
    }
}
