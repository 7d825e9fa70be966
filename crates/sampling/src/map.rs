//! Memory mapping and prefetching; all unsafe code of this crate is here.
#![allow(unsafe_code)]

use std::fs::File;

use bytes::Bytes;
use isomorph_error::{Error, Result};
#[cfg(target_os = "linux")]
use isomorph_storage::Budget;
use isomorph_storage::{Blob, Scratch, ScratchFile};
use memmap2::{Advice, MmapOptions};

/// Size of a large page in bytes; smaller files have no large pages.
#[cfg(target_os = "linux")]
const LARGE_PAGE: u64 = 2 << 20;

/// Number of bytes that are copied at once: systems put writes of this size into large pages.
const STEP: u64 = 4 << 20;

/// Prefetches the cache line of byte `at`, if the byte exists. Nothing waits for it, and nothing is read.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    prefetch_item(bytes, at);
}

/// Prefetches an element of any type.
#[inline(always)]
pub(crate) fn prefetch_item<T>(items: &[T], at: usize) {
    let Some(item) = items.get(at) else { return };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint about an address inside a slice; it changes nothing that a program can see, and cannot fault. Every
        // processor of this architecture has the instruction (it belongs to SSE).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    // Other architectures have no stable prefetch instruction in Rust; reads then wait for memory.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// How the files of a graph are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// Local files are mapped: nothing is copied, and only requested data is read. A process that shortens such a
    /// file while it is open ends this process (the system's SIGBUS), and a process that writes to it changes what is sampled.
    /// Files of object stores are copied.
    #[default]
    Mapped,
    /// Everything is first copied to unnamed temporary files, which are mapped: no other process can change them.
    Copied,
}

/// Returns all bytes of a file. Its length has already been checked against those of the other files.
///
/// # Errors
/// Returns [`Kind::Conflict`](isomorph_error::Kind::Conflict) if the file has changed since it was opened, or
/// [`Kind::Io`](isomorph_error::Kind::Io).
pub(crate) fn bytes_of(blob: &Blob, hold: Hold, scratch: &Scratch) -> Result<Bytes> {
    match (hold, blob.as_file()) {
        _ if blob.size() == 0 => Ok(Bytes::new()),
        (Hold::Mapped, Some(file)) => {
            blob.check_unchanged()?;
            foreign(file, blob.size()).map_err(|error| Error::from(error).at(blob.place()))
        }
        _ => copied(blob, scratch),
    }
}

fn foreign(file: &File, size: u64) -> std::io::Result<Bytes> {
    let length = usize::try_from(size).map_err(std::io::Error::other)?;
    // SAFETY: The file is a regular one that was opened for reading and had `size` bytes a moment ago. The map is only
    // read, and only by copying a few bytes at a time out of slices whose bounds are checked against `length`: no value of
    // another type lies over it, no two reads are assumed to agree, and every offset that is read is compared with the lengths
    // before it is followed. So another process that *writes* to the file can change answers, and nothing else; one that
    // *shortens* it makes the system end this process instead of giving it bytes that do not exist. `Hold::Copied`
    // avoids both.
    let map = unsafe { MmapOptions::new().len(length).map(file) }?;
    // Samples read records at random positions: readahead around each would read everything. This is only a hint.
    #[cfg(unix)]
    let _ = map.advise(Advice::Random);
    // A file that fits into memory is cached after a while anyway. In pages of 2 MiB it is cached sooner, and a sample that reads a hundred
    // positions has a hundred times fewer page-table look-ups: in measurements, this halves its time.
    #[cfg(target_os = "linux")]
    if size >= LARGE_PAGE && size <= Budget::of_this_machine().limit() {
        let _ = map.advise(Advice::HugePage);
    }
    Ok(Bytes::from_owner(map))
}

fn copied(blob: &Blob, scratch: &Scratch) -> Result<Bytes> {
    let mut file = scratch.create()?;
    let mut at = 0;
    while at < blob.size() {
        let end = blob.size().min(at + STEP);
        std::io::Write::write_all(&mut file, &blob.read(at..end)?)?;
        at = end;
    }
    own(file)
}

/// Maps a temporary file, which must not be empty.
pub(crate) fn own(file: ScratchFile) -> Result<Bytes> {
    // SAFETY: The file was created by `Scratch` for us alone and has no name (or, where the system needs one, a random
    // name), so no other process opens it. Its only handle is moved into the owner, which never writes to it.
    let map = unsafe { MmapOptions::new().map(file.as_file()) }?;
    Ok(Bytes::from_owner(Own { map, _file: file }))
}

/// A mapped temporary file, which is counted as long as it exists.
struct Own {
    map: memmap2::Mmap,
    _file: ScratchFile,
}

impl AsRef<[u8]> for Own {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}
