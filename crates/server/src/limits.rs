//! Limits for requests.

use std::time::Duration;

/// Limits for requests. A request beyond a limit is refused before anything is read or drawn for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum bytes of a request.
    pub message: usize,
    /// Maximum bytes of a reply.
    pub reply: u64,
    /// Maximum number of elements in a request: nodes or edges that are requested or drawn.
    pub batch: usize,
    /// Maximum number of neighbours of a node.
    pub count: usize,
    /// Maximum total number of edges of the nodes in a request.
    pub edges: u64,
    /// Maximum number of concurrent connections.
    pub connections: usize,
    /// Maximum number of concurrent requests of one connection.
    pub streams: u32,
    /// How long a request may take.
    pub deadline: Duration,
    /// How long running requests may continue after a stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message: 64 << 20,
            reply: 256 << 20,
            batch: 1_000_000,
            count: 65_536,
            edges: 1 << 30,
            connections: 1024,
            streams: 256,
            deadline: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}
