//! Decodes the columns of a stripe, some rows at a time.

use std::sync::Arc;

use arrow_array::builder::GenericByteBuilder;
use arrow_array::types::{
    BinaryType, ByteArrayType, Date32Type, Int8Type, Int16Type, Int32Type, Int64Type, LargeUtf8Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, Utf8Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, FieldRef, TimeUnit};

use super::run_length::{Bits, Bytes, Ints};
use super::stream::{Reason, Stream};
use super::times;

/// Reads one column of a stripe from start to end.
pub(super) struct Column {
    present: Option<Bits>,
    values: Values,
    data_type: DataType,
    /// The maximum size of a batch: bytes, or list items.
    most: usize,
    /// The row, among those read last, that could not be decoded, if that is known.
    pub(super) failed: usize,
}

/// The values of a column, without nulls.
pub(super) enum Values {
    Bits(Bits),
    Bytes(Bytes),
    Ints(Ints),
    /// Floats of four or eight bytes.
    Floats(Stream),
    /// Text or bytes, one after another.
    Direct {
        lengths: Ints,
        data: Stream,
    },
    /// Text or bytes from a dictionary: the end of each entry, and the bytes of all.
    Dictionary {
        keys: Ints,
        ends: Vec<usize>,
        data: Vec<u8>,
    },
    Times {
        seconds: Ints,
        nanoseconds: Ints,
    },
    List {
        lengths: Ints,
        item: FieldRef,
        items: Box<Column>,
    },
}

/// The batch would be too large; fewer rows at a time may fit.
pub(super) const TOO_LARGE: Reason = "a row is larger than the limit for a batch";

impl Column {
    /// Creates a column whose nulls are given by `present`. A batch may have at most `most` bytes.
    pub(super) fn new(data_type: DataType, present: Option<Bits>, values: Values, most: usize) -> Self {
        Column { present, values, data_type, most, failed: 0 }
    }

    /// Decodes the next `rows` rows.
    pub(super) fn read(&mut self, rows: usize) -> Result<ArrayRef, Reason> {
        let nulls = match &mut self.present {
            Some(bits) => Some(NullBuffer::new(bits.read(rows)?)).filter(|nulls| nulls.null_count() > 0),
            None => None,
        };
        let count = nulls.as_ref().map_or(rows, |nulls| rows - nulls.null_count());
        let most = self.most;
        match &mut self.values {
            Values::Bits(bits) => {
                let values = bits.read(count)?;
                let values = spread_bits(values, nulls.as_ref());
                Ok(Arc::new(BooleanArray::new(values, nulls)))
            }
            Values::Bytes(bytes) => {
                let values =
                    (0..count).map(|_| bytes.next().map(|byte| byte.cast_signed())).collect::<Result<Vec<_>, _>>()?;
                Ok(primitives::<Int8Type>(values, nulls, &self.data_type))
            }
            Values::Ints(ints) => {
                let values = ints.read(count)?;
                match self.data_type {
                    DataType::Int16 => narrow::<Int16Type>(values, nulls, &self.data_type),
                    DataType::Int32 => narrow::<Int32Type>(values, nulls, &self.data_type),
                    DataType::Date32 => narrow::<Date32Type>(values, nulls, &self.data_type),
                    _ => Ok(primitives::<Int64Type>(values, nulls, &self.data_type)),
                }
            }
            Values::Floats(stream) => floats(stream, count, nulls, &self.data_type),
            Values::Direct { lengths, data } => {
                let lengths = sizes(lengths.read(count)?, most)?;
                let mut bytes = Vec::new();
                data.append(lengths.iter().sum(), &mut bytes)?;
                let mut rest = bytes.as_slice();
                let values = lengths.iter().map(|length| {
                    let (value, behind) = rest.split_at(*length);
                    rest = behind;
                    value
                });
                text(values, rows, bytes.len(), nulls, &self.data_type)
            }
            Values::Dictionary { keys, ends, data } => {
                let mut total = 0usize;
                let mut values = Vec::new();
                for key in keys.read(count)? {
                    let key = usize::try_from(key).ok().filter(|key| *key < ends.len());
                    let key = key.ok_or("a key is outside the dictionary")?;
                    let start = key.checked_sub(1).map_or(0, |before| ends[before]);
                    total += ends[key] - start;
                    if total > most {
                        return Err(TOO_LARGE);
                    }
                    values.push(&data[start..ends[key]]);
                }
                text(values.into_iter(), rows, total, nulls, &self.data_type)
            }
            Values::Times { seconds, nanoseconds } => {
                let pairs = seconds.read(count)?.into_iter().zip(nanoseconds.read(count)?);
                times(pairs, nulls, &self.data_type, &mut self.failed)
            }
            Values::List { lengths, item, items } => {
                let lengths = sizes(lengths.read(count)?, most / 4)?;
                let total = lengths.iter().sum();
                let read = items.read(total);
                let items = read.inspect_err(|_| {
                    let mut end = 0;
                    let own = lengths.iter().position(|length| {
                        end += length;
                        end > items.failed
                    });
                    self.failed = row_of(own.unwrap_or_default(), nulls.as_ref());
                })?;
                let lengths = spread(lengths, nulls.as_ref());
                let list = ListArray::try_new(Arc::clone(item), OffsetBuffer::from_lengths(lengths), items, nulls);
                list.map(|list| Arc::new(list) as ArrayRef)
                    .map_err(|_| "the lengths of lists do not match the number of values")
            }
        }
    }
}

