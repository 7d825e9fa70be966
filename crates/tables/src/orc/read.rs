//! Reads ORC files.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Fields, SchemaRef};
use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_storage::Blob;

use super::column::{self, Column, Values, ends};
use super::run_length::{self, Bits, Ints, Version};
use super::schema::columns;
use super::stream::{Reason, Stream, unpack_all};
use super::tail::{self, Encoding, StripeFooter, Tail, stripe_footer};
use super::times;
use crate::catch_panic::fenced;
use crate::rules::{ORC_FILE, TIME_UNIT};
use crate::text::select::{Numbered, Selected, Wanted};
use crate::{Limits, ReadOptions, Selection, convert};

/// Time zones that are equivalent to UTC.
const UTC: [&str; 6] = ["", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z"];

/// `Stream.Kind` of the format.
mod stream_kind {
    pub const PRESENT: u64 = 0;
    pub const DATA: u64 = 1;
    pub const LENGTH: u64 = 2;
    pub const DICTIONARY_DATA: u64 = 3;
    pub const SECONDARY: u64 = 5;
}

/// An opened ORC file.
pub(crate) struct OrcFile {
    blob: Blob,
    limits: Limits,
    tail: Tail,
    /// The decoded columns, and the numbers of their types.
    decoded: Fields,
    numbers: Vec<usize>,
    schema: SchemaRef,
    /// The first row of each stripe, followed by the total number of rows.
    starts: Vec<u64>,
}

impl OrcFile {
    /// # Errors
    /// [`Kind::Malformed`], [`Kind::TooLarge`], [`Kind::Unsupported`] for types that are not supported, and errors of reading.
    pub(crate) fn open(blob: Blob, options: &ReadOptions) -> Result<Self> {
        let tail = tail::read(&blob, &options.limits)?;
        let placed = |error: Error| error.at(blob.place());
        let (decoded, numbers) = columns(&tail.types, options).map_err(placed)?;
        let schema = convert::schema(&decoded, options.schema.as_deref()).map_err(placed)?;
        let mut starts = vec![0];
        for stripe in &tail.stripes {
            starts.push(starts.last().copied().unwrap_or_default() + stripe.rows);
        }
        let limits = options.limits.clone();
        Ok(OrcFile { blob, limits, tail, decoded, numbers, schema: Arc::new(schema), starts })
    }

    /// Returns the schema of its batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows.
    pub(crate) fn row_count(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Returns the number of stripes.
    pub(crate) fn stripes(&self) -> usize {
        self.tail.stripes.len()
    }

    /// Returns the rows of stripe `stripe`, counted in the file.
    pub(crate) fn rows_of(&self, stripe: usize) -> Range<u64> {
        let start = self.starts.get(stripe).copied().unwrap_or_else(|| self.row_count());
        start..self.starts.get(stripe + 1).copied().unwrap_or(start)
    }

    /// Reads the selected rows.
    pub(crate) fn scan(
        self: &Arc<Self>,
        selection: &Selection,
    ) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + Send + 'static)> {
        let wanted = Wanted::new(&self.schema, selection).map_err(|error| error.at(self.blob.place()))?;
        let stripes = selection.row_groups.clone().unwrap_or(0..self.stripes());
        let last = wanted.rows().and_then(|rows| rows.last()).map_or(0, |range| range.end);
        if stripes.end > self.stripes() || last > self.row_count() {
            let message = format!(
                "the file has {} stripes and {} rows, but others were requested",
                self.stripes(),
                self.row_count()
            );
            return Err(Error::usage(message).at(self.blob.place()));
        }
        let has_rows = |stripe: &usize| {
            let here = self.rows_of(*stripe);
            let is_wanted =
                |rows: &[Range<u64>]| rows.iter().any(|range| range.start < here.end && here.start < range.end);
            !here.is_empty() && wanted.rows().is_none_or(is_wanted)
        };
        let schema = self.schema.project(&wanted.read).map_err(|error| Error::usage(error.to_string()))?;
        let batches = OrcBatches {
            file: Arc::clone(self),
            stripes: stripes.filter(has_rows).collect::<Vec<_>>().into_iter(),
            columns: wanted.read.clone(),
            schema: Arc::new(schema),
            batch_rows: selection.rows_of_a_batch(),
            current: None,
        };
        let schema = Arc::clone(wanted.schema());
        Ok((schema, Selected::new(batches, wanted, self.blob.place())))
    }

    /// Prepares `columns` of a stripe for decoding.
    fn stripe(&self, number: usize, columns: &[usize]) -> Result<Vec<Column>> {
        let place = Place::default().row(self.rows_of(number).start);
        fenced(&ORC_FILE, || self.open_stripe(number, columns)).map_err(|error| error.at(place))
    }

    fn open_stripe(&self, number: usize, columns: &[usize]) -> Result<Vec<Column>> {
        let broken = |reason: Reason| Error::broken(&ORC_FILE, format!("stripe {number}: {reason}"));
        let stripe = self.tail.stripes.get(number).ok_or_else(|| broken("is missing"))?;
        let most = usize::try_from(self.limits.footer_bytes).unwrap_or(usize::MAX);
        if stripe.footer.end - stripe.footer.start > self.limits.footer_bytes {
            return Err(broken("the footer is too large").of_kind(Kind::TooLarge));
        }
        let footer = unpack_all(self.blob.read(stripe.footer.clone())?, self.tail.packing, most).map_err(broken)?;
        let footer = stripe_footer(&footer, stripe).map_err(broken)?;
        let mut wanted = Vec::new();
        for column in columns {
            self.collect_types(self.numbers[*column], &mut wanted);
        }
        let places: Vec<_> = footer
            .streams
            .iter()
            .filter(|place| place.kind <= stream_kind::SECONDARY && wanted.contains(&place.column))
            .collect();
        let ranges: Vec<_> = places.iter().map(|place| place.range.clone()).collect();
        let stored = self.blob.read_ranges(&ranges)?;
        let streams = places.iter().map(|place| (place.column, place.kind)).zip(stored).collect();
        let mut source = Streams { file: self, footer: &footer, streams };
        columns
            .iter()
            .map(|column| {
                let name = self.decoded[*column].name();
                source
                    .column(self.numbers[*column], self.decoded[*column].data_type(), stripe.rows)
                    .map_err(|error| error.at(Place::field(name)))
            })
            .collect()
    }

    /// Adds the type `number` and its nested types. Depth and numbers were checked when the file was opened.
    fn collect_types(&self, number: usize, into: &mut Vec<usize>) {
        into.push(number);
        for inner in self.tail.types.get(number).map_or(&[][..], |own| &own.inner) {
            self.collect_types(*inner, into);
        }
    }
}

/// The streams of one stripe, from which columns are created.
struct Streams<'a> {
    file: &'a OrcFile,
    footer: &'a StripeFooter,
    streams: HashMap<(usize, u64), Bytes>,
}

