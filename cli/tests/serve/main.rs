//! The server as a process: flags, signals, and clients that go on. Where there are no signals, nothing of it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod paths;
mod process;
mod signals;
