//! State that the column chunks of a reader share: how much the current batch may still grow, and the first
//! error of ours, which the decoder in between would convert to text.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind};
use parquet::errors::ParquetError;

/// Watches one reader of a row group.
#[derive(Debug)]
pub(super) struct Watch {
    /// The number of rows that are requested from the decoder at a time.
    pub batch_rows: usize,
    /// The maximum decoded size of a batch, bytes.
    most: u64,
    used: AtomicU64,
    shrink: AtomicBool,
    /// The total size of the current pages that are much larger than stored, bytes.
    expanded: AtomicU64,
    failure: Mutex<Option<Error>>,
}

impl Watch {
    pub(super) fn new(batch_rows: usize, most: u64) -> Self {
        Watch {
            batch_rows,
            most,
            used: AtomicU64::new(0),
            shrink: AtomicBool::new(false),
            expanded: AtomicU64::new(0),
            failure: Mutex::new(None),
        }
    }

    /// Announces that a column moves from an expanded page of `before` bytes to one of `now` bytes; 0 means any other page.
    pub(super) fn expand(&self, before: u64, now: u64, most: u64) -> Result<(), Error> {
        self.expanded.fetch_sub(before, Ordering::Relaxed);
        let all = self.expanded.fetch_add(now, Ordering::Relaxed).saturating_add(now);
        if now == 0 || all <= most {
            return Ok(());
        }
        Err(Error::new(
            Kind::TooLarge,
            format!("the decompressed pages of all columns have more than {most} bytes together"),
        ))
    }

    /// Must be called before each batch.
    pub(super) fn start_batch(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    /// Announces that the current batch may grow by `bytes`. If that is too much, the batch is abandoned and read
    /// again in smaller pieces. A batch of one row cannot be smaller, and may grow by a whole page.
    pub(super) fn grow(&self, bytes: u64, page_bytes: u64) -> Result<(), Error> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used <= self.most {
            return Ok(());
        }
        if self.batch_rows > 1 {
            self.shrink.store(true, Ordering::Relaxed);
            return Err(Error::new(Kind::TooLarge, "the batch is too large"));
        }
        if used <= self.most.max(page_bytes) {
            return Ok(());
        }
        Err(Error::new(Kind::TooLarge, format!("one decoded row has more than {} bytes", self.most.max(page_bytes))))
    }

    /// Whether the batch was abandoned only because it has too many rows.
    pub(super) fn wants_fewer_rows(&self) -> bool {
        self.shrink.load(Ordering::Relaxed)
    }

    /// Stores `error`, and returns an error that makes the decoder stop.
    pub(super) fn fail(&self, error: Error) -> ParquetError {
        let message = error.to_string();
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        ParquetError::General(message)
    }

    /// Returns the error stored by [`Watch::fail`].
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
