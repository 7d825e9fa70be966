//! What the column chunks that are decoded together share: how much the batch in work may still grow, and the first
//! error of ours, which the decoder in between would turn into text.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind};
use parquet::errors::ParquetError;

/// Watches one reader over one row group.
#[derive(Debug)]
pub(super) struct Watch {
    /// Rows the decoder is asked for at a time.
    pub batch_rows: usize,
    /// Decoded bytes a batch may come to.
    most: u64,
    used: AtomicU64,
    shrink: AtomicBool,
    /// Bytes of current pages that are much larger than stored.
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

    /// Announces that a column goes from an expanded page of `before` bytes to one of `now` bytes; 0 stands for any other page.
    pub(super) fn expand(&self, before: u64, now: u64, most: u64) -> Result<(), Error> {
        self.expanded.fetch_sub(before, Ordering::Relaxed);
        let all = self.expanded.fetch_add(now, Ordering::Relaxed).saturating_add(now);
        if now == 0 || all <= most {
            return Ok(());
        }
        Err(Error::new(Kind::TooLarge, format!("the pages of the columns unpack to more than {most} bytes together")))
    }

    /// Before each batch.
    pub(super) fn start_batch(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    /// Announces that the batch in work may grow by `bytes`. When that is too much the batch is given up, to be read
    /// again in smaller pieces; a batch of one row cannot be made smaller and gets room for a whole page.
    pub(super) fn grow(&self, bytes: u64, page_bytes: u64) -> Result<(), Error> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used <= self.most {
            return Ok(());
        }
        if self.batch_rows > 1 {
            self.shrink.store(true, Ordering::Relaxed);
            return Err(Error::new(Kind::TooLarge, "the batch grows too large"));
        }
        if used <= self.most.max(page_bytes) {
            return Ok(());
        }
        Err(Error::new(Kind::TooLarge, format!("one row unpacks to more than {} bytes", self.most.max(page_bytes))))
    }

    /// Whether the batch was given up only because it has too many rows.
    pub(super) fn wants_fewer_rows(&self) -> bool {
        self.shrink.load(Ordering::Relaxed)
    }

    /// Keeps `error` and gives the decoder something to stop with.
    pub(super) fn fail(&self, error: Error) -> ParquetError {
        let message = error.to_string();
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        ParquetError::General(message)
    }

    /// The error kept by [`Watch::fail`].
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
