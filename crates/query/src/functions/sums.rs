//! Aggregates that stand for those of the engine: sums that do not wrap, and windows that are computed from their own rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, PrimitiveArray};
use arrow_schema::DataType;
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use isomorph::Error;

use crate::errors::inside;

/// Digits of a sum while it is made.
pub(crate) const DIGITS: u8 = 38;

/// The error for a sum that 64 bits do not hold.
fn too_large() -> DataFusionError {
    inside(
        Error::usage("the question cannot be answered: a sum of integers has more than 64 bits")
            .hint("sum(cast(x as decimal(38, 0)))    a sum of 38 digits"),
    )
}

/// The error for a decimal of more digits than its type has.
pub(crate) fn too_long() -> DataFusionError {
    inside(
        Error::usage("the question cannot be answered: a decimal has more than 38 digits")
            .hint("cast(x as double)    a float, which is rounded"),
    )
}

/// Whether a value has so many digits.
pub(crate) fn has_digits(value: i128, digits: u8) -> bool {
    10u128.checked_pow(u32::from(digits)).is_none_or(|limit| value.unsigned_abs() < limit)
}

/// Calls `each` with the integers that are not null.
pub(crate) fn integers(values: &ArrayRef, mut each: impl FnMut(usize, i128) -> Result<()>) -> Result<()> {
    fn of<T: ArrowPrimitiveType>(
        values: &PrimitiveArray<T>,
        each: &mut dyn FnMut(usize, i128) -> Result<()>,
    ) -> Result<()>
    where
        T::Native: Into<i128>,
    {
        for (at, value) in values.iter().enumerate() {
            if let Some(value) = value {
                each(at, value.into())?;
            }
        }
        Ok(())
    }
    match values.data_type() {
        DataType::Int64 => of(values.as_primitive::<Int64Type>(), &mut each),
        DataType::UInt64 => of(values.as_primitive::<UInt64Type>(), &mut each),
        DataType::Decimal128(..) => of(values.as_primitive::<Decimal128Type>(), &mut each),
        other => internal_err!("a sum of {other}"),
    }
}

/// A sum of 128 bits.
pub(crate) fn added(sum: i128, value: i128) -> Result<i128> {
    sum.checked_add(value).ok_or_else(too_long)
}

fn fitting(sum: i128, digits: u8) -> Result<i128> {
    if has_digits(sum, digits) { Ok(sum) } else { Err(too_long()) }
}

fn scalar(sum: Option<i128>, data_type: &DataType) -> Result<ScalarValue> {
    Ok(match data_type {
        DataType::UInt64 => ScalarValue::UInt64(sum.map(u64::try_from).transpose().map_err(|_| too_large())?),
        DataType::Decimal128(digits, scale) => {
            ScalarValue::Decimal128(sum.map(|sum| fitting(sum, *digits)).transpose()?, *digits, *scale)
        }
        _ => ScalarValue::Int64(sum.map(i64::try_from).transpose().map_err(|_| too_large())?),
    })
}

fn decimals(sums: impl Iterator<Item = Option<i128>>) -> Result<ArrayRef> {
    let sums: Decimal128Array = sums.collect();
    Ok(std::sync::Arc::new(sums.with_precision_and_scale(DIGITS, 0)?))
}

/// A sum of integers.
#[derive(Debug)]
pub(crate) struct WholeSum {
    data_type: DataType,
    pub sum: i128,
    pub count: u64,
}

impl WholeSum {
    /// The sum of no values.
    pub fn new(data_type: DataType) -> Self {
        WholeSum { data_type, sum: 0, count: 0 }
    }

    fn value(&self) -> Option<i128> {
        (self.count > 0).then_some(self.sum)
    }
}

impl Accumulator for WholeSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [values] = values else { return internal_err!("a sum of {} columns", values.len()) };
        integers(values, |_, value| {
            self.sum = added(self.sum, value)?;
            self.count += 1;
            Ok(())
        })
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [values] = values else { return internal_err!("a sum of {} columns", values.len()) };
        integers(values, |_, value| {
            self.sum = self.sum.checked_sub(value).ok_or_else(too_long)?;
            self.count = self.count.saturating_sub(1);
            Ok(())
        })
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Decimal128(self.value(), DIGITS, 0)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        scalar(self.value(), &self.data_type)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// Sums of integers of many groups.
#[derive(Debug)]
pub(crate) struct WholeSums {
    pub data_type: DataType,
    pub sums: Vec<Option<i128>>,
}

