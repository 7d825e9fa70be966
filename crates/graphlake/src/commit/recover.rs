//! Finds out whether a commit was made whose writer was stopped before it knew.

use isomorph_error::{Findings, Result};
use memchr::memmem;

use super::Lake;
use crate::json;
use crate::snapshot::file_of;
use crate::store::{SnapshotEntry, Store};

/// The fate of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Traced {
    /// It made this snapshot.
    Made(SnapshotEntry),
    /// It was not made.
    NotMade,
    /// The snapshots that would show it were removed.
    Unknown,
}

impl Lake {
    /// Looks for the commit that wrote `file`, given by its path, and that began when `since` was the current version.
    /// If its version is claimed and not published yet, it is published.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, or a claim is broken.
    pub fn trace(&self, since: i64, file: &str) -> Result<Traced> {
        let names = |text: &[u8]| memmem::find(text, file.as_bytes()).is_some();
        let base = self.base()?;
        // After a snapshot that cannot have a successor, nothing is claimed.
        if let Ok(next) = base.next(0)
            && self.shared.read(&file_of(&next.id), json::LIMIT)?.is_some_and(|claim| names(&claim))
        {
            self.finish_other(&base, &next)?;
        }
        let budget = &self.opening.budget;
        let store = Store::read(&self.root, self.for_changes(), budget, &mut Findings::keeping(0))?;
        let mut wanted = since;
        let mut seen_all = true;
        for entry in store.snapshots.into_iter().filter(|entry| entry.version > since) {
            wanted = wanted.saturating_add(1);
            seen_all &= entry.version == wanted;
            match self.shared.read(&file_of(&entry.id), json::LIMIT)? {
                Some(text) if names(&text) => return Ok(Traced::Made(entry)),
                Some(_) => {}
                None => seen_all = false,
            }
        }
        Ok(if seen_all { Traced::NotMade } else { Traced::Unknown })
    }
}
