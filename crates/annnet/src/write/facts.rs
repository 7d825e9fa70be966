//! The tables of the specification's layout that contain one fact each: positions, types and names of entities;
//! definitions, weights, directions and kinds of edges.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array};
use arrow_schema::DataType;
use isomorph_error::Result;

use super::WriteOptions;
use super::columns::gather;
use super::edges::Rows;
use super::output::Output;
use super::table::TableOut;
use crate::layout::{column as name, file, word};

const INT: DataType = DataType::Int64;
const TEXT: DataType = DataType::Utf8;

/// The tables of entities.
pub(super) struct EntityFacts {
    to_idx: TableOut,
    from_idx: TableOut,
    types: TableOut,
    count: i64,
}

impl EntityFacts {
    /// Begins the tables.
    ///
    /// # Errors
    /// Returns an error if they cannot be created.
    pub fn new(output: &Output<'_>, options: &WriteOptions) -> Result<Self> {
        let create = |path, columns: &[(&str, DataType)]| TableOut::create(output, path, columns, options);
        Ok(EntityFacts {
            to_idx: create(file::ENTITY_TO_IDX, &[(name::ENTITY_ID, TEXT), (name::IDX, INT)])?,
            from_idx: create(file::IDX_TO_ENTITY, &[(name::IDX, INT), (name::ENTITY_ID, TEXT)])?,
            types: create(file::ENTITY_TYPES, &[(name::ENTITY_ID, TEXT), (name::TYPE, TEXT)])?,
            count: 0,
        })
    }

    /// Begins with this position.
    pub fn begin_at(&mut self, idx: u64) {
        self.count = idx as i64;
    }

    /// Adds entities; some of them are edges.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn push(&mut self, ids: &ArrayRef, is_edge: &BooleanArray) -> Result<()> {
        let rows = ids.len();
        let positions: ArrayRef = Arc::new(Int64Array::from_iter_values(self.count..self.count + rows as i64));
        self.count += rows as i64;
        let word = |is_edge: Option<bool>| Some(if is_edge == Some(true) { word::EDGE } else { word::VERTEX });
        let types: ArrayRef = Arc::new(is_edge.iter().map(word).collect::<StringArray>());
        let ids = || Some(Arc::clone(ids));
        self.to_idx.push(rows, vec![ids(), Some(Arc::clone(&positions))])?;
        self.from_idx.push(rows, vec![Some(positions), ids()])?;
        self.types.push(rows, vec![ids(), Some(types)])
    }

    /// Completes the tables.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn finish(self, output: &mut Output<'_>) -> Result<()> {
        [self.to_idx, self.from_idx, self.types].into_iter().try_for_each(|table| table.finish(output))
    }
}

/// The tables of edges.
pub(super) struct EdgeFacts {
    definitions: TableOut,
    weights: TableOut,
    directed: TableOut,
    kinds: TableOut,
    to_idx: TableOut,
    from_idx: TableOut,
    is_flat: bool,
}

impl EdgeFacts {
    /// Begins the tables.
    ///
    /// # Errors
    /// Returns an error if they cannot be created.
    pub fn new(output: &Output<'_>, options: &WriteOptions, is_flat: bool) -> Result<Self> {
        let create = |path, columns: &[(&str, DataType)]| TableOut::create(output, path, columns, options);
        let with = |path, column, data_type| create(path, &[(name::EDGE_ID, TEXT), (column, data_type)]);
        let ends = [(name::EDGE_ID, TEXT), (name::SOURCE, TEXT), (name::TARGET, TEXT), (name::EDGE_TYPE, TEXT)];
        Ok(EdgeFacts {
            definitions: create(file::EDGE_DEFINITIONS, &ends)?,
            weights: with(file::EDGE_WEIGHTS, name::WEIGHT, DataType::Float64)?,
            directed: with(file::EDGE_DIRECTED, name::DIRECTED, DataType::Boolean)?,
            kinds: with(file::EDGE_KIND, name::KIND, TEXT)?,
            to_idx: with(file::EDGE_TO_IDX, name::IDX, INT)?,
            from_idx: create(file::IDX_TO_EDGE, &[(name::IDX, INT), (name::EDGE_ID, TEXT)])?,
            is_flat,
        })
    }

    /// Adds edges of any kind; `positions` are those of their columns, if they have any.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn push(&mut self, rows: Rows, positions: Option<Int64Array>) -> Result<()> {
        let count = rows.ids.len();
        let ids = || Some(Arc::clone(&rows.ids));
        if let Some(positions) = positions {
            let positions: ArrayRef = Arc::new(positions);
            self.to_idx.push(count, vec![ids(), Some(Arc::clone(&positions))])?;
            self.from_idx.push(count, vec![Some(positions), ids()])?;
        }
        let types = rows.kinds.iter().map(|kind| match kind {
            Some(word::HYPER) => Some(word::HYPER),
            Some(word::NODE_EDGE | word::EDGE_PLACEHOLDER) => Some(word::EDGE_ENTITY),
            _ => Some(word::REGULAR),
        });
        let types: ArrayRef = Arc::new(types.collect::<StringArray>());
        let between = rows.ml_kinds.as_ref().filter(|_| !self.is_flat);
        let kinds = rows.kinds.iter().enumerate().map(|(row, kind)| match kind {
            Some(kind @ (word::HYPER | word::EDGE_PLACEHOLDER)) => Some(kind),
            _ => Some(between.filter(|all| all.is_valid(row)).map_or(word::BINARY, |all| all.value(row))),
        });
        let kinds: ArrayRef = Arc::new(kinds.collect::<StringArray>());
        self.kinds.push(count, vec![ids(), Some(kinds)])?;
        self.definitions.push(count, vec![ids(), rows.source.0, rows.target.0, Some(types)])?;
        self.weights.push(count, vec![ids(), rows.weights])?;
        // An inherited direction is not stated.
        let Some(directed) = rows.directed else { return Ok(()) };
        if directed.null_count() == 0 {
            return self.directed.push(count, vec![ids(), Some(Arc::new(directed))]);
        }
        let stated: UInt32Array = (0..count as u32).filter(|row| directed.is_valid(*row as usize)).map(Some).collect();
        let columns = vec![Some(gather(&rows.ids, &stated)?), Some(gather(&directed, &stated)?)];
        self.directed.push(stated.len(), columns)
    }

    /// Completes the tables.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn finish(self, output: &mut Output<'_>) -> Result<()> {
        let tables = [self.definitions, self.weights, self.directed, self.kinds, self.to_idx, self.from_idx];
        tables.into_iter().try_for_each(|table| table.finish(output))
    }
}
