//! The footer of a Parquet file: found, measured and checked before the decoder allocates anything for it.

use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::Blob;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};

use super::group_reader::plain;
use super::thrift::{Reader, Thrift, ThriftError, Wire};
use crate::Limits;
use crate::catch_panic::fenced;
use crate::rules::{PARQUET_CHUNK, PARQUET_FOOTER};

/// The number of bytes that are read first: enough for the footer, and often the page index, of a file of ordinary size.
const TAIL: u64 = 64 << 10;
/// The size of the footer's length and the magic bytes after it.
const TRAILER: u64 = 8;
const MAGIC: &[u8] = b"PAR1";
/// The decoder numbers row groups with 16 bits.
const ROW_GROUPS: usize = i16::MAX as usize;
/// The nesting depth of groups. Deeper schemas exist only to exhaust the stack.
const SCHEMA_DEPTH: usize = 64;
/// A file that claims more rows than this per stored byte is refused. A run-length page can encode 2^31 nulls in nine bytes,
/// but no writer makes row groups that large without content.
const ROWS_PER_BYTE: u64 = 1 << 20;

/// A checked footer, and the bytes before it that were read with it.
pub(super) struct Footer {
    pub metadata: Arc<ParquetMetaData>,
    /// The last bytes of the file before the footer, and their offset.
    pub tail: (u64, Bytes),
}

/// Reads and checks the footer of `blob`.
pub(super) fn read(blob: &Blob, limits: &Limits) -> Result<Footer> {
    let size = blob.size();
    let broken = |message: String| Error::broken(&PARQUET_FOOTER, message).at(blob.place());
    let least = MAGIC.len() as u64 + TRAILER;
    if size < least {
        return Err(broken(format!("a file of {size} bytes is too short to be a Parquet file")));
    }
    let tail_start = size - size.min(TAIL);
    let tail = blob.read(tail_start..size)?;
    let trailer = &tail[tail.len() - index(TRAILER)..];
    match &trailer[4..] {
        MAGIC => {}
        b"PARE" => return Err(Error::unsupported("the Parquet file is encrypted").at(blob.place())),
        _ => return Err(broken("the file does not end with the Parquet magic bytes".to_owned())),
    }
    if tail_start == 0 && !tail.starts_with(MAGIC) {
        return Err(broken("the file does not start with the Parquet magic bytes".to_owned()));
    }
    let length = u64::from(u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]));
    if length > size - least {
        return Err(broken(format!("the footer claims {length} bytes, but the file has {size}")));
    }
    if length > limits.footer_bytes {
        let message = format!("the Parquet footer has {length} bytes, but the limit is {} bytes", limits.footer_bytes);
        return Err(Error::new(Kind::TooLarge, message).at(blob.place()));
    }
    let start = size - TRAILER - length;
    let encoded = match usize::try_from(start.wrapping_sub(tail_start)) {
        Ok(at) if start >= tail_start => tail.slice(at..tail.len() - index(TRAILER)),
        _ => blob.read(start..size - TRAILER)?,
    };
    let metadata = decode(&encoded, limits).map_err(|error| error.at(blob.place()))?;
    check(&metadata, start).map_err(|error| error.at(blob.place()))?;
    let before = match usize::try_from(start.wrapping_sub(tail_start)) {
        Ok(before) if start >= tail_start => (tail_start, tail.slice(..before)),
        _ => (start, Bytes::new()),
    };
    Ok(Footer { metadata: Arc::new(metadata), tail: before })
}

fn decode(encoded: &[u8], limits: &Limits) -> Result<ParquetMetaData> {
    walk(encoded, limits)?;
    fenced(&PARQUET_FOOTER, || {
        ParquetMetaDataReader::decode_metadata(encoded)
            .map_err(|error| Error::broken(&PARQUET_FOOTER, plain(&error)).caused_by(error))
    })
}

/// Walks over the encoded footer without building anything, so that the decoder gets only structures that are
/// complete, not too deep and not too many.
fn walk(encoded: &[u8], limits: &Limits) -> Result<()> {
    let survey = survey(encoded).map_err(|error| {
        let reason = match error {
            ThriftError::Truncated => "the footer ends inside a structure",
            ThriftError::Invalid(reason) => reason,
        };
        Error::broken(&PARQUET_FOOTER, reason)
    })?;
    if survey.leaves > limits.columns {
        let message = format!("the file has {} columns, but the limit is {}", survey.leaves, limits.columns);
        return Err(Error::new(Kind::TooLarge, message));
    }
    if survey.row_groups > ROW_GROUPS {
        return Err(Error::new(
            Kind::TooLarge,
            format!("the file has {} row groups, but the limit is {ROW_GROUPS}", survey.row_groups),
        ));
    }
    Ok(())
}

#[derive(Default)]
struct Survey {
    leaves: usize,
    row_groups: usize,
}

fn survey(encoded: &[u8]) -> Thrift<Survey> {
    let mut reader = Reader::new(encoded);
    let mut found = Survey::default();
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        match (number, wire) {
            (2, Wire::List) => found.leaves = survey_schema(&mut reader)?,
            (4, Wire::List) => {
                let (element, count) = reader.list()?;
                found.row_groups = count;
                for _ in 0..count {
                    skip_element(&mut reader, element)?;
                }
            }
            (5, Wire::List) => {
                let (element, count) = reader.list()?;
                for _ in 0..count {
                    skip_element(&mut reader, element)?;
                }
            }
            (_, wire) => reader.skip(wire)?,
        }
    }
    Ok(found)
}

