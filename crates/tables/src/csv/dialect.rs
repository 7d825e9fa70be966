//! How a CSV file spells things.

/// A dialect of CSV. All have a header line, commas, and quotes doubled inside quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CsvDialect {
    /// Which fields are quoted, and how nothing is told from empty text.
    pub quoting: Quoting,
    /// Unquoted spellings that mean null in every column, like `NA`.
    pub null_words: Vec<String>,
}

/// Which fields are quoted when written, and what an empty field means when read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quoting {
    /// GraphAr, as Arrow writes it: header names quoted; text quoted where it must be and where it is empty. An empty
    /// unquoted field is null, `""` is empty text. Truth values are `true` and `false`.
    #[default]
    Necessary,
    /// NOCK, as pandas writes it with QUOTE_NONNUMERIC: header names and all text quoted, numbers and truth values
    /// bare, null text written as `""`. An empty field is empty text, quoted or not. Truth values are `True` and
    /// `False`.
    NonNumeric,
}
