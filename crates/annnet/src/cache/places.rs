//! Rows of entities and columns of edges in the matrix.

use std::collections::HashMap;

use isomorph_error::Result;
use isomorph_storage::{Budget, Reservation};

use super::arrays::{Column, number};
use super::{BATCH_ROWS, CSR, hash_of};
use crate::Annnet;
use crate::layout::{Layout, column};
use crate::read::{Class, Placement};
use crate::write::{Output, WriteOptions};

/// Bytes of a placement with its row.
const PLACED_BYTES: u64 = 24;

/// Rows of entities in every layer in which they are placed.
pub(super) struct Entities {
    pub count: u64,
    /// For a graph with layers; in a flat graph, the row is that of the node.
    placed: Option<HashMap<Placement, u32>>,
    _held: Reservation,
}

impl Entities {
    pub fn of(annnet: &Annnet, budget: &Budget) -> Result<Self> {
        let entities = &annnet.entities;
        if annnet.layers.is_flat() {
            return Ok(Entities { count: entities.len() as u64, placed: None, _held: budget.reserve(0)? });
        }
        let held = budget.reserve(entities.placements.len() as u64 * PLACED_BYTES)?;
        let rows = entities.placements.iter().enumerate().map(|(row, placement)| (*placement, row as u32));
        Ok(Entities { count: entities.placements.len() as u64, placed: Some(rows.collect()), _held: held })
    }

    /// Returns the rows of the incidence matrix: in the layouts before 0.3, an entity has one row, however many layers
    /// it is in.
    pub fn of_matrix(annnet: &Annnet, budget: &Budget) -> Result<Self> {
        if annnet.layout == Layout::V1 {
            let count = annnet.entities.len() as u64;
            return Ok(Entities { count, placed: None, _held: budget.reserve(0)? });
        }
        Entities::of(annnet, budget)
    }

    pub fn row(&self, placement: Placement) -> Option<u64> {
        match &self.placed {
            None => Some(u64::from(placement.node)),
            Some(placed) => placed.get(&placement).map(|row| u64::from(*row)),
        }
    }

    /// Writes the hashes of ids in ascending order, with their rows.
    pub fn write_ids(&self, annnet: &Annnet, options: &WriteOptions, output: &mut Output<'_>) -> Result<()> {
        let entities = &annnet.entities;
        let _held = options.budget.reserve(self.count * 16)?;
        let of = |node: u32| hash_of(entities.keys.value(node as usize));
        let mut ids: Vec<(i64, u64)> = match self.placed {
            None => (0..entities.len() as u32).map(|node| (of(node), u64::from(node))).collect(),
            Some(_) => entities.placements.iter().enumerate().map(|(row, own)| (of(own.node), row as u64)).collect(),
        };
        ids.sort_unstable();
        let (mut hashes, mut rows) =
            (Column::create(CSR, "id_hash", options)?, Column::create(CSR, "id_row", options)?);
        for (hash, row) in ids {
            hashes.push(hash, output)?;
            rows.push(number(row)?, output)?;
        }
        hashes.finish(output)?;
        rows.finish(output)
    }
}

/// The mapping between rows of the edge table and columns of the matrix.
pub(super) struct Columns {
    pub count: u64,
    /// The column of each row, and the row of each column; `None` if the rows that are columns are already in their
    /// order.
    pub of_rows: Option<(Vec<u64>, Vec<u64>)>,
    /// Rows that are not columns.
    placeholders: Vec<u64>,
    total: u64,
    _held: Reservation,
}

/// The column of a row that has none.
pub(super) const NONE: u64 = u64::MAX;

impl Columns {
    pub fn of(annnet: &Annnet, budget: &Budget) -> Result<Self> {
        let table = &annnet.edges.table;
        let placeholders = annnet.edges.rows_of(Class::Placeholder).to_vec();
        let total = table.rows();
        let count = total - placeholders.len() as u64;
        let mut held = budget.reserve(placeholders.len() as u64 * 8)?;
        let (mut last, mut ascending, mut row) = (None, true, 0);
        let mut skipped = placeholders.iter().peekable();
        for cells in table.batches(&[column::COL_IDX], 0..total, BATCH_ROWS)? {
            for position in &cells?.integers(column::COL_IDX)? {
                if skipped.next_if(|skipped| **skipped == row).is_none() {
                    ascending &= last <= position;
                    last = position;
                }
                row += 1;
            }
        }
        if ascending {
            return Ok(Columns { count, of_rows: None, placeholders, total, _held: held });
        }
        held.grow(total * 24 + count * 8)?;
        let mut order: Vec<(Option<i64>, u64)> = Vec::with_capacity(count as usize);
        row = 0;
        for cells in table.batches(&[column::COL_IDX], 0..total, BATCH_ROWS)? {
            for position in &cells?.integers(column::COL_IDX)? {
                if placeholders.binary_search(&row).is_err() {
                    order.push((position, row));
                }
                row += 1;
            }
        }
        order.sort_unstable();
        let mut columns = vec![NONE; total as usize];
        for (column, (_, row)) in order.iter().enumerate() {
            columns[*row as usize] = column as u64;
        }
        let rows = order.into_iter().map(|(_, row)| row).collect();
        Ok(Columns { count, of_rows: Some((columns, rows)), placeholders, total, _held: held })
    }

    /// Returns the column of a row; `before` is the number of placeholders before it.
    pub fn of_row(&self, row: u64, before: u64) -> u64 {
        match &self.of_rows {
            None => row - before,
            Some((columns, _)) => columns.get(row as usize).copied().unwrap_or(NONE),
        }
    }

    /// Calls `take` with the row of each column, in order.
    pub fn rows(&self, mut take: impl FnMut(i64) -> Result<()>) -> Result<()> {
        if let Some((_, rows)) = &self.of_rows {
            return rows.iter().try_for_each(|row| take(row.cast_signed()));
        }
        let mut skipped = self.placeholders.iter().peekable();
        (0..self.total)
            .filter(|row| skipped.next_if(|skipped| *skipped == row).is_none())
            .try_for_each(|row| take(row.cast_signed()))
    }
}
