//! What a binary has no place for, in a folder inside its directory that no other reader looks into: the weights of nodes, which it has in
//! its tables for sampling alone, rounded and mixed.
//!
//! A file for each partition holds 32 bits for each entry of the map, in their order. Entries behind its end weigh 1, and a partition
//! without a file has no other weights: most graphs need none.

use std::io::Write;
use std::ops::Range;

use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Root, StagedFile, Staging};

use crate::rules;

/// The folder.
pub const BESIDE: &str = "_isomorph";

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 << 10;

/// Bytes of a weight.
const WEIGHT: u64 = 4;

fn name(partition: u32) -> String {
    format!("{BESIDE}/node_weights_{partition}")
}

/// Weights of the entries of one partition that are being written.
pub(crate) struct Writer<'a> {
    staging: &'a Staging,
    partition: u32,
    /// Begun with the first weight that is not 1.
    file: Option<StagedFile>,
    buffer: Vec<u8>,
    /// Entries that have their weight.
    entries: u64,
}

impl<'a> Writer<'a> {
    /// Those of `partition`, none yet.
    pub fn new(staging: &'a Staging, partition: u32) -> Self {
        Writer { staging, partition, file: None, buffer: Vec::new(), entries: 0 }
    }

    /// States the weight of `entry`; those before that have none weigh 1.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put(&mut self, entry: u64, weight: f32) -> Result<()> {
        if weight.to_bits() == 1f32.to_bits() {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(self.staging.create(&name(self.partition))?);
        }
        while self.entries < entry {
            self.push(1.0)?;
        }
        self.push(weight)
    }

    fn push(&mut self, weight: f32) -> Result<()> {
        self.buffer.extend_from_slice(&weight.to_le_bytes());
        self.entries += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(&self.buffer)?;
        }
        self.buffer.clear();
        Ok(())
    }

    /// Ends the file, if there is one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.file.map_or(Ok(()), |file| file.finish().map(|_| ()))
    }
}

/// The weights of the entries of one partition.
pub(crate) struct Weights {
    blob: Option<Blob>,
    stated: u64,
}

impl Weights {
    /// Opens those of `partition`, which has so many entries.
    ///
    /// # Errors
    /// When the file is longer than that, or no file of such weights.
    pub fn open(root: &Root, partition: u32, entries: u64) -> Result<Weights> {
        let blob = root.try_file(&name(partition))?;
        let size = blob.as_ref().map_or(0, Blob::size);
        if let Some(blob) = blob.as_ref().filter(|_| !size.is_multiple_of(WEIGHT) || size / WEIGHT > entries) {
            let message = format!("{size} bytes are no weights of {entries} entries");
            return Err(Error::broken(&rules::BOUNDS, message).at(blob.place()));
        }
        Ok(Weights { blob, stated: size / WEIGHT })
    }

    /// The weights of a range of entries.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&self, entries: Range<u64>) -> Result<Vec<f32>> {
        let count = entries.end.saturating_sub(entries.start) as usize;
        let mut weights = Vec::with_capacity(count);
        let end = entries.end.min(self.stated);
        if let Some(blob) = self.blob.as_ref().filter(|_| entries.start < end) {
            let bytes = blob.read(entries.start * WEIGHT..end * WEIGHT)?;
            let (numbers, _) = bytes.as_chunks::<4>();
            weights.extend(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        }
        weights.resize(count, 1.0);
        Ok(weights)
    }
}
