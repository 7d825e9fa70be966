//! The incidence matrix: three Zarr arrays of rows, columns and values.

use isomorph_error::{Kind, Place, Result};
use isomorph_storage::{Budget, Reservation, limits};

use crate::layout::file;
use crate::members::Members;
use crate::read::json;
use crate::zarr::{ArrayReader, broken};

/// Bytes that an entry takes, including those needed while the arrays are combined.
const ENTRY_BYTES: u64 = 48;

/// The entries of a matrix, in the order of their columns.
pub(crate) struct Matrix {
    /// Column, row and value.
    pub entries: Vec<(i64, i64, f64)>,
    _held: Reservation,
}

/// Returns the shape that a matrix states, entities and edges; `None` if there is no matrix or it states no shape.
///
/// # Errors
/// Returns an error if its description cannot be read.
pub(crate) fn shape(members: &Members) -> Result<Option<[u64; 2]>> {
    let group = format!("{}/zarr.json", file::INCIDENCE);
    let Some(text) = members.text(&group, limits::MANIFEST_BYTES)? else { return Ok(None) };
    let mut sides = Vec::new();
    json::members(&text, &group, |name, value| match name {
        "zarr_format" if json::count(value) != Some(3) => Err(broken(&group, "expected version 3 of Zarr")),
        "node_type" if json::string(value).as_deref() != Some("group") => Err(broken(&group, "expected a Zarr group")),
        "attributes" if value.trim_start().starts_with('{') => json::members(value, &group, |name, value| match name {
            "shape" if value.trim_start().starts_with('[') => json::items(value, &group, |side| {
                sides.push(json::count(side));
                Ok(())
            }),
            _ => Ok(()),
        }),
        _ => Ok(()),
    })?;
    Ok(match sides[..] {
        [Some(entities), Some(edges)] => Some([entities, edges]),
        _ => None,
    })
}

/// The opened arrays of a matrix.
pub(crate) struct Arrays {
    pub row: ArrayReader,
    pub column: ArrayReader,
    pub data: ArrayReader,
    /// Entities and edges.
    pub shape: [u64; 2],
}

impl Arrays {
    /// Opens the matrix, if there is one.
    ///
    /// # Errors
    /// Returns an error if it has no shape, or its arrays are not numeric or differ in length.
    pub fn open(members: &Members) -> Result<Option<Arrays>> {
        let group = format!("{}/zarr.json", file::INCIDENCE);
        if !members.has(&group)? {
            return Ok(None);
        }
        let shape = shape(members)?.ok_or_else(|| broken(&group, "the attribute shape (two counts) is missing"))?;
        let array = |name: &str| {
            let directory = format!("{}/{name}", file::INCIDENCE);
            let array = ArrayReader::open(members, &directory)?;
            array.ok_or_else(|| broken(&format!("{directory}/zarr.json"), "the array is missing"))
        };
        let (row, column, data) = (array("row")?, array("col")?, array("data")?);
        if row.len() != column.len() || row.len() != data.len() {
            return Err(broken(&group, "row, col and data differ in length"));
        }
        if !row.is_integer() || !column.is_integer() {
            return Err(broken(&group, "row and col must be integers"));
        }
        Ok(Some(Arrays { row, column, data, shape }))
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.row.len()
    }
}

impl Matrix {
    /// Reads the matrix, if there is one.
    ///
    /// # Errors
    /// Returns an error if it is malformed, has an unsupported encoding, or exceeds the budget.
    pub fn read(members: &Members, budget: &Budget) -> Result<Option<Matrix>> {
        let Some(Arrays { row, column, data, .. }) = Arrays::open(members)? else { return Ok(None) };
        let group = format!("{}/zarr.json", file::INCIDENCE);
        let wanted = row.len().checked_mul(ENTRY_BYTES);
        let wanted = wanted.ok_or_else(|| broken(&group, "the matrix has too many entries").of_kind(Kind::TooLarge))?;
        let held = budget.reserve(wanted).map_err(|error| error.at(Place::file(&group)))?;
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        row.integers(0..row.len(), &mut rows)?;
        column.integers(0..column.len(), &mut columns)?;
        data.floats(0..data.len(), &mut values)?;
        let numbers = rows.into_iter().zip(columns).zip(values);
        let mut entries: Vec<(i64, i64, f64)> = numbers.map(|((row, column), value)| (column, row, value)).collect();
        entries.sort_by_key(|(column, row, _)| (*column, *row));
        Ok(Some(Matrix { entries, _held: held }))
    }

    /// Returns the entries of a column.
    pub fn column(&self, column: i64) -> &[(i64, i64, f64)] {
        let start = self.entries.partition_point(|(own, _, _)| *own < column);
        let end = self.entries.partition_point(|(own, _, _)| *own <= column);
        self.entries.get(start..end).unwrap_or_default()
    }
}
