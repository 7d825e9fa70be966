//! Further columns as text in which equal values are equal, also for text files, which do not state types.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, new_null_array};
use arrow_cast::{can_cast_types, cast};
use arrow_schema::{DataType, FieldRef, TimeUnit};
use isomorph_error::{Error, Result};
use isomorph_model::json::texts;

use super::canonical::push_compact;

/// The spelling of a column's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The values in their own type. Null stays null.
    Own,
    /// As values of this type, if they can be read as such; null is the empty text, here and below.
    Read(DataType),
    /// As decimals without trailing zeros.
    Decimal,
    /// As JSON without spaces.
    Json,
    /// Unchanged.
    Text,
    /// Not compared: bytes and structs have no unique text form.
    Unseen,
}

impl Spelling {
    /// Returns the spelling in which values of a type equal their text in a text file. The text is never read as a narrower
    /// type: a timestamp is not truncated to seconds, and a decimal not rounded.
    pub fn of(data_type: &DataType) -> Spelling {
        use DataType as T;
        match data_type {
            T::Date32 | T::Date64 | T::Timestamp(_, None) => Spelling::Read(T::Timestamp(TimeUnit::Nanosecond, None)),
            T::Timestamp(_, Some(_)) => Spelling::Read(T::Timestamp(TimeUnit::Nanosecond, Some("+00:00".into()))),
            T::Time32(_) | T::Time64(_) => Spelling::Read(T::Time64(TimeUnit::Nanosecond)),
            T::Boolean => Spelling::Read(T::Boolean),
            number if number.is_integer() || number.is_floating() => Spelling::Read(number.clone()),
            T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => Spelling::Decimal,
            list if is_readable(list) => Spelling::Json,
            T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Null | T::Duration(_) => Spelling::Text,
            _ => Spelling::Unseen,
        }
    }

    /// Returns the values of a column in this spelling.
    ///
    /// # Errors
    /// Returns an error if a value has no text form.
    pub fn texts(&self, column: &ArrayRef) -> Result<ArrayRef> {
        match self {
            // In display form, different lists can have the same text.
            Spelling::Own => texts(column),
            Spelling::Read(data_type) => read(column, data_type),
            Spelling::Decimal => each(column, |text| Ok(without_zeros(text).to_owned())),
            Spelling::Text => each(column, |text| Ok(text.to_owned())),
            Spelling::Unseen => Ok(self.nothing(column.len())),
            Spelling::Json => each(&widened(column)?, |text| {
                let mut compact = String::new();
                // A text that is not JSON is not a list.
                Ok(push_compact(text, &mut compact).map_or_else(|_| text.to_owned(), |()| compact))
            }),
        }
    }

    /// Returns the values of a column that a file does not have.
    pub fn nothing(&self, rows: usize) -> ArrayRef {
        match self {
            Spelling::Own => new_null_array(&DataType::Utf8, rows),
            _ => Arc::new(StringArray::from_iter_values(std::iter::repeat_n("", rows))),
        }
    }
}

/// Returns whether a type is a list of values with a unique form in JSON.
fn is_readable(data_type: &DataType) -> bool {
    use DataType as T;
    let (T::List(item) | T::LargeList(item) | T::FixedSizeList(item, _)) = data_type else { return false };
    let item = item.data_type();
    let is_text = matches!(item, T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Boolean | T::Null);
    is_text || item.is_integer() || item.is_floating() || matches!(item, T::Date32) || is_readable(item)
}

/// Widens lists of floats to 64 bits, as they are written.
fn widened(column: &ArrayRef) -> Result<ArrayRef> {
    match wide(column.data_type()) {
        wide if wide == *column.data_type() => Ok(Arc::clone(column)),
        wide => cast(column, &wide).map_err(|error| Error::malformed(format!("rows cannot be compared: {error}"))),
    }
}

fn wide(data_type: &DataType) -> DataType {
    use DataType as T;
    let of = |item: &FieldRef| Arc::new(item.as_ref().clone().with_data_type(wide(item.data_type())));
    match data_type {
        T::Float16 | T::Float32 => T::Float64,
        T::List(item) => T::List(of(item)),
        T::LargeList(item) => T::LargeList(of(item)),
        T::FixedSizeList(item, length) => T::FixedSizeList(of(item), *length),
        other => other.clone(),
    }
}

