//! Options for reading tables.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use isomorph_storage::limits;

use crate::{CsvDialect, CsvIndex, PageCache};

/// How a table is read. The default reads Parquet and ORC with their own types.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The declared columns. Text is parsed as the declared types, which are never guessed, so CSV and JSON lines require
    /// them. For Parquet and ORC a declared column is converted to its declared type if that is lossless; other columns
    /// keep their own type.
    pub schema: Option<SchemaRef>,
    /// The dialect of CSV.
    pub csv: CsvDialect,
    /// Where the records of this CSV file are, see [`crate::survey_csv`].
    pub csv_index: Option<Arc<CsvIndex>>,
    /// Whether text may be compressed with gzip or zstd, as its first bytes tell.
    pub packed: bool,
    /// Whether a text with a time zone is an error in a column of timestamps without one; otherwise it becomes the time in UTC.
    pub refuse_zones: bool,
    /// Text columns of JSON lines whose cells are the JSON text of any value.
    pub raw_json: Vec<String>,
    /// Whether an undeclared JSON key is an error; otherwise it is ignored.
    pub refuse_unknown_keys: bool,
    /// The Arrow type of undeclared text columns in Parquet and ORC.
    pub text: TextType,
    /// Whether types that Parquet lacks are taken from the Arrow schema that the writer embedded: durations, which are
    /// integers otherwise, names of time zones, which are UTC otherwise, and seconds.
    pub embedded_types: bool,
    /// Limits for hostile input.
    pub limits: Limits,
    /// The cache of decompressed Parquet pages for look-ups; by default one for the whole process.
    pub pages: PageCache,
}

impl ReadOptions {
    /// Creates options with this declared schema.
    pub fn declared(schema: SchemaRef) -> Self {
        ReadOptions { schema: Some(schema), ..ReadOptions::default() }
    }
}

/// The Arrow type of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextType {
    /// 32-bit offsets: less memory.
    #[default]
    Utf8,
    /// 64-bit offsets: batches may hold more than 2 GiB of text.
    LargeUtf8,
    /// Views into the pages of a Parquet file, without a copy, for readers that skip most texts or copy them
    /// again. Text inside lists, structs and maps, and text in ORC files, is [`TextType::Utf8`].
    Utf8View,
}

/// Limits on the resources that a file may make its reader use. Each is a default that can be raised for valid files that
/// need more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Size of a Parquet or ORC footer, bytes.
    pub footer_bytes: u64,
    /// Number of columns in a table.
    pub columns: usize,
    /// Size of a decompressed page, bytes.
    pub page_bytes: u64,
    /// How many times larger than its stored form a page may be, in addition to the slack, if its codec can reach that at all.
    pub page_ratio: u64,
    /// How much larger a page may become in any case, bytes.
    pub page_slack_bytes: u64,
    /// Total size of the current pages of all columns that are much larger than stored, bytes: a small file with
    /// many columns must not exhaust the memory.
    pub expanded_pages_bytes: u64,
    /// Size of a batch, bytes. Batches that would be larger get fewer rows.
    pub batch_bytes: u64,
    /// Size of one field of CSV or one line of JSON, bytes.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            footer_bytes: limits::PARQUET_FOOTER_BYTES,
            columns: limits::COLUMNS,
            page_bytes: limits::PAGE_BYTES,
            page_ratio: limits::PAGE_RATIO,
            page_slack_bytes: limits::PAGE_SLACK_BYTES,
            expanded_pages_bytes: limits::EXPANDED_PAGES_BYTES,
            batch_bytes: 64 << 20,
            text_bytes: 64 << 20,
        }
    }
}
