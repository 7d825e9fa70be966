//! Reading arrays.

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::{Place, Result};
use isomorph_storage::limits;
use isomorph_tables::fenced;
use zarrs::array::{Array, ArrayBytes, CodecOptions};

use super::broken;
use super::describe::Description;
use super::number::{Number, NumberType};
use super::store::FileStore;
use crate::members::Members;
use crate::rules;

/// An array that is read chunk by chunk.
pub(crate) struct ArrayReader {
    directory: String,
    array: Array<FileStore>,
    number: NumberType,
    length: u64,
    chunk: u64,
}

impl ArrayReader {
    /// Opens the array in a directory, relative to the root of the graph, if it exists.
    ///
    /// # Errors
    /// Returns an error if its description is malformed, or arrays of its kind are not supported.
    pub fn open(members: &Members, directory: &str) -> Result<Option<ArrayReader>> {
        let name = format!("{directory}/zarr.json");
        let Some(text) = members.text(&name, limits::MANIFEST_BYTES)? else { return Ok(None) };
        let described = Description::read(&text, &name)?;
        let store = Arc::new(FileStore::new(members.files()));
        let array = fenced(&rules::MATRIX, || {
            let array = described.builder().build(store, &format!("/{directory}"));
            array.map_err(|error| broken(&name, error.to_string()))
        })?;
        Ok(Some(ArrayReader {
            directory: directory.to_owned(),
            array,
            number: described.number,
            length: described.length,
            chunk: described.chunk.get(),
        }))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Returns whether the numbers are integers.
    pub fn is_integer(&self) -> bool {
        self.number.is_integer()
    }

    /// Appends a range of the numbers to `out` as integers. Positions past the end are skipped.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be read, or is malformed.
    pub fn integers(&self, range: Range<u64>, out: &mut Vec<i64>) -> Result<()> {
        self.each(range, |number, bytes| number.integers(bytes, out))
    }

    /// Appends a range of the numbers to `out` as floats. Positions past the end are skipped.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayReader::integers`].
    pub fn floats(&self, range: Range<u64>, out: &mut Vec<f64>) -> Result<()> {
        self.each(range, |number, bytes| number.floats(bytes, out))
    }

    /// Returns the numbers from `start` on, in the type of the array.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayReader::integers`].
    pub fn tail<T: Number>(&self, start: u64) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.each(start..self.length, |_, bytes| found.extend(T::of(bytes)))?;
        Ok(found)
    }

    /// Calls `take` with the bytes of the numbers in a range, chunk by chunk.
    fn each(&self, range: Range<u64>, mut take: impl FnMut(NumberType, &[u8])) -> Result<()> {
        let end = range.end.min(self.length);
        if range.start >= end {
            return Ok(());
        }
        let width = self.number.bytes() as u64;
        for chunk in range.start / self.chunk..=(end - 1) / self.chunk {
            let bytes = self.bytes_of(chunk)?;
            // The length of an array may exceed all chunks; positions within a chunk are below 64 Mi.
            let first = chunk * self.chunk;
            let (from, to) = (range.start.saturating_sub(first), (end - first).min(self.chunk));
            let bytes = bytes.get((from * width) as usize..(to * width) as usize);
            take(self.number, bytes.unwrap_or_default());
        }
        Ok(())
    }

    /// Returns all bytes of a chunk.
    fn bytes_of(&self, chunk: u64) -> Result<Vec<u8>> {
        let file = || format!("{}/c/{chunk}", self.directory);
        fenced(&rules::MATRIX, || {
            let options = CodecOptions::default().with_concurrent_target(1);
            let bytes: ArrayBytes<'static> = match self.array.retrieve_chunk_opt(&[chunk], &options) {
                Ok(bytes) => bytes,
                Err(error) => {
                    let own = self.array.storage().failure();
                    return Err(own.unwrap_or_else(|| broken(&file(), error.to_string())));
                }
            };
            Ok(bytes.into_fixed().map_err(|error| broken(&file(), error.to_string()))?.into_owned())
        })
        .map_err(|error| error.at(Place::file(file())))
    }
}
