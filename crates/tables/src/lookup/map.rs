//! The only memory mapping of this crate, which maps its own temporary files.
#![allow(unsafe_code)]

use isomorph_error::Result;
use isomorph_storage::ScratchFile;
use memmap2::Mmap;

/// A temporary file, mapped into memory.
pub(super) struct Map {
    map: Mmap,
    /// Keeps the file's size counted. This is the only handle, so nothing writes to the file.
    _file: ScratchFile,
}

impl Map {
    /// Maps all of `file`, which must not be empty.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn new(file: ScratchFile) -> Result<Self> {
        // SAFETY: A map is unsound only if the file changes while it is mapped. This file was created by `Scratch` for this
        // process alone. It has no name (or, if the system requires one, a random name in a directory of temporary files),
        // so no other process opens it. Its only handle is moved into this value, which never writes to it or truncates it.
        let map = unsafe { Mmap::map(file.as_file()) }?;
        Ok(Map { map, _file: file })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map
    }
}
