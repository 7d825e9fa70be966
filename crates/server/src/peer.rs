//! A client's connection, as its requests see it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub address: SocketAddr,
    /// Number of replies that are not sent completely.
    unsent: AtomicU64,
    /// Number of replies that were sent completely, or given up.
    finished: AtomicU64,
}

impl Peer {
    pub fn new(address: SocketAddr) -> Arc<Peer> {
        Arc::new(Peer { address, unsent: AtomicU64::new(0), finished: AtomicU64::new(0) })
    }

    /// Returns a guard that lives until a reply is sent.
    pub fn sending(self: &Arc<Self>) -> Sending {
        self.unsent.fetch_add(1, Ordering::Relaxed);
        Sending(Arc::clone(self))
    }

    /// Returns the numbers of replies that are not sent, and that are.
    pub fn replies(&self) -> (u64, u64) {
        (self.unsent.load(Ordering::Relaxed), self.finished.load(Ordering::Relaxed))
    }
}

/// A reply that is not sent completely.
#[derive(Debug)]
pub(crate) struct Sending(Arc<Peer>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.unsent.fetch_sub(1, Ordering::Relaxed);
        self.0.finished.fetch_add(1, Ordering::Relaxed);
    }
}
