//! CSV, parsed by a declared schema.

mod dialect;

pub use dialect::{CsvDialect, Quoting};
