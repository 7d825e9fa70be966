//! `max` and `min` of floats in groups: NaN is greater than every other number, whatever the order of rows. And of intervals: by length.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

/// The greatest or least values of many groups.
#[derive(Debug)]
pub(crate) struct Extremes<T: ArrowPrimitiveType> {
    is_greatest: bool,
    compare: fn(T::Native, T::Native) -> Ordering,
    values: Vec<Option<T::Native>>,
}

/// The order of floats, in which NaN is the greatest.
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
pub(crate) fn floats<N: PartialOrd + Copy>(left: N, right: N) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| (left != left).cmp(&(right != right)))
}

impl<T: ArrowPrimitiveType> Extremes<T> {
    /// No groups, of values in this order.
    pub fn new(is_greatest: bool, compare: fn(T::Native, T::Native) -> Ordering) -> Self {
        Extremes { is_greatest, compare, values: Vec::new() }
    }

    /// Whether `new` takes the place of `old`.
    fn replaces(&self, new: T::Native, old: T::Native) -> bool {
        (self.compare)(new, old) == if self.is_greatest { Ordering::Greater } else { Ordering::Less }
    }

    fn array(values: impl Iterator<Item = Option<T::Native>>) -> ArrayRef {
        Arc::new(values.collect::<PrimitiveArray<T>>())
    }
}

fn only<T: ArrowPrimitiveType>(values: &[ArrayRef]) -> Result<&PrimitiveArray<T>> {
    match values {
        [values] => match values.as_primitive_opt::<T>() {
            Some(values) => Ok(values),
            None => internal_err!("an extreme of {}", values.data_type()),
        },
        _ => internal_err!("an extreme of {} columns", values.len()),
    }
}

fn passes(filter: Option<&BooleanArray>, at: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(at) && filter.value(at))
}

impl<T: ArrowPrimitiveType> GroupsAccumulator for Extremes<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.values.resize(total, None);
        for (at, (value, group)) in only::<T>(values)?.iter().zip(groups).enumerate() {
            let Some(value) = value.filter(|_| passes(filter, at)) else { continue };
            let Some(old) = self.values.get(*group).copied() else { continue };
            if old.is_none_or(|old| self.replaces(value, old))
                && let Some(slot) = self.values.get_mut(*group)
            {
                *slot = Some(value);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.update_batch(values, groups, None, total)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(Self::array(emit_to.take_needed(&mut self.values).into_iter()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = only::<T>(values)?.iter().enumerate();
        Ok(vec![Self::array(values.map(|(at, value)| value.filter(|_| passes(filter, at))))])
    }

    fn size(&self) -> usize {
        self.values.capacity() * size_of::<Option<T::Native>>()
    }
}

/// The greatest or least value of all rows.
#[derive(Debug)]
pub(crate) struct Extreme<T: ArrowPrimitiveType>(pub Extremes<T>);

impl<T: ArrowPrimitiveType + std::fmt::Debug> Accumulator for Extreme<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in only::<T>(values)?.iter().flatten() {
            let old = self.0.values.first().copied().flatten();
            if old.is_none_or(|old| self.0.replaces(value, old)) {
                self.0.values = vec![Some(value)];
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = self.0.values.first().copied().flatten();
        ScalarValue::try_from_array(&Extremes::<T>::array(std::iter::once(value)), 0)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
