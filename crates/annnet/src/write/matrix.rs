//! The incidence matrix, if requested: Zarr arrays of rows, columns and values, in the order of the columns.
//!
//! A column has the weight of its edge at the source side and, if the edge is directed, minus the weight at the target
//! side; explicit coefficients replace both. An entity with several roles has their sum, and zeros are not stored.
//! Values are 32-bit floats, as in the published library; the tables have 64 bits.

use std::num::NonZeroU64;

use arrow_array::{Array, Float64Array, Int64Array, StringArray};
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Reservation;

use super::WriteOptions;
use super::output::Output;
use crate::layout::file;
use crate::members::Members;
use crate::read::ids::{self, ENTRY_BYTES, IdMap};
use crate::zarr::{ArrayWriter, put_group};

/// Entries of a chunk: the number that the published library uses.
const CHUNK: NonZeroU64 = NonZeroU64::new(10_000).unwrap();

/// Rows of the matrix by entity and layer.
pub(crate) struct MatrixRows {
    rows: IdMap<i32>,
    /// Number of rows.
    count: u64,
    held: Reservation,
}

/// Layers are distinguished by an offset to the hash of the id, whose bits are already uniformly distributed.
fn key(id: &str, layer: i64) -> u128 {
    ids::hash(id).wrapping_add((layer as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
}

fn too_many(what: &str) -> Error {
    Error::new(Kind::TooLarge, format!("the graph has more {what} than the 32-bit numbers of the matrix can count"))
        .hint("omit --matrix")
}

impl MatrixRows {
    /// Creates an empty set of rows.
    ///
    /// # Errors
    /// Returns an error if no memory is left.
    pub fn new(options: &WriteOptions) -> Result<Self> {
        Ok(MatrixRows { rows: IdMap::default(), count: 0, held: options.budget.reserve(0)? })
    }

    /// Adds the next entities, with their layers.
    ///
    /// # Errors
    /// Returns an error if they exceed the budget, or the size of the matrix.
    pub fn add(&mut self, ids: &StringArray, layers: &Int64Array) -> Result<()> {
        self.held.grow(ids.len() as u64 * ENTRY_BYTES)?;
        (0..ids.len()).try_for_each(|row| self.put(ids.value(row), layers.value(row)))
    }

    /// Adds the next entity of an existing graph.
    ///
    /// # Errors
    /// Returns the errors of [`MatrixRows::add`].
    pub fn know(&mut self, id: &str, layer: i64) -> Result<()> {
        self.held.grow(ENTRY_BYTES)?;
        self.put(id, layer)
    }

    fn put(&mut self, id: &str, layer: i64) -> Result<()> {
        let next = i32::try_from(self.count).map_err(|_| too_many("entities"))?;
        self.rows.insert(key(id, layer), next);
        self.count += 1;
        Ok(())
    }

    /// Returns the number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the row of an entity in a layer.
    pub fn of(&self, id: &str, layer: i64) -> Option<i32> {
        self.rows.get(&key(id, layer)).copied()
    }
}

/// The matrix that is being written.
pub(crate) struct Matrix {
    row: ArrayWriter<i32>,
    column: ArrayWriter<i32>,
    data: ArrayWriter<f32>,
    /// Entries that are not yet written.
    rows: Vec<i32>,
    columns: Vec<i32>,
    values: Vec<f32>,
    /// Column, row and value of cells that arrived before their turn, and the index of the next one.
    ahead: Vec<(u64, i32, f32)>,
    next: usize,
    is_sorted: bool,
    held: Reservation,
}

impl Matrix {
    /// Begins the arrays.
    ///
    /// # Errors
    /// Returns an error if Zarr does not support the compression.
    pub fn create(options: &WriteOptions) -> Result<Self> {
        let directory = |name: &str| format!("{}/{name}", file::INCIDENCE);
        let row = ArrayWriter::create(&directory("row"), CHUNK, options)?;
        let column = ArrayWriter::create(&directory("col"), CHUNK, options)?;
        Matrix::of((row, column, ArrayWriter::create(&directory("data"), CHUNK, options)?), options)
    }

    fn of(
        (row, column, data): (ArrayWriter<i32>, ArrayWriter<i32>, ArrayWriter<f32>),
        options: &WriteOptions,
    ) -> Result<Self> {
        let (rows, columns, values) = (Vec::new(), Vec::new(), Vec::new());
        let held = options.budget.reserve(0)?;
        Ok(Matrix { row, column, data, rows, columns, values, ahead: Vec::new(), next: 0, is_sorted: true, held })
    }

    /// Continues the matrix of an existing graph. Returns `None` if its arrays differ from those that are written here.
    ///
    /// # Errors
    /// Returns an error if an array is malformed.
    pub fn resume(members: &Members, options: &WriteOptions) -> Result<Option<Self>> {
        let directory = |name: &str| format!("{}/{name}", file::INCIDENCE);
        let row = ArrayWriter::resume(members, &directory("row"), options)?;
        let column = ArrayWriter::resume(members, &directory("col"), options)?;
        let data = ArrayWriter::resume(members, &directory("data"), options)?;
        let (Some(row), Some(column), Some(data)) = (row, column, data) else { return Ok(None) };
        if row.len() != column.len() || row.len() != data.len() {
            return Ok(None);
        }
        Matrix::of((row, column, data), options).map(Some)
    }

    /// Holds cells (a column, a row and a value for each role) until their columns can be written.
    ///
    /// # Errors
    /// Returns an error if they exceed the budget.
    pub fn hold(&mut self, cells: impl ExactSizeIterator<Item = (u64, i32, f32)>) -> Result<()> {
        self.held.grow((cells.len() * size_of::<(u64, i32, f32)>()) as u64)?;
        self.ahead.extend(cells);
        self.is_sorted = false;
        Ok(())
    }

    /// Adds the next column, after the held cells of earlier columns. `cells` has a row and a value for each role in
    /// the edge, and is emptied.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be written, or the matrix has too many columns.
    pub fn add(&mut self, column: u64, cells: &mut Vec<(i32, f32)>, output: &mut Output<'_>) -> Result<()> {
        self.catch_up(column, output)?;
        self.put(column, cells, output)
    }

    /// Writes the held cells of the columns before `end`.
    fn catch_up(&mut self, end: u64, output: &mut Output<'_>) -> Result<()> {
        if !std::mem::replace(&mut self.is_sorted, true) {
            // A stable sort, as below.
            self.ahead.sort_by_key(|(column, ..)| *column);
        }
        let mut own = Vec::new();
        while let Some((column, ..)) = self.ahead.get(self.next).copied().filter(|(column, ..)| *column < end) {
            while let Some((_, row, value)) = self.ahead.get(self.next).copied().filter(|cell| cell.0 == column) {
                own.push((row, value));
                self.next += 1;
            }
            self.put(column, &mut own, output)?;
        }
        Ok(())
    }

    fn put(&mut self, column: u64, cells: &mut Vec<(i32, f32)>, output: &mut Output<'_>) -> Result<()> {
        let column = i32::try_from(column).map_err(|_| too_many("edges"))?;
        // A stable sort: the values of one entity are summed in the order of its roles.
        cells.sort_by_key(|(row, _)| *row);
        for same in cells.chunk_by(|left, right| left.0 == right.0) {
            let value = same.iter().fold(0.0, |sum, (_, value)| sum + value);
            if value != 0.0 {
                self.rows.push(same[0].0);
                self.columns.push(column);
                self.values.push(value);
            }
        }
        cells.clear();
        if self.rows.len() >= CHUNK.get() as usize { self.flush(output) } else { Ok(()) }
    }

    fn flush(&mut self, output: &mut Output<'_>) -> Result<()> {
        self.row.push(&self.rows, output)?;
        self.column.push(&self.columns, output)?;
        self.data.push(&self.values, output)?;
        self.rows.clear();
        self.columns.clear();
        self.values.clear();
        Ok(())
    }

    /// Completes the matrix, which has this number of entities and edges.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn finish(mut self, (entities, edges): (u64, u64), output: &mut Output<'_>) -> Result<()> {
        self.catch_up(u64::MAX, output)?;
        self.flush(output)?;
        for array in [self.row, self.column] {
            array.finish(output)?;
        }
        self.data.finish(output)?;
        let mut attributes = serde_json::Map::new();
        attributes.insert("shape".to_owned(), serde_json::json!([entities, edges]));
        put_group(file::INCIDENCE, attributes, output)
    }
}

/// Returns the weight of an edge; 1 if none is stated.
pub(super) fn weight_of(weights: Option<&Float64Array>, row: usize) -> f64 {
    weights.filter(|weights| weights.is_valid(row)).map_or(1.0, |weights| weights.value(row))
}
