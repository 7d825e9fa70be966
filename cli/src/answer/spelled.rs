//! Values for which an output has no type, as texts: durations and intervals in ISO 8601, as openCypher writes them; bytes in base64; maps as
//! lists of keys and values. Floats of 32 bits are doubles with the same digits.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{DurationNanosecondType, DurationSecondType, Float32Type, IntervalMonthDayNanoType};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float64Array, GenericListArray, OffsetSizeTrait, RecordBatch,
    RecordBatchOptions, StringArray, StructArray,
};
use arrow_cast::base64::{BASE64_STANDARD, b64_encode};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};
use isomorph::model::duration;
use isomorph::{Error, Result};

type Outcome<T> = std::result::Result<T, ArrowError>;

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// The columns of an answer with these texts.
pub struct Spelled {
    schema: SchemaRef,
    changed: Vec<bool>,
}

impl Spelled {
    /// Columns of this schema; `in_text` for an output that is a text.
    pub fn new(schema: &SchemaRef, in_text: bool) -> Spelled {
        let types: Vec<Option<DataType>> =
            schema.fields().iter().map(|field| spelled_type(field.data_type(), in_text)).collect();
        let changed = types.iter().map(Option::is_some).collect();
        let fields = schema.fields().iter().zip(types).map(|(field, other)| match other {
            Some(other) => Arc::new(Field::clone(field).with_data_type(other)),
            None => Arc::clone(field),
        });
        let fields: Fields = fields.collect();
        Spelled { schema: Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())), changed }
    }

    /// The schema with texts.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows with texts.
    ///
    /// # Errors
    /// If a value has no text.
    pub fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        if !self.changed.contains(&true) {
            return Ok(batch.clone());
        }
        let columns = batch.columns().iter().zip(self.schema.fields()).zip(&self.changed);
        let columns = columns.map(|((column, field), changed)| match changed {
            true => spelled(column, field.data_type()),
            false => Ok(ArrayRef::clone(column)),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        columns
            .collect::<Outcome<Vec<_>>>()
            .and_then(|columns| RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options))
            .map_err(|error| Error::malformed("a value of the answer cannot be written").caused_by(error))
    }
}

/// The type with texts in the place of what is spelled; `None` if nothing is.
fn spelled_type(data_type: &DataType, in_text: bool) -> Option<DataType> {
    use DataType as T;
    let item = |field: &Arc<Field>| {
        spelled_type(field.data_type(), in_text).map(|other| Arc::new(Field::clone(field).with_data_type(other)))
    };
    match data_type {
        T::Interval(_) => Some(T::Utf8),
        T::Duration(_) | T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => {
            in_text.then_some(T::Utf8)
        }
        // In JSON, a number is a double to most readers: the one that has the digits of the float.
        T::Float32 => in_text.then_some(T::Float64),
        T::Dictionary(_, values) => spelled_type(values, in_text),
        T::List(field) => item(field).map(T::List),
        T::LargeList(field) => item(field).map(T::LargeList),
        T::FixedSizeList(field, size) => item(field).map(|field| T::FixedSizeList(field, *size)),
        // Texts have no maps with keys of any type.
        T::Map(entries, _) if in_text => Some(T::List(item(entries).unwrap_or_else(|| Arc::clone(entries)))),
        T::Struct(fields) => {
            let all: Vec<Option<Arc<Field>>> = fields.iter().map(item).collect();
            let is_changed = all.iter().any(Option::is_some);
            let fields = fields.iter().zip(all).map(|(own, other)| other.unwrap_or_else(|| Arc::clone(own)));
            is_changed.then(|| T::Struct(fields.collect()))
        }
        _ => None,
    }
}

