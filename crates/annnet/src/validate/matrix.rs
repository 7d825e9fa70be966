//! The incidence matrix is one of this graph. Nothing else reads it where the tables say all.

use isomorph_error::{Findings, Place, Result};

use crate::layout::{Layout, file};
use crate::matrix::Arrays;
use crate::read::Class;
use crate::{Annnet, rules};

/// Entries that are read at once.
const ENTRIES: u64 = 1 << 16;

/// Checks the matrix, if there is one: that it can be read, that its shape is the number of entities and of edges, and that no
/// cell lies beyond.
///
/// # Errors
/// When it cannot be read on, for another reason than that it is not sound.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    match cells(annnet, findings) {
        Err(error) => match error.broken_rule() {
            Some(rule) => {
                findings.push(rule, error.message(), error.place().clone());
                Ok(())
            }
            None => Err(error),
        },
        checked => checked,
    }
}

fn cells(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let Some(arrays) = Arrays::open(&annnet.members)? else { return Ok(()) };
    let group = || Place::file(format!("{}/zarr.json", file::INCIDENCE));
    let edges = annnet.edges.ids.count - annnet.edges.count(Class::Placeholder);
    // Rows are placements, of the specification's layout entities; the libraries that write that layout state more of both
    // than there are.
    let (rows, is_exact) = match annnet.layout {
        Layout::V1 => (annnet.entities.len() as u64, annnet.manifest.is_specified()),
        _ if annnet.layers.is_flat() => (annnet.entities.len() as u64, true),
        _ => (annnet.entities.placements.len() as u64, true),
    };
    let fits = match is_exact {
        true => arrays.shape == [rows, edges],
        false => arrays.shape[0] >= rows && arrays.shape[1] >= edges,
    };
    if !fits {
        let message = format!("the shape is {:?}, of a graph with {rows} entities and {edges} edges", arrays.shape);
        findings.push(&rules::MATRIX_SHAPE, message, group().in_field("shape"));
        return Ok(());
    }
    for start in (0..arrays.len()).step_by(ENTRIES as usize) {
        let range = start..(start + ENTRIES).min(arrays.len());
        for (array, end, what) in [(&arrays.row, arrays.shape[0], "row"), (&arrays.column, arrays.shape[1], "col")] {
            let mut numbers = Vec::new();
            array.integers(range.clone(), &mut numbers)?;
            let beyond = |number: &i64| u64::try_from(*number).ok().is_none_or(|number| number >= end);
            if let Some(at) = numbers.iter().position(beyond) {
                let message = format!("{} is no {what} of a matrix of the shape {:?}", numbers[at], arrays.shape);
                findings.push(&rules::MATRIX_SHAPE, message, group().row(start + at as u64).in_field(what));
                return Ok(());
            }
        }
        arrays.data.floats(range, &mut Vec::new())?;
    }
    Ok(())
}
