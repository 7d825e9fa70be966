//! How a CSV file spells things.

/// A dialect of CSV. All have a header line, commas, and quotes doubled inside quotes.
///
/// When read, lines may end with `\n`, `\r\n` or `\r`, a byte order mark is passed over, and so are empty lines, unless
/// records have a single field: an empty line is a record then. Columns are found by their names. Written lines end
/// with `\n`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CsvDialect {
    /// Which fields are quoted, and how nothing is told from empty text.
    pub quoting: Quoting,
    /// Unquoted spellings that mean null in every column when read, like `NA`; values that are spelled so are quoted
    /// when written. See [`CsvDialect::lenient`].
    pub null_words: Vec<String>,
    /// How null is told from empty text in further columns.
    pub null_word: Option<NullWord>,
    /// Whether columns that are not declared are read as text, behind the declared ones.
    pub keep_other_columns: bool,
}

/// An unquoted word that means null in further columns: when read, in those that are not declared; when written, in those from a
/// position on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullWord {
    /// The word.
    pub word: String,
    /// The first column that is written so.
    pub from: usize,
}

/// Which fields are quoted when written, and what an empty field means when read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quoting {
    /// GraphAr, as Arrow writes it: header names quoted; text quoted where it must be and where it is empty. An empty
    /// unquoted field is null, `""` is empty text. Truth values are `true` and `false`, floats `1` and `0.5`.
    #[default]
    Necessary,
    /// NOCK, as pandas writes it with QUOTE_NONNUMERIC: header names, text, dates and nulls quoted, numbers and truth
    /// values bare. An empty field is empty text, quoted or not. Truth values are `True` and `False`, floats `1.0` and
    /// `0.5`.
    NonNumeric,
}

impl CsvDialect {
    /// The dialect of NOCK: behind its nine columns null is the word `null`.
    pub fn nock() -> Self {
        let null_word = Some(NullWord { word: "null".to_owned(), from: 9 });
        CsvDialect { quoting: Quoting::NonNumeric, null_word, ..CsvDialect::default() }
    }

    /// Also reads the unquoted words `NA`, `NaN`, `None` and `null` as null.
    pub fn lenient(mut self) -> Self {
        self.null_words = ["NA", "NaN", "None", "null"].map(str::to_owned).to_vec();
        self
    }
}
