//! The tests of this crate, in one program: linking one takes less time than linking 9.

mod binomial;
mod common;
mod distribution;
mod fixtures;
mod kept;
mod opening;
mod other_graphs;
mod samplers;
mod weights;
