//! Two stores for `zarrs`: one over the files of a graph, and one that keeps what is written until it goes to a
//! file.

use std::sync::{Mutex, PoisonError};

use isomorph_error::Error;
use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};
use zarrs::storage::{
    Bytes, MaybeBytes, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits, StorageError, StoreKey,
    StorePrefix, WritableStorageTraits,
};

use super::CHUNK_BYTES;
use crate::members::Files;

/// Maximum size of a stored chunk in bytes: incompressible data becomes slightly larger.
const STORED_BYTES: u64 = CHUNK_BYTES + (1 << 20);

/// The files of a graph at any location. Keys are names relative to its root.
pub(super) struct FileStore {
    files: Files,
    /// The last error: `zarrs` keeps only texts.
    failed: Mutex<Option<Error>>,
}

impl FileStore {
    /// Creates the store over `files`.
    pub fn new(files: Files) -> FileStore {
        FileStore { files, failed: Mutex::new(None) }
    }

    /// Returns the error behind the last one that `zarrs` reported, if it came from the files.
    pub fn failure(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn attempt<T>(&self, work: impl FnOnce() -> isomorph_error::Result<T>) -> Result<T, StorageError> {
        work().map_err(|error| {
            let told = StorageError::Other(error.message().to_owned());
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    }
}

impl ReadableStorageTraits for FileStore {
    fn get(&self, key: &StoreKey) -> Result<MaybeBytes, StorageError> {
        self.attempt(|| {
            let Some(blob) = self.files.try_file(key.as_str())? else { return Ok(None) };
            blob.read_all(STORED_BYTES).map(Some)
        })
    }

    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        byte_ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some(blob) = self.attempt(|| self.files.try_file(key.as_str()))? else { return Ok(None) };
        let read = move |range: ByteRange| {
            let size = blob.size();
            let (start, end) = (range.start(size), range.end(size));
            let length = end.checked_sub(start).filter(|length| end <= size && *length <= STORED_BYTES);
            if length.is_none() {
                return Err(StorageError::Other("the range is outside the file".to_owned()));
            }
            self.attempt(|| blob.read(start..end))
        };
        Ok(Some(Box::new(byte_ranges.map(read))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        self.attempt(|| Ok(self.files.try_file(key.as_str())?.map(|blob| blob.size())))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

/// Written values by key, until they are taken.
#[derive(Default)]
pub(super) struct Written(Mutex<Vec<(String, Bytes)>>);

impl Written {
    /// Takes what was written since the last call.
    pub fn take(&self) -> Vec<(String, Bytes)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WritableStorageTraits for Written {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((key.as_str().to_owned(), value));
        Ok(())
    }

    fn set_partial_many(&self, _: &StoreKey, _: OffsetBytesIterator<'_>) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("files must be written completely".to_owned()))
    }

    /// Does nothing: a chunk of fill values is never written.
    fn erase(&self, _: &StoreKey) -> Result<(), StorageError> {
        Ok(())
    }

    fn erase_prefix(&self, _: &StorePrefix) -> Result<(), StorageError> {
        Ok(())
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}
