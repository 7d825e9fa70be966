//! ORC, for the types that tables of graphs have: truth values, integers, floats, text, bytes, dates, times, and lists
//! of them.
//!
//! The published crate for ORC gives up the process on some malformed files (it reserves what a file claims, and takes
//! a cut stream of nulls for one without nulls) and cannot write lists. So the format is read and written here, behind
//! the same limits as the other encodings.

mod column;
mod column_writer;
mod encode;
mod proto;
mod read;
mod run_length;
mod schema;
mod stream;
mod tail;
mod times;
mod write;

pub(crate) use read::OrcFile;
pub(crate) use write::OrcWriter;
