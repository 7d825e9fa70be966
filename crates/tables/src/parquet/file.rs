//! An opened Parquet file: its checked metadata, and its page indexes, which are loaded on demand.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_storage::Blob;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::columns::Columns;
use super::footer::{self, chunk_range};
use super::page_cache::{self, PageCache};
use super::page_index::{DIVIDED_ROW, OffsetIndex, PageBounds, parse_column_index};
use super::thrift::ThriftError;
use crate::rules::{PARQUET_CHUNK, PARQUET_INDEX};
use crate::{Limits, ReadOptions};

/// An opened and checked Parquet file.
pub(crate) struct ParquetFile {
    pub(super) blob: Blob,
    pub(super) limits: Limits,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) columns: Columns,
    /// Distinguishes this file's pages from those of other files in the cache.
    pub(super) number: u64,
    /// The cache of pages for look-ups.
    pub(super) cache: PageCache,
    /// The first row of each row group, followed by the total number of rows.
    group_starts: Vec<u64>,
    /// The end of the file before the footer, where short files have their page indexes.
    tail: (u64, Bytes),
    /// By row group and leaf.
    indexes: Vec<ChunkIndexes>,
}

#[derive(Default)]
struct ChunkIndexes {
    places: OnceLock<Option<Arc<OffsetIndex>>>,
    bounds: OnceLock<Option<Arc<Vec<PageBounds>>>>,
}

impl ParquetFile {
    /// Opens `blob`, reading only its footer.
    ///
    /// # Errors
    /// [`Kind::Malformed`], [`Kind::TooLarge`], [`Kind::Unsupported`] (encrypted files, types that Arrow lacks), and
    /// errors of reading.
    pub(crate) fn open(blob: Blob, options: &ReadOptions) -> Result<Self> {
        let footer = footer::read(&blob, &options.limits)?;
        let metadata = footer.metadata;
        let columns = Columns::new(metadata.file_metadata(), options).map_err(|error| error.at(blob.place()))?;
        let mut group_starts = vec![0u64];
        for group in metadata.row_groups() {
            let end = group_starts.last().copied().unwrap_or_default() + group.num_rows().unsigned_abs();
            group_starts.push(end);
        }
        let chunks = metadata.num_row_groups() * metadata.file_metadata().schema_descr().num_columns();
        let indexes = std::iter::repeat_with(ChunkIndexes::default).take(chunks).collect();
        Ok(ParquetFile {
            blob,
            limits: options.limits.clone(),
            metadata,
            columns,
            number: page_cache::new_file(),
            cache: options.pages.clone(),
            group_starts,
            tail: footer.tail,
            indexes,
        })
    }

    /// Returns the number of rows.
    pub(crate) fn row_count(&self) -> u64 {
        self.group_starts.last().copied().unwrap_or_default()
    }

    /// Returns the number of row groups.
    pub(crate) fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Returns the keys and values of the footer; a missing value is empty.
    pub(crate) fn footer_metadata(&self) -> Vec<(&str, &str)> {
        let entries = self.metadata.file_metadata().key_value_metadata().into_iter().flatten();
        entries.map(|entry| (entry.key.as_str(), entry.value.as_deref().unwrap_or_default())).collect()
    }

    /// Checks whether the embedded Arrow schema, if there is one, can be read.
    ///
    /// # Errors
    /// [`crate::rules::PARQUET_FOOTER`] if it cannot be read.
    pub(crate) fn check_embedded(&self) -> Result<()> {
        super::embedded::check(self.metadata.file_metadata().schema_descr(), self.metadata.file_metadata())
    }

    /// Returns the schema of its batches.
    pub(crate) fn schema(&self) -> &arrow_schema::SchemaRef {
        &self.columns.schema
    }

    /// Returns the rows of row group `group`, counted in the file.
    pub(crate) fn rows_of(&self, group: usize) -> Range<u64> {
        let start = self.group_starts.get(group).copied().unwrap_or_else(|| self.row_count());
        start..self.group_starts.get(group + 1).copied().unwrap_or(start)
    }