/// A column as one of this type, which `spelled_type` made of its own.
fn spelled(column: &ArrayRef, to: &DataType) -> Outcome<ArrayRef> {
    use DataType as T;
    Ok(match (column.data_type(), to) {
        (own, to) if own == to => ArrayRef::clone(column),
        (T::Duration(TimeUnit::Nanosecond), _) => {
            let values = column.as_primitive::<DurationNanosecondType>();
            texts(values.iter().map(|value| value.map(|value| of_time(0, 0, value))))
        }
        // Seconds of 64 bits have no room in nanoseconds.
        (T::Duration(unit), _) => {
            let in_second = match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond | TimeUnit::Nanosecond => 1_000_000,
            };
            let counts = column.to_data().into_builder().data_type(T::Duration(TimeUnit::Second)).build()?;
            let counts = arrow_array::make_array(counts);
            let of = |count: i64| {
                let (seconds, parts) = (count.div_euclid(in_second), count.rem_euclid(in_second));
                duration::text(0, 0, seconds, parts * (SECOND / in_second))
            };
            texts(counts.as_primitive::<DurationSecondType>().iter().map(|count| count.map(of)))
        }
        (T::Interval(unit), _) => {
            let wide = match unit {
                IntervalUnit::MonthDayNano => ArrayRef::clone(column),
                IntervalUnit::YearMonth | IntervalUnit::DayTime => {
                    cast(column, &T::Interval(IntervalUnit::MonthDayNano))?
                }
            };
            texts(
                wide.as_primitive::<IntervalMonthDayNanoType>()
                    .iter()
                    .map(|value| value.map(|value| of_time(value.months.into(), value.days.into(), value.nanoseconds))),
            )
        }
        (T::Float32, _) => {
            let floats = column.as_primitive::<Float32Type>();
            Arc::new(floats.iter().map(|value| value.map(with_its_digits)).collect::<Float64Array>())
        }
        (T::Binary, _) => Arc::new(b64_encode(&BASE64_STANDARD, column.as_binary::<i32>())),
        (T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_), _) => spelled(&cast(column, &T::Binary)?, to)?,
        (T::Dictionary(_, values), _) => spelled(&cast(column, values)?, to)?,
        (T::List(_), T::List(field)) => list(column.as_list::<i32>(), field)?,
        (T::LargeList(_), T::LargeList(field)) => list(column.as_list::<i64>(), field)?,
        (T::Map(..), T::List(field)) => {
            let map = column.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let (offsets, values) = (map.offsets().clone(), spelled(&entries, field.data_type())?);
            Arc::new(GenericListArray::<i32>::try_new(Arc::clone(field), offsets, values, map.nulls().cloned())?)
        }
        (T::FixedSizeList(..), T::FixedSizeList(field, size)) => {
            let lists = column.as_fixed_size_list();
            let values = spelled(lists.values(), field.data_type())?;
            Arc::new(FixedSizeListArray::try_new(Arc::clone(field), *size, values, lists.nulls().cloned())?)
        }
        (T::Struct(_), T::Struct(fields)) => {
            let object = column.as_struct();
            let values = object.columns().iter().zip(fields).map(|(value, field)| spelled(value, field.data_type()));
            let values = values.collect::<Outcome<Vec<_>>>()?;
            let nulls = object.nulls().cloned();
            Arc::new(StructArray::try_new_with_length(fields.clone(), values, nulls, object.len())?)
        }
        (_, to) => cast(column, to)?,
    })
}

/// The double with the shortest digits that tell a float from others: 0.1, not 0.10000000149011612.
fn with_its_digits(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}

fn of_time(months: i64, days: i64, nanoseconds: i64) -> String {
    duration::text(months, days, nanoseconds.div_euclid(SECOND), nanoseconds.rem_euclid(SECOND))
}

fn texts(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(StringArray::from_iter(values))
}

