//! The published engine's method of sampling neighbours, number for number, for callers that need its answer to a seed.
//!
//! The engine keeps 32-bit sums of weights for each entry and type, and one generator for each call or entry.

mod last;
mod neighbors;
mod walk;

pub(crate) use neighbors::{Runs, Sums};
pub(crate) use walk::Steps;
