//! ORC, for the types that occur in graphs: booleans, integers, floats, text, bytes, dates, times, and lists
//! of them.
//!
//! The published crate for ORC aborts the process on some malformed files (it reserves the memory that a file claims to
//! need, and reads a truncated stream of nulls as if there were no nulls) and cannot write lists. Therefore this module
//! reads and writes the format itself, with the same limits as the other encodings.

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
