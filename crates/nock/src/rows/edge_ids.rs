//! Edge numbers, in the width of the file: most readers only need to know which rows are node rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::Result;

use super::shape::cast_strict;
use crate::columns::Column;

/// The edge numbers of rows; negative on node rows.
#[derive(Debug, Clone)]
pub(crate) enum EdgeIds {
    /// 32 bits, as in the specification.
    Short(Int32Array),
    /// 64 bits, as pynock writes them, and all other widths.
    Long(Int64Array),
}

impl EdgeIds {
    /// Returns the numbers in a column.
    ///
    /// # Errors
    /// Returns an error if it does not contain integers.
    pub fn of(column: &ArrayRef) -> Result<Self> {
        if let Some(short) = column.as_primitive_opt::<Int32Type>() {
            return Ok(EdgeIds::Short(short.clone()));
        }
        let long = cast_strict(column, &DataType::Int64, Column::EdgeId.name())?;
        Ok(EdgeIds::Long(long.as_primitive::<Int64Type>().clone()))
    }

    /// Returns the first row without a number.
    pub fn first_null(&self) -> Option<usize> {
        let (ids, nulls) = match self {
            EdgeIds::Short(ids) => (ids as &dyn Array, ids.null_count()),
            EdgeIds::Long(ids) => (ids as &dyn Array, ids.null_count()),
        };
        if nulls == 0 { None } else { (0..ids.len()).find(|&row| ids.is_null(row)) }
    }

    /// Returns the number of a row.
    pub fn value(&self, row: usize) -> i64 {
        match self {
            EdgeIds::Short(ids) => ids.value(row).into(),
            EdgeIds::Long(ids) => ids.value(row),
        }
    }

    /// Returns a mask of the node rows.
    pub fn nodes(&self) -> BooleanArray {
        let bits = match self {
            EdgeIds::Short(ids) => {
                let ids = ids.values();
                BooleanBuffer::collect_bool(ids.len(), |row| ids[row] < 0)
            }
            EdgeIds::Long(ids) => {
                let ids = ids.values();
                BooleanBuffer::collect_bool(ids.len(), |row| ids[row] < 0)
            }
        };
        BooleanArray::new(bits, None)
    }

    /// Returns the column unchanged.
    pub fn column(&self) -> ArrayRef {
        match self {
            EdgeIds::Short(ids) => Arc::new(ids.clone()),
            EdgeIds::Long(ids) => Arc::new(ids.clone()),
        }
    }

    /// Returns the numbers with 64 bits, as in the model.
    pub fn wide(&self) -> ArrayRef {
        match self {
            // Widening never fails.
            EdgeIds::Short(ids) => cast(ids, &DataType::Int64).unwrap_or_else(|_| Arc::new(ids.clone())),
            EdgeIds::Long(ids) => Arc::new(ids.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_width_says_the_same() {
        let short: ArrayRef = Arc::new(Int32Array::from(vec![Some(-1), Some(0), None]));
        for data_type in [DataType::Int32, DataType::Int64, DataType::Int8] {
            let ids = EdgeIds::of(&cast(&short, &data_type).unwrap()).unwrap();
            assert_eq!((ids.value(0), ids.value(1), ids.first_null()), (-1, 0, Some(2)));
            assert!(ids.nodes().value(0) && !ids.nodes().value(1));
            assert_eq!(&ids.wide(), &cast(&short, &DataType::Int64).unwrap());
        }
    }
}
