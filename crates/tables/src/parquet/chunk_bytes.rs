//! The stored bytes of one column chunk: fetched beforehand where they are few, otherwise read ahead in windows, never
//! beyond what the reader is going to want.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Result, index};
use isomorph_storage::Blob;

/// How much is read at a time when a chunk is read through, bytes.
pub(super) const THROUGH: u64 = 1 << 20;
/// How much is read at a time when most pages will be passed over after a look at their headers, bytes.
pub(super) const HOPPING: u64 = 16 << 10;

/// Bytes of one column chunk, by their offset in the file.
pub(super) struct ChunkBytes {
    blob: Blob,
    chunk: Range<u64>,
    /// Parts of the chunk that will be read, in order and apart. Reading ahead stays inside them.
    wanted: Arc<[Range<u64>]>,
    /// What has been fetched already: offset and bytes, in order.
    fetched: Vec<(u64, Bytes)>,
    window: (u64, Bytes),
    ahead: u64,
}

impl ChunkBytes {
    /// The bytes of `chunk`, of which `wanted` will be read, `ahead` bytes at a time: [`THROUGH`] or [`HOPPING`].
    pub(super) fn new(blob: Blob, chunk: Range<u64>, wanted: Arc<[Range<u64>]>, ahead: u64) -> Self {
        ChunkBytes { blob, chunk, wanted, fetched: Vec::new(), window: (0, Bytes::new()), ahead }
    }

    /// With parts that have been fetched already: offset and bytes, in order.
    pub(super) fn with_fetched(mut self, fetched: Vec<(u64, Bytes)>) -> Self {
        self.fetched = fetched;
        self
    }

    /// Where the chunk lies in the file.
    pub(super) fn range(&self) -> Range<u64> {
        self.chunk.clone()
    }

    /// Exactly `length` bytes from `at` on; the caller has checked that they lie in the chunk.
    pub(super) fn read(&mut self, at: u64, length: usize) -> Result<Bytes> {
        let end = at + length as u64;
        if let Some(bytes) = self.held(at, end) {
            return Ok(bytes);
        }
        self.fill(at, end.max(self.ahead_of(at)))?;
        Ok(self.window.1.slice(..length))
    }

    /// Some bytes from `at` on: at least `least`, or all up to the end of the chunk if there are fewer.
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

    /// What is held and covers `at..end`.
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

    /// How far to read when reading starts at `at`: not beyond the wanted part that holds it.
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
