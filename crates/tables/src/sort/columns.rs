//! Encodes plain Arrow columns as bytes, and decodes them.

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::DataType;
use isomorph_error::Result;

use super::codec::{self, Input, damaged, put_buffer, put_length, put_numbers};
use super::payload::arrow;
use super::shape::{Shape, offset_range};

/// Appends the rows of a column.
///
/// # Errors
/// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for types that are not plain.
pub(crate) fn put_column(out: &mut Vec<u8>, data: &ArrayData) -> Result<()> {
    let shape = Shape::of(data.data_type())?;
    put_length(out, data.len());
    match data.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => {
            out.push(1);
            put_bits(out, nulls.inner())?;
        }
        None => out.push(0),
    }
    let range = offset_range(shape, data);
    match shape {
        Shape::Null | Shape::Struct | Shape::FixedList(_) => {}
        Shape::Bits => put_bits(out, &BooleanBuffer::new(data.buffers()[0].clone(), data.offset(), data.len()))?,
        Shape::Fixed(width) => {
            let start = data.offset() * width;
            put_buffer(out, &data.buffers()[0][start..start + data.len() * width], width)?;
        }
        Shape::Bytes | Shape::LargeBytes => {
            put_numbers(out, &lengths(shape, data));
            put_length(out, range.len());
            put_buffer(out, &data.buffers()[1][range.clone()], 1)?;
        }
        Shape::List | Shape::LargeList => put_numbers(out, &lengths(shape, data)),
    }
    for child in data.child_data() {
        put_column(out, &child.slice(range.start, range.len()))?;
    }
    Ok(())
}

fn put_bits(out: &mut Vec<u8>, bits: &BooleanBuffer) -> Result<()> {
    put_buffer(out, bits.sliced().as_slice(), 1)
}

/// Returns the length of each value of a column with offsets.
fn lengths(shape: Shape, data: &ArrayData) -> Vec<u64> {
    if data.is_empty() {
        return Vec::new();
    }
    match shape {
        Shape::Bytes | Shape::List => {
            let offsets: &[i32] = data.buffer(0);
            offsets[..=data.len()].windows(2).map(|pair| i64::from(pair[1] - pair[0]).cast_unsigned()).collect()
        }
        _ => {
            let offsets: &[i64] = data.buffer(0);
            offsets[..=data.len()].windows(2).map(|pair| (pair[1] - pair[0]).cast_unsigned()).collect()
        }
    }
}

/// Reads one column of `data_type`.
///
/// # Errors
/// [`Kind::Malformed`](isomorph_error::Kind::Malformed) if the bytes were not written by [`put_column`].
pub(crate) fn column(input: &mut Input, data_type: &DataType) -> Result<ArrayRef> {
    Ok(make_array(data(input, data_type)?))
}

fn data(input: &mut Input, data_type: &DataType) -> Result<ArrayData> {
    let shape = Shape::of(data_type)?;
    let rows = input.length()?;
    let nulls = match input.byte()? {
        0 => None,
        _ => Some(NullBuffer::new(BooleanBuffer::new(bits(input, rows)?, 0, rows))),
    };
    let mut builder = ArrayDataBuilder::new(data_type.clone()).len(rows).nulls(nulls);
    match shape {
        Shape::Null | Shape::Struct | Shape::FixedList(_) => {}
        Shape::Bits => builder = builder.add_buffer(bits(input, rows)?),
        Shape::Fixed(width) => {
            let length = rows.checked_mul(width).ok_or_else(damaged)?;
            builder = builder.add_buffer(codec::buffer(input, length)?.into());
        }
        Shape::Bytes | Shape::LargeBytes => {
            builder = builder.add_buffer(offsets(shape, &codec::numbers(input, rows)?)?);
            let length = input.length()?;
            builder = builder.add_buffer(codec::buffer(input, length)?.into());
        }
        Shape::List | Shape::LargeList => {
            builder = builder.add_buffer(offsets(shape, &codec::numbers(input, rows)?)?);
        }
    }
    for child in child_types(data_type) {
        builder = builder.add_child_data(data(input, child)?);
    }
    builder.build().map_err(arrow)
}

fn bits(input: &mut Input, rows: usize) -> Result<Buffer> {
    Ok(codec::buffer(input, rows.div_ceil(8))?.into())
}

fn offsets(shape: Shape, lengths: &[u64]) -> Result<Buffer> {
    let mut sum = 0u64;
    let mut ends = Vec::with_capacity(lengths.len() + 1);
    ends.push(0);
    for length in lengths {
        sum = sum.checked_add(*length).ok_or_else(damaged)?;
        ends.push(sum);
    }
    if matches!(shape, Shape::Bytes | Shape::List) {
        i32::try_from(sum).map_err(|_| damaged())?;
        #[expect(clippy::cast_possible_truncation, reason = "the largest of them was checked")]
        Ok(Buffer::from_vec(ends.iter().map(|end| *end as i32).collect::<Vec<i32>>()))
    } else {
        i64::try_from(sum).map_err(|_| damaged())?;
        Ok(Buffer::from_vec(ends.iter().map(|end| end.cast_signed()).collect::<Vec<i64>>()))
    }
}

fn child_types(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::Map(field, _)
        | DataType::FixedSizeList(field, _) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        _ => Vec::new(),
    }
}
