//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod columns;
mod extend;
mod generated;
mod golden;
mod lookup;
mod narrowed;
mod offsets;
mod open;
mod round_trip;
mod samples;
mod support;
mod validate;
