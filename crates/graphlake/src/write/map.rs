//! Temporary files as bytes in memory.
#![allow(unsafe_code)]

use isomorph_error::Result;
use isomorph_storage::ScratchFile;
use memmap2::Mmap;

/// A temporary file as bytes; one that is empty is no bytes.
pub(super) struct Map {
    map: Option<Mmap>,
    /// Keeps the bytes counted. Nobody else has it, so nobody writes to it.
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
        // SAFETY: A map is unsound only if the file changes below it. This file was created by `Scratch` for us alone.
        // It has no name (or, where the system needs one, a random name in a directory of temporary files), so no other
        // process opens it. Its only handle is moved into this value, which never writes to it or shortens it.
        let map = unsafe { Mmap::map(file.as_file()) }?;
        Ok(Map { map: Some(map), _file: file })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The number at index `at`, where the file is numbers of 32 bits.
    pub(super) fn u32(&self, at: usize) -> u32 {
        let bytes = at.checked_mul(4).and_then(|at| self.bytes().get(at..)?.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// The number at index `at`, where the file is numbers of 64 bits.
    pub(super) fn u64(&self, at: usize) -> u64 {
        let bytes = at.checked_mul(8).and_then(|at| self.bytes().get(at..)?.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}
