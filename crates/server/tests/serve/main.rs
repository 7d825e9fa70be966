//! The server: replays the published server's answers, sends bad requests, and stops.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod bad;
mod client;
mod graphs;
mod replay;
mod running;
