//! Writing arrays.

use std::num::NonZeroU64;
use std::sync::Arc;

use isomorph_error::{Error, Place, Result};
use isomorph_storage::limits;
use zarrs::array::{Array, CodecOptions};
use zarrs::group::GroupBuilder;

use super::codec::Codec;
use super::describe::Description;
use super::store::Written;
use super::{ArrayReader, Number};
use crate::members::Members;
use crate::write::{Output, WriteOptions};

/// A writer of an array. Numbers can be added in slices of any length; each chunk is written when it is full.
pub(crate) struct ArrayWriter<T> {
    directory: String,
    array: Array<Written>,
    chunk: usize,
    pending: Vec<T>,
    chunks: u64,
    length: u64,
}

fn failed(directory: &str, error: impl std::fmt::Display) -> Error {
    Error::usage(error.to_string()).at(Place::file(directory))
}

impl<T: Number> ArrayWriter<T> {
    /// Begins the array in a directory relative to the root of the graph, with chunks of this many numbers.
    ///
    /// # Errors
    /// Returns an error if Zarr does not support the compression.
    pub fn create(directory: &str, chunk: NonZeroU64, options: &WriteOptions) -> Result<Self> {
        let described = Description {
            length: 0,
            chunk,
            number: T::TYPE,
            fill: T::TYPE.fill("0").ok_or_else(|| failed(directory, "zero is not a valid chunk size"))?,
            codecs: Codec::of(options.compression, T::TYPE.bytes())?,
            separator: zarrs::metadata::ChunkKeySeparator::Slash,
        };
        let store = Arc::new(Written::default());
        let array = described.builder().build(store, &format!("/{directory}"));
        Ok(ArrayWriter {
            directory: directory.to_owned(),
            array: array.map_err(|error| failed(directory, error))?,
            chunk: usize::try_from(chunk.get()).map_err(|error| failed(directory, error))?,
            pending: Vec::new(),
            chunks: 0,
            length: 0,
        })
    }

    /// Continues the array in a directory of a graph: full chunks are kept, the last one is rewritten. Returns `None`
    /// if there is no such array, or if it has another number type.
    ///
    /// # Errors
    /// Returns an error if it is malformed, or Zarr does not support the compression.
    pub fn resume(members: &Members, directory: &str, options: &WriteOptions) -> Result<Option<Self>> {
        let name = format!("{directory}/zarr.json");
        let Some(text) = members.text(&name, limits::MANIFEST_BYTES)? else { return Ok(None) };
        let mut described = Description::read(&text, &name)?;
        let Some(old) = ArrayReader::open(members, directory)?.filter(|_| described.number == T::TYPE) else {
            return Ok(None);
        };
        described.codecs = Codec::like(&described.codecs, Codec::of(options.compression, T::TYPE.bytes())?);
        let array = described.builder().build(Arc::new(Written::default()), &format!("/{directory}"));
        let (length, chunk) = (described.length, described.chunk);
        Ok(Some(ArrayWriter {
            directory: directory.to_owned(),
            array: array.map_err(|error| failed(directory, error))?,
            chunk: usize::try_from(chunk.get()).map_err(|error| failed(directory, error))?,
            pending: old.tail(length / chunk * chunk.get())?,
            chunks: length / chunk,
            length,
        }))
    }

    /// Returns the number of elements so far.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Adds numbers.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be written.
    pub fn push(&mut self, mut numbers: &[T], output: &mut Output<'_>) -> Result<()> {
        self.length += numbers.len() as u64;
        while !numbers.is_empty() {
            let (now, rest) = numbers.split_at(numbers.len().min(self.chunk - self.pending.len()));
            self.pending.extend_from_slice(now);
            numbers = rest;
            if self.pending.len() == self.chunk {
                self.flush(output)?;
            }
        }
        Ok(())
    }

    /// Writes the pending numbers as one chunk. The last chunk is padded, as in files of the published library.
    fn flush(&mut self, output: &mut Output<'_>) -> Result<()> {
        self.pending.resize(self.chunk, T::default());
        let options = CodecOptions::default().with_concurrent_target(1);
        // The chunk grid has as many chunks as the array needs.
        let end = (self.chunks + 1).saturating_mul(self.chunk as u64);
        self.array.set_shape(vec![end]).map_err(|error| failed(&self.directory, error))?;
        let stored = self.array.store_chunk_opt(&[self.chunks], self.pending.as_slice(), &options);
        stored.map_err(|error| failed(&self.directory, error))?;
        self.chunks += 1;
        self.pending.clear();
        put_all(&self.array.storage(), output)
    }

    /// Completes the array and returns its length.
    ///
    /// # Errors
    /// Returns an error if its last chunk or its description cannot be written.
    pub fn finish(mut self, output: &mut Output<'_>) -> Result<u64> {
        if !self.pending.is_empty() {
            self.flush(output)?;
        }
        self.array.set_shape(vec![self.length]).map_err(|error| failed(&self.directory, error))?;
        let stored = self.array.store_metadata_opt(&Description::metadata_options());
        stored.map_err(|error| failed(&self.directory, error))?;
        put_all(&self.array.storage(), output)?;
        Ok(self.length)
    }
}

/// Writes the description of a group with these attributes.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(crate) fn put_group(
    directory: &str,
    attributes: serde_json::Map<String, serde_json::Value>,
    output: &mut Output<'_>,
) -> Result<()> {
    let store = Arc::new(Written::default());
    let mut builder = GroupBuilder::new();
    let group = builder.attributes(attributes).build(Arc::clone(&store), &format!("/{directory}"));
    let group = group.map_err(|error| failed(directory, error))?;
    group.store_metadata().map_err(|error| failed(directory, error))?;
    put_all(&store, output)
}

fn put_all(store: &Written, output: &mut Output<'_>) -> Result<()> {
    store.take().iter().try_for_each(|(name, bytes)| output.put_bytes(name, bytes))
}
