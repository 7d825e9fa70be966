//! Converts cells to another type, and back.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, new_null_array};
use arrow_schema::{DataType, Field, TimeUnit};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::Property;
use isomorph_model::json::{self, Value};
use isomorph_model::type_name::list_of;

use super::has_plain;
use crate::mapping::arrays::{malformed, same_bits};
use crate::mapping::declare::cast;
use crate::mapping::exact_cast::exact_cast;
use crate::mapping::json_in::JsonColumn;
use crate::mapping::json_out::JsonCells;

/// How a column is converted to another type.
pub(in crate::mapping) enum Way {
    Same,
    /// To the equal value of a declared type.
    Restore(DataType),
    /// To an equal value.
    Cast(DataType),
    /// To the value with the same bits.
    Bits(DataType),
    /// To null.
    Nothing,
    /// Item by item.
    Items(Box<Way>, DataType),
    /// One conversion, then another.
    Both(Box<Way>, Box<Way>),
    /// To text.
    Write(Property),
    /// From text.
    Read(Property),
}

impl Way {
    /// From a property of the graph to its form in the format.
    pub fn there(from: &Property, to: &Property) -> Way {
        if !is_written(from, to) {
            return Way::between(&from.data_type, &to.data_type);
        }
        let normal = normal_of(from);
        then(Way::between(&from.data_type, &normal.data_type), Way::Write(normal))
    }

    /// The inverse.
    pub fn back(from: &Property, to: &Property) -> Way {
        if !is_written(from, to) {
            return Way::between(&to.data_type, &from.data_type);
        }
        let normal = normal_of(from);
        let last = Way::between(&normal.data_type, &from.data_type);
        then(Way::Read(normal), last)
    }

    /// From a type to another that can hold its values, or back.
    pub fn between(from: &DataType, to: &DataType) -> Way {
        use DataType as T;
        match (from, to) {
            _ if from == to => Way::Same,
            (T::UInt64, T::Int64) | (T::Int64, T::UInt64 | T::Duration(_)) | (T::Duration(_), T::Int64) => {
                Way::Bits(to.clone())
            }
            (T::Timestamp(one, _), T::Timestamp(other, _)) if one == other => Way::Bits(to.clone()),
            (T::Timestamp(_, Some(_)), T::Timestamp(unit, None)) => {
                // In the UTC calendar, whatever the zone.
                let same = T::Timestamp(*unit, Some("UTC".into()));
                then(Way::Cast(same), Way::Bits(to.clone()))
            }
            (T::Timestamp(unit, None), T::Timestamp(_, Some(_))) => {
                let same = T::Timestamp(*unit, Some("UTC".into()));
                then(Way::Bits(same), Way::Cast(to.clone()))
            }
            (T::Date64, T::Timestamp(TimeUnit::Millisecond, None))
            | (T::Timestamp(TimeUnit::Millisecond, None), T::Date64) => Way::Bits(to.clone()),
            (_, T::Null) => Way::Nothing,
            (T::LargeList(_) | T::FixedSizeList(..) | T::ListView(_) | T::LargeListView(_), T::List(_)) => {
                let normal = normal(from);
                then(Way::Cast(normal.clone()), Way::between(&normal, to))
            }
            (T::List(_), T::LargeList(_) | T::FixedSizeList(..) | T::ListView(_) | T::LargeListView(_)) => {
                let normal = normal(to);
                then(Way::between(from, &normal), Way::Cast(to.clone()))
            }
            (T::List(one), T::List(other)) => {
                Way::Items(Box::new(Way::between(one.data_type(), other.data_type())), to.clone())
            }
            _ => Way::Cast(to.clone()),
        }
    }

    /// Converts the column.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`] if a value cannot be represented, [`Kind::Malformed`] if a text is not a value.
    pub fn convert(&self, column: &ArrayRef) -> Result<ArrayRef> {
        Ok(match self {
            Way::Same => Arc::clone(column),
            Way::Restore(to) => cast(column, to)?,
            Way::Cast(to) => {
                let misfit = |error| Error::new(Kind::WouldLose, format!("a value does not fit {to}")).caused_by(error);
                exact_cast(column, to).map_err(misfit)?
            }
            Way::Bits(to) => same_bits(column, to)?,
            Way::Nothing => new_null_array(&DataType::Null, column.len()),
            Way::Items(way, to) => {
                let (Some(lists), DataType::List(field)) = (column.as_list_opt::<i32>(), to) else {
                    return Err(Error::usage("a column is not a list"));
                };
                let items = way.convert(lists.values())?;
                let lists =
                    ListArray::try_new(Arc::clone(field), lists.offsets().clone(), items, lists.nulls().cloned());
                Arc::new(lists.map_err(malformed)?)
            }
            Way::Both(first, second) => second.convert(&first.convert(column)?)?,
            Way::Write(property) => write(property, column)?,
            Way::Read(property) => read(property, column)?,
        })
    }
}

