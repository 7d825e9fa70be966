//! `max` and `min` of floats in groups: NaN is greater than every other number, whatever the order of rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

/// The greatest or least values of many groups.
#[derive(Debug)]
pub(crate) struct Extremes<T: ArrowPrimitiveType> {
    is_greatest: bool,
    values: Vec<Option<T::Native>>,
}

impl<T: ArrowPrimitiveType> Extremes<T> {
    /// No groups.
    pub fn new(is_greatest: bool) -> Self {
        Extremes { is_greatest, values: Vec::new() }
    }

    /// Whether `new` takes the place of `old`.
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    fn replaces(&self, new: T::Native, old: T::Native) -> bool {
        match (new != new, old != old) {
            (true, is_nan) => self.is_greatest && !is_nan,
            (false, true) => !self.is_greatest,
            (false, false) if self.is_greatest => new > old,
            (false, false) => new < old,
        }
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
    use arrow_array::Array;
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
