//! A scheduler and two executors as processes: the answers of one machine, and what happens when something is missing. Where there are no signals, nothing of
//! it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod faults;
mod languages;
mod process;
mod store;
