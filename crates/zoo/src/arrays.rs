//! Arrow columns in one line each.

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Field;

use isomorph_model::type_name::ITEM;

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $native:ty => $array:ty;)+) => {
        $($(#[$doc])*
        pub fn $name<T: Into<Option<$native>>>(cells: impl IntoIterator<Item = T>) -> ArrayRef {
            Arc::new(cells.into_iter().map(Into::into).collect::<$array>())
        })+
    };
}

columns! {
    /// Booleans.
    bools: bool => BooleanArray;
    /// 32-bit integers.
    int32: i32 => Int32Array;
    /// 64-bit integers.
    int64: i64 => Int64Array;
    /// Unsigned 64-bit integers.
    uint64: u64 => UInt64Array;
    /// 32-bit floats.
    float32: f32 => Float32Array;
    /// 64-bit floats.
    float64: f64 => Float64Array;
    /// Days since 1970-01-01.
    dates: i32 => Date32Array;
    /// Seconds since 1970-01-01.
    seconds: i64 => TimestampSecondArray;
    /// Milliseconds since 1970-01-01.
    millis: i64 => TimestampMillisecondArray;
    /// Microseconds since 1970-01-01.
    micros: i64 => TimestampMicrosecondArray;
    /// Nanoseconds since 1970-01-01.
    nanos: i64 => TimestampNanosecondArray;
}

/// Text.
pub fn text<'a, T: Into<Option<&'a str>>>(cells: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(cells.into_iter().map(Into::into).collect::<StringArray>())
}

/// Bytes.
pub fn bytes<'a, T: Into<Option<&'a [u8]>>>(cells: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(cells.into_iter().map(Into::into).collect::<BinaryArray>())
}

/// Lists of the given lengths over consecutive `items`; `None` is a null list.
pub fn lists(items: ArrayRef, lengths: &[Option<usize>]) -> ArrayRef {
    let field = Arc::new(Field::new(ITEM, items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or_default()));
    let nulls =
        lengths.iter().any(Option::is_none).then(|| lengths.iter().map(Option::is_some).collect::<NullBuffer>());
    Arc::new(ListArray::new(field, offsets, items, nulls))
}

/// Lists of labels, as names of layers.
pub fn labels(rows: &[Option<&[&str]>]) -> ArrayRef {
    let lengths: Vec<Option<usize>> = rows.iter().map(|row| row.map(<[&str]>::len)).collect();
    lists(text(rows.iter().flatten().flat_map(|row| row.iter().copied())), &lengths)
}

/// Structs of named columns of the same length.
pub fn structs(fields: &[(&str, ArrayRef)]) -> ArrayRef {
    let field = |name: &str, column: &ArrayRef| Arc::new(Field::new(name, column.data_type().clone(), true));
    let fields = fields.iter().map(|(name, column)| (field(name, column), Arc::clone(column)));
    Arc::new(StructArray::from(fields.collect::<Vec<_>>()))
}
