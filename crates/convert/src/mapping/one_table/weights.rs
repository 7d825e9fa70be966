//! Weights of a table in which every edge has one.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::Columns;

use super::columns::set;
use crate::mapping::arrays::with_nulls;
use crate::mapping::declare::cast;

/// The column of weights: the first one, of 64-bit floats.
pub(super) const COLUMN: usize = 0;

/// How edges without a weight are stored.
#[derive(Debug, Clone, Copy)]
pub(in crate::mapping) struct Weights {
    /// The column that is true for such an edge, if there can be one.
    pub unweighted: Option<usize>,
}

impl Weights {
    /// Gives every edge a weight. `is_property` states whether weights are a property of the type of these edges.
    pub fn complete(self, columns: &mut Columns, is_property: bool, rows: usize) {
        let stated = columns.get_mut(COLUMN).and_then(Option::take);
        let stated = stated.as_ref().and_then(|weights| weights.as_primitive_opt::<Float64Type>());
        let weights = match stated {
            Some(weights) if weights.null_count() == 0 => weights.clone(),
            Some(weights) => weights.iter().map(|weight| Some(weight.unwrap_or(1.0))).collect(),
            None => Float64Array::from_value(1.0, rows),
        };
        let missing: Option<BooleanArray> = match stated {
            _ if !is_property => None,
            Some(weights) if weights.null_count() == 0 => None,
            Some(weights) => Some(weights.iter().map(|weight| weight.is_none().then_some(true)).collect()),
            None => Some(BooleanArray::from(vec![true; rows])),
        };
        set(columns, Some(COLUMN), Some(Arc::new(weights)));
        set(columns, self.unweighted, missing.map(|missing| Arc::new(missing) as ArrayRef));
    }
}

/// Removes the weights of edges that `unweighted` marks.
///
/// # Errors
/// Returns [`super::CARRY_FITS`] if the marks are not truth values.
pub(super) fn remove(weights: &mut ArrayRef, unweighted: &ArrayRef) -> Result<()> {
    let unweighted = cast(unweighted, &DataType::Boolean)?;
    let stated: NullBuffer = unweighted.as_boolean().iter().map(|unweighted| unweighted != Some(true)).collect();
    *weights = with_nulls(weights, Some(&stated))?;
    Ok(())
}
