//! Dialects of CSV.

/// A dialect of CSV. All dialects have doubled quotes inside quoted fields.
///
/// On reading, lines may end with `\n`, `\r\n` or `\r`. A byte order mark is skipped, and so are empty lines, unless
/// records have a single field: then an empty line is a record. Columns are found by name. Written lines end
/// with `\n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvDialect {
    /// The byte between fields when read. Written fields are separated by commas.
    pub separator: u8,
    /// Whether quotation marks are ordinary characters when read: a field ends at the separator or at the end of its line.
    pub literal_quotes: bool,
    /// Whether the first record names the columns when read. Without it, `names` must.
    pub has_header: bool,
    /// Names of all columns by position when read, instead of those in the header: for headers that repeat a name.
    pub names: Option<Vec<String>>,
    /// Which fields are quoted, and how null is distinguished from empty text.
    pub quoting: Quoting,
    /// Unquoted words that mean null in every column when read, like `NA`. Values that equal such a word are quoted
    /// when written. See [`CsvDialect::lenient`].
    pub null_words: Vec<String>,
    /// How null is distinguished from empty text in further columns.
    pub null_word: Option<NullWord>,
    /// Whether undeclared columns are read as text, after the declared ones.
    pub keep_other_columns: bool,
    /// Whether a record with another number of fields than the header is a row of nulls, see [`crate::TableReader::odd_records`];
    /// otherwise it ends the reading.
    pub keep_odd_records: bool,
}

/// An unquoted word that means null in further columns: on reading, in undeclared ones; on writing, in those from a
/// position on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullWord {
    /// The word.
    pub word: String,
    /// The position of the first column in which it is written.
    pub from: usize,
}

/// Which fields are quoted on writing, and what an empty field means on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quoting {
    /// GraphAr, as written by Arrow: header names are quoted; text is quoted if necessary and if it is empty. An empty
    /// unquoted field is null, `""` is empty text. Booleans are `true` and `false`, floats `1` and `0.5`.
    #[default]
    Necessary,
    /// NOCK, as written by pandas with QUOTE_NONNUMERIC: header names, text, dates and nulls are quoted, numbers and
    /// booleans are not. An empty field is empty text, quoted or not. Booleans are `True` and `False`, floats `1.0` and
    /// `0.5`.
    NonNumeric,
    /// For people and their tools: like [`Quoting::Necessary`], but header names are quoted only if necessary, and floats are `1.0`
    /// and `0.5`, so that no reader takes them for integers.
    Sparing,
}

impl Default for CsvDialect {
    fn default() -> Self {
        CsvDialect {
            separator: b',',
            literal_quotes: false,
            has_header: true,
            names: None,
            quoting: Quoting::default(),
            null_words: Vec::new(),
            null_word: None,
            keep_other_columns: false,
            keep_odd_records: false,
        }
    }
}

impl CsvDialect {
    /// The dialect of NOCK: after its nine columns, null is the word `null`.
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
