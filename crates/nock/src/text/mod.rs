//! NOCK as text: lines of the dialect that pandas writes with `QUOTE_NONNUMERIC`, and sorting them.

mod lines;
mod sorter;

pub(crate) use lines::{header, lines, text_options};
pub(crate) use sorter::{Line, LineSorter, Sorted};
