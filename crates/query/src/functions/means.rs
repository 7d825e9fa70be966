//! Means of decimals of many digits, whose sum may have more than 128 bits: an error where the engine wraps.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;

use crate::functions::sums::{DIGITS, WholeSum, has_digits, too_long};

/// A mean of decimals.
#[derive(Debug)]
pub(crate) struct DecimalMean {
    scale: i8,
    data_type: DataType,
    sum: WholeSum,
}

impl DecimalMean {
    /// The mean of no values of the type of `argument`.
    pub fn new(argument: Option<&DataType>, data_type: DataType) -> Self {
        let scale = match argument {
            Some(DataType::Decimal128(_, scale)) => *scale,
            _ => 0,
        };
        DecimalMean { scale, data_type, sum: WholeSum::new(DataType::Decimal128(DIGITS, 0)) }
    }
}

/// `sum` of `scale` digits after the point divided by `count`, without the digits that the type has no room for, as the engine divides decimals.
fn mean(sum: i128, count: u64, scale: i8, data_type: &DataType) -> Result<ScalarValue> {
    let DataType::Decimal128(digits, to) = data_type else { return internal_err!("a mean of {data_type}") };
    let power = u32::try_from(i16::from(*to) - i16::from(scale)).ok().and_then(|digits| 10i128.checked_pow(digits));
    let whole = power.and_then(|power| sum.checked_mul(power)).ok_or_else(too_long)?;
    let value = whole.checked_div(i128::from(count));
    match value {
        Some(value) if !has_digits(value, *digits) => Err(too_long()),
        value => Ok(ScalarValue::Decimal128(value, *digits, *to)),
    }
}

impl Accumulator for DecimalMean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.update_batch(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [counts, sums] = states else { return internal_err!("a mean of {} columns", states.len()) };
        let Some(counts) = counts.as_primitive_opt::<UInt64Type>() else {
            return internal_err!("a number of {}", counts.data_type());
        };
        let count = counts.iter().flatten().fold(self.sum.count, u64::saturating_add);
        self.sum.update_batch(std::slice::from_ref(sums))?;
        self.sum.count = count;
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::UInt64(Some(self.sum.count)), ScalarValue::Decimal128(Some(self.sum.sum), DIGITS, 0)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        mean(self.sum.sum, self.sum.count, self.scale, &self.data_type)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The mean of different decimals.
pub(crate) fn mean_of(values: &ArrayRef, _: f64, data_type: &DataType) -> Result<ScalarValue> {
    let mut mean = DecimalMean::new(Some(values.data_type()), data_type.clone());
    mean.update_batch(std::slice::from_ref(values))?;
    mean.evaluate()
}