fn list<O: OffsetSizeTrait>(lists: &GenericListArray<O>, field: &Arc<Field>) -> Outcome<ArrayRef> {
    let values = spelled(lists.values(), field.data_type())?;
    let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
    Ok(Arc::new(GenericListArray::try_new(Arc::clone(field), offsets, values, nulls)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::types::{Int32Type, IntervalDayTime, IntervalMonthDayNano};
    use arrow_array::*;

    use super::*;

    fn of(column: ArrayRef, in_text: bool) -> (DataType, Vec<Option<String>>) {
        let batch = RecordBatch::try_from_iter_with_nullable([("x", column, true)]).unwrap();
        let spelled = Spelled::new(&batch.schema(), in_text);
        let batch = spelled.batch(&batch).unwrap();
        assert_eq!(batch.schema().field(0).data_type(), batch.column(0).data_type());
        let texts = cast(batch.column(0), &DataType::Utf8).unwrap();
        (
            batch.column(0).data_type().clone(),
            texts.as_string::<i32>().iter().map(|text| text.map(ToOwned::to_owned)).collect(),
        )
    }

    #[test]
    fn durations_and_bytes_are_texts() {
        let all: [(ArrayRef, &str); 10] = [
            (Arc::new(DurationSecondArray::from(vec![Some(86_400), None])), "PT24H"),
            (Arc::new(DurationMillisecondArray::from(vec![Some(86_400_005), None])), "PT24H0.005S"),
            (Arc::new(DurationMicrosecondArray::from(vec![Some(-1), None])), "PT-0.000001S"),
            (Arc::new(DurationNanosecondArray::from(vec![Some(1), None])), "PT0.000000001S"),
            (Arc::new(IntervalYearMonthArray::from(vec![Some(14), None])), "P1Y2M"),
            (Arc::new(IntervalDayTimeArray::from(vec![Some(IntervalDayTime::new(2, 1500)), None])), "P2DT1.5S"),
            (
                Arc::new(IntervalMonthDayNanoArray::from(vec![Some(IntervalMonthDayNano::new(1, 2, SECOND)), None])),
                "P1M2DT1S",
            ),
            (Arc::new(BinaryArray::from(vec![Some(&b"x"[..]), None])), "eA=="),
            (Arc::new(BinaryViewArray::from(vec![Some(&b"x"[..]), None])), "eA=="),
            (
                Arc::new(
                    FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(b"x"), None].into_iter(), 1).unwrap(),
                ),
                "eA==",
            ),
        ];
        for (column, expected) in all {
            let found = of(column, true);
            assert_eq!(found, (DataType::Utf8, vec![Some(expected.to_owned()), None]));
        }
    }

    #[test]
    fn floats_of_32_bits_have_their_digits_in_every_text() {
        let all = [0.1, -3.4e38, 1e-45, 16_777_216.0, f32::INFINITY];
        let floats: ArrayRef = Arc::new(Float32Array::from_iter(all.map(Some).into_iter().chain([None])));
        let (data_type, texts) = of(ArrayRef::clone(&floats), true);
        let expected = ["0.1", "-3.4e38", "1e-45", "16777216.0", "inf"].map(|text| Some(text.to_owned()));
        assert_eq!((data_type, &texts[..5]), (DataType::Float64, &expected[..]));
        assert_eq!(texts[5], None);
        // Read as a float, each is the same.
        let back: Vec<f32> = texts.iter().flatten().map(|text| text.parse().unwrap()).collect();
        assert_eq!(back, all);
        assert_eq!(of(floats, false).0, DataType::Float32);
    }

    #[test]
    fn files_of_columns_keep_what_they_have_types_for() {
        let durations: ArrayRef = Arc::new(DurationSecondArray::from(vec![1]));
        assert_eq!(of(ArrayRef::clone(&durations), false).0, DataType::Duration(TimeUnit::Second));
        let intervals: ArrayRef = Arc::new(IntervalYearMonthArray::from(vec![1]));
        assert_eq!(of(intervals, false), (DataType::Utf8, vec![Some("P1M".to_owned())]));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        assert_eq!(of(numbers, true).0, DataType::Int32);
    }

    #[test]
    fn values_inside_of_others_are_texts() {
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&b"x"[..]), None]));
        let durations: ArrayRef = Arc::new(DurationSecondArray::from(vec![1, 2]));
        let object: ArrayRef = Arc::new(StructArray::from(vec![
            (Arc::new(Field::new("b", DataType::Binary, true)), bytes),
            (Arc::new(Field::new("d", durations.data_type().clone(), true)), durations),
        ]));
        let mut lists = builder::FixedSizeListBuilder::new(builder::BinaryBuilder::new(), 1);
        lists.values().append_value(b"x");
        lists.append(true);
        let batch = RecordBatch::try_from_iter([
            ("object", object.slice(0, 1)),
            ("list", Arc::new(lists.finish()) as ArrayRef),
            (
                "dictionary",
                Arc::new(DictionaryArray::<Int32Type>::new(
                    vec![0].into(),
                    Arc::new(DurationSecondArray::from(vec![3])),
                )),
            ),
        ])
        .unwrap();
        let spelled = Spelled::new(&batch.schema(), true).batch(&batch).unwrap();
        let texts = isomorph::convert::RecordTexts::new(&spelled).unwrap();
        let mut line = String::new();
        texts.push(0, &mut line);
        assert_eq!(line, r#"{"object":{"b":"eA==","d":"PT1S"},"list":["eA=="],"dictionary":"PT3S"}"#);
    }
}
