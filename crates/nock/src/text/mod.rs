//! NOCK as text: formats and sorts lines in the dialect that pandas writes with `QUOTE_NONNUMERIC`.

mod lines;
mod sorter;

pub(crate) use lines::{header, lines, text_options};
pub(crate) use sorter::{Line, LineSorter, Sorted};
