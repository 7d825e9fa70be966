//! A column of properties that was read whole.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use isomorph::Result;

use super::alike::Codes;
use super::cells;
use super::keys::{Key, Positions};
use crate::value::Value;

/// The cells of all nodes of a table.
pub(super) struct Column {
    field: Field,
    arrays: Vec<ArrayRef>,
    /// The first row of each array.
    starts: Vec<usize>,
    rows: usize,
    /// The row of each position, if positions are not those of rows; beyond the rows for nodes that are no rows.
    row_of: Option<Vec<usize>>,
}

impl Column {
    pub(super) fn new(field: Field) -> Self {
        Column { field, arrays: Vec::new(), starts: Vec::new(), rows: 0, row_of: None }
    }

    /// Adds the next rows with their keys. Returns the bytes that they take.
    pub(super) fn add(&mut self, keys: &ArrayRef, cells: &ArrayRef, positions: &Positions) -> Result<u64> {
        let mut bytes = cells.to_data().get_slice_memory_size().unwrap_or_else(|_| cells.get_array_memory_size());
        if self.row_of.is_none() && !is_at(keys, positions, self.rows)? {
            let row = |position: usize| if position < self.rows { position } else { usize::MAX };
            self.row_of = Some((0..positions.len()).map(row).collect());
            bytes += size_of::<usize>() * positions.len();
        }
        if let Some(row_of) = &mut self.row_of {
            for row in 0..keys.len() {
                let position = positions.get(&cells::key(keys, row)?);
                if let Some(place) = position.and_then(|position| row_of.get_mut(position)) {
                    *place = self.rows + row;
                }
            }
        }
        self.arrays.push(ArrayRef::clone(cells));
        self.starts.push(self.rows);
        self.rows += cells.len();
        Ok(bytes as u64)
    }

    /// The value for the node at a position; null for nodes that are no rows.
    pub(super) fn value(&self, position: usize) -> Result<Value> {
        let row = match &self.row_of {
            Some(row_of) => row_of.get(position).copied().unwrap_or(usize::MAX),
            None => position,
        };
        // The last array that begins at or before it, and is not empty.
        let at = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        match (self.arrays.get(at), self.starts.get(at)) {
            (Some(array), Some(start)) if row < self.rows => cells::value(array, row - start, &self.field),
            _ => Ok(Value::Null),
        }
    }

    /// Numbers of the cells of the first `count` positions: see [`Codes::of`].
    pub(super) fn codes(&self, count: usize) -> Option<Codes> {
        let codes = Codes::of(&self.arrays)?;
        Some(match &self.row_of {
            Some(row_of) => codes.in_order(row_of.get(..count.min(row_of.len()))?, count),
            None => codes.padded(count),
        })
    }
}

/// Whether the keys have the positions from `first` on.
fn is_at(keys: &ArrayRef, positions: &Positions, first: usize) -> Result<bool> {
    let Some(known) = positions.keys().get(first..first + keys.len()) else { return Ok(false) };
    if let Some(ints) = keys.as_primitive_opt::<Int64Type>().filter(|ints| ints.null_count() == 0) {
        return Ok(known.iter().zip(ints.values()).all(|(known, key)| *known == Key::Int(*key)));
    }
    for (row, known) in known.iter().enumerate() {
        if cells::key(keys, row)? != *known {
            return Ok(false);
        }
    }
    Ok(true)
}
