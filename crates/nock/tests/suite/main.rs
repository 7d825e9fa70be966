//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod compare;
mod dialects;
mod differential;
mod directories;
mod fixtures;
mod golden;
mod lookup;
mod narrowed_nock;
mod round_trip;
mod settle;
mod text;
mod validate;
mod write;
