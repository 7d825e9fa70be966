//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checked;
mod common;
mod directories;
mod generated_texts;
mod hostile;
mod malformed;
mod narrow;
mod narrowed_deepgnn;
mod probes;
mod read_deepgnn;
mod same_bytes;
mod united;
mod written;
