//! Files derived from the tables: a matrix is extended with the new edges or removed; views are removed.

use isomorph_error::{Error, Place, Result};

use crate::cache;
use crate::layout::{Layout, file};
use crate::matrix;
use crate::read::Annnet;
use crate::write::layers::LayerIds;
use crate::write::{Matrix, MatrixRows, WriteOptions};

/// Returns the matrix of a graph, ready for columns from number `column` on; `None` if there is none, or if it does not
/// match the tables.
///
/// # Errors
/// Returns an error if it is malformed, its rows exceed the budget, or the layout requires a matrix and this one cannot
/// be extended.
pub(super) fn resume(
    annnet: &Annnet,
    column: u64,
    layers: &mut LayerIds,
    options: &WriteOptions,
) -> Result<Option<(MatrixRows, Matrix)>> {
    let stated = matrix::shape(&annnet.members)?;
    let found = match stated {
        Some(stated) => {
            let rows = rows(annnet, layers, options)?;
            match stated == [rows.count(), column] {
                true => Matrix::resume(&annnet.members, options)?.map(|matrix| (rows, matrix)),
                false => None,
            }
        }
        None => None,
    };
    if found.is_none() && annnet.layout() == Layout::V1 {
        return Err(Error::unsupported("the incidence matrix does not match the tables and cannot be extended")
            .at(Place::file(file::INCIDENCE))
            .hint("isomorph convert PATH NEW --layout 1.1    builds a new one"));
    }
    Ok(found)
}

/// Returns the row of each entity: one for each placement, or, in the specification's layout, one for each entity.
fn rows(annnet: &Annnet, layers: &mut LayerIds, options: &WriteOptions) -> Result<MatrixRows> {
    let mut rows = MatrixRows::new(options)?;
    let entities = &annnet.entities;
    if annnet.layers.is_flat() || annnet.layout() == Layout::V1 {
        for id in entities.keys.iter().flatten() {
            rows.know(id, 0)?;
        }
        return Ok(rows);
    }
    let numbers: Vec<i64> =
        (0..annnet.layers.len() as u32).map(|layer| layers.intern(annnet.layers.labels(layer))).collect();
    for placement in &entities.placements {
        let layer = numbers.get(placement.layer as usize).copied().unwrap_or_default();
        rows.know(entities.keys.value(placement.node as usize), layer)?;
    }
    Ok(rows)
}

/// Returns the derived files that do not match new edges. They are removed and can be derived again. The matrix is
/// among them unless it is extended.
///
/// # Errors
/// Returns an error if some data is stored only in the matrix.
pub(super) fn stale(annnet: &Annnet, files: &[(String, u64)], goes_on: bool) -> Result<Vec<String>> {
    let is_there =
        |path: &str| files.iter().any(|(name, _)| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
    let mut gone = Vec::new();
    if !goes_on && is_there(file::INCIDENCE) {
        if is_only_in_matrix(annnet)? {
            return Err(only_in_matrix());
        }
        gone.push(file::INCIDENCE.to_owned());
    }
    let views = cache::FOLDER.trim_end_matches('/');
    if is_there(views) {
        gone.push(views.to_owned());
    }
    Ok(gone)
}

/// Returns whether explicit coefficients are stored only in the matrix.
///
/// # Errors
/// Returns an error if files cannot be opened.
pub(super) fn is_only_in_matrix(annnet: &Annnet) -> Result<bool> {
    Ok(!annnet.coefficients.is_empty() && !annnet.members.has(file::COEFFICIENTS)?)
}

/// Returns the error for this case.
pub(super) fn only_in_matrix() -> Error {
    Error::unsupported(
        "explicit coefficients are stored only in the incidence matrix, which cannot be extended with the new edges",
    )
    .at(Place::file(file::INCIDENCE))
    .hint("isomorph convert PATH NEW    writes them to a table")
}
