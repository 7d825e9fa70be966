//! Neighbours: all of them, or a fixed number.

mod full;
mod ranked;
mod totals;
mod uniform;
mod weighted;

pub use full::NeighborLists;
pub(crate) use totals::Most;
pub use totals::Totals;
pub(crate) use uniform::without_replacement;
pub(crate) use weighted::{SumsRoom, Weights, no_weight};
