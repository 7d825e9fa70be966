//! Converts the columns of a file to [`Rows`].

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringViewArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};

use super::dictionary::words;
use super::mask::{all_named, first_empty};
use super::props::check_props;
use super::props_map::from_map;
use super::shape::{Shape, cast_strict};
use super::truth::truth;
use super::{EdgeIds, Numbers, Rows, STATED_ID};
use crate::columns::Column;
use crate::{Tolerance, rules};

/// How columns are normalised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// The types of columns.
    pub shape: &'a Shape,
    /// How invalid rows are treated.
    pub tolerance: Tolerance,
    /// Whether the values of a map of props are JSON texts.
    pub map_of_json: bool,
    /// Whether edge rows get the numbers stated in a nested file, rather than only a sign that distinguishes them from node rows.
    pub stated_ids: bool,
}

/// Normalises the columns of a batch, which are found by name.
///
/// # Errors
/// Returns an error with the row if a value cannot be read.
pub(crate) fn normalize(batch: &RecordBatch, numbers: Numbers, how: &Reading<'_>) -> Result<Rows> {
    let Reading { shape, tolerance, map_of_json, stated_ids } = *how;
    let column = |column: Column| batch.column_by_name(column.name());
    let names = column(Column::SrcName)
        .ok_or_else(|| Error::broken(&rules::FILE_COLUMNS, "there is no column src_name"))
        .and_then(|array| text(array, Column::SrcName))?;
    if !all_named(&names) {
        return Err(empty_name(&names, Column::SrcName, &numbers));
    }
    let edge_ids = column(Column::EdgeId)
        .ok_or_else(|| Error::broken(&rules::FILE_COLUMNS, "there is no column edge_id"))
        .and_then(EdgeIds::of)?;
    if let Some(row) = edge_ids.first_null() {
        let place = Place::field(Column::EdgeId.name()).row(numbers.at(row));
        return Err(Error::broken(&rules::EDGE_ID, "edge_id is null").at(place));
    }
    let edge_ids = match batch.column_by_name(STATED_ID).filter(|_| stated_ids) {
        Some(stated) => stated_on_edges(&edge_ids, stated, &numbers)?,
        None => edge_ids,
    };
    let extras = shape.extras.iter().enumerate().map(|(index, extra)| {
        let array = batch.column_by_name(&extra.name).filter(|array| array.null_count() < array.len());
        array.map(|array| shape.cast_extra(index, array)).transpose()
    });
    Ok(Rows {
        len: batch.num_rows(),
        names,
        edge_ids,
        rels: column(Column::RelName).map(|array| words(array, Column::RelName)).transpose()?,
        dsts: column(Column::DstName).map(|array| text(array, Column::DstName)).transpose()?,
        truth: column(Column::Truth).map(|array| truth(array, &shape.truth, tolerance, &numbers)).transpose()?,
        shadow: column(Column::Shadow).map(owners).transpose()?.flatten(),
        is_rdf: column(Column::IsRdf).map(flags).transpose()?,
        labels: column(Column::Labels).map(|array| words(array, Column::Labels)).transpose()?,
        props: column(Column::Props)
            .map(|array| props(array, map_of_json).and_then(|texts| check_props(texts, tolerance, &numbers)))
            .transpose()?,
        extras: extras.collect::<Result<_>>()?,
        numbers,
    })
}

/// Returns -1 on node rows, and on edge rows the number stated in a nested file.
fn stated_on_edges(edge_ids: &EdgeIds, stated: &ArrayRef, numbers: &Numbers) -> Result<EdgeIds> {
    let stated = cast_strict(stated, &DataType::Int64, Column::EdgeId.name())?;
    let stated = stated.as_primitive::<Int64Type>();
    let of_row = |row: usize| {
        if edge_ids.value(row) < 0 {
            return Ok(-1);
        }
        let message = match stated.is_valid(row).then(|| stated.value(row)) {
            Some(id) if id >= 0 => return Ok(id),
            Some(id) => format!("edge_id is {id} on an edge row"),
            None => "edge_id is null".to_owned(),
        };
        let place = Place::field(Column::EdgeId.name()).row(numbers.at(row));
        Err(Error::broken(&rules::EDGE_ID, message).at(place))
    };
    Ok(EdgeIds::Long((0..stated.len()).map(of_row).collect::<Result<Vec<i64>>>()?.into()))
}

/// Returns the error for the first name that is null or empty.
pub(super) fn empty_name(names: &StringViewArray, column: Column, numbers: &Numbers) -> Error {
    let row = first_empty(names).unwrap_or_default();
    let what = if names.is_null(row) { "null" } else { "empty" };
    Error::broken(&rules::NAME_EMPTY, format!("{column} is {what}"))
        .at(Place::field(column.name()).row(numbers.at(row)))
}

fn text(array: &ArrayRef, column: Column) -> Result<StringViewArray> {
    cast_strict(array, &DataType::Utf8View, column.name()).map(|array| array.as_string_view().clone())
}

fn props(array: &ArrayRef, map_of_json: bool) -> Result<StringViewArray> {
    match array.data_type() {
        DataType::Map(_, _) => from_map(array.as_map(), map_of_json).map(|texts| StringViewArray::from(&texts)),
        _ => text(array, Column::Props),
    }
}

/// Returns the numbers of the partitions that own the nodes; `None` if no row is a shadow row.
fn owners(array: &ArrayRef) -> Result<Option<Int64Array>> {
    // Most files have none, and need no wider column for them.
    if array.as_primitive_opt::<Int32Type>().is_some_and(|owners| owners.values().iter().all(|&owner| owner < 0)) {
        return Ok(None);
    }
    let owners = cast_strict(array, &DataType::Int64, Column::Shadow.name())?;
    let owners = owners.as_primitive::<Int64Type>();
    Ok(owners.values().iter().any(|&owner| owner >= 0).then(|| owners.clone()))
}

fn flags(array: &ArrayRef) -> Result<BooleanArray> {
    let array = cast_strict(array, &DataType::Boolean, Column::IsRdf.name())?;
    let flags = array.as_boolean();
    Ok(match flags.nulls() {
        Some(nulls) if nulls.null_count() > 0 => BooleanArray::new(flags.values() & nulls.inner(), None),
        _ => flags.clone(),
    })
}
