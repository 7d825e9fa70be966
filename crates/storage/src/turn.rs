//! Changes of one dataset, one after the other.

use isomorph_error::{Error, Kind, Result};

use crate::Location;
use crate::disk::Lock;

/// The right to change what is at a place: as long as this lives, nobody else has it.
///
/// Who changes a dataset that it has read takes a turn, sees that the dataset is still what was read, and only then makes the
/// change. Without a turn two could see that at the same time, and the second would undo what the first did.
#[derive(Debug)]
pub struct Turn {
    /// Given back when the process ends in whatever way.
    _lock: Lock,
}

impl Location {
    /// Takes the turn to change the local file or directory here. Object stores have no turns: their writes are conditional. Nor
    /// have file systems without locks, and directories of Windows.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when somebody else has it; [`Kind::Io`].
    pub fn turn(&self) -> Result<Turn> {
        let lock = self.as_path().map_or(Ok(Lock::Unsupported), |path| self.disk().try_lock(path))?;
        match lock {
            Lock::Theirs => Err(Error::new(Kind::Conflict, "another change is being made here")
                .at(self.to_string())
                .hint("run again when it is done")),
            lock => Ok(Turn { _lock: lock }),
        }
    }
}
