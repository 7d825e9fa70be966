//! Limits for requests.

use std::time::Duration;

/// Limits for requests and connections. A request beyond a limit is refused before anything is read or drawn for it.
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
    /// Maximum number of concurrent connections from one IP address.
    pub client_connections: usize,
    /// Maximum number of concurrent requests of one connection.
    pub streams: u32,
    /// How long a request may take; a client may ask for less.
    pub deadline: Duration,
    /// How long a new connection may take to begin, for TLS and again for the first bytes.
    pub silent: Duration,
    /// A connection is closed if replies wait for it, and the client accepts less than 1 MiB of them in this time.
    pub stall: Duration,
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
            client_connections: 512,
            streams: 256,
            deadline: Duration::from_secs(30),
            silent: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}
