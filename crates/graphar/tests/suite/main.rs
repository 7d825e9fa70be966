//! The tests of this crate, in one program: linking one takes less time than linking 12.

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
