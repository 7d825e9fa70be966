//! The tests of this crate, in one program: linking one takes less time than linking 14.

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
