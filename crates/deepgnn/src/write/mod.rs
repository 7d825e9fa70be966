//! Writing a graph of the model.

mod common;
mod encode;
mod lines;
mod records;
mod shape;
mod sink;
pub(crate) mod text;

pub(crate) use records::Records;
pub(crate) use shape::{Role, Shape};
pub use sink::{DeepGnnWriter, hides_times, several, unheld};
