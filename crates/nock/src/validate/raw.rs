//! The nine columns of a batch as they are in the file, including nulls.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};

use crate::columns::Column;
use crate::rows::{Numbers, STATED_ID, cast_strict, from_map};
use crate::rules;

/// The nine columns; missing columns are `None`.
pub(super) struct Raw<'a> {
    pub numbers: &'a Numbers,
    pub names: StringArray,
    pub edge_ids: Int64Array,
    /// In the nested layout, the numbers stated on edge rows; `edge_ids` only distinguishes these from node rows.
    pub stated_ids: Option<Int64Array>,
    pub rels: Option<StringArray>,
    pub dsts: Option<StringArray>,
    pub truth: Option<Float64Array>,
    pub shadow: Option<Int64Array>,
    pub is_rdf: Option<BooleanArray>,
    pub labels: Option<StringArray>,
    pub props: Option<StringArray>,
}

impl<'a> Raw<'a> {
    /// Reads the columns of a batch.
    ///
    /// # Errors
    /// Returns an error if a column has values that its type cannot represent.
    pub fn of(batch: &RecordBatch, numbers: &'a Numbers, map_of_json: bool) -> Result<Self> {
        let column = |column: Column, to: &DataType| -> Result<Option<ArrayRef>> {
            let Some(array) = batch.column_by_name(column.name()) else { return Ok(None) };
            if let DataType::Map(_, _) = array.data_type() {
                return Ok(Some(std::sync::Arc::new(from_map(array.as_map(), map_of_json)?)));
            }
            cast_strict(array, to, column.name()).map(Some)
        };
        let text = |of| column(of, &DataType::Utf8).map(|array| array.map(|array| array.as_string::<i32>().clone()));
        let integers =
            |of| column(of, &DataType::Int64).map(|array| array.map(|array| array.as_primitive::<Int64Type>().clone()));
        let stated = batch.column_by_name(STATED_ID);
        let stated = stated.map(|array| cast_strict(array, &DataType::Int64, Column::EdgeId.name())).transpose()?;
        let missing = |column: Column| Error::broken(&rules::FILE_COLUMNS, format!("there is no column {column}"));
        let truth = column(Column::Truth, &DataType::Float64)?;
        let is_rdf = column(Column::IsRdf, &DataType::Boolean)?;
        Ok(Raw {
            numbers,
            names: text(Column::SrcName)?.ok_or_else(|| missing(Column::SrcName))?,
            edge_ids: integers(Column::EdgeId)?.ok_or_else(|| missing(Column::EdgeId))?,
            stated_ids: stated.map(|array| array.as_primitive::<Int64Type>().clone()),
            rels: text(Column::RelName)?,
            dsts: text(Column::DstName)?,
            truth: truth.map(|array| array.as_primitive::<Float64Type>().clone()),
            shadow: integers(Column::Shadow)?,
            is_rdf: is_rdf.map(|array| array.as_boolean().clone()),
            labels: text(Column::Labels)?,
            props: text(Column::Props)?,
        })
    }
}

/// Returns a cell: `None` if the column is missing, `Some(None)` if the cell is null.
pub(super) fn text(column: Option<&StringArray>, row: usize) -> Option<Option<&str>> {
    column.map(|column| column.is_valid(row).then(|| column.value(row)))
}

/// Returns a number: `None` if the column is missing, `Some(None)` if the cell is null.
pub(super) fn number(column: Option<&Int64Array>, row: usize) -> Option<Option<i64>> {
    column.map(|column| column.is_valid(row).then(|| column.value(row)))
}
