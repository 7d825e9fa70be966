//! The published engine's way of sampling neighbours, number for number: for whom the same seed must give the same answer.
//!
//! It keeps sums of weights with 32 bits for each entry and type, and one generator for a call or for an entry.

mod neighbors;
mod walk;

pub(crate) use neighbors::{Runs, Sums};
pub(crate) use walk::Steps;
