//! The four encodings of a table.

use std::fmt;

/// How a table is kept in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// Apache Parquet.
    Parquet,
    /// Apache ORC.
    Orc,
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Encoding; 4] = [Encoding::Parquet, Encoding::Orc, Encoding::Csv, Encoding::JsonLines];

    /// The name that manifests and messages use.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Parquet => "parquet",
            Encoding::Orc => "orc",
            Encoding::Csv => "csv",
            Encoding::JsonLines => "json",
        }
    }

    /// Whether the file does not know its own types, so that a schema has to be declared.
    pub fn is_text(self) -> bool {
        matches!(self, Encoding::Csv | Encoding::JsonLines)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
