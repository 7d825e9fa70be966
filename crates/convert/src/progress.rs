//! Progress, for whoever shows it. The library prints nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use isomorph_error::Result;

/// Told how far a long job is, and asked whether it should go on. Called from several threads.
pub trait Progress: Sync {
    /// A stage begins: its word, and the number of rows to come if that is known.
    fn begin(&self, stage: &str, total: Option<u64>);

    /// So many more rows are done. An error ends the job with that error: this is how a job is cancelled.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Cancelled`] when the job should not go on; every call after that says so again.
    fn advance(&self, rows: u64) -> Result<()>;

    /// The stage is over.
    fn end(&self);
}

/// Nobody is watching.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _rows: u64) -> Result<()> {
        Ok(())
    }
    fn end(&self) {}
}

/// Counts rows, for tests and rates.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Rows so far, of all stages.
    pub fn rows(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Progress for Counter {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, rows: u64) -> Result<()> {
        self.0.fetch_add(rows, Ordering::Relaxed);
        Ok(())
    }

    fn end(&self) {}
}
