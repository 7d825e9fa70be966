//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod binomial;
mod common;
mod distribution;
mod fixtures;
mod kept;
mod opening;
mod other_graphs;
mod samplers;
mod subgraphs;
mod temporal;
mod weights;
