//! Cells that no feature can represent: JSON objects by the names of their properties.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_select::zip::zip;
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{Members, push_string};
use isomorph_model::{Columns, Property};

use crate::arrow_limits::narrow;
use crate::mapping::CARRY_FITS;
use crate::mapping::arrays::{as_type, malformed};
use crate::mapping::json_in::JsonColumn;
use crate::mapping::json_out::JsonCells;

/// The objects of rows; `None` if no row has one. `elsewhere` lists rows and properties, in any order.
///
/// # Errors
/// If a value has no JSON form.
pub(super) fn written(
    mut elsewhere: Vec<(u32, usize)>,
    properties: &[Property],
    columns: &Columns,
    rows: usize,
) -> Result<Option<ArrayRef>> {
    if elsewhere.is_empty() {
        return Ok(None);
    }
    elsewhere.sort_unstable();
    let mut wanted = vec![false; properties.len()];
    for (_, at) in &elsewhere {
        if let Some(wanted) = wanted.get_mut(*at) {
            *wanted = true;
        }
    }
    let mut cells = Vec::with_capacity(properties.len());
    for ((property, column), wanted) in properties.iter().zip(columns).zip(wanted) {
        let column = column.as_ref().filter(|_| wanted);
        cells.push(column.map(|column| JsonCells::new(property, column.as_ref())).transpose()?);
    }
    let mut texts = StringBuilder::with_capacity(rows, elsewhere.len() * 16);
    let mut text = String::new();
    let mut next = elsewhere.iter().peekable();
    for row in 0..narrow(rows) {
        text.clear();
        while let Some((_, at)) = next.next_if(|(of, _)| *of == row) {
            let Some(property) = properties.get(*at) else { continue };
            text.push(if text.is_empty() { '{' } else { ',' });
            push_string(&mut text, &property.name);
            text.push(':');
            let there = cells.get(*at).and_then(Option::as_ref);
            if !there.is_some_and(|cells| cells.push(row as usize, &mut text)) {
                text.push_str("null");
            }
        }
        if text.is_empty() {
            texts.append_null();
        } else {
            text.push('}');
            texts.append_value(&text);
        }
    }
    Ok(Some(Arc::new(texts.finish())))
}

/// Restores the cells of the objects.
///
/// # Errors
/// Returns [`CARRY_FITS`] if an object has a member that is not a property, or a value of another type.
pub(super) fn restored(objects: &ArrayRef, properties: &[Property], columns: &mut Columns) -> Result<()> {
    if objects.null_count() == objects.len() {
        return Ok(());
    }
    let misfit = |what: String| Error::broken(&CARRY_FITS, what);
    let objects =
        objects.as_string_opt::<i32>().ok_or_else(|| misfit("the feature of further cells is not text".to_owned()))?;
    let mut found: Vec<Option<(JsonColumn, Vec<bool>)>> = properties.iter().map(|_| None).collect();
    let mut members = Members::default();
    for row in (0..objects.len()).filter(|row| objects.is_valid(*row)) {
        members.read(objects.value(row), |name, value| {
            let at = properties.iter().position(|property| property.name == name);
            let place = at.and_then(|at| Some((properties.get(at)?, found.get_mut(at)?)));
            let (property, place) = place.ok_or_else(|| misfit(format!("{name:?} is not a property")))?;
            let (column, mask) = match place {
                Some(known) => known,
                None => place.insert((JsonColumn::new(property)?, vec![false; objects.len()])),
            };
            while column.len() < row {
                column.push_null();
            }
            match value {
                "null" => column.push_null(),
                value => column.push(value).map_err(|error| error.at(Place::field(name)))?,
            }
            if let Some(mask) = mask.get_mut(row) {
                *mask = true;
            }
            Ok(())
        })?;
    }
    for ((property, found), column) in properties.iter().zip(found).zip(columns) {
        let Some((mut cells, mask)) = found else { continue };
        while cells.len() < objects.len() {
            cells.push_null();
        }
        let cells = cells.finish()?;
        let Some(own) = column.as_ref() else {
            *column = Some(cells);
            continue;
        };
        let cells = as_type(&cells, &property.data_type)?;
        *column = Some(zip(&BooleanArray::from(mask), &cells, own).map_err(malformed)?);
    }
    Ok(())
}
