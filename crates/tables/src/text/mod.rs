//! Shared by CSV and JSON lines: values as text, and selections from a source that must be read from its first row.

pub(crate) mod cells;
pub(crate) mod civil;
pub(crate) mod column;
mod guess;
pub(crate) mod lines;
pub(crate) mod number;
pub(crate) mod select;

pub use guess::{OddText, TypeGuess, whole_number};
