//! How a table is read.

use arrow_schema::SchemaRef;
use isomorph_storage::limits;

use crate::{CsvDialect, PageCache};

/// How a table is read. The default reads Parquet and ORC as they are.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The declared columns. Text is parsed by them, never guessed, so CSV and JSON lines need them. For Parquet and ORC
    /// a declared column is converted to its declared type, if nothing is lost by it; other columns keep their own.
    pub schema: Option<SchemaRef>,
    /// The dialect of CSV.
    pub csv: CsvDialect,
    /// Whether a JSON key that is not declared is an error; otherwise it is passed over.
    pub refuse_unknown_keys: bool,
    /// The Arrow type of text from Parquet and ORC that is not declared.
    pub text: TextType,
    /// Whether types that Parquet lacks are those of the Arrow schema that the writer embedded: spans of time, which are
    /// integers otherwise, names of time zones, which are UTC, and seconds.
    pub embedded_types: bool,
    /// Bounds for hostile input.
    pub limits: Limits,
    /// Unpacked Parquet pages that look-ups come back to; by default those of the whole process together.
    pub pages: PageCache,
}

impl ReadOptions {
    /// Reads with this declared schema.
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
    /// Views into the pages of a Parquet file, which are not copied: for readers that pass over most texts or copy them
    /// once more. Text inside lists, structs and maps, and that of ORC, is [`TextType::Utf8`].
    Utf8View,
}

/// Bounds on what a file may make its reader do. Each is a default to be raised where a sound file needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// A Parquet or ORC footer, bytes.
    pub footer_bytes: u64,
    /// Columns of one table.
    pub columns: usize,
    /// One page, unpacked, bytes.
    pub page_bytes: u64,
    /// How many times larger than stored a page may become, beside the slack, if its codec can reach that at all.
    pub page_ratio: u64,
    /// What a page may grow by in any case, bytes.
    pub page_slack_bytes: u64,
    /// What the current pages of all columns may come to together that are much larger than stored, bytes: a small file of
    /// many columns must not fill the memory.
    pub expanded_pages_bytes: u64,
    /// What one batch may come to, bytes. Batches that would be larger get fewer rows.
    pub batch_bytes: u64,
    /// One field of CSV or one line of JSON, bytes.
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
