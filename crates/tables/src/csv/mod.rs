//! CSV, read with a declared schema and written in the dialects of GraphAr and NOCK.

mod dialect;
mod foreign;
mod index;
mod marks;
mod read;
mod split;
mod write;

pub use dialect::{CsvDialect, NullWord, Quoting};
pub use foreign::separator_line;
pub use index::{CsvIndex, survey_csv};
pub(crate) use read::CsvFile;
pub(crate) use write::CsvWriter;