impl GroupsAccumulator for WholeSums {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        let [values] = values else { return internal_err!("a sum of {} columns", values.len()) };
        self.sums.resize(total, None);
        let passes = |at: usize| filter.is_none_or(|filter| filter.is_valid(at) && filter.value(at));
        let sums = &mut self.sums;
        integers(values, |at, value| {
            if let Some(sum) = groups.get(at).and_then(|group| sums.get_mut(*group)).filter(|_| passes(at)) {
                *sum = Some(added(sum.unwrap_or_default(), value)?);
            }
            Ok(())
        })
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.update_batch(values, groups, None, total)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sums = emit_to.take_needed(&mut self.sums).into_iter();
        Ok(match self.data_type {
            DataType::UInt64 => {
                let sums = sums.map(|sum| sum.map(u64::try_from).transpose().map_err(|_| too_large()));
                std::sync::Arc::new(sums.collect::<Result<PrimitiveArray<UInt64Type>>>()?)
            }
            DataType::Decimal128(digits, scale) => {
                let sums = sums.map(|sum| sum.map(|sum| fitting(sum, digits)).transpose());
                let sums = sums.collect::<Result<Decimal128Array>>()?;
                std::sync::Arc::new(sums.with_precision_and_scale(digits, scale)?)
            }
            _ => {
                let sums = sums.map(|sum| sum.map(i64::try_from).transpose().map_err(|_| too_large()));
                std::sync::Arc::new(sums.collect::<Result<PrimitiveArray<Int64Type>>>()?)
            }
        })
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![decimals(emit_to.take_needed(&mut self.sums).into_iter())?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let [values] = values else { return internal_err!("a sum of {} columns", values.len()) };
        let mut sums = vec![None; values.len()];
        integers(values, |at, value| {
            let passes = filter.is_none_or(|filter| filter.is_valid(at) && filter.value(at));
            if let Some(sum) = sums.get_mut(at).filter(|_| passes) {
                *sum = Some(value);
            }
            Ok(())
        })?;
        Ok(vec![decimals(sums.into_iter())?])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<Option<i128>>()
    }
}

/// What is made of the values in the state of another accumulator, which holds all of them.
pub(crate) type Evaluate = fn(&ArrayRef, f64, &DataType) -> Result<ScalarValue>;

/// An accumulator that keeps its values, with another result.
#[derive(Debug)]
pub(crate) struct OfValues {
    pub inner: Box<dyn Accumulator>,
    pub evaluate: Evaluate,
    pub parameter: f64,
    pub data_type: DataType,
}

impl Accumulator for OfValues {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    /// One state after another: the engine's `percentile_cont` reads the first row of a batch alone, and a group that several threads counted has several.
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let rows = states.first().map_or(0, |states| states.len());
        for row in 0..rows {
            let one: Vec<ArrayRef> = states.iter().map(|states| states.slice(row, 1)).collect();
            self.inner.merge_batch(&one)?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // The state may be handed over, not copied: a window asks again.
        let state = self.inner.state()?;
        let arrays = state.iter().map(ScalarValue::to_array).collect::<Result<Vec<_>>>()?;
        let Some(list) = arrays.first().and_then(|array| array.as_list_opt::<i32>()) else {
            return internal_err!("the state of an aggregate is no list");
        };
        let value = (self.evaluate)(&list.value(0), self.parameter, &self.data_type)?;
        self.inner.merge_batch(&arrays)?;
        Ok(value)
    }

    fn size(&self) -> usize {
        self.inner.size() + size_of_val(self)
    }
}

/// The sum of different integers.
pub(crate) fn sum_of(values: &ArrayRef, _: f64, data_type: &DataType) -> Result<ScalarValue> {
    let mut sum = WholeSum::new(data_type.clone());
    sum.update_batch(std::slice::from_ref(values))?;
    sum.evaluate()
}

/// The value below which the part `at` of the values is, between two values if it is between them.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position among the values"
)]
pub(crate) fn percentile_of(values: &ArrayRef, at: f64, data_type: &DataType) -> Result<ScalarValue> {
    let floats = datafusion::arrow::compute::cast(values, &DataType::Float64)?;
    let floats = floats.as_primitive::<arrow_array::types::Float64Type>();
    let mut all: Vec<f64> = floats.iter().flatten().collect();
    all.sort_unstable_by(f64::total_cmp);
    let value = all.len().checked_sub(1).and_then(|last| {
        // As many digits as a position and its part have together, so that 0.3 * 39 is 11.7.
        let position = at * last as f64;
        let (low, high) = (position.floor(), position.ceil());
        let (below, above) = (*all.get(low as usize)?, *all.get(high as usize)?);
        Some(if low == high || below == above { below } else { below + (above - below) * (position - low) })
    });
    ScalarValue::Float64(value).cast_to(data_type)
}
