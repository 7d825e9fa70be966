//! Reads Arrow IPC files.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_cast::cast;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Field, Fields, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::type_name::type_name;
use isomorph_storage::Blob;

use super::compressed;
use crate::catch_panic::fenced;
use crate::rules::ARROW_FILE;
use crate::text::select::{Numbered, Selected, Wanted};
use crate::{ReadOptions, Selection, convert};

const MAGIC: &[u8] = b"ARROW1";
/// The length of the footer and the magic bytes behind it.
const TAIL: u64 = 10;
/// What stands before a message: a marker and the length of its metadata, or the length alone.
const MARKER: [u8; 4] = [0xFF; 4];
/// The maximum nesting depth of types.
const DEPTH: usize = 8;

/// An opened Arrow IPC file.
pub(crate) struct ArrowFile {
    blob: Blob,
    decoder: FileDecoder,
    blocks: Vec<Block>,
    /// The first row of each batch, followed by the total number of rows.
    starts: Vec<u64>,
    /// The columns in the file, and as they are shown.
    schema: SchemaRef,
    /// The most bytes of a decompressed batch.
    most: u64,
}

pub(super) fn broken(reason: impl Into<String>) -> Error {
    Error::broken(&ARROW_FILE, reason)
}

fn failed(error: ArrowError) -> Error {
    broken(error.to_string()).caused_by(error)
}

impl ArrowFile {
    /// # Errors
    /// [`Kind::Malformed`], [`Kind::TooLarge`], [`Kind::Unsupported`] for streams and types that are not supported, and errors of
    /// reading.
    pub(crate) fn open(blob: Blob, options: &ReadOptions) -> Result<Self> {
        let place = blob.place();
        fenced(&ARROW_FILE, || ArrowFile::opened(blob, options)).map_err(|error| error.at(place))
    }

    fn opened(blob: Blob, options: &ReadOptions) -> Result<Self> {
        let limits = &options.limits;
        let size = blob.size();
        let tail = size.checked_sub(TAIL).filter(|start| *start >= 8).ok_or_else(|| broken("the file is too short"))?;
        let end = blob.read(tail..size)?;
        let (length, magic) = end.split_at(4);
        let length = <[u8; 4]>::try_from(length).map_or(0, u32::from_le_bytes);
        if magic != MAGIC {
            return Err(match &*blob.read(0..4)? {
                // A stream has no magic bytes: it begins with a message.
                begin if begin == MARKER => Error::unsupported("this is a stream of Arrow IPC, not a file")
                    .hint("write a file: in pyarrow ipc.new_file, in Polars write_ipc"),
                _ => broken("the file does not end as Arrow IPC files do"),
            });
        }
        let length = u64::from(length);
        if length > limits.footer_bytes {
            let message = format!("the footer has {length} bytes, but the limit is {}", limits.footer_bytes);
            return Err(Error::new(Kind::TooLarge, message));
        }
        let start = tail.checked_sub(length).ok_or_else(|| broken("the footer is longer than the file"))?;
        let bytes = blob.read(start..tail)?;
        let footer = root_as_footer(&bytes).map_err(|error| broken(format!("the footer is damaged: {error}")))?;
        let own = footer.schema().ok_or_else(|| broken("the file has no schema"))?;
        if !own.endianness().equals_to_target_endianness() {
            return Err(Error::unsupported("the file has another byte order than this machine"));
        }
        let own = Arc::new(fb_to_schema(own));
        if own.fields().iter().all(|field| *field.data_type() == DataType::Null) {
            // Nothing in the file would bound the number of rows that it claims.
            return Err(Error::unsupported("the file has no columns, or none but nulls"));
        }
        if own.fields().len() > limits.columns {
            let message = format!("the file has {} columns, but the limit is {}", own.fields().len(), limits.columns);
            return Err(Error::new(Kind::TooLarge, message));
        }
        let decoded: Fields = own
            .fields()
            .iter()
            .map(|field| {
                let shown = shown(field.data_type()).map_err(|error| error.at(Place::field(field.name())))?;
                Ok(Field::new(field.name(), shown, field.is_nullable()))
            })
            .collect::<Result<Vec<_>>>()?
            .into();
        let schema = Arc::new(convert::schema(&decoded, options.schema.as_deref())?);
        let mut decoder = FileDecoder::new(own, footer.version());
        for block in footer.dictionaries().into_iter().flatten() {
            let buffer = block_of(&blob, block, start, limits.expanded_pages_bytes)?;
            decoder.read_dictionary(block, &buffer).map_err(failed)?;
        }
        let blocks: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
        let mut starts = vec![0u64];
        for block in &blocks {
            let rows = rows_of(&blob, block, start, limits.expanded_pages_bytes)?;
            let before = starts.last().copied().unwrap_or_default();
            starts.push(before.checked_add(rows).ok_or_else(|| broken("the batches have more than 2^64 rows"))?);
        }
        Ok(ArrowFile { blob, decoder, blocks, starts, schema, most: limits.expanded_pages_bytes })
    }