impl Streams<'_> {
    /// Returns a stream; a missing one is empty.
    fn stream(&mut self, number: usize, kind: u64) -> Stream {
        Stream::new(self.streams.remove(&(number, kind)).unwrap_or_default(), self.file.tail.packing)
    }

    fn ints(&mut self, number: usize, kind: u64, version: Version, signed: bool) -> Ints {
        Ints::new(self.stream(number, kind), version, signed)
    }

    /// Returns the column of type `number`, which has at most `values` values.
    fn column(&mut self, number: usize, data_type: &DataType, values: u64) -> Result<Column> {
        let broken = |reason: Reason| Error::broken(&ORC_FILE, reason);
        let encoding = self.footer.encodings.get(number).copied();
        let Encoding { kind, dictionary_size } = encoding.ok_or_else(|| broken("a column has no encoding"))?;
        let version = if kind >= 2 { Version::Second } else { Version::First };
        let is_dictionary = kind == 1 || kind == 3;
        let present = self.streams.contains_key(&(number, stream_kind::PRESENT));
        let present = present.then(|| Bits::new(self.stream(number, stream_kind::PRESENT)));
        let most = usize::try_from(self.file.limits.batch_bytes.saturating_mul(4)).unwrap_or(usize::MAX);
        let values = match data_type {
            DataType::Boolean => Values::Bits(Bits::new(self.stream(number, stream_kind::DATA))),
            DataType::Int8 => Values::Bytes(run_length::Bytes::new(self.stream(number, stream_kind::DATA))),
            DataType::Float32 | DataType::Float64 => Values::Floats(self.stream(number, stream_kind::DATA)),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary if is_dictionary => {
                if dictionary_size > values.max(1) || dictionary_size > most as u64 / 8 {
                    return Err(broken("a dictionary has more entries than there are values"));
                }
                let lengths = self.ints(number, stream_kind::LENGTH, version, false).read(index(dictionary_size));
                let ends = ends(lengths.map_err(broken)?, most).map_err(broken)?;
                let mut data = Vec::new();
                let size = ends.last().copied().unwrap_or_default();
                self.stream(number, stream_kind::DICTIONARY_DATA).append(size, &mut data).map_err(broken)?;
                Values::Dictionary { keys: self.ints(number, stream_kind::DATA, version, false), ends, data }
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary => Values::Direct {
                lengths: self.ints(number, stream_kind::LENGTH, version, false),
                data: self.stream(number, stream_kind::DATA),
            },
            DataType::Timestamp(_, zone) => {
                let writer_zone = self.footer.time_zone.as_deref().unwrap_or_default();
                if zone.is_none() && !UTC.contains(&writer_zone) {
                    let message =
                        format!("timestamps were written in time zone {writer_zone}, but only UTC is supported");
                    return Err(Error::unsupported(message).hint("write the file again with its time zone set to UTC"));
                }
                Values::Times {
                    seconds: self.ints(number, stream_kind::DATA, version, true),
                    nanoseconds: self.ints(number, stream_kind::SECONDARY, version, false),
                }
            }
            DataType::List(item) => {
                let inner = self.file.tail.types.get(number).and_then(|own| own.inner.first()).copied();
                let inner = inner.ok_or_else(|| broken("a list has no values"))?;
                Values::List {
                    lengths: self.ints(number, stream_kind::LENGTH, version, false),
                    item: Arc::clone(item),
                    // The number of items is known only from the lengths; memory limits them too.
                    items: Box::new(self.column(inner, item.data_type(), u64::MAX)?),
                }
            }
            _ => Values::Ints(self.ints(number, stream_kind::DATA, version, true)),
        };
        Ok(Column::new(data_type.clone(), present, values, most))
    }
}