fn then(first: Way, second: Way) -> Way {
    match (first, second) {
        (Way::Same, only) | (only, Way::Same) => only,
        (first, second) => Way::Both(Box::new(first), Box::new(second)),
    }
}

fn is_text(data_type: &DataType) -> bool {
    *data_type == DataType::Utf8
}

/// Whether values of a property that are not text become text.
fn is_written(from: &Property, to: &Property) -> bool {
    let is_other = !is_text(&normal(&from.data_type)) && from.data_type != DataType::Null;
    has_plain(&from.kind) && is_text(&to.data_type) && is_other
}

/// The common variant of a type: of text, bytes and lists, also within fields.
pub(super) fn normal(data_type: &DataType) -> DataType {
    use DataType as T;
    match data_type {
        T::LargeUtf8 | T::Utf8View => T::Utf8,
        T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Date64 => T::Timestamp(TimeUnit::Millisecond, None),
        T::Float16 => T::Float32,
        T::Dictionary(_, values) => normal(values),
        T::List(item) | T::LargeList(item) | T::FixedSizeList(item, _) | T::ListView(item) | T::LargeListView(item) => {
            list_of(normal(item.data_type()))
        }
        T::Struct(fields) => {
            let field = |field: &Arc<Field>| Field::new(field.name(), normal(field.data_type()), true);
            T::Struct(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

fn normal_of(property: &Property) -> Property {
    Property { data_type: normal(&property.data_type), ..property.clone() }
}

/// Checks that a property can be read back from its text.
///
/// # Errors
/// Returns [`Kind::Unsupported`] if its type has no text form.
pub(super) fn check(from: &Property, to: &Property) -> Result<()> {
    if is_written(from, to) { JsonColumn::new(&normal_of(from)).map(|_| ()) } else { Ok(()) }
}

/// Values as JSON text; a single value that is text in JSON as that text.
fn write(property: &Property, column: &ArrayRef) -> Result<ArrayRef> {
    let cells = JsonCells::new(property, column.as_ref())?;
    let mut texts = StringBuilder::with_capacity(column.len(), column.len() * 16);
    let mut text = String::new();
    for row in 0..column.len() {
        text.clear();
        if !cells.push(row, &mut text) {
            texts.append_null();
        } else if text.starts_with('"') {
            match json::value(&text)? {
                Value::Text(inner) => texts.append_value(inner),
                _ => texts.append_value(&text),
            }
        } else {
            texts.append_value(&text);
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// Reads the values of texts that [`write`] wrote.
fn read(property: &Property, column: &ArrayRef) -> Result<ArrayRef> {
    let texts = column.as_string_opt::<i32>().ok_or_else(|| Error::usage("a column is not text"))?;
    let is_spelled = matches!(
        property.data_type,
        DataType::Binary | DataType::Time32(_) | DataType::Time64(_) | DataType::Date32 | DataType::Timestamp(..)
    );
    let is_number = |text: &str| property.data_type != DataType::Binary && text.parse::<i64>().is_ok();
    let mut values = JsonColumn::new(property)?;
    let mut quoted = String::new();
    for text in texts {
        match text {
            None => values.push_null(),
            Some(text) if is_spelled && !is_number(text) => {
                quoted.clear();
                json::push_string(&mut quoted, text);
                values.push(&quoted)?;
            }
            Some(text) => values.push(text)?,
        }
    }
    values.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::types::{Int32Type, UInt8Type};
    use arrow_array::{
        BinaryArray, Date64Array, Decimal128Array, Decimal256Array, DurationSecondArray, FixedSizeBinaryArray,
        Float32Array, Int64Array, StructArray, Time32SecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
        UInt64Array,
    };
    use arrow_buffer::i256;

    use super::*;

    /// Converts there and back; returns the intermediate column.
    fn survives(column: ArrayRef, to: DataType) -> ArrayRef {
        let from = Property::new("p", column.data_type().clone());
        let to = Property::new("p", to);
        let there = Way::there(&from, &to).convert(&column).unwrap();
        assert_eq!(*there.data_type(), to.data_type);
        let back = Way::back(&from, &to).convert(&there).unwrap();
        assert_eq!(&back, &column);
        there
    }

    #[test]
    fn every_value_comes_back() {
        let text = |column: ArrayRef| -> Vec<Option<String>> {
            let texts = survives(column, DataType::Utf8);
            texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
        };
        let some = |texts: &[Option<&str>]| -> Vec<Option<String>> {
            texts.iter().map(|text| text.map(str::to_owned)).collect()
        };
        let bytes = BinaryArray::from(vec![Some(&b"\xd7\x6d\xf8"[..]), Some(b""), None]);
        assert_eq!(text(Arc::new(bytes)), some(&[Some("1234"), Some(""), None]));
        let decimals = Decimal128Array::from(vec![Some(-150), Some(0), None]).with_precision_and_scale(38, 2).unwrap();
        assert_eq!(text(Arc::new(decimals)), some(&[Some("-1.50"), Some("0.00"), None]));
        let wide = Decimal256Array::from(vec![Some(i256::from_i128(i128::MAX)), Some(i256::from(-1)), None]);
        let wide = wide.with_precision_and_scale(50, 3).unwrap();
        let expected = some(&[Some("170141183460469231731687303715884105.727"), Some("-0.001"), None]);
        assert_eq!(text(Arc::new(wide)), expected);
        let times = Time64NanosecondArray::from(vec![Some(1), Some(90_000_000_000_000), None]);
        assert_eq!(text(Arc::new(times)), some(&[Some("00:00:00.000000001"), Some("90000000000000"), None]));
        let times = Time32SecondArray::from(vec![Some(86_399), None]);
        assert_eq!(text(Arc::new(times)), some(&[Some("23:59:59"), None]));
        let fixed = FixedSizeBinaryArray::try_from_iter([[0u8; 3], [255; 3]].into_iter()).unwrap();
        assert_eq!(text(Arc::new(fixed)), some(&[Some("AAAA"), Some("////")]));
        let lists = ListArray::from_iter_primitive::<UInt8Type, _, _>([Some(vec![Some(1), None]), Some(vec![]), None]);
        assert_eq!(text(as_normal(Arc::new(lists))), some(&[Some("[1,null]"), Some("[]"), None]));
    }

    /// Lists with the usual name of items.
    fn as_normal(column: ArrayRef) -> ArrayRef {
        let to = normal(column.data_type());
        Way::Items(Box::new(Way::Same), to).convert(&column).unwrap()
    }

    #[test]
    fn parts_of_values_come_back() {
        let fields = vec![
            Arc::new(Field::new("a", DataType::Int64, true)),
            Arc::new(Field::new("b \"c\"", DataType::Float32, true)),
        ];
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![Some(1), None, None])),
            Arc::new(Float32Array::from(vec![Some(0.1), Some(f32::NAN), None])),
        ];
        let nulls = Some(vec![true, true, false].into());
        let structs = StructArray::new(fields.into(), columns, nulls);
        let texts = survives(Arc::new(structs), DataType::Utf8);
        assert_eq!(texts.as_string::<i32>().value(0), r#"{"a":1,"b \"c\"":0.10000000149011612}"#);
        assert_eq!(texts.as_string::<i32>().value(1), r#"{"b \"c\"":"NaN"}"#);
    }

    #[test]
    fn the_same_bits_are_other_values() {
        let numbers = survives(Arc::new(UInt64Array::from(vec![Some(u64::MAX), Some(1), None])), DataType::Int64);
        assert_eq!(numbers.as_ref(), &Int64Array::from(vec![Some(-1), Some(1), None]) as &dyn Array);
        survives(Arc::new(DurationSecondArray::from(vec![Some(-1), None])), DataType::Int64);
        survives(
            Arc::new(Date64Array::from(vec![Some(86_400_001), None])),
            DataType::Timestamp(TimeUnit::Millisecond, None),
        );
        let zoned = TimestampMicrosecondArray::from(vec![Some(-1), None]).with_timezone("+02:00");
        survives(Arc::new(zoned), DataType::Timestamp(TimeUnit::Microsecond, None));
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None]);
        survives(as_normal(Arc::new(lists)), list_of(DataType::Int64));
    }
}
