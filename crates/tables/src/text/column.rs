//! Parses columns of a declared type from text.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, GenericByteBuilder, PrimitiveBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, LargeBinaryType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, TimeUnit};

use isomorph_model::type_name::type_name;

use super::civil::{has_zone, parse_date, parse_time, parse_timestamp};
use super::number::{parse_bool, parse_decimal, parse_int};

/// A value that cannot be parsed as its declared type: its position among the cells, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub row: usize,
    pub reason: String,
}

/// The text of a value; `None` for null.
pub(crate) type Cell<'a> = Option<Cow<'a, [u8]>>;

/// Whether columns of this type can be parsed from single texts.
pub(crate) fn is_scalar(data_type: &DataType) -> bool {
    use DataType as T;
    data_type.is_integer()
        || matches!(data_type, T::Boolean | T::Float32 | T::Float64 | T::Date32 | T::Timestamp(_, _))
        || matches!(data_type, T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary)
}

/// Whether columns of this type can be parsed from single texts: those, and types that are declared but not written.
pub(crate) fn is_parsed(data_type: &DataType) -> bool {
    use DataType as T;
    is_scalar(data_type) || matches!(data_type, T::Decimal128(_, 0..) | T::Time32(_) | T::Time64(_))
}

/// Parses a column of `data_type`, one value per cell; [`is_parsed`] must be true of `data_type`. With `refuse_zones`, a text with a
/// time zone is not a timestamp without one.
pub(crate) fn parse<'a>(
    data_type: &DataType,
    refuse_zones: bool,
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
) -> Result<ArrayRef, Refused> {
    use DataType as T;
    match data_type {
        T::Boolean => booleans(cells),
        T::Int8 => whole::<Int8Type>(data_type, cells),
        T::Int16 => whole::<Int16Type>(data_type, cells),
        T::Int32 => whole::<Int32Type>(data_type, cells),
        T::Int64 => whole::<Int64Type>(data_type, cells),
        T::UInt8 => whole::<UInt8Type>(data_type, cells),
        T::UInt16 => whole::<UInt16Type>(data_type, cells),
        T::UInt32 => whole::<UInt32Type>(data_type, cells),
        T::UInt64 => whole::<UInt64Type>(data_type, cells),
        T::Float32 => {
            primitives::<Float32Type>(data_type, cells, |text| number(text, |value: f32| value.is_infinite()))
        }
        T::Float64 => {
            primitives::<Float64Type>(data_type, cells, |text| number(text, |value: f64| value.is_infinite()))
        }
        T::Date32 => primitives::<Date32Type>(data_type, cells, parse_date),
        T::Timestamp(unit, zone) => {
            let is_local = refuse_zones && zone.is_none();
            match unit {
                TimeUnit::Second => times::<TimestampSecondType>(data_type, unit, is_local, cells),
                TimeUnit::Millisecond => times::<TimestampMillisecondType>(data_type, unit, is_local, cells),
                TimeUnit::Microsecond => times::<TimestampMicrosecondType>(data_type, unit, is_local, cells),
                TimeUnit::Nanosecond => times::<TimestampNanosecondType>(data_type, unit, is_local, cells),
            }
        }
        T::Time32(TimeUnit::Second) => clocks::<Time32SecondType>(data_type, &TimeUnit::Second, cells),
        T::Time32(unit) => clocks::<Time32MillisecondType>(data_type, unit, cells),
        T::Time64(TimeUnit::Nanosecond) => clocks::<Time64NanosecondType>(data_type, &TimeUnit::Nanosecond, cells),
        T::Time64(unit) => clocks::<Time64MicrosecondType>(data_type, unit, cells),
        T::Decimal128(precision, scale) => {
            primitives::<Decimal128Type>(data_type, cells, |text| parse_decimal(text, *precision, *scale))
        }
        T::Utf8 => text::<i32>(cells),
        T::LargeUtf8 => text::<i64>(cells),
        T::Binary => bytes::<BinaryType>(cells),
        T::LargeBinary => bytes::<LargeBinaryType>(cells),
        other => Err(Refused { row: 0, reason: format!("reading type {other} from text is not supported") }),
    }
}

