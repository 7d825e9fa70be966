//! Whole columns of numbers for aggregates that read nothing else: no row is made of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use isomorph::dataset::KIND;

use super::batch::InBatch;
use crate::columnar::is_count_of;
use crate::fault::Result;
use crate::plan::{Aggregate, Expr, Slot};
use crate::value::Value;

/// A batch, all of whose rows are matches, of which nothing is read but properties of the element.
pub(crate) struct Whole<'b> {
    pub(super) batch: InBatch,
    pub(super) element: Slot,
    /// The nodes at the ends, which nobody reads.
    pub(super) ends: &'b [Slot],
}

/// What an aggregate has of a batch.
pub(crate) enum Argument<'b> {
    /// So many rows.
    Rows(u64),
    Numbers(&'b ArrayRef),
}

/// What an aggregate reads of a match.
pub(super) enum Reads<'p> {
    Nothing,
    Property(&'p Arc<str>),
}

/// What an aggregate reads of a match of an element and its ends; `None` if it is anything but a property of the element.
pub(super) fn reads<'p>(one: &'p Aggregate, element: Slot, ends: &[Slot]) -> Option<Reads<'p>> {
    let counts = |slot: &Slot| is_count_of(one, *slot);
    match one.arguments.as_slice() {
        [] => Some(Reads::Nothing),
        [Expr::Slot(_)] if counts(&element) || ends.iter().any(counts) => Some(Reads::Nothing),
        [Expr::Property(base, name)] if matches!(**base, Expr::Slot(slot) if slot == element) => {
            Some(Reads::Property(name))
        }
        _ => None,
    }
}

/// Whether a column has numbers, which are values as they are.
pub(super) fn has_numbers(field: &Field) -> bool {
    use DataType as T;
    let is_number = matches!(
        field.data_type(),
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::Float32 | T::Float64
    );
    is_number && !field.metadata().contains_key(KIND)
}

impl Whole<'_> {
    /// What an aggregate has of the batch; `None` if it is read row by row.
    pub(crate) fn of(&self, one: &Aggregate) -> Option<Argument<'_>> {
        let InBatch { batch, element } = &self.batch;
        let name = match reads(one, self.element, self.ends)? {
            Reads::Nothing => return Some(Argument::Rows(batch.num_rows() as u64)),
            Reads::Property(name) => name,
        };
        let (_, at) = element.properties.iter().find(|(own, _)| **own == **name)?;
        let is_key = element.key.as_ref().is_some_and(|(key, _)| **key == **name);
        (!is_key && has_numbers(batch.schema_ref().fields().get(*at)?)).then_some(())?;
        batch.columns().get(*at).map(Argument::Numbers)
    }
}

/// Calls `each` with the values of a column of numbers, but nulls.
pub(crate) fn each(column: &ArrayRef, each: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
    match column.data_type() {
        DataType::Int8 => of::<Int8Type>(column, each, |value| Value::Int(value.into())),
        DataType::Int16 => of::<Int16Type>(column, each, |value| Value::Int(value.into())),
        DataType::Int32 => of::<Int32Type>(column, each, |value| Value::Int(value.into())),
        DataType::Int64 => of::<Int64Type>(column, each, Value::Int),
        DataType::UInt8 => of::<UInt8Type>(column, each, |value| Value::Int(value.into())),
        DataType::UInt16 => of::<UInt16Type>(column, each, |value| Value::Int(value.into())),
        DataType::UInt32 => of::<UInt32Type>(column, each, |value| Value::Int(value.into())),
        DataType::Float32 => of::<Float32Type>(column, each, |value| Value::Float(value.into())),
        _ => of::<Float64Type>(column, each, Value::Float),
    }
}

fn of<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    each: &mut dyn FnMut(Value) -> Result<()>,
    value: impl Fn(T::Native) -> Value,
) -> Result<()> {
    let Some(column) = column.as_primitive_opt::<T>() else { return Ok(()) };
    match column.null_count() {
        0 => column.values().iter().try_for_each(|one| each(value(*one))),
        _ => column.iter().flatten().try_for_each(|one| each(value(one))),
    }
}
