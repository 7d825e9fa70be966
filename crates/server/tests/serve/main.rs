//! The server: answers of the published one replayed, bad requests, an end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod bad;
mod client;
mod graphs;
mod replay;
mod running;