    /// Returns the schema of its batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows.
    pub(crate) fn row_count(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Returns the number of record batches.
    pub(crate) fn batches(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the rows of record batch `batch`, counted in the file.
    pub(crate) fn rows_of(&self, batch: usize) -> Range<u64> {
        let start = self.starts.get(batch).copied().unwrap_or_else(|| self.row_count());
        start..self.starts.get(batch + 1).copied().unwrap_or(start)
    }

    /// Reads the selected rows.
    pub(crate) fn scan(
        self: &Arc<Self>,
        selection: &Selection,
    ) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + Send + 'static)> {
        let wanted = Wanted::new(&self.schema, selection).map_err(|error| error.at(self.blob.place()))?;
        let batches = selection.row_groups.clone().unwrap_or(0..self.batches());
        let last = wanted.rows().and_then(|rows| rows.last()).map_or(0, |range| range.end);
        if batches.end > self.batches() || last > self.row_count() {
            let message = format!(
                "the file has {} batches and {} rows, but others were requested",
                self.batches(),
                self.row_count()
            );
            return Err(Error::usage(message).at(self.blob.place()));
        }
        let has_rows = |batch: &usize| {
            let here = self.rows_of(*batch);
            let is_wanted =
                |rows: &[Range<u64>]| rows.iter().any(|range| range.start < here.end && here.start < range.end);
            !here.is_empty() && wanted.rows().is_none_or(is_wanted)
        };
        let schema = self.schema.project(&wanted.read).map_err(|error| Error::usage(error.to_string()))?;
        let batches = ArrowBatches {
            file: Arc::clone(self),
            waiting: batches.filter(has_rows).collect::<Vec<_>>().into_iter(),
            read: wanted.read.clone(),
            schema: Arc::new(schema),
            batch_rows: selection.rows_of_a_batch(),
            left: None,
        };
        let schema = Arc::clone(wanted.schema());
        Ok((schema, Selected::new(batches, wanted, self.blob.place())))
    }

    fn batch(&self, number: usize) -> Result<RecordBatch> {
        let block = self.blocks.get(number).ok_or_else(|| Error::usage("no such batch"))?;
        let buffer = block_of(&self.blob, block, self.blob.size(), self.most)?;
        let read = fenced(&ARROW_FILE, || self.decoder.read_record_batch(block, &buffer).map_err(failed))?;
        let batch = read.ok_or_else(|| broken("a block is no record batch"))?;
        let announced = self.rows_of(number);
        if batch.num_rows() as u64 != announced.end - announced.start {
            return Err(broken("a record batch has another number of rows than announced"));
        }
        Ok(batch)
    }
}

/// The bytes of a block, which must end before `end`, and whose buffers have at most `most` bytes when decompressed.
fn block_of(blob: &Blob, block: &Block, end: u64, most: u64) -> Result<Buffer> {
    let number = |number: i64| u64::try_from(number).map_err(|_| broken("a block has a negative size"));
    let (offset, metadata, body) =
        (number(block.offset())?, number(i64::from(block.metaDataLength()))?, number(block.bodyLength())?);
    let length = metadata.checked_add(body).and_then(|length| offset.checked_add(length));
    let length = length.filter(|to| *to <= end).ok_or_else(|| broken("a block is outside the file"))?;
    let bytes = blob.read(offset..length)?;
    let (head, body) = bytes.split_at_checked(usize::try_from(metadata).unwrap_or(0)).unwrap_or_default();
    let message = message(head)?;
    let header = message.header_as_record_batch();
    let header = header.or_else(|| message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()));
    header.map_or(Ok(()), |header| compressed::check(&header, body, most))?;
    Ok(Buffer::from(bytes))
}

fn message(metadata: &[u8]) -> Result<arrow_ipc::Message<'_>> {
    let marked = if metadata.starts_with(&MARKER) { 8 } else { 4 };
    let bytes = metadata.get(marked..).ok_or_else(|| broken("a block has no message"))?;
    root_as_message(bytes).map_err(|error| broken(format!("a message is damaged: {error}")))
}

/// The number of rows that a block announces. A compressed one has at most `expanded` bytes.
fn rows_of(blob: &Blob, block: &Block, end: u64, expanded: u64) -> Result<u64> {
    let range = u64::try_from(block.offset()).ok().zip(u64::try_from(block.metaDataLength()).ok());
    let range = range.and_then(|(from, length)| Some(from..from.checked_add(length)?)).filter(|range| range.end <= end);
    let bytes = blob.read(range.ok_or_else(|| broken("a block is outside the file"))?)?;
    let message = message(&bytes)?;
    let batch = message.header_as_record_batch().filter(|_| message.header_type() == MessageHeader::RecordBatch);
    let batch = batch.ok_or_else(|| broken("a block is no record batch"))?;
    let rows = u64::try_from(batch.length()).map_err(|_| broken("a batch has a negative number of rows"))?;
    // A row takes one bit at least: what claims more is not believed.
    let bytes =
        if batch.compression().is_some() { expanded } else { u64::try_from(block.bodyLength()).unwrap_or_default() };
    let most = bytes.saturating_mul(8);
    if rows > most { Err(broken(format!("a batch of {most} bits has {rows} rows"))) } else { Ok(rows) }
}

