//! Coefficients that only the matrix has.

use std::collections::BTreeMap;

use arrow_array::Array;
use isomorph_error::Result;
use isomorph_storage::Budget;

use super::coefficients::Coefficients;
use super::edge_part::COLUMNS;
use super::edges::{Known, resolve};
use super::entities::Placement;
use super::hyperedges::Role;
use super::ids;
use crate::layout::{column, word};
use crate::matrix::Matrix;
use crate::table::Table;

/// How rows of a matrix are numbered, and what it says of self-loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsOf {
    /// Placements, in their order.
    Placements,
    /// Nodes, in their order; the columns of self-loops mean nothing (v1).
    Nodes,
}

/// The coefficients of the edges whose columns are not what weight and direction imply, as the published library finds
/// them. They have the 32 bits of the matrix.
///
/// # Errors
/// When the edges cannot be read, or the coefficients do not fit the budget.
pub(crate) fn recover(
    matrix: &Matrix,
    rows: RowsOf,
    table: &Table,
    known: Known<'_>,
    directed: bool,
    budget: &Budget,
) -> Result<Coefficients> {
    let mut found = Coefficients::within(budget)?;
    let placements: BTreeMap<Placement, i64> =
        known.entities.placements.iter().enumerate().map(|(row, placement)| (*placement, row as i64)).collect();
    let row_of = |member: &Placement| match rows {
        RowsOf::Placements if !known.layers.is_flat() => placements.get(member).copied().unwrap_or(-1),
        _ => i64::from(member.node),
    };
    let columns: Vec<&str> = std::iter::once(column::COL_IDX).chain(COLUMNS).collect();
    for cells in table.batches(&columns, 0..table.rows(), 1 << 14)? {
        let cells = cells?;
        let (keys, positions) = (cells.text(column::EDGE_ID)?, cells.integers(column::COL_IDX)?);
        let (weights, stated) = (cells.floats(column::WEIGHT)?, cells.booleans(column::DIRECTED)?);
        let (kinds, sources) = (cells.text(column::KIND)?, cells.text(column::SOURCE)?);
        let (targets, of_source) = (cells.text(column::TARGET)?, cells.integers(column::SOURCE_LAYER)?);
        let of_target = cells.integers(column::TARGET_LAYER)?;
        for row in (0..cells.rows()).filter(|&row| keys.is_valid(row) && positions.is_valid(row)) {
            let id = ids::hash(keys.value(row));
            let kind = if kinds.is_valid(row) { kinds.value(row) } else { word::BINARY };
            if positions.value(row) < 0 || kind == word::EDGE_PLACEHOLDER {
                continue;
            }
            let members: Vec<(Placement, Role)> = match kind {
                word::HYPER => known.hyperedges.get(id).map(|known| known.members.to_vec()).unwrap_or_default(),
                _ => {
                    let entity = matches!(kind, word::NODE_EDGE | word::VERTEX_EDGE);
                    let directed = if stated.is_valid(row) { stated.value(row) } else { directed && !entity };
                    let end = |ends: &arrow_array::StringArray, layers| {
                        resolve(known, ends.is_valid(row).then(|| ends.value(row)), layers, row)
                    };
                    let (source, target) = (end(&sources, &of_source)?, end(&targets, &of_target)?);
                    let second = if directed { Role::Tail } else { Role::Member };
                    let target = target.map(|target| (target, second));
                    source.map(|source| (source, Role::Head)).into_iter().chain(target).collect()
                }
            };
            let loops = matches!(members.as_slice(), [(source, _), (target, _)] if source.node == target.node);
            if rows == RowsOf::Nodes && loops {
                continue;
            }
            let weight = if weights.is_valid(row) { weights.value(row) } else { 1.0 };
            let mut implied: BTreeMap<i64, f32> = BTreeMap::new();
            for (member, role) in &members {
                let value = if *role == Role::Tail { -weight } else { weight };
                *implied.entry(row_of(member)).or_default() += value as f32;
            }
            implied.retain(|_, value| *value != 0.0);
            let mut stored: BTreeMap<i64, f32> = BTreeMap::new();
            for (_, row, value) in matrix.column(positions.value(row)) {
                *stored.entry(*row).or_default() += *value as f32;
            }
            stored.retain(|_, value| *value != 0.0);
            if implied == stored {
                continue;
            }
            for (member, _) in &members {
                let value = stored.get(&row_of(member)).copied().unwrap_or(0.0);
                found.add(id, *member, f64::from(value))?;
            }
        }
    }
    Ok(found)
}
