//! The shape of a dataset's rows: the common types of its partitions.

use arrow_array::{ArrayRef, new_null_array};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};

use crate::layout::{Extra, Layout};
use crate::rules;

/// The types to which all partitions are converted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// Type of truth on node rows: Float64 if any partition has it.
    pub truth: DataType,
    /// Further columns of all partitions, sorted by name, including those of nested edge rows.
    pub extras: Vec<Extra>,
}

impl Shape {
    /// Returns the shape of partitions with these layouts.
    ///
    /// # Errors
    /// Returns [`rules::FILE_COLUMN_TYPE`] if columns of the same name in two partitions have no common type.
    pub fn of<'a>(layouts: impl Iterator<Item = &'a Layout> + Clone) -> Result<Shape> {
        let parts = layouts.flat_map(|layout| std::iter::once(layout).chain(layout.nested.as_deref()));
        let wide = parts.clone().any(|layout| layout.truth_type() == DataType::Float64 && !layout.empty);
        let mut extras: Vec<Extra> = Vec::new();
        for extra in parts.flat_map(|layout| &layout.extras) {
            match extras.iter_mut().find(|known| known.name == extra.name) {
                None => extras.push(extra.clone()),
                Some(known) => {
                    known.data_type = common(&known.data_type, &extra.data_type).ok_or_else(|| {
                        let (one, two) = (&known.data_type, &extra.data_type);
                        let message = format!("column {} is {one} in one partition and {two} in another", extra.name);
                        Error::broken(&rules::FILE_COLUMN_TYPE, message)
                            .at(Place::field(&extra.name))
                            .hint("write the column with the same type in all partitions")
                    })?;
                }
            }
        }
        extras.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(Shape { truth: if wide { DataType::Float64 } else { DataType::Float32 }, extras })
    }

    /// Converts a further column to its type in this shape.
    ///
    /// # Errors
    /// Returns [`rules::FILE_COLUMN_TYPE`] if a value cannot be converted.
    pub fn cast_extra(&self, index: usize, column: &ArrayRef) -> Result<ArrayRef> {
        match self.extras.get(index) {
            Some(extra) => cast_strict(column, &extra.data_type, &extra.name),
            None => Ok(new_null_array(&DataType::Null, column.len())),
        }
    }
}

/// Returns the narrowest type that can represent both.
pub(crate) fn common(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (left, right) if left == right => Some(left.clone()),
        (DataType::Null, other) | (other, DataType::Null) => Some(other.clone()),
        (left, right) if left.is_signed_integer() && right.is_signed_integer() => Some(DataType::Int64),
        (left, right) if left.is_integer() && right.is_integer() => {
            let wide = [left, right].contains(&&DataType::UInt64);
            (!wide).then_some(DataType::Int64)
        }
        (left, right) if left.is_floating() && right.is_floating() => Some(DataType::Float64),
        _ => None,
    }
}

/// Casts without loss: a value that cannot be converted is an error, never null.
pub(crate) fn cast_strict(column: &ArrayRef, to: &DataType, name: &str) -> Result<ArrayRef> {
    if column.data_type() == to {
        return Ok(column.clone());
    }
    let refused = || {
        let message = format!("column {name} cannot be read as {to}");
        Error::broken(&rules::FILE_COLUMN_TYPE, message).at(Place::field(name))
    };
    if !can_cast_types(column.data_type(), to) {
        return Err(refused());
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, to, &options).map_err(|error| refused().caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_meet_only_where_nothing_is_lost() {
        use DataType as T;
        assert_eq!(common(&T::Int16, &T::Int32), Some(T::Int64));
        assert_eq!(common(&T::Int64, &T::UInt32), Some(T::Int64));
        assert_eq!(common(&T::Int64, &T::UInt64), None);
        assert_eq!(common(&T::Float32, &T::Float64), Some(T::Float64));
        assert_eq!(common(&T::Null, &T::Utf8), Some(T::Utf8));
        assert_eq!(common(&T::Int64, &T::Float64), None);
        assert_eq!(common(&T::Utf8, &T::Boolean), None);
    }
}
