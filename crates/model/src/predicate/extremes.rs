//! The least and the greatest value of an array.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::filter::filter;

use super::Value;
use super::bind::nanoseconds;

/// The least and the greatest value of `array`, nulls and NaN left out; nothing when there is none, or when values of
/// its type have no order here. Of a dictionary those values count that a key leads to.
pub fn extremes(array: &ArrayRef) -> Option<(Value, Value)> {
    match array.data_type() {
        DataType::Int8 => whole::<Int8Type>(array, 1),
        DataType::Int16 => whole::<Int16Type>(array, 1),
        DataType::Int32 => whole::<Int32Type>(array, 1),
        DataType::Int64 => whole::<Int64Type>(array, 1),
        DataType::UInt8 => whole::<UInt8Type>(array, 1),
        DataType::UInt16 => whole::<UInt16Type>(array, 1),
        DataType::UInt32 => whole::<UInt32Type>(array, 1),
        DataType::UInt64 => whole::<UInt64Type>(array, 1),
        DataType::Date32 => whole::<Date32Type>(array, 1),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => whole::<TimestampSecondType>(array, nanoseconds(unit)),
            TimeUnit::Millisecond => whole::<TimestampMillisecondType>(array, nanoseconds(unit)),
            TimeUnit::Microsecond => whole::<TimestampMicrosecondType>(array, nanoseconds(unit)),
            TimeUnit::Nanosecond => whole::<TimestampNanosecondType>(array, nanoseconds(unit)),
        },
        DataType::Float32 => floating::<Float32Type>(array),
        DataType::Float64 => floating::<Float64Type>(array),
        DataType::Boolean => {
            let bits = array.as_boolean();
            (bits.null_count() < bits.len())
                .then(|| (Value::Int((!bits.has_false()).into()), Value::Int(bits.has_true().into())))
        }
        DataType::Utf8 => bytes::<Utf8Type>(array),
        DataType::LargeUtf8 => bytes::<LargeUtf8Type>(array),
        DataType::Binary => bytes::<BinaryType>(array),
        DataType::LargeBinary => bytes::<LargeBinaryType>(array),
        DataType::Dictionary(_, _) => words(array),
        _ => None,
    }
}

fn words(array: &ArrayRef) -> Option<(Value, Value)> {
    let array = array.as_dictionary_opt::<Int32Type>()?;
    let mut used = vec![false; array.values().len()];
    for key in array.keys().iter().flatten() {
        *used.get_mut(usize::try_from(key).ok()?)? = true;
    }
    // What has no extremes prunes nothing.
    extremes(&filter(array.values(), &BooleanArray::from(used)).ok()?)
}

fn whole<T: ArrowPrimitiveType>(array: &ArrayRef, scale: i128) -> Option<(Value, Value)>
where
    T::Native: Ord + Into<i128>,
{
    let array = array.as_primitive::<T>();
    let (least, greatest) = match array.null_count() {
        // Two passes that the compiler makes wide.
        0 => (array.values().iter().copied().min()?, array.values().iter().copied().max()?),
        _ => (array.iter().flatten().min()?, array.iter().flatten().max()?),
    };
    let value = |native: T::Native| Value::Int(native.into() * scale);
    Some((value(least), value(greatest)))
}

fn floating<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<(Value, Value)>
where
    T::Native: Into<f64>,
{
    let values = array.as_primitive::<T>().iter().flatten().map(Into::into).filter(|value| !value.is_nan());
    let (least, greatest) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| (least.min(value), greatest.max(value)));
    (least <= greatest).then_some((Value::Float(least), Value::Float(greatest)))
}

fn bytes<T: ByteArrayType>(array: &ArrayRef) -> Option<(Value, Value)> {
    let mut values = array.as_bytes::<T>().iter().flatten().map(|value| -> &[u8] { value.as_ref() });
    let first = values.next()?;
    let (mut least, mut greatest) = (first, first);
    for value in values {
        if value < least {
            least = value;
        } else if value > greatest {
            greatest = value;
        }
    }
    Some((Value::Bytes(least.to_vec()), Value::Bytes(greatest.to_vec())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{DictionaryArray, Float64Array, Int32Array, StringArray, TimestampMillisecondArray};

    use super::*;

    fn of(array: impl Array + 'static) -> Option<(Value, Value)> {
        extremes(&(Arc::new(array) as ArrayRef))
    }

    #[test]
    fn the_least_and_the_greatest() {
        let ints = |least, greatest| Some((Value::Int(least), Value::Int(greatest)));
        assert_eq!(of(Int32Array::from(vec![3, -1, 2])), ints(-1, 3));
        assert_eq!(of(Int32Array::from(vec![None, Some(7), Some(5)])), ints(5, 7));
        assert_eq!(of(Int32Array::from(vec![None, None])), None);
        assert_eq!(of(TimestampMillisecondArray::from(vec![2, 1])), ints(1_000_000, 2_000_000));
        assert_eq!(of(BooleanArray::from(vec![Some(true), None])), ints(1, 1));
        assert_eq!(of(BooleanArray::from(vec![Some(true), Some(false)])), ints(0, 1));
        let floats = Float64Array::from(vec![Some(f64::NAN), Some(-2.5), Some(f64::INFINITY), None]);
        assert_eq!(of(floats), Some((Value::Float(-2.5), Value::Float(f64::INFINITY))));
        assert_eq!(of(Float64Array::from(vec![f64::NAN])), None);
        let texts = StringArray::from(vec![Some("b"), None, Some(""), Some("ba")]);
        assert_eq!(of(texts), Some((Value::Bytes(b"".to_vec()), Value::Bytes(b"ba".to_vec()))));
        let words: DictionaryArray<Int32Type> =
            [Some("a"), Some("c"), None, Some("b"), Some("d")].into_iter().collect();
        let used = words.slice(1, 3);
        assert_eq!(of(used), Some((Value::Bytes(b"b".to_vec()), Value::Bytes(b"c".to_vec()))));
    }
}