fn primitives<'a, T: ArrowPrimitiveType>(
    data_type: &DataType,
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
    read: impl Fn(&[u8]) -> Option<T::Native>,
) -> Result<ArrayRef, Refused> {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(cells.len()).with_data_type(data_type.clone());
    for (row, cell) in cells.enumerate() {
        match cell {
            None => builder.append_null(),
            Some(text) => match read(&text) {
                Some(value) => builder.append_value(value),
                None => return Err(refused(row, &text, data_type)),
            },
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Parses a float; returns `None` for a number that is out of range for the type, which would become infinite.
fn number<F: std::str::FromStr + Copy>(text: &[u8], is_infinite: impl Fn(F) -> bool) -> Option<F> {
    let value = std::str::from_utf8(text).ok()?.parse().ok()?;
    // The word for infinity has no digits.
    (!is_infinite(value) || !text.iter().any(u8::is_ascii_digit)).then_some(value)
}

fn whole<'a, T: ArrowPrimitiveType>(
    data_type: &DataType,
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
) -> Result<ArrayRef, Refused>
where
    T::Native: TryFrom<i128>,
{
    primitives::<T>(data_type, cells, |text| parse_int(text).and_then(|value| value.try_into().ok()))
}

fn times<'a, T: ArrowPrimitiveType<Native = i64>>(
    data_type: &DataType,
    unit: &TimeUnit,
    is_local: bool,
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
) -> Result<ArrayRef, Refused> {
    primitives::<T>(data_type, cells, |text| match is_local && has_zone(text) {
        true => None,
        false => parse_timestamp(text, unit),
    })
}

/// Times of day.
fn clocks<'a, T: ArrowPrimitiveType>(
    data_type: &DataType,
    unit: &TimeUnit,
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
) -> Result<ArrayRef, Refused>
where
    T::Native: TryFrom<i64>,
{
    primitives::<T>(data_type, cells, |text| parse_time(text, unit).and_then(|value| value.try_into().ok()))
}

fn booleans<'a>(cells: impl ExactSizeIterator<Item = Cell<'a>>) -> Result<ArrayRef, Refused> {
    let mut builder = BooleanBuilder::with_capacity(cells.len());
    for (row, cell) in cells.enumerate() {
        match cell {
            None => builder.append_null(),
            Some(text) => {
                builder.append_value(parse_bool(&text).ok_or_else(|| refused(row, &text, &DataType::Boolean))?)
            }
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Texts, one behind another: they are checked together, which takes less time than one by one.
fn text<'a, O: OffsetSizeTrait>(cells: impl ExactSizeIterator<Item = Cell<'a>>) -> Result<ArrayRef, Refused> {
    let rows = cells.len();
    let (mut ends, mut nulls) = (Vec::with_capacity(rows + 1), NullBufferBuilder::new(rows));
    let mut values = Vec::with_capacity(rows * 8);
    ends.push(O::default());
    for (row, cell) in cells.enumerate() {
        match cell {
            None => nulls.append_null(),
            Some(bytes) => {
                nulls.append_non_null();
                values.extend_from_slice(&bytes);
            }
        }
        let reason = || "the texts of one batch take more than 2 GiB".to_owned();
        ends.push(O::from_usize(values.len()).ok_or_else(|| Refused { row, reason: reason() })?);
    }
    let offsets = OffsetBuffer::new(ends.into());
    let values = Buffer::from_vec(values);
    let texts = GenericStringArray::<O>::try_new(offsets.clone(), values.clone(), nulls.finish());
    texts.map(|texts| Arc::new(texts) as ArrayRef).map_err(|error| {
        // Nothing but UTF-8 can be wrong: a character may not be divided between two texts either.
        let first = offsets.windows(2).enumerate().find_map(|(row, ends)| {
            let error = std::str::from_utf8(values.get(ends[0].as_usize()..ends[1].as_usize())?).err()?;
            Some(Refused { row, reason: format!("the text is not UTF-8 after byte {}", error.valid_up_to()) })
        });
        first.unwrap_or_else(|| Refused { row: 0, reason: error.to_string() })
    })
}

fn bytes<'a, T: ByteArrayType<Native = [u8]>>(
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
) -> Result<ArrayRef, Refused> {
    let mut builder = GenericByteBuilder::<T>::with_capacity(cells.len(), cells.len() * 8);
    for cell in cells {
        match cell {
            None => builder.append_null(),
            Some(bytes) => builder.append_value(&*bytes),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn refused(row: usize, text: &[u8], data_type: &DataType) -> Refused {
    let is_number = || std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok());
    let is_zoned = || matches!(data_type, DataType::Timestamp(unit, None) if has_zone(text) && parse_timestamp(text, unit).is_some());
    let reason = match data_type.is_floating() && is_number() {
        _ if is_zoned() => {
            format!(
                "{} has a time zone, and the column has timestamps without one: declare WITH TIME ZONE",
                excerpt(text)
            )
        }
        true => format!("{} is too large for {data_type}", excerpt(text)),
        false => format!("{} is not a value of type {}", excerpt(text), type_name(data_type)),
    };
    Refused { row, reason }
}

/// Quotes the beginning of a text, for messages.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}
