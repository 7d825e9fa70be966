//! A memory budget that all concurrent operators share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isomorph_error::{Error, Kind, Result};

use crate::platform;

/// Memory assumed on a machine whose memory size is unknown, bytes.
const ASSUMED_MEMORY: u64 = 8 << 30;

/// A number of bytes from which operators reserve before they allocate. Clones share it.
///
/// A budget is an agreement, not an allocator: it limits the large buffers (sort runs, decoded pages, look-up tables)
/// that operators announce, not every small object.
#[derive(Clone)]
pub struct Budget(Arc<Inner>);

struct Inner {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Budget {
    /// Creates a budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        Budget(Arc::new(Inner { limit: bytes, used: AtomicU64::new(0), peak: AtomicU64::new(0) }))
    }

    /// Creates a budget of a quarter of the memory that this process may use (limits of the control group are respected).
    pub fn of_this_machine() -> Self {
        Budget::new(platform::memory_bytes().unwrap_or(ASSUMED_MEMORY) / 4)
    }

    /// Returns the size of the budget, bytes.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the bytes that are reserved now.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the largest number of bytes that were reserved at the same time.
    pub fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Returns the bytes that are available now.
    pub fn available(&self) -> u64 {
        self.limit().saturating_sub(self.used())
    }

    /// Reserves `bytes`, or returns `None` if fewer are available: then the caller should spill.
    pub fn try_reserve(&self, bytes: u64) -> Option<Reservation> {
        self.take(bytes).then(|| Reservation { budget: self.clone(), bytes })
    }

    /// Reserves `bytes` that the caller cannot do without.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if fewer are available.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation> {
        self.try_reserve(bytes).ok_or_else(|| self.exceeded(bytes))
    }

    /// Adds `bytes` if they are available; never exceeds the limit, whatever other threads do.
    fn take(&self, bytes: u64) -> bool {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.0.limit);
        match self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(before) => {
                self.0.peak.fetch_max(before + bytes, Ordering::Relaxed);
                true
            }
            Err(_) => false,
        }
    }

    fn exceeded(&self, bytes: u64) -> Error {
        Error::new(
            Kind::TooLarge,
            format!("out of memory: need {bytes} bytes, {} of {} are available", self.available(), self.limit()),
        )
        .hint("raise --memory")
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget::of_this_machine()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} of {} used, peak {})", self.used(), self.limit(), self.peak())
    }
}

/// Bytes reserved from a [`Budget`], which are released on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    bytes: u64,
}

impl Reservation {
    /// Returns the reserved bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `bytes` more, or returns false if fewer are available.
    pub fn try_grow(&mut self, bytes: u64) -> bool {
        let grown = self.budget.take(bytes);
        if grown {
            self.bytes += bytes;
        }
        grown
    }

    /// Reserves `bytes` more that the caller cannot do without.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if fewer are available; the existing reservation is kept.
    pub fn grow(&mut self, bytes: u64) -> Result<()> {
        if self.try_grow(bytes) { Ok(()) } else { Err(self.budget.exceeded(bytes)) }
    }

    /// Releases `bytes`, at most the size of the reservation.
    pub fn shrink(&mut self, bytes: u64) {
        let back = bytes.min(self.bytes);
        self.bytes -= back;
        self.budget.0.used.fetch_sub(back, Ordering::Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}
