//! Cancels scans.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph_error::{Error, Kind, Result};

/// A token that cancels scans. Clones share their state: any clone cancels the scans that hold another one.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Cancels every scan that holds this token, at its next batch.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the token is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// Returns [`Kind::Cancelled`] if the token is cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::new(Kind::Cancelled, "the scan was cancelled")) } else { Ok(()) }
    }
}
