//! Ending what somebody no longer wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph_error::{Error, Kind, Result};

/// Whether a scan should go on. Clones are one token: whoever holds one can end the scans that have another.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that says go on.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Ends what has this token, at its next batch.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Kind::Cancelled`] when it is to end.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::new(Kind::Cancelled, "the scan was cancelled")) } else { Ok(()) }
    }
}
