//! The file encodings of tables.

use std::fmt;

/// The encoding of a table in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// Apache Parquet.
    Parquet,
    /// Apache ORC.
    Orc,
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// Arrow IPC files.
    Arrow,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 5] =
        [Encoding::Parquet, Encoding::Orc, Encoding::Csv, Encoding::JsonLines, Encoding::Arrow];

    /// The name in manifests and messages.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Parquet => "parquet",
            Encoding::Orc => "orc",
            Encoding::Csv => "csv",
            Encoding::JsonLines => "json",
            Encoding::Arrow => "arrow",
        }
    }

    /// Whether the file has no types of its own, so that a schema must be declared.
    pub fn is_text(self) -> bool {
        matches!(self, Encoding::Csv | Encoding::JsonLines)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
