//! Neighbours: all of them, or a fixed number.

mod found;
mod full;
mod ranked;
mod uniform;
mod weighted;

pub use full::NeighborLists;
pub(crate) use uniform::without_replacement;
pub(crate) use weighted::{SumsRoom, Weights, no_weight};
