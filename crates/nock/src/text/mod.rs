//! NOCK as text: the dialect of CSV that pandas writes with `QUOTE_NONNUMERIC`.

mod float;
mod lines;
mod sorter;

pub(crate) use lines::{Lines, header};
pub(crate) use sorter::{LineSorter, Sorted};
