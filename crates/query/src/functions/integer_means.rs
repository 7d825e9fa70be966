//! Means of integers: sums of 128 bits, which are exact, divided once. The engine adds floats, which lose the digits of sums beyond 2^53, in another way for each
//! order of the rows.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, PrimitiveArray, UInt64Array};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, EmitTo, GroupsAccumulator, Signature, Volatility};

use crate::functions::sums::{DIGITS, OfValues};

/// The greatest integer up to which every integer is a float.
const WHOLE: u128 = 1 << 53;

/// Rows whose halves of 32 bits have a sum of 64.
const ROWS: usize = 1 << 30;

/// The signature of `avg`: `coerced` says what it takes.
pub(crate) static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::user_defined(Volatility::Immutable));

/// The types in which `avg` takes its values: integers as they are, with 64 bits.
///
/// # Errors
/// For what has no mean.
pub(crate) fn coerced(types: &[DataType], inner: &AggregateUDF) -> Result<Vec<DataType>> {
    match types {
        [own] if own.is_signed_integer() => Ok(vec![DataType::Int64]),
        [own] if own.is_unsigned_integer() => Ok(vec![DataType::UInt64]),
        [DataType::Null] => Ok(vec![DataType::Float64]),
        _ => {
            let fields: Vec<FieldRef> = types.iter().map(|own| Arc::new(Field::new("", own.clone(), true))).collect();
            Ok(fields_with_udf(&fields, inner)?.iter().map(|field| field.data_type().clone()).collect())
        }
    }
}

/// Whether the values of a mean are integers.
pub(crate) fn are_integers(argument: Option<&FieldRef>) -> bool {
    argument.is_some_and(|field| matches!(field.data_type(), DataType::Int64 | DataType::UInt64))
}

/// An exact sum, and the number of its values.
#[derive(Debug, Default, Clone, Copy)]
struct Total {
    sum: i128,
    count: u64,
}

impl Total {
    /// The float that is nearest to the mean.
    #[expect(clippy::cast_precision_loss, reason = "what is rounded is said where it is")]
    fn mean(self) -> Option<f64> {
        let Total { sum, count } = self;
        let rows = i128::from(count);
        // Both have 53 bits, so the division rounds once.
        if sum.unsigned_abs() <= WHOLE {
            return (count > 0).then(|| sum as f64 / count as f64);
        }
        // The whole part has 53 bits, or there is no room for a fraction.
        Some(sum.checked_div(rows)? as f64 + (sum % rows) as f64 / count as f64)
    }
}

/// The sum of integers, by halves: additions of 128 bits are slower.
macro_rules! sum_of {
    ($values:expr, $halves:expr) => {{
        let values = $values;
        let mut sum = 0_i128;
        for chunk in values.chunks(ROWS) {
            let (high, low) =
                chunk.iter().map($halves).fold((0, 0), |(high, low), (more, less)| (high + more, low + less));
            sum += (i128::from(high) << 32) + i128::from(low);
        }
        sum
    }};
}

const LOW: u64 = 0xffff_ffff;

fn signed(values: &[i64]) -> i128 {
    sum_of!(values, |value: &i64| (*value >> 32, value.cast_unsigned() & LOW))
}

fn unsigned(values: &[u64]) -> i128 {
    sum_of!(values, |value: &u64| (*value >> 32, *value & LOW))
}

fn total_of<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, sum_of: fn(&[T::Native]) -> i128) -> Total {
    let all = values.values();
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Total { sum: sum_of(all), count: all.len() as u64 },
        Some(nulls) => Total {
            sum: nulls.valid_slices().map(|(from, to)| sum_of(all.get(from..to).unwrap_or_default())).sum(),
            count: (values.len() - values.null_count()) as u64,
        },
    }
}

/// The sum of an array.
fn total(values: &[ArrayRef]) -> Result<Total> {
    let [values] = values else { return internal_err!("a mean of {} columns", values.len()) };
    match values.data_type() {
        DataType::Int64 => Ok(total_of(values.as_primitive::<Int64Type>(), signed)),
        DataType::UInt64 => Ok(total_of(values.as_primitive::<UInt64Type>(), unsigned)),
        other => internal_err!("a mean of integers of {other}"),
    }
}

/// The states of means.
fn totals(states: &[ArrayRef]) -> Result<impl Iterator<Item = Total> + '_> {
    let [counts, sums] = states else { return internal_err!("a mean of {} columns", states.len()) };
    match (counts.as_primitive_opt::<UInt64Type>(), sums.as_primitive_opt::<Decimal128Type>()) {
        (Some(counts), Some(sums)) => {
            Ok(counts.values().iter().zip(sums.values()).map(|(count, sum)| Total { sum: *sum, count: *count }))
        }
        _ => internal_err!("a mean of {} and {}", counts.data_type(), sums.data_type()),
    }
}

fn states(totals: &[Total]) -> Result<Vec<ArrayRef>> {
    let counts: UInt64Array = totals.iter().map(|total| total.count).collect::<Vec<_>>().into();
    let sums: Decimal128Array = totals.iter().map(|total| total.sum).collect::<Vec<_>>().into();
    Ok(vec![Arc::new(counts), Arc::new(sums.with_precision_and_scale(DIGITS, 0)?)])
}

