//! Tensors, whose number type is content, unlike that of other values.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};

use super::cells::Cells;
use super::columns::{Floats, Integers, Ranges, unsupported};
use super::encode::{Buffer, Tag, float_bits};
use crate::type_name::type_name;

/// A column of tensors.
pub(super) enum Tensor<'a> {
    Dense(Numbers<'a>, &'a [u64]),
    Sparse(Box<Cells<'a>>, Numbers<'a>, &'a [u64]),
}

/// A column of lists of numbers.
pub(super) struct Numbers<'a> {
    dtype: String,
    ranges: Ranges<'a>,
    items: &'a dyn Array,
    values: Values<'a>,
}

enum Values<'a> {
    Integers(Integers<'a>),
    Floats(Floats<'a>),
}

impl<'a> Tensor<'a> {
    pub fn new(column: &'a dyn Array, shape: &'a [u64], sparse: bool) -> Result<Self> {
        if !sparse {
            return Ok(Tensor::Dense(Numbers::new(column)?, shape));
        }
        let fields = column.as_struct_opt().ok_or_else(|| unsupported(column.data_type()))?;
        let field = |name: &str| {
            let child = fields.column_by_name(name);
            child.ok_or_else(|| Error::unsupported(format!("sparse tensors must have a field `{name}`")))
        };
        let coordinates = Cells::plain(field("coordinates")?.as_ref())?;
        Ok(Tensor::Sparse(Box::new(coordinates), Numbers::new(field("values")?.as_ref())?, shape))
    }

    /// Appends number type, shape and values of a tensor that is not null.
    pub fn encode(&self, row: usize, out: &mut Buffer) -> Result<()> {
        match self {
            Tensor::Dense(numbers, shape) => {
                out.tag(Tag::Tensor);
                out.sized_bytes(numbers.dtype.as_bytes());
                let len = numbers.len(row) as u64;
                let declared = shape.iter().try_fold(1u64, |product, side| product.checked_mul(*side));
                if !shape.is_empty() && declared != Some(len) {
                    return Err(Error::malformed(format!("a tensor of {len} values cannot have shape {shape:?}")));
                }
                match *shape {
                    [] => self::shape(&[len], out),
                    sides => self::shape(sides, out),
                }
                numbers.encode(row, out)
            }
            Tensor::Sparse(coordinates, numbers, shape) => {
                out.tag(Tag::SparseTensor);
                out.sized_bytes(numbers.dtype.as_bytes());
                self::shape(shape, out);
                out.item(|out| coordinates.encode(row, out))?;
                numbers.encode(row, out)
            }
        }
    }
}

/// Returns an integer of at most 64 bits, signed or unsigned; the number type distinguishes them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no column has wider integers")]
fn low_bits(number: i128) -> u64 {
    number as u64
}

fn shape(sides: &[u64], out: &mut Buffer) {
    out.number(sides.len() as u64);
    sides.iter().for_each(|side| out.number(*side));
}

impl<'a> Numbers<'a> {
    fn new(column: &'a dyn Array) -> Result<Self> {
        let (ranges, items): (_, &dyn Array) = match column.data_type() {
            DataType::List(_) => {
                let list = column.as_list::<i32>();
                (Ranges::Small(list.value_offsets()), list.values().as_ref())
            }
            DataType::LargeList(_) => {
                let list = column.as_list::<i64>();
                (Ranges::Large(list.value_offsets()), list.values().as_ref())
            }
            DataType::FixedSizeList(_, size) => {
                let list = column.as_fixed_size_list();
                (Ranges::Fixed(usize::try_from(*size).unwrap_or_default()), list.values().as_ref())
            }
            other => return Err(unsupported(other)),
        };
        let values = match items.data_type() {
            data_type if data_type.is_floating() => Values::Floats(Floats::new(items)?),
            data_type if data_type.is_integer() => Values::Integers(Integers::new(items)?),
            other => return Err(unsupported(other)),
        };
        Ok(Numbers { dtype: type_name(items.data_type()), ranges, items, values })
    }

    fn len(&self, row: usize) -> usize {
        let (from, to) = self.ranges.get(row);
        to.saturating_sub(from)
    }

    /// Appends the values, each with 8 bytes, which are interpreted by the number type.
    fn encode(&self, row: usize, out: &mut Buffer) -> Result<()> {
        let (from, to) = self.ranges.get(row);
        for item in from..to {
            if self.items.is_null(item) {
                return Err(Error::malformed("a tensor must not contain nulls"));
            }
            match &self.values {
                Values::Integers(values) => out.number(low_bits(values.get(item))),
                Values::Floats(values) => out.number(float_bits(values.get(item))),
            }
        }
        Ok(())
    }
}
