//! Coefficients that are stored only in the matrix.

use std::collections::BTreeMap;

use arrow_array::Array;
use isomorph_error::Result;
use isomorph_storage::{Budget, Reservation};

use super::coefficients::Coefficients;
use super::edge_part::COLUMNS;
use super::edges::{Known, resolve};
use super::entities::Placement;
use super::hyperedges::Role;
use super::ids;
use crate::layout::{column, word};
use crate::matrix::Matrix;
use crate::table::Table;

/// How rows of a matrix are numbered, and whether its self-loops are meaningful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsOf {
    /// Rows are placements, in their order. Columns are edges in the order of their positions; a column without cells
    /// states nothing.
    Placements,
    /// Rows are nodes, in their order. Columns are positions, and those of self-loops have no meaning (v1).
    Nodes,
}

/// Returns the coefficients of edges whose columns differ from what weight and direction imply, as the published
/// library determines them. They have the 32 bits of the matrix.
///
/// # Errors
/// Returns an error if the edges cannot be read, or the coefficients exceed the budget.
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
    let ranks = match rows {
        RowsOf::Placements => Some(Ranks::of(table, budget)?),
        RowsOf::Nodes => None,
    };
    let mut numbers = ranks.iter().flat_map(|ranks| ranks.of_edges.iter().copied());
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
            if kind == word::EDGE_PLACEHOLDER {
                continue;
            }
            let column = match rows {
                RowsOf::Placements => numbers.next().unwrap_or(-1),
                RowsOf::Nodes => positions.value(row),
            };
            if column < 0 {
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
            for (_, row, value) in matrix.column(column) {
                *stored.entry(*row).or_default() += *value as f32;
            }
            stored.retain(|_, value| *value != 0.0);
            if implied == stored || (rows == RowsOf::Placements && stored.is_empty()) {
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

/// Columns of the edges that have one, in the order of the table.
struct Ranks {
    of_edges: Vec<i64>,
    _held: Reservation,
}

impl Ranks {
    /// Positions of edges only give their order: they may start anywhere and have gaps. Edges with equal positions are
    /// in the order of the table.
    fn of(table: &Table, budget: &Budget) -> Result<Ranks> {
        // Positions, their order, and ranks.
        let held = budget.reserve(table.rows() * 3 * size_of::<i64>() as u64)?;
        let mut positions = Vec::new();
        for cells in table.batches(&[column::EDGE_ID, column::COL_IDX, column::KIND], 0..table.rows(), 1 << 14)? {
            let cells = cells?;
            let (keys, own) = (cells.text(column::EDGE_ID)?, cells.integers(column::COL_IDX)?);
            let kinds = cells.text(column::KIND)?;
            let is_column = |row: usize| kinds.is_null(row) || kinds.value(row) != word::EDGE_PLACEHOLDER;
            let rows = (0..cells.rows()).filter(|&row| keys.is_valid(row) && own.is_valid(row) && is_column(row));
            positions.extend(rows.map(|row| own.value(row)));
        }
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_by_key(|&edge| positions[edge]);
        for (rank, edge) in order.into_iter().enumerate() {
            positions[edge] = rank as i64;
        }
        Ok(Ranks { of_edges: positions, _held: held })
    }
}