/// What means hold of their values while they are made.
pub(crate) fn state_fields(args: &StateFieldsArgs<'_>) -> Vec<FieldRef> {
    let field = |name: &str, own| Arc::new(Field::new(format_state_name(args.name, name), own, true));
    match args.input_fields.first().filter(|_| args.is_distinct) {
        Some(value) => {
            let item = Field::new_list_field(value.data_type().clone(), true);
            vec![Arc::new(Field::new_list(format_state_name(args.name, "avg distinct"), item, false))]
        }
        None => vec![field("count", DataType::UInt64), field("sum", DataType::Decimal128(DIGITS, 0))],
    }
}

/// The mean of integers, or of different ones.
///
/// # Errors
/// If the engine cannot keep the values.
pub(crate) fn accumulator(args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
    if !args.is_distinct {
        return Ok(Box::new(IntegerMean::default()));
    }
    // A sum keeps different values as well.
    let data_type = args.return_type().clone();
    let value = args.expr_fields.first().map_or(DataType::Int64, |field| field.data_type().clone());
    let return_field = Arc::new(Field::new(args.name, value, true));
    let inner = sum_udaf().accumulator(AccumulatorArgs { return_field, ..args })?;
    Ok(Box::new(OfValues { inner, evaluate: mean_of, parameter: 0.0, data_type }))
}

fn mean_of(values: &ArrayRef, _: f64, _: &DataType) -> Result<ScalarValue> {
    total(std::slice::from_ref(values)).map(|total| ScalarValue::Float64(total.mean()))
}

#[derive(Debug, Default)]
struct IntegerMean(Total);

impl Accumulator for IntegerMean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Total { sum, count } = total(values)?;
        self.0 = Total { sum: self.0.sum + sum, count: self.0.count + count };
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Total { sum, count } = total(values)?;
        self.0 = Total { sum: self.0.sum - sum, count: self.0.count.saturating_sub(count) };
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let add = |all: Total, one: Total| Total { sum: all.sum + one.sum, count: all.count + one.count };
        self.0 = totals(states)?.fold(self.0, add);
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::UInt64(Some(self.0.count)), ScalarValue::Decimal128(Some(self.0.sum), DIGITS, 0)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.0.mean()))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// Means of integers of many groups.
#[derive(Debug, Default)]
pub(crate) struct IntegerMeans(Vec<Total>);

/// Adds the values that are not null, and pass the filter, to those of their groups.
fn add<T: ArrowPrimitiveType>(
    totals: &mut [Total],
    values: &PrimitiveArray<T>,
    groups: &[usize],
    filter: Option<&BooleanArray>,
) where
    T::Native: Into<i128>,
{
    let mut add = |value: T::Native, group: usize| {
        if let Some(total) = totals.get_mut(group) {
            total.sum += value.into();
            total.count += 1;
        }
    };
    if values.null_count() == 0 && filter.is_none() {
        values.values().iter().zip(groups).for_each(|(value, group)| add(*value, *group));
        return;
    }
    let passes = |at: usize| filter.is_none_or(|filter| filter.is_valid(at) && filter.value(at));
    for (at, (value, group)) in values.iter().zip(groups).enumerate() {
        if let Some(value) = value.filter(|_| passes(at)) {
            add(value, *group);
        }
    }
}

fn add_all(totals: &mut [Total], values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>) -> Result<()> {
    let [values] = values else { return internal_err!("a mean of {} columns", values.len()) };
    match values.data_type() {
        DataType::Int64 => add(totals, values.as_primitive::<Int64Type>(), groups, filter),
        DataType::UInt64 => add(totals, values.as_primitive::<UInt64Type>(), groups, filter),
        other => return internal_err!("a mean of integers of {other}"),
    }
    Ok(())
}

impl GroupsAccumulator for IntegerMeans {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.0.resize(total, Total::default());
        add_all(&mut self.0, values, groups, filter)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.0.resize(total, Total::default());
        for (Total { sum, count }, group) in totals(states)?.zip(groups) {
            if let Some(total) = self.0.get_mut(*group) {
                *total = Total { sum: total.sum + sum, count: total.count + count };
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let means: Float64Array = emit_to.take_needed(&mut self.0).into_iter().map(Total::mean).collect();
        Ok(Arc::new(means))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        states(&emit_to.take_needed(&mut self.0))
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |values| values.len());
        let mut totals = vec![Total::default(); rows];
        let groups: Vec<usize> = (0..rows).collect();
        add_all(&mut totals, values, &groups, filter)?;
        states(&totals)
    }

    fn size(&self) -> usize {
        self.0.capacity() * size_of::<Total>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_halves_are_exact() {
        let all = [i64::MAX, i64::MIN, -1, 0, 1, -(1 << 32), (1 << 32) - 1, i64::MAX, i64::MAX];
        assert_eq!(signed(&all), all.iter().copied().map(i128::from).sum());
        let all = [u64::MAX, u64::MAX, 1 << 32, 3];
        assert_eq!(unsigned(&all), all.iter().copied().map(i128::from).sum());
    }

    #[test]
    fn means_are_the_nearest_floats() {
        let mean = |sum, count| Total { sum, count }.mean();
        assert_eq!(mean(0, 0), None);
        assert_eq!(mean(7, 2), Some(3.5));
        assert_eq!(mean(-(1 << 60), 1 << 40), Some(-1_048_576.0));
        assert_eq!(mean((1 << 60) + 3, 2), "576460752303423489.5".parse().ok());
        assert_eq!(mean((1_i128 << 54) + 1, 2), Some(9_007_199_254_740_992.0));
        assert_eq!(mean(i128::from(i64::MAX) * 3, 3), "9223372036854775807".parse().ok());
    }
}