    /// Returns the row group that contains `row`, which must exist.
    pub(super) fn group_of(&self, row: u64) -> usize {
        self.group_starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    pub(super) fn group(&self, group: usize) -> Result<&RowGroupMetaData> {
        self.metadata
            .row_groups()
            .get(group)
            .ok_or_else(|| Error::usage(format!("row group {group} does not exist")).at(self.blob.place()))
    }

    pub(super) fn chunk(&self, group: usize, leaf: usize) -> Result<&ColumnChunkMetaData> {
        let chunk = self.group(group)?.columns().get(leaf);
        chunk.ok_or_else(|| self.broken_chunk(group, leaf, "is missing"))
    }

    /// Returns the range of a column chunk in the file.
    pub(super) fn chunk_range(&self, group: usize, leaf: usize) -> Result<Range<u64>> {
        let (start, length) = chunk_range(self.chunk(group, leaf)?)
            .ok_or_else(|| self.broken_chunk(group, leaf, "has a negative offset"))?;
        Ok(start..start + length)
    }

    /// Returns the pages of a column chunk, if the file has an offset index.
    pub(super) fn page_places(&self, group: usize, leaf: usize) -> Result<Option<Arc<OffsetIndex>>> {
        let cell = self.indexes(group, leaf).map(|indexes| &indexes.places);
        if let Some(known) = cell.and_then(OnceLock::get) {
            return Ok(known.clone());
        }
        let chunk = self.chunk(group, leaf)?;
        let encoded = self.index_bytes(chunk.offset_index_offset(), chunk.offset_index_length(), group, leaf)?;
        let places = match encoded {
            Some(encoded) => {
                let rows = self.rows_of(group);
                match OffsetIndex::parse(&encoded, &self.chunk_range(group, leaf)?, rows.end - rows.start) {
                    Ok(index) => Some(Arc::new(index)),
                    // Arrow's writer splits a row whose list does not fit into one page. All its values exist,
                    // but no page can be read separately, so the chunk is read like one without an index.
                    Err(ThriftError::Invalid(DIVIDED_ROW)) if self.has_lists(leaf) => None,
                    Err(error) => return Err(self.broken_index(group, leaf, error)),
                }
            }
            None => None,
        };
        Ok(cell.map_or(places.clone(), |cell| cell.get_or_init(|| places).clone()))
    }

    /// Returns the bounds of the pages of a column chunk, if the file has them.
    pub(super) fn page_bounds(&self, group: usize, leaf: usize) -> Result<Option<Arc<Vec<PageBounds>>>> {
        let cell = self.indexes(group, leaf).map(|indexes| &indexes.bounds);
        if let Some(known) = cell.and_then(OnceLock::get) {
            return Ok(known.clone());
        }
        let chunk = self.chunk(group, leaf)?;
        let encoded = self.index_bytes(chunk.column_index_offset(), chunk.column_index_length(), group, leaf)?;
        let bounds = match (encoded, self.page_places(group, leaf)?) {
            (Some(encoded), Some(places)) => {
                let bounds = parse_column_index(&encoded, places.pages().len())
                    .map_err(|error| self.broken_index(group, leaf, error))?;
                Some(Arc::new(bounds))
            }
            _ => None,
        };
        Ok(cell.map_or(bounds.clone(), |cell| cell.get_or_init(|| bounds).clone()))
    }

    /// Whether a row of this leaf can have several values.
    fn has_lists(&self, leaf: usize) -> bool {
        let parquet = self.metadata.file_metadata().schema_descr();
        leaf < parquet.num_columns() && parquet.column(leaf).max_rep_level() > 0
    }

    fn indexes(&self, group: usize, leaf: usize) -> Option<&ChunkIndexes> {
        let leaves = self.metadata.file_metadata().schema_descr().num_columns();
        self.indexes.get(group.checked_mul(leaves)?.checked_add(leaf)?)
    }

    fn index_bytes(
        &self,
        offset: Option<i64>,
        length: Option<i32>,
        group: usize,
        leaf: usize,
    ) -> Result<Option<Bytes>> {
        let (Some(offset), Some(length)) = (offset, length) else { return Ok(None) };
        let place = u64::try_from(offset).ok().zip(u64::try_from(length).ok());
        let Some((start, end)) = place.and_then(|(start, length)| Some((start, start.checked_add(length)?))) else {
            return Err(self.broken_index(group, leaf, ThriftError::Invalid("has a negative offset")));
        };
        if end > self.tail.0 + self.tail.1.len() as u64 {
            return Err(self.broken_index(group, leaf, ThriftError::Invalid("is outside the file")));
        }
        if end - start > self.limits.footer_bytes {
            let message =
                format!("a page index has {} bytes, but the limit is {} bytes", end - start, self.limits.footer_bytes);
            return Err(Error::new(Kind::TooLarge, message).at(self.blob.place()));
        }
        if start >= self.tail.0 {
            let at = index(start - self.tail.0);
            return Ok(Some(self.tail.1.slice(at..at + index(end - start))));
        }
        self.blob.read(start..end).map(Some)
    }

    /// Returns the name of a leaf, as `outer.inner`.
    fn leaf_name(&self, leaf: usize) -> String {
        let parquet = self.metadata.file_metadata().schema_descr();
        if leaf < parquet.num_columns() { parquet.column(leaf).path().string() } else { format!("number {leaf}") }
    }

    fn broken_chunk(&self, group: usize, leaf: usize, reason: &str) -> Error {
        let message = format!("row group {group}: column {}: {reason}", self.leaf_name(leaf));
        Error::broken(&PARQUET_CHUNK, message).at(self.blob.place())
    }

    pub(super) fn broken_index(&self, group: usize, leaf: usize, error: ThriftError) -> Error {
        let reason = match error {
            ThriftError::Truncated => "unexpected end",
            ThriftError::Invalid(reason) => reason,
        };
        let message = format!("row group {group}: the page index of column {}: {reason}", self.leaf_name(leaf));
        Error::broken(&PARQUET_INDEX, message).at(self.blob.place().in_field(self.leaf_name(leaf)))
    }

    /// Returns the location of a column chunk for errors: its first row and its name.
    pub(super) fn place_of(&self, group: usize, leaf: usize) -> Place {
        self.blob.place().row(self.rows_of(group).start).in_field(self.leaf_name(leaf))
    }
}
