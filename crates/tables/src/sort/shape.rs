//! The memory layout of plain Arrow types, as far as copying, counting and spilling need it.

use std::ops::Range;

use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};

/// The physical layout of a plain type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// No bytes.
    Null,
    /// One bit per value.
    Bits,
    /// This many bytes per value.
    Fixed(usize),
    /// 32-bit offsets into bytes.
    Bytes,
    /// 64-bit offsets into bytes.
    LargeBytes,
    /// 32-bit offsets into a child.
    List,
    /// 64-bit offsets into a child.
    LargeList,
    /// This many values of a child per value.
    FixedList(usize),
    /// One value of each child per value.
    Struct,
}

impl Shape {
    /// Returns the shape of `data_type`.
    ///
    /// # Errors
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for unions, views, runs and dictionaries.
    pub fn of(data_type: &DataType) -> Result<Shape> {
        let unsupported = || Error::unsupported(format!("spilling columns of type {data_type} is not supported"));
        Ok(match data_type {
            DataType::Null => Shape::Null,
            DataType::Boolean => Shape::Bits,
            DataType::Utf8 | DataType::Binary => Shape::Bytes,
            DataType::LargeUtf8 | DataType::LargeBinary => Shape::LargeBytes,
            DataType::List(_) | DataType::Map(..) => Shape::List,
            DataType::LargeList(_) => Shape::LargeList,
            DataType::FixedSizeList(_, size) => Shape::FixedList(usize::try_from(*size).map_err(|_| unsupported())?),
            DataType::Struct(_) => Shape::Struct,
            DataType::FixedSizeBinary(size) => Shape::Fixed(usize::try_from(*size).map_err(|_| unsupported())?),
            other => Shape::Fixed(other.primitive_width().ok_or_else(unsupported)?),
        })
    }
}

/// Returns the part of its bytes or of its children that an array uses. Children of structs are sliced already.
pub(crate) fn offset_range(shape: Shape, data: &ArrayData) -> Range<usize> {
    let ends = |first: usize, last: usize| first..last.max(first);
    if data.is_empty() {
        return 0..0;
    }
    match shape {
        Shape::Bytes | Shape::List => {
            let offsets: &[i32] = data.buffer(0);
            ends(offsets[0].as_usize(), offsets[data.len()].as_usize())
        }
        Shape::LargeBytes | Shape::LargeList => {
            let offsets: &[i64] = data.buffer(0);
            ends(offsets[0].as_usize(), offsets[data.len()].as_usize())
        }
        Shape::FixedList(size) => ends(data.offset() * size, (data.offset() + data.len()) * size),
        _ => 0..data.len(),
    }
}

/// Returns the size of the rows of an array, even if they are part of larger buffers.
///
/// # Errors
/// Same as [`Shape::of`].
pub(crate) fn used_bytes(data: &ArrayData) -> Result<usize> {
    let rows = data.len();
    let bits = rows.div_ceil(8);
    let shape = Shape::of(data.data_type())?;
    let range = offset_range(shape, data);
    let own = match shape {
        Shape::Null | Shape::Struct | Shape::FixedList(_) => 0,
        Shape::Bits => bits,
        Shape::Fixed(width) => rows * width,
        Shape::Bytes => rows * size_of::<i32>() + range.len(),
        Shape::LargeBytes => rows * size_of::<i64>() + range.len(),
        Shape::List => rows * size_of::<i32>(),
        Shape::LargeList => rows * size_of::<i64>(),
    };
    let mut sum = own + if data.nulls().is_some() { bits } else { 0 };
    for child in data.child_data() {
        sum += used_bytes(&child.slice(range.start, range.len()))?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Array, ListArray, StringArray};

    use super::used_bytes;

    #[test]
    fn a_slice_counts_only_its_own_part() {
        let text = StringArray::from(vec!["aaaa", "b", "cc", "dddddddd"]);
        assert_eq!(used_bytes(&text.to_data()).ok(), Some(4 * 4 + 15));
        assert_eq!(used_bytes(&text.slice(1, 2).to_data()).ok(), Some(2 * 4 + 3));
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([
            Some(vec![Some(1); 100]),
            Some(vec![Some(2), Some(3)]),
            None,
        ]);
        let slice = list.slice(1, 2).to_data();
        assert!(
            used_bytes(&slice).is_ok_and(|bytes| bytes < 40),
            "the child's first hundred values must not be counted"
        );
    }
}
