//! The round-trip harness: graphs of every shape, through real files of every format and layout, and back.
//!
//! A format joins by an entry in [`formats::MEMBERS`]: its layouts, and the graphs of the zoo that it refuses, with the
//! words of the reason. Everything else follows: a graph that is not refused comes back with equal digests (content,
//! order and schema), within the format and across all others; any change in it is detected and named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod across;
mod documents;
mod edge_lists;
mod formats;
mod fused;
mod generated;
mod mixed;
mod multilayer;
mod mutated;
mod parted;
mod round_trip;
mod stage;
mod statements;
mod texts;
