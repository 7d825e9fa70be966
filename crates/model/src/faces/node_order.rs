//! The order of nodes of types whose positions have a meaning.
//!
//! Each node may state its position. Where integer keys already have the order of the nodes, that is said once, for the graph,
//! and the first nodes of each type state none: up to the first whose key is not greater than the one before it. Nodes without
//! a position are then in the order of their keys, before all others.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;

/// Returns numbers that compare as integer keys do; `None` for other keys.
pub(super) fn numbers(keys: &ArrayRef) -> Option<Vec<u64>> {
    if !keys.data_type().is_integer() || keys.null_count() > 0 {
        return None;
    }
    let as_type = |data_type: &DataType| cast_with_options(keys, data_type, &CastOptions::default()).ok();
    if *keys.data_type() == DataType::UInt64 {
        return Some(as_type(&DataType::UInt64)?.as_primitive::<UInt64Type>().values().to_vec());
    }
    let keys = as_type(&DataType::Int64)?;
    let keys = keys.as_primitive::<Int64Type>();
    // The lowest number is 0.
    Some(keys.values().iter().map(|key| key.cast_unsigned() ^ (1 << 63)).collect())
}

/// The place of a node among those of its type: nodes that state no position by their keys, then the others by position.
pub(super) type Place = (bool, u64);

/// Returns the place of a node, from the position that it states and the number of its key, if keys count.
pub(super) fn place(stated: Option<u64>, key: Option<u64>) -> Place {
    match (stated, key) {
        (Some(position), _) => (true, position),
        (None, Some(key)) => (false, key),
        // After all others.
        (None, None) => (true, u64::MAX),
    }
}

/// Finds which nodes must state their positions, while the nodes of a type pass in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Ascending {
    /// The number of nodes so far.
    rows: u64,
    last: Option<u64>,
    has_ended: bool,
}

impl Ascending {
    /// Returns how many of the next nodes need no position; `start` is the row of the first.
    pub(super) fn next(&mut self, start: u64, rows: usize, keys: Option<&ArrayRef>) -> usize {
        let numbers = keys.filter(|_| !self.has_ended && start == self.rows).and_then(numbers);
        self.rows = start + rows as u64;
        let mut count = 0;
        for number in numbers.into_iter().flatten() {
            if self.last.is_some_and(|last| last >= number) {
                break;
            }
            (self.last, count) = (Some(number), count + 1);
        }
        self.has_ended |= count < rows;
        count
    }
}
