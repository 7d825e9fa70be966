//! Verifies the bytes of a file while it is read, by comparing their hash with the stated checksum.
//!
//! A file may be read in sections, by several threads and by several scans at the same time. A section that comes
//! before its turn waits in memory, or, if memory is short, is read once more when its turn comes.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Budget, Reservation};
use twox_hash::XxHash64;

use crate::rules;
use crate::snapshot::DataFile;

/// Prefix of the checksums that can be compared; others are ignored.
const XXH64: &str = "xxh64:";

/// Maximum number of bytes of one file that wait.
const WAITING: u64 = 16 << 20;

/// All files together hold at most this part of the budget.
const SHARE: u64 = 8;

/// Bytes that are read once more at a time.
const BLOCK: u64 = 1 << 20;

/// The checksum that a file must have, and the progress of computing it.
#[derive(Debug)]
pub(crate) struct Proof {
    stated: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    hasher: Hashed,
    /// Bytes before this position are hashed.
    next: u64,
    /// Sections that were read after it, by their start.
    waiting: BTreeMap<u64, Waiting>,
    /// Bytes that wait in memory.
    held: u64,
    /// The checksum of the whole file; `None` while something is missing.
    found: Option<String>,
}

struct Hashed(XxHash64);

impl Default for Hashed {
    fn default() -> Self {
        Hashed(XxHash64::with_seed(0))
    }
}

impl std::fmt::Debug for Hashed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("XXH64")
    }
}

/// A section that was read before its turn.
#[derive(Debug)]
enum Waiting {
    Here(Bytes, #[allow(dead_code, reason = "held as long as the bytes are")] Reservation),
    /// There was no memory for it; it ends here.
    Elsewhere(u64),
}

impl Waiting {
    fn end(&self, start: u64) -> u64 {
        match self {
            Waiting::Here(bytes, _) => start.saturating_add(bytes.len() as u64),
            Waiting::Elsewhere(end) => *end,
        }
    }
}

/// The checksum of a file's bytes as its metadata states it.
pub(crate) fn shown(hash: u64) -> String {
    format!("{XXH64}{hash:016x}")
}

impl Proof {
    /// The checksum that `file` must have; `None` if its metadata states none of a known kind.
    pub(crate) fn of(file: &DataFile) -> Option<Proof> {
        let stated = file.checksum.as_deref().filter(|stated| stated.starts_with(XXH64))?;
        Some(Proof { stated: stated.to_owned(), state: Mutex::default() })
    }

    /// Takes the bytes of `blob` from position `start`.
    ///
    /// # Errors
    /// [`rules::CHECKSUM`] if the file is complete and its checksum differs from the stated one.
    pub(crate) fn take(&self, blob: &Blob, start: u64, bytes: &Bytes, budget: &Budget) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let end = start.saturating_add(bytes.len() as u64);
        if state.found.is_none() && start > state.next {
            state.wait(start, bytes, budget);
        } else if state.found.is_none() && end > state.next {
            state.hash(start, bytes);
            state.go_on(blob)?;
            if state.next >= blob.size() {
                state.found = Some(shown(state.hasher.0.finish()));
                state.waiting = BTreeMap::new();
            }
        }
        match &state.found {
            Some(found) if *found != self.stated => {
                Err(Error::broken(&rules::CHECKSUM, format!("found {found}, expected {}", self.stated))
                    .at(blob.place()))
            }
            _ => Ok(()),
        }
    }
}

impl State {
    /// Hashes the part of the bytes at `start` that was not hashed yet.
    fn hash(&mut self, start: u64, bytes: &Bytes) {
        // Bytes after `next` wait.
        let known = usize::try_from(self.next.saturating_sub(start)).unwrap_or(usize::MAX);
        if let Some(new) = bytes.get(known..) {
            self.hasher.0.write(new);
            self.next += new.len() as u64;
        }
    }

    fn wait(&mut self, start: u64, bytes: &Bytes, budget: &Budget) {
        let (length, end) = (bytes.len() as u64, start.saturating_add(bytes.len() as u64));
        if self.waiting.get(&start).is_some_and(|known| known.end(start) >= end) {
            return;
        }
        // A reader that never reads the rest of the file must not hold memory that others need.
        let has_room = self.held + length <= WAITING && budget.available() >= budget.limit() - budget.limit() / SHARE;
        let memory = if has_room { budget.try_reserve(length) } else { None };
        let waiting = match memory {
            Some(memory) => {
                self.held += length;
                Waiting::Here(bytes.clone(), memory)
            }
            None => Waiting::Elsewhere(end),
        };
        let before = self.waiting.insert(start, waiting);
        self.forget(before.as_ref());
    }

    fn forget(&mut self, gone: Option<&Waiting>) {
        if let Some(Waiting::Here(bytes, _)) = gone {
            self.held = self.held.saturating_sub(bytes.len() as u64);
        }
    }

    /// Hashes the sections that follow what was hashed last.
    fn go_on(&mut self, blob: &Blob) -> Result<()> {
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() <= self.next) {
            let (start, waiting) = first.remove_entry();
            self.forget(Some(&waiting));
            match waiting {
                Waiting::Here(bytes, _) => self.hash(start, &bytes),
                Waiting::Elsewhere(end) => {
                    while self.next < end {
                        let at = self.next;
                        let bytes = blob.read(at..at.saturating_add(BLOCK).min(end))?;
                        self.hash(at, &bytes);
                    }
                }
            }
        }
        Ok(())
    }
}
