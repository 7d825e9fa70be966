//! What a client may ask for.

use std::time::Duration;

/// What a client may ask for. What is beyond is refused before anything is read or drawn for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request.
    pub message: usize,
    /// Bytes of a reply.
    pub reply: u64,
    /// Elements of a request: nodes or edges that are asked about, or drawn.
    pub batch: usize,
    /// Neighbours of a node.
    pub count: usize,
    /// Edges of all nodes of a request together.
    pub edges: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Requests of one connection at a time.
    pub streams: u32,
    /// How long a request may take.
    pub deadline: Duration,
    /// How long requests that were begun may take after a stop.
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
