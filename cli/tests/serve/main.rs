//! The server as a process: flags, signals, and clients that go on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod paths;
mod process;
mod signals;
