//! The one place where memory is mapped: our own temporary files.
#![allow(unsafe_code)]

use isomorph_error::Result;
use isomorph_storage::ScratchFile;
use memmap2::Mmap;

/// A temporary file as bytes in memory.
pub(super) struct Map {
    map: Mmap,
    /// Keeps the bytes counted. Nobody else has it, so nobody writes to it.
    _file: ScratchFile,
}

impl Map {
    /// Maps all of `file`, which must not be empty.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn new(file: ScratchFile) -> Result<Self> {
        // SAFETY: A map is unsound only if the file changes below it. This file was created by `Scratch` for us alone.
        // It has no name (or, where the system needs one, a random name in a directory of temporary files), so no other
        // process opens it. Its only handle is moved into this value, which never writes to it or shortens it.
        let map = unsafe { Mmap::map(file.as_file()) }?;
        Ok(Map { map, _file: file })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map
    }
}