/// Returns the changed text of each value; the text of null is empty.
fn each(column: &ArrayRef, change: impl Fn(&str) -> Result<String>) -> Result<ArrayRef> {
    let column = texts(column)?;
    let changed = column.as_string::<i32>().iter().map(|text| text.map_or(Ok(String::new()), &change));
    Ok(Arc::new(StringArray::from_iter_values(changed.collect::<Result<Vec<_>>>()?)))
}

/// Returns the text of each value read as `data_type`, or its own text if it cannot be read.
fn read(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if !can_cast_types(column.data_type(), data_type) {
        return each(column, |text| Ok(text.to_owned()));
    }
    // Null if a value cannot be read: then its own text is used, so that nothing is compared as null.
    let read =
        cast(column, data_type).map_err(|error| Error::malformed(format!("rows cannot be compared: {error}")))?;
    let all_read = read.null_count() == column.null_count();
    let own = if all_read { None } else { Some(texts(column)?) };
    let read = texts(&read)?;
    let read = read.as_string::<i32>();
    let own = own.as_ref().map(|own| own.as_string::<i32>());
    let value = |row: usize| match own {
        _ if read.is_valid(row) => read.value(row),
        Some(own) if own.is_valid(row) => own.value(row),
        _ => "",
    };
    // A timestamp outside the range of nanoseconds is spelled with a `T` or a space.
    let is_moment = matches!(data_type, DataType::Timestamp(..));
    let plain = |text: &str| if is_moment { text.replacen('T', " ", 1) } else { text.to_owned() };
    Ok(Arc::new(StringArray::from_iter_values((0..column.len()).map(|row| plain(value(row))))))
}

/// Returns a decimal without trailing zeros after the point.
fn without_zeros(text: &str) -> &str {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_decimal = digits.contains('.') && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_decimal { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{BooleanArray, Date32Array, Decimal128Array, Int64Array, TimestampSecondArray};

    use super::*;

    /// Checks the values of a column against texts with the same meaning and with another one.
    fn meets(column: impl Array + 'static, same: &[&str], other: &[&str]) {
        let column: ArrayRef = Arc::new(column);
        let spelling = Spelling::of(column.data_type());
        let wanted = spelling.texts(&column).unwrap();
        for (texts, equal) in [(same, true), (other, false)] {
            for text in texts {
                let read: ArrayRef = Arc::new(StringArray::from(vec![Some(*text), None]));
                assert_eq!(*spelling.texts(&read).unwrap() == *wanted, equal, "{} and {text:?}", column.data_type());
            }
        }
    }

    #[test]
    fn a_text_is_read_as_the_type_of_the_table() {
        meets(Int64Array::from(vec![Some(5), None]), &["5", "05"], &["6", "5.5", "x", ""]);
        meets(Int64Array::from(vec![None, None]), &[""], &["0", "null"]);
        meets(arrow_array::Float32Array::from(vec![Some(0.1), None]), &["0.1", "1e-1"], &["0.2"]);
        meets(BooleanArray::from(vec![Some(true), None]), &["True", "true"], &["False", "yes!"]);
        meets(Date32Array::from(vec![Some(1), None]), &["1970-01-02", "1970-01-02 00:00:00"], &["1970-01-02 05:00:00"]);
        let moment = TimestampSecondArray::from(vec![Some(1), None]);
        meets(moment, &["1970-01-01 00:00:01", "1970-01-01T00:00:01"], &["1970-01-01 00:00:01.5"]);
        let decimal = Decimal128Array::from(vec![Some(150), None]).with_precision_and_scale(9, 2).unwrap();
        meets(decimal, &["1.5", "1.50"], &["1.504", "15"]);
        meets(StringArray::from(vec![Some("05"), None]), &["05"], &["5"]);
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("a, b")]);
        lists.append_null();
        let far = || TimestampSecondArray::from(vec![Some(-62_135_500_000), None]);
        meets(far(), &["0001-01-02 02:53:20", "0001-01-02T02:53:20"], &["0001-01-02 02:53:21"]);
        let mut floats = ListBuilder::new(arrow_array::builder::Float32Builder::new());
        floats.append_value([Some(0.1)]);
        floats.append_null();
        meets(floats.finish(), &["[0.10000000149011612]"], &["[0.2]"]);
        meets(arrow_array::BinaryArray::from_opt_vec(vec![Some(b"\xff"), None]), &["/w==", "?"], &[]);
        meets(lists.finish(), &[r#"["a, b"]"#, r#"[ "a, b" ]"#], &[r#"["a","b"]"#, "[a, b]"]);
    }
}
