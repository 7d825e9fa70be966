//! Progress, for display by the caller. The library prints nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use isomorph_error::Result;
pub use isomorph_model::Progress;

/// Ignores progress.
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