/// Skips a structure in a list. The decoder reserves tens of bytes for each element in advance, so an element
/// must not be empty.
fn skip_element(reader: &mut Reader<'_>, element: Wire) -> Thrift<()> {
    let before = reader.position();
    reader.skip(element)?;
    if reader.position() - before < 3 {
        return Err(ThriftError::Invalid("the footer contains an empty structure"));
    }
    Ok(())
}

/// Counts the leaves of the schema and checks its depth. The schema is a list in depth-first order.
fn survey_schema(reader: &mut Reader<'_>) -> Thrift<usize> {
    let (element, count) = reader.list()?;
    if element != Wire::Struct {
        return Err(ThriftError::Invalid("the schema is not a list of structures"));
    }
    let mut leaves = 0;
    // The number of remaining children of each open group.
    let mut open: Vec<usize> = Vec::new();
    for position in 0..count {
        while open.last() == Some(&0) {
            open.pop();
        }
        match open.last_mut() {
            Some(children) => *children -= 1,
            None if position == 0 => {}
            None => return Err(ThriftError::Invalid("the schema has elements outside its root")),
        }
        match schema_children(reader)? {
            None | Some(0) => leaves += 1,
            Some(_) if open.len() >= SCHEMA_DEPTH => {
                return Err(ThriftError::Invalid("the schema is nested too deeply"));
            }
            Some(children) => open.push(children),
        }
    }
    if open.iter().any(|children| *children > 0) {
        return Err(ThriftError::Invalid("the schema has fewer elements than its groups declare"));
    }
    Ok(leaves)
}

fn schema_children(reader: &mut Reader<'_>) -> Thrift<Option<usize>> {
    let before = reader.position();
    let mut children = None;
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        match (number, wire) {
            (5, Wire::I32) => {
                let claimed = usize::try_from(reader.i32()?)
                    .map_err(|_| ThriftError::Invalid("a schema group has a negative number of children"))?;
                children = Some(claimed);
            }
            (_, wire) => reader.skip(wire)?,
        }
    }
    if reader.position() - before < 3 {
        return Err(ThriftError::Invalid("the schema contains an empty element"));
    }
    Ok(children)
}

/// Checks the decoded footer against the `room` bytes before it.
fn check(metadata: &ParquetMetaData, room: u64) -> Result<()> {
    let mut rows = 0i64;
    for (index, group) in metadata.row_groups().iter().enumerate() {
        check_row_group(group, room).map_err(|reason| broken_chunk(index, &reason))?;
        rows = rows
            .checked_add(group.num_rows())
            .ok_or_else(|| broken_chunk(index, "the number of rows in the row groups is out of range"))?;
    }
    let claimed = metadata.file_metadata().num_rows();
    if rows != claimed {
        let message = format!("the footer declares {claimed} rows, but the row groups have {rows}");
        return Err(Error::broken(&PARQUET_FOOTER, message));
    }
    Ok(())
}

fn broken_chunk(row_group: usize, reason: &str) -> Error {
    Error::broken(&PARQUET_CHUNK, format!("row group {row_group}: {reason}"))
}

fn check_row_group(group: &RowGroupMetaData, room: u64) -> std::result::Result<(), String> {
    let rows = u64::try_from(group.num_rows()).map_err(|_| format!("has {} rows", group.num_rows()))?;
    // Nothing is read from a row group without rows, and writers store invalid offsets for its chunks.
    if rows == 0 {
        return Ok(());
    }
    let mut stored = 64u64;
    for chunk in group.columns() {
        let named = |reason: String| format!("column {}: {reason}", chunk.column_path().string());
        let (_, length) = check_chunk(chunk, rows, room).map_err(named)?;
        stored = stored.saturating_add(length);
    }
    if rows > stored.saturating_mul(ROWS_PER_BYTE) {
        return Err(format!("declares {rows} rows in {stored} bytes"));
    }
    Ok(())
}

/// Checks a column chunk; returns its offset and length.
fn check_chunk(chunk: &ColumnChunkMetaData, rows: u64, room: u64) -> std::result::Result<(u64, u64), String> {
    if chunk.file_path().is_some() {
        return Err("is in another file".to_owned());
    }
    let (start, length) = chunk_range(chunk).ok_or("has a negative offset")?;
    if start < MAGIC.len() as u64 && length > 0 || start.checked_add(length).is_none_or(|end| end > room) {
        return Err(format!("declares bytes {start} to {}, outside the data", start.saturating_add(length)));
    }
    let values = u64::try_from(chunk.num_values()).map_err(|_| "has a negative number of values".to_owned())?;
    if chunk.column_descr().max_rep_level() == 0 && values != rows {
        return Err(format!("declares {values} values for {rows} rows"));
    }
    if chunk.uncompressed_size() < 0 {
        return Err("has a negative size".to_owned());
    }
    Ok((start, length))
}

/// Returns the offset and length of a column chunk, if they are possible.
pub(super) fn chunk_range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let data = u64::try_from(chunk.data_page_offset()).ok()?;
    let length = u64::try_from(chunk.compressed_size()).ok()?;
    // Some writers set 0, or an offset after the data, if there is no dictionary.
    let dictionary = chunk.dictionary_page_offset().and_then(|offset| u64::try_from(offset).ok());
    let start = dictionary.filter(|offset| *offset > 0 && *offset < data).unwrap_or(data);
    Some((start, length))
}
