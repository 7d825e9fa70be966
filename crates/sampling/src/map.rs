//! The one place of this crate where memory is mapped, and where the processor is asked to fetch it.
#![allow(unsafe_code)]

use std::fs::File;

use bytes::Bytes;
use isomorph_error::{Error, Result};
#[cfg(target_os = "linux")]
use isomorph_storage::Budget;
use isomorph_storage::{Blob, Scratch, ScratchFile};
use memmap2::{Advice, MmapOptions};

/// Bytes of a large page, below which a file has none.
#[cfg(target_os = "linux")]
const LARGE_PAGE: u64 = 2 << 20;

/// Bytes that are copied at once: systems put what is written in such pieces into large pages.
const STEP: u64 = 4 << 20;

/// Asks the processor to fetch the line around byte `at`, if there is one. Nothing waits for it, and nothing is read.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    prefetch_item(bytes, at);
}

/// The same for an element of any type.
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
    // Others have no stable way to be asked; what is read then waits for itself.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// How the files of a graph are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// Local files are mapped where they lie: nothing is copied, and opening reads what is asked for. Who shortens such a
    /// file while it is open ends this process (the system's SIGBUS), and who writes to it changes what is sampled.
    /// Files of object stores are copied.
    #[default]
    Mapped,
    /// Everything is copied to temporary files without names first, and these are mapped: nobody else can change them.
    Copied,
}

/// All bytes of a file. Its length was checked against those of the others before.
///
/// # Errors
/// [`Kind::Conflict`](isomorph_error::Kind::Conflict) when the file changed since it was opened, and
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
    // another type lies over it, no two reads are taken to agree, and every offset that is read is compared with the lengths
    // before it is followed. So another process that *writes* to the file can change answers, and nothing else; one that
    // *shortens* it makes the system end this process instead of giving it bytes that are not there. `Hold::Copied` is for
    // whom that is too much.
    let map = unsafe { MmapOptions::new().len(length).map(file) }?;
    // Samples touch records here and there: reading ahead around each would read everything. A hint, no promise.
    #[cfg(unix)]
    let _ = map.advise(Advice::Random);
    // What fits into memory is there after a while anyway. In pages of 2 MiB it is there sooner, and a sample that touches a hundred
    // places looks a hundred times less often for where a page is: measured, that halves its time.
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

/// A temporary file as bytes; it must not be empty.
pub(crate) fn own(file: ScratchFile) -> Result<Bytes> {
    // SAFETY: The file was created by `Scratch` for us alone and has no name (or, where the system needs one, a random
    // name), so no other process opens it. Its only handle is moved into the owner, which never writes to it.
    let map = unsafe { MmapOptions::new().map(file.as_file()) }?;
    Ok(Bytes::from_owner(Own { map, _file: file }))
}

/// A map of a temporary file with the file, which stays counted as long as it lives.
struct Own {
    map: memmap2::Mmap,
    _file: ScratchFile,
}

impl AsRef<[u8]> for Own {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}
