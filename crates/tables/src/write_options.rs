//! How a table is written.

use std::collections::BTreeMap;

use crate::CsvDialect;

/// Rows of a Parquet page unless something else is asked for: few enough that a look-up unpacks little, enough that the
/// page index stays small.
pub const PAGE_ROWS: usize = 4096;
/// Rows of a Parquet row group or an ORC stripe unless something else is asked for.
pub const ROW_GROUP_ROWS: usize = 1 << 20;

/// How a table is written. The same batches with the same options give the same bytes.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Compression of Parquet pages and ORC blocks; text is never compressed.
    pub compression: Compression,
    /// Rows of a Parquet page, at most; the limit is kept to the next 1024 rows.
    pub page_rows: usize,
    /// Rows of a Parquet row group or an ORC stripe, at most.
    pub row_group_rows: usize,
    /// Encodings of Parquet columns by name; other columns have a dictionary as long as it pays.
    pub encodings: BTreeMap<String, ColumnEncoding>,
    /// Whether Parquet column chunks and pages carry the least and greatest value and the number of nulls.
    pub statistics: bool,
    /// Whether Parquet files have a page index. Without one a look-up has to walk over the page headers.
    pub page_index: bool,
    /// Keys and values for the footer of a Parquet file.
    pub footer_metadata: Vec<(String, String)>,
    /// The dialect of CSV.
    pub csv: CsvDialect,
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
            csv: CsvDialect::default(),
        }
    }
}

impl WriteOptions {
    /// With this compression.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// With this encoding of one column.
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

/// Encoding of one Parquet column. All are part of the format since 2013 and readable by the usual libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnEncoding {
    /// A dictionary as long as it stays small, then plain.
    Dictionary,
    /// Plain.
    Plain,
    /// DELTA_BINARY_PACKED, for integers that rise or lie close together: identifiers.
    Delta,
    /// Run lengths, for booleans: labels.
    RunLength,
    /// BYTE_STREAM_SPLIT, for floats that are going to be compressed.
    ByteStreamSplit,
}
