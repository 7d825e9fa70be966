//! Locks a dataset, so that changes happen one after another.

use isomorph_error::{Error, Kind, Result};

use crate::Location;
use crate::disk::Lock;

/// The exclusive right to change a dataset, as long as this is alive.
///
/// A writer that changes a dataset after reading it takes a turn, checks that the dataset has not changed since, and only
/// then makes the change. Without a turn, two writers could pass that check at the same time, and the second would undo the
/// first one's change.
#[derive(Debug)]
pub struct Turn {
    /// Released when the process ends for any reason.
    _lock: Lock,
}

impl Location {
    /// Takes the turn to change the local file or directory at this location. Object stores have no turns, because their
    /// writes are conditional. Nor do file systems without locks, and directories on Windows.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if another process has the turn; [`Kind::Io`].
    pub fn turn(&self) -> Result<Turn> {
        let lock = self.as_path().map_or(Ok(Lock::Unsupported), |path| self.disk().try_lock(path))?;
        match lock {
            Lock::Theirs => Err(Error::new(Kind::Conflict, "another change is in progress")
                .at(self.to_string())
                .hint("run again when it has finished")),
            lock => Ok(Turn { _lock: lock }),
        }
    }
}
