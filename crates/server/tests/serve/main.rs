//! The server: replays the published server's answers, sends bad requests, and stops.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod answers;
mod bad;
mod bench;
mod client;
mod distribution;
mod graphs;
mod monitor;
mod patience;
mod replay;
mod running;
mod stopped;
