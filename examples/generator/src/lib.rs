//! Code that the generators share: random numbers by counter.

pub mod draw;
