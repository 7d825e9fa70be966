//! Converts columns of any type to text. Different values never become the same text, and no value becomes null. Text and
//! bytes are unchanged, plain values have the form of Arrow's conversion to text, and lists are JSON. Values without such a
//! form are refused.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};

use super::push_string;

const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow_cast::display::FormatOptions::new().with_display_error(false) };

/// Returns the column as text.
///
/// # Errors
/// [`isomorph_error::Kind::Malformed`] for bytes that are not UTF-8, for a timestamp outside the calendar, and for nested
/// types other than lists.
pub fn texts(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Utf8 => Ok(Arc::clone(column)),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Ok(Arc::new(json(column)?)),
        data_type if is_plain(data_type) => cast_with_options(column, &DataType::Utf8, &STRICT).map_err(|error| {
            use DataType as T;
            let bytes = matches!(data_type, T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_));
            Error::malformed(if bytes { "bytes are not UTF-8".to_owned() } else { error.to_string() })
        }),
        data_type => Err(Error::malformed(format!("values of type {data_type} cannot be read as text"))),
    }
}

/// Whether values are scalars whose text is lossless.
fn is_plain(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type,
        T::Null
            | T::Boolean
            | T::Utf8
            | T::LargeUtf8
            | T::Utf8View
            | T::Binary
            | T::LargeBinary
            | T::BinaryView
            | T::FixedSizeBinary(_)
            | T::Date32
            | T::Date64
            | T::Time32(_)
            | T::Time64(_)
            | T::Timestamp(..)
            | T::Decimal128(..)
            | T::Decimal256(..)
    ) || data_type.is_integer()
        || data_type.is_floating()
        || matches!(data_type, T::Dictionary(_, values) if is_plain(values))
}

/// Returns the values as JSON: numbers and booleans unquoted, lists as arrays, everything else quoted.
fn json(column: &ArrayRef) -> Result<StringArray> {
    let list: ListArray = match column.data_type() {
        DataType::List(_) => column.as_list::<i32>().clone(),
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let list = cast_with_options(column, &DataType::List(Arc::clone(item)), &STRICT);
            list.map_err(|error| Error::malformed(error.to_string()))?.as_list::<i32>().clone()
        }
        data_type => {
            let bare = data_type.is_integer() || *data_type == DataType::Boolean;
            let bare = |text: &str| bare || data_type.is_floating() && text.parse().is_ok_and(f64::is_finite);
            let texts = texts(column)?;
            let spelt = |text: &str| {
                let mut out = String::new();
                if bare(text) {
                    out.push_str(text)
                } else {
                    push_string(&mut out, text)
                }
                out
            };
            return Ok(texts.as_string::<i32>().iter().map(|text| text.map(spelt)).collect());
        }
    };
    // Items outside all lists are skipped: they may have any value.
    let row = |row: usize| {
        if list.is_null(row) {
            return Ok(None);
        }
        let items = json(&list.value(row))?;
        let items: Vec<&str> = items.iter().map(|item| item.unwrap_or("null")).collect();
        Ok(Some(format!("[{}]", items.join(","))))
    };
    (0..list.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::types::Int64Type;
    use arrow_array::{BinaryArray, BooleanArray, Float64Array, Int64Array, TimestampSecondArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::Field;

    use super::*;

    fn shown(column: impl Array + 'static) -> Vec<Option<String>> {
        let column = texts(&(Arc::new(column) as ArrayRef)).unwrap();
        column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    fn is_refused(column: impl Array + 'static) -> bool {
        texts(&(Arc::new(column) as ArrayRef)).is_err()
    }

    fn one_list(values: impl Array + 'static) -> ListArray {
        let field = Arc::new(Field::new("item", values.data_type().clone(), true));
        ListArray::new(field, OffsetBuffer::from_lengths([values.len()]), Arc::new(values), None)
    }

    #[test]
    fn bytes_are_text_or_refused_and_never_null() {
        assert_eq!(shown(BinaryArray::from_opt_vec(vec![Some(b"ok"), None])), [Some("ok".to_owned()), None]);
        assert!(is_refused(BinaryArray::from_vec(vec![b"ok", b"\xff\xfe"])));
        assert!(is_refused(one_list(BinaryArray::from_vec(vec![b"\xff\xfe"]))));
    }

    #[test]
    fn different_lists_are_different_texts() {
        let mut builder = ListBuilder::new(StringBuilder::new());
        builder.append_value([Some("a, b")]);
        builder.append_value([Some("a"), Some("b")]);
        builder.append_value([None::<&str>]);
        builder.append_value([Some("")]);
        builder.append_value([Some("null")]);
        builder.append_null();
        let rows = shown(one_list(builder.finish()));
        assert_eq!(rows, [Some(r#"[["a, b"],["a","b"],[null],[""],["null"],null]"#.to_owned())]);
        assert_eq!(shown(one_list(BooleanArray::from(vec![Some(true), None]))), [Some("[true,null]".to_owned())]);
        assert_eq!(shown(one_list(Float64Array::from(vec![1.5, f64::NAN]))), [Some(r#"[1.5,"NaN"]"#.to_owned())]);
        let fixed = arrow_array::FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1), None])], 2);
        assert_eq!(shown(fixed), [Some("[1,null]".to_owned())]);
    }

    #[test]
    fn what_has_no_text_is_refused() {
        assert_eq!(shown(Int64Array::from(vec![Some(-7), None])), [Some("-7".to_owned()), None]);
        let far = || TimestampSecondArray::from(vec![i64::MAX]);
        assert!(is_refused(far()));
        assert!(is_refused(one_list(far())));
        let pair = arrow_array::StructArray::from(vec![(
            Arc::new(Field::new("a", DataType::Int64, true)),
            Arc::new(Int64Array::from(vec![1])) as ArrayRef,
        )]);
        assert!(is_refused(pair));
    }
}
