//! Hashes of a file, computed while it is written.

use std::fmt;

/// The number of bytes at the end of a file that the tail hash covers.
pub const TAIL_BYTES: usize = 64 << 10;

/// Size and hashes of a file. The sidecar refers to data files by these.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileDigest {
    /// Size, bytes.
    pub size: u64,
    /// BLAKE3 of everything.
    pub blake3: [u8; 32],
    /// BLAKE3 of the last 64 KiB (of everything, if the file is smaller).
    pub tail: [u8; 32],
}

impl fmt::Debug for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileDigest({} bytes, {})", self.size, blake3::Hash::from(self.blake3).to_hex())
    }
}

/// Computes a [`FileDigest`] incrementally, in constant memory.
#[derive(Default)]
pub struct FileHasher {
    size: u64,
    whole: blake3::Hasher,
    tail: Vec<u8>,
}

impl FileHasher {
    /// Creates a hasher.
    pub fn new() -> Self {
        FileHasher::default()
    }

    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.whole.update(bytes);
        let last = &bytes[bytes.len().saturating_sub(TAIL_BYTES)..];
        // The buffer is truncated only when it has doubled, so that small writes do not move 64 KiB each.
        if self.tail.len() + last.len() > 2 * TAIL_BYTES {
            let surplus = (self.tail.len() + last.len()).saturating_sub(TAIL_BYTES).min(self.tail.len());
            self.tail.drain(..surplus);
        }
        self.tail.extend_from_slice(last);
    }

    /// Returns the number of bytes added so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the digest of all added bytes.
    pub fn finish(self) -> FileDigest {
        let last = &self.tail[self.tail.len().saturating_sub(TAIL_BYTES)..];
        FileDigest { size: self.size, blake3: *self.whole.finalize().as_bytes(), tail: *blake3::hash(last).as_bytes() }
    }
}

impl fmt::Debug for FileHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileHasher({} bytes)", self.size)
    }
}
