//! Options for writing tables.

use std::collections::BTreeMap;

use crate::CsvDialect;

/// The default number of rows in a Parquet page: small enough that a look-up decompresses little, large enough that the
/// page index stays small.
pub const PAGE_ROWS: usize = 4096;
/// The default number of rows in a Parquet row group or an ORC stripe.
pub const ROW_GROUP_ROWS: usize = 1 << 20;

/// How a table is written. The same batches with the same options produce the same bytes.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Compression of Parquet pages and ORC blocks; text is never compressed.
    pub compression: Compression,
    /// Maximum number of rows in a Parquet page, rounded to the next multiple of 1024.
    pub page_rows: usize,
    /// Maximum number of rows in a Parquet row group or an ORC stripe.
    pub row_group_rows: usize,
    /// Encodings of Parquet columns by name; other columns have a dictionary as long as it saves space.
    pub encodings: BTreeMap<String, ColumnEncoding>,
    /// Whether Parquet column chunks and pages have statistics: the smallest and largest value and the number of nulls.
    pub statistics: bool,
    /// Whether Parquet files have a page index. Without one, a look-up has to read all page headers in turn.
    pub page_index: bool,
    /// Keys and values to write to the footer of a Parquet file.
    pub footer_metadata: Vec<(String, String)>,
    /// Whether a Parquet file keeps the metadata of columns, in the Arrow schema that it embeds. Arrow files have it always.
    pub field_metadata: bool,
    /// The dialect of CSV.
    pub csv: CsvDialect,
    /// Text columns whose cells are JSON text: in JSON lines they are written as what they say.
    pub raw_json: Vec<String>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            compression: Compression::Zstd(1),
            page_rows: PAGE_ROWS,
            row_group_rows: ROW_GROUP_ROWS,
            encodings: BTreeMap::new(),
            statistics: true,
            page_index: true,
            footer_metadata: Vec::new(),
            field_metadata: false,
            csv: CsvDialect::default(),
            raw_json: Vec::new(),
        }
    }
}

impl WriteOptions {
    /// Sets the compression.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the encoding of one column.
    pub fn encoding(mut self, column: impl Into<String>, encoding: ColumnEncoding) -> Self {
        self.encodings.insert(column.into(), encoding);
        self
    }
}

/// Compression of pages or blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// None.
    None,
    /// Snappy.
    Snappy,
    /// Zstandard with its level, 1 to 22.
    Zstd(i32),
    /// LZ4 without frames (`LZ4_RAW` of Parquet).
    Lz4,
    /// Gzip with its level, 0 to 9 (in ORC: zlib, without a choice of level).
    Gzip(u32),
    /// Brotli with its level, 0 to 11; not for ORC.
    Brotli(u32),
}

/// Encoding of one Parquet column. All have been part of the format since 2013 and are supported by common libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnEncoding {
    /// A dictionary as long as it stays small, then plain.
    Dictionary,
    /// Plain.
    Plain,
    /// DELTA_BINARY_PACKED, for integers that increase or are close together, such as identifiers.
    Delta,
    /// Run lengths, for booleans such as labels.
    RunLength,
    /// BYTE_STREAM_SPLIT, for floats that are compressed afterwards.
    ByteStreamSplit,
}
