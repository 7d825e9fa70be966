//! Checks whether writers store a type of the embedded Arrow schema as the type that Parquet declares.
//!
//! Other libraries use the embedded type as the column's own. If it is another kind of value, they fail or read wrong
//! values.

use arrow_schema::{ArrowError, DataType, Fields, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The bytes before the length of a message in the current version of Arrow's stream format.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The latest version of Arrow's metadata.
const LATEST: i16 = 4;

/// Decodes the embedded schema from its text.
///
/// # Errors
/// Returns an error if the text is not a schema. The returned value may panic on hostile bytes, so use it inside `fenced`.
pub(super) fn decode(text: &str) -> Result<Schema, ArrowError> {
    let wrong = |what: String| ArrowError::ParseError(what);
    let bytes = BASE64_STANDARD.decode(text).map_err(|error| wrong(error.to_string()))?;
    // Other readers rely on the length. Older writers put it at the very beginning.
    let framed = bytes.strip_prefix(&CONTINUATION).unwrap_or(&bytes);
    let (length, message) = framed.split_first_chunk::<4>().ok_or_else(|| wrong("it is too short".to_owned()))?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok();
    let message = length.and_then(|length| message.get(..length));
    let message = message.ok_or_else(|| wrong("the length of the message differs from that of the text".to_owned()))?;
    let message = arrow_ipc::root_as_message(message).map_err(|error| wrong(error.to_string()))?;
    if !(0..=LATEST).contains(&message.version().0) {
        return Err(wrong("unknown version of the message".to_owned()));
    }
    let schema = message.header_as_schema().ok_or_else(|| wrong("the message is not a schema".to_owned()))?;
    Ok(arrow_ipc::convert::fb_to_schema(schema))
}

/// Returns the first column whose embedded type is another kind of value: its name and both types.
pub(super) fn contradiction<'a>(own: &'a Fields, advised: &'a Fields) -> Option<(&'a str, &'a DataType, &'a DataType)> {
    let mut pairs = own.iter().zip(advised);
    let other = pairs.find(|(own, advised)| !agrees(own.data_type(), advised.data_type()));
    other.map(|(own, advised)| (own.name().as_str(), own.data_type(), advised.data_type()))
}

fn agrees(own: &DataType, advised: &DataType) -> bool {
    use DataType as T;
    match (own, advised) {
        (_, T::Dictionary(_, values)) => agrees(own, values),
        (_, T::RunEndEncoded(_, values)) => agrees(own, values.data_type()),
        // A column without values may be stored as any type.
        (_, T::Null) => true,
        // Some writers do not annotate text.
        (T::Utf8 | T::Binary, T::Utf8 | T::LargeUtf8 | T::Utf8View) => true,
        (T::Binary | T::FixedSizeBinary(_), T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_)) => true,
        (T::FixedSizeBinary(_), T::Interval(_) | T::Decimal128(..) | T::Decimal256(..)) => true,
        // Files of Parquet's first version, which lacks these types.
        (T::Int64, T::UInt32 | T::Duration(_) | T::Date64 | T::Timestamp(..) | T::Time64(_)) => {
            !matches!(advised, T::Timestamp(unit, _) if *unit != arrow_schema::TimeUnit::Second)
        }
        (T::Int32, T::Time32(_)) | (T::Date32 | T::Timestamp(..), T::Date64) | (T::Timestamp(..), T::Timestamp(..)) => {
            true
        }
        (T::Time32(_) | T::Time64(_), T::Time32(_) | T::Time64(_)) => true,
        (
            T::Decimal32(_, scale) | T::Decimal64(_, scale) | T::Decimal128(_, scale) | T::Decimal256(_, scale),
            T::Decimal32(_, other) | T::Decimal64(_, other) | T::Decimal128(_, other) | T::Decimal256(_, other),
        ) => scale == other,
        (
            T::List(item),
            T::List(other)
            | T::LargeList(other)
            | T::FixedSizeList(other, _)
            | T::ListView(other)
            | T::LargeListView(other)
            | T::Map(other, _),
        )
        | (T::Map(item, _), T::Map(other, _) | T::List(other) | T::LargeList(other)) => {
            agrees(item.data_type(), other.data_type())
        }
        (T::Struct(own), T::Struct(advised)) => own.len() == advised.len() && contradiction(own, advised).is_none(),
        _ => own == advised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{Field, TimeUnit};

    #[test]
    fn types_that_writers_keep_as_others_agree() {
        use DataType as T;
        let list = |make: fn(std::sync::Arc<Field>) -> T, item| make(Field::new_list_field(item, true).into());
        let seconds = T::Timestamp(TimeUnit::Second, None);
        for (own, advised, expected) in [
            (T::Utf8, T::LargeUtf8, true),
            (T::Utf8, T::Dictionary(Box::new(T::UInt32), Box::new(T::Utf8View)), true),
            (T::Utf8, T::Binary, false),
            (T::Utf8, T::Dictionary(Box::new(T::UInt32), Box::new(T::Int64)), false),
            (T::Int64, T::Duration(TimeUnit::Millisecond), true),
            (T::Int64, seconds, true),
            (T::Int64, T::Timestamp(TimeUnit::Millisecond, None), false),
            (T::Int64, T::UInt64, false),
            (T::Float64, T::Float32, false),
            (T::Boolean, T::Int8, false),
            (list(T::List, T::Utf8), list(T::LargeList, T::LargeUtf8), true),
            (list(T::List, T::Utf8), list(T::LargeList, T::Int64), false),
        ] {
            assert_eq!(agrees(&own, &advised), expected, "{own} {advised}");
        }
    }
}