/// The batches of some stripes.
struct OrcBatches {
    file: Arc<OrcFile>,
    stripes: std::vec::IntoIter<usize>,
    /// The columns to read, and their schema.
    columns: Vec<usize>,
    schema: SchemaRef,
    batch_rows: usize,
    current: Option<Open>,
}

/// The current stripe.
struct Open {
    stripe: usize,
    columns: Vec<Column>,
    /// The remaining rows, counted in the file.
    rows: Range<u64>,
}

impl OrcBatches {
    fn next_batch(&mut self) -> Result<Option<Numbered>> {
        loop {
            let open = match &mut self.current {
                Some(open) => open,
                none => {
                    let Some(stripe) = self.stripes.next() else { return Ok(None) };
                    let rows = self.file.rows_of(stripe);
                    none.insert(Open { stripe, columns: self.file.stripe(stripe, &self.columns)?, rows })
                }
            };
            let first = open.rows.start;
            let count = usize::try_from(open.rows.end - first).unwrap_or(usize::MAX).min(self.batch_rows);
            let Some(arrays) = decode(open, count, &self.schema)? else {
                self.reopen()?;
                continue;
            };
            let number = |row: u64| Some(first + row);
            let batch = convert::numbered_batch(arrays, &self.schema, count, number)
                .map_err(|error| error.at(Place::default().row(first)))?;
            open.rows.start += count as u64;
            if open.rows.is_empty() {
                self.current = None;
            }
            return Ok(Some((first, batch)));
        }
    }

    /// Opens the current stripe again, to continue in smaller batches from the same row.
    fn reopen(&mut self) -> Result<()> {
        let Some(open) = &mut self.current else { return Ok(()) };
        if self.batch_rows == 1 {
            let error = Error::new(Kind::TooLarge, column::TOO_LARGE);
            return Err(error.at(Place::default().row(open.rows.start)));
        }
        self.batch_rows = (self.batch_rows / 8).max(1);
        open.columns = self.file.stripe(open.stripe, &self.columns)?;
        let mut before = open.rows.start - self.file.rows_of(open.stripe).start;
        while before > 0 {
            let count = before.min(self.batch_rows as u64);
            if decode(open, index(count), &self.schema)?.is_none() {
                return Err(Error::new(Kind::TooLarge, column::TOO_LARGE).at(Place::default().row(open.rows.start)));
            }
            before -= count;
        }
        Ok(())
    }
}

/// Decodes the next `count` rows of the stripe; returns `None` if they would be too large together.
fn decode(open: &mut Open, count: usize, schema: &SchemaRef) -> Result<Option<Vec<ArrayRef>>> {
    let first = open.rows.start;
    let mut arrays = Vec::with_capacity(open.columns.len());
    for (column, field) in open.columns.iter_mut().zip(schema.fields()) {
        let decoded = fenced(&ORC_FILE, || match column.read(count) {
            Err(column::TOO_LARGE) => Ok(None),
            // The file is valid, but it is read in a unit that cannot represent its timestamps.
            Err(reason @ (times::TOO_FINE | times::TOO_FAR)) => Err(Error::broken(&TIME_UNIT, reason)),
            other => other.map(Some).map_err(|reason| Error::broken(&ORC_FILE, reason)),
        });
        let place = Place::default().row(first + column.failed as u64);
        match decoded.map_err(|error| error.at(place.in_field(field.name())))? {
            Some(array) => arrays.push(array),
            None => return Ok(None),
        }
    }
    Ok(Some(arrays))
}

impl Iterator for OrcBatches {
    type Item = Result<Numbered>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