/// Returns the ends of the entries of a dictionary.
pub(super) fn ends(lengths: Vec<i64>, most: usize) -> Result<Vec<usize>, Reason> {
    let mut end = 0;
    let lengths = sizes(lengths, most)?;
    Ok(lengths
        .into_iter()
        .map(|length| {
            end += length;
            end
        })
        .collect())
}

/// Converts lengths, none of which may be negative, and whose sum may be at most `most`.
fn sizes(lengths: Vec<i64>, most: usize) -> Result<Vec<usize>, Reason> {
    let mut total = 0usize;
    let mut sizes = Vec::with_capacity(lengths.len());
    for length in lengths {
        let length = usize::try_from(length).map_err(|_| "a length is negative")?;
        total = total.checked_add(length).filter(|total| *total <= most).ok_or(TOO_LARGE)?;
        sizes.push(length);
    }
    Ok(sizes)
}

/// Places the values at the rows without null, and the default elsewhere.
fn spread<T: Default + Clone>(values: Vec<T>, nulls: Option<&NullBuffer>) -> Vec<T> {
    let Some(nulls) = nulls else { return values };
    let mut spread = vec![T::default(); nulls.len()];
    for (row, value) in nulls.valid_indices().zip(values) {
        spread[row] = value;
    }
    spread
}

fn spread_bits(values: BooleanBuffer, nulls: Option<&NullBuffer>) -> BooleanBuffer {
    let Some(nulls) = nulls else { return values };
    let mut spread = BooleanBufferBuilder::new(nulls.len());
    spread.append_n(nulls.len(), false);
    for (row, value) in nulls.valid_indices().zip(values.iter()) {
        spread.set_bit(row, value);
    }
    spread.finish()
}

fn primitives<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> ArrayRef {
    let values = spread(values, nulls.as_ref());
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(data_type.clone()))
}

fn narrow<T: ArrowPrimitiveType>(
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef, Reason>
where
    T::Native: TryFrom<i64>,
{
    let values = values.into_iter().map(T::Native::try_from).collect::<Result<Vec<_>, _>>();
    Ok(primitives::<T>(values.map_err(|_| "a number is out of range for its type")?, nulls, data_type))
}

fn floats(
    stream: &mut Stream,
    count: usize,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef, Reason> {
    use arrow_array::types::{Float32Type, Float64Type};
    let mut bytes = Vec::new();
    if *data_type == DataType::Float32 {
        stream.append(count * 4, &mut bytes)?;
        let values = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(primitives::<Float32Type>(values, nulls, data_type))
    } else {
        stream.append(count * 8, &mut bytes)?;
        let values = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        Ok(primitives::<Float64Type>(values, nulls, data_type))
    }
}

fn text<'a>(
    values: impl Iterator<Item = &'a [u8]>,
    rows: usize,
    bytes: usize,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef, Reason> {
    let as_text = |bytes: &'a [u8]| std::str::from_utf8(bytes).map_err(|_| "text is not UTF-8");
    match data_type {
        DataType::Utf8 => strings::<Utf8Type, _>(values.map(as_text), rows, bytes, nulls),
        DataType::LargeUtf8 => strings::<LargeUtf8Type, _>(values.map(as_text), rows, bytes, nulls),
        _ => strings::<BinaryType, _>(values.map(Ok), rows, bytes, nulls),
    }
}

fn strings<'a, T: ByteArrayType, V: AsRef<T::Native> + ?Sized + 'a>(
    mut values: impl Iterator<Item = Result<&'a V, Reason>>,
    rows: usize,
    bytes: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Reason> {
    let mut builder = GenericByteBuilder::<T>::with_capacity(rows, bytes);
    for row in 0..rows {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            builder.append_null();
        } else {
            builder.append_value(values.next().ok_or("a value is missing")??);
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Returns the row of a value, which is counted without nulls.
fn row_of(value: usize, nulls: Option<&NullBuffer>) -> usize {
    match nulls {
        Some(nulls) => nulls.valid_indices().nth(value).unwrap_or_default(),
        None => value,
    }
}

fn times(
    pairs: impl Iterator<Item = (i64, i64)>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
    failed: &mut usize,
) -> Result<ArrayRef, Reason> {
    let DataType::Timestamp(unit, _) = data_type else { return Err("expected a timestamp type") };
    let mut values = Vec::new();
    for (seconds, nanoseconds) in pairs {
        let value = times::decode(seconds, nanoseconds, unit);
        values.push(value.inspect_err(|_| *failed = row_of(values.len(), nulls.as_ref()))?);
    }
    Ok(match unit {
        TimeUnit::Second => primitives::<TimestampSecondType>(values, nulls, data_type),
        TimeUnit::Millisecond => primitives::<TimestampMillisecondType>(values, nulls, data_type),
        TimeUnit::Microsecond => primitives::<TimestampMicrosecondType>(values, nulls, data_type),
        TimeUnit::Nanosecond => primitives::<TimestampNanosecondType>(values, nulls, data_type),
    })
}
