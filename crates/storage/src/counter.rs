//! Counts reads, so that a test can assert how many bytes a look-up or a push-down reads, and an explained query can show them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

/// Bytes and requests of one blob, which are also added to those of its root.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    bytes: AtomicU64,
    requests: AtomicU64,
    parent: Option<Arc<Counter>>,
}

/// Of all files and objects of this process, but temporary files.
static ALL: LazyLock<Arc<Counter>> = LazyLock::new(Arc::default);

/// Returns how many bytes this process has read of files and objects so far. Temporary files do not count, and neither does what is mapped.
pub fn bytes_read() -> u64 {
    ALL.bytes()
}

impl Counter {
    /// Creates a counter of a file, an object or a directory.
    pub(crate) fn of_files() -> Self {
        Counter::below(&ALL)
    }

    /// Creates a counter that also adds to `parent`.
    pub(crate) fn below(parent: &Arc<Counter>) -> Self {
        Counter { parent: Some(Arc::clone(parent)), ..Counter::default() }
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.add(bytes);
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}