/// The type that a column is shown with: variants of text, bytes and lists become the common ones, and dictionaries their values. A column of
/// nothing but nulls stays one.
fn shown(data_type: &DataType) -> Result<DataType> {
    match data_type {
        DataType::Null => Ok(DataType::Null),
        other => shown_value(other, DEPTH, false),
    }
}

fn shown_value(data_type: &DataType, depth: usize, in_list: bool) -> Result<DataType> {
    use DataType as T;
    let depth = depth.checked_sub(1).ok_or_else(|| Error::unsupported("types are nested too deeply"))?;
    let list = |item: &Arc<Field>| -> Result<DataType> {
        let shown = shown_value(item.data_type(), depth, true)?;
        Ok(T::List(Arc::new(Field::new(convert::ELEMENT, shown, item.is_nullable()))))
    };
    let field = |field: &Arc<Field>| -> Result<Field> {
        let shown = match field.data_type() {
            // Like a column of nulls, text; a list may claim any number of them.
            T::Null if !in_list => T::Utf8,
            other => shown_value(other, depth, in_list)?,
        };
        Ok(Field::new(field.name(), shown, field.is_nullable()))
    };
    Ok(match data_type {
        T::LargeUtf8 | T::Utf8View => T::Utf8,
        T::LargeBinary | T::BinaryView | T::FixedSizeBinary(1..) => T::Binary,
        T::Dictionary(_, values) => shown_value(values, depth, in_list)?,
        T::List(item) | T::LargeList(item) | T::FixedSizeList(item, 1..) => list(item)?,
        T::Struct(fields) if !fields.is_empty() => {
            T::Struct(fields.iter().map(field).collect::<Result<Vec<_>>>()?.into())
        }
        // The fields of an entry may have any names; its key is always there.
        T::Map(entries, sorted) => match entries.data_type() {
            T::Struct(fields) if fields.len() == 2 => {
                let fields = fields.iter().map(|own| {
                    let shown = shown_value(own.data_type(), depth, true)?;
                    Ok(Field::new(own.name(), shown, own.is_nullable()))
                });
                let shown = T::Struct(fields.collect::<Result<Vec<_>>>()?.into());
                T::Map(Arc::new(Field::new(entries.name(), shown, false)), *sorted)
            }
            _ => return Err(Error::unsupported("a map has entries without key and value")),
        },
        // What reads the column says what to do about it.
        T::Interval(_) => data_type.clone(),
        T::Boolean
        | T::Utf8
        | T::Binary
        | T::Date32
        | T::Date64
        | T::Time32(_)
        | T::Time64(_)
        | T::Timestamp(..)
        | T::Duration(_)
        | T::Decimal128(..) => data_type.clone(),
        other if other.is_integer() || matches!(other, T::Float32 | T::Float64) => other.clone(),
        // A union has no counterpart; nulls alone, and values of no size, claim rows without any bytes.
        other => {
            return Err(Error::unsupported(format!(
                "columns of type {} are not read from Arrow IPC",
                type_name(other)
            )));
        }
    })
}

/// Batches of a file, each of at most so many rows.
struct ArrowBatches {
    file: Arc<ArrowFile>,
    waiting: std::vec::IntoIter<usize>,
    read: Vec<usize>,
    schema: SchemaRef,
    batch_rows: usize,
    /// What is left of the current record batch, with the number of its first row.
    left: Option<(u64, RecordBatch)>,
}

impl ArrowBatches {
    fn next_batch(&mut self) -> Result<Option<Numbered>> {
        if self.left.is_none() {
            let Some(number) = self.waiting.next() else { return Ok(None) };
            self.left = Some((self.file.rows_of(number).start, self.file.batch(number)?));
        }
        let Some((first, batch)) = self.left.take() else { return Ok(None) };
        let rows = self.batch_rows.min(batch.num_rows());
        let own = batch.slice(0, rows);
        if rows < batch.num_rows() {
            self.left = Some((first + rows as u64, batch.slice(rows, batch.num_rows() - rows)));
        }
        let columns = self.read.iter().zip(self.schema.fields()).map(|(at, field)| {
            let column = own.columns().get(*at).ok_or_else(|| broken("a batch has too few columns"))?;
            normal(column).map_err(|error| error.at(Place::field(field.name())))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let number = |row: u64| Some(first + row);
        let batch = fenced(&ARROW_FILE, || convert::numbered_batch(columns, &self.schema, rows, number))?;
        Ok(Some((first, batch)))
    }
}

/// The column as it is shown.
fn normal(column: &ArrayRef) -> Result<ArrayRef> {
    let to = shown(column.data_type())?;
    if *column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    fenced(&ARROW_FILE, || cast(column, &to).map_err(failed))
}

impl Iterator for ArrowBatches {
    type Item = Result<Numbered>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
