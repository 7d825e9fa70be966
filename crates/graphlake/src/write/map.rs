//! Temporary files as bytes in memory.
#![allow(unsafe_code)]

use isomorph_error::Result;
use isomorph_storage::ScratchFile;
use memmap2::Mmap;

/// A temporary file as bytes; an empty file has none.
pub(super) struct Map {
    map: Option<Mmap>,
    /// Holds the reservation for the bytes.
    _file: ScratchFile,
}

impl Map {
    /// Maps all of `file`.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io).
    pub(super) fn new(file: ScratchFile) -> Result<Self> {
        if file.size() == 0 {
            return Ok(Map { map: None, _file: file });
        }
        // SAFETY: A map is unsound only if the file changes while it is mapped. This file was created by `Scratch` for
        // this value alone. It has no name (or, where the system needs one, a random name in a directory of temporary
        // files), so no other process opens it. Its only handle is moved into this value, which never writes to it or
        // shortens it.
        let map = unsafe { Mmap::map(file.as_file()) }?;
        Ok(Map { map: Some(map), _file: file })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The number at index `at` of a file of 32-bit numbers.
    pub(super) fn u32(&self, at: usize) -> u32 {
        let bytes = at.checked_mul(4).and_then(|at| self.bytes().get(at..)?.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// The number at index `at` of a file of 64-bit numbers.
    pub(super) fn u64(&self, at: usize) -> u64 {
        let bytes = at.checked_mul(8).and_then(|at| self.bytes().get(at..)?.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}
