//! Checks of ids, positions, multilayer kinds, and the owners of coefficients.

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};

use crate::cells::Cells;
use crate::layout::{column, file, word};
use crate::read::{Class, Placement, Role, hash, resolve};
use crate::{Annnet, rules};

/// Checks the edge table.
///
/// # Errors
/// Returns an error if it cannot be read to the end.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let table = &annnet.edges.table;
    let columns = [
        column::EDGE_ID,
        column::COL_IDX,
        column::KIND,
        column::SOURCE,
        column::TARGET,
        column::SOURCE_LAYER,
        column::TARGET_LAYER,
        column::ML_KIND,
    ];
    let mut start = 0;
    for cells in table.batches(&columns, 0..table.rows(), 1 << 14)? {
        let cells = cells?;
        check_rows(annnet, &cells, start, findings)?;
        start += cells.rows() as u64;
    }
    Ok(())
}

fn check_rows(annnet: &Annnet, cells: &Cells, start: u64, findings: &mut Findings) -> Result<()> {
    let known = annnet.known();
    let (ids, positions) = (cells.text(column::EDGE_ID)?, cells.integers(column::COL_IDX)?);
    let (kinds, stated) = (cells.text(column::KIND)?, cells.text(column::ML_KIND)?);
    let (sources, targets) = (cells.text(column::SOURCE)?, cells.text(column::TARGET)?);
    let (of_source, of_target) = (cells.integers(column::SOURCE_LAYER)?, cells.integers(column::TARGET_LAYER)?);
    let end = |ends: &arrow_array::StringArray, layers, row: usize| {
        resolve(known, ends.is_valid(row).then(|| ends.value(row)), layers, row)
    };
    for row in 0..cells.rows() {
        let place = || Place::file(&cells.name).row(start + row as u64);
        let placeholder = kinds.is_valid(row) && kinds.value(row) == word::EDGE_PLACEHOLDER;
        let position = positions.is_valid(row).then(|| positions.value(row));
        match position {
            None => findings.push(&rules::EDGE_POSITION, "col_idx is missing", place().in_field(column::COL_IDX)),
            Some(-1) if !placeholder => {
                findings.push(&rules::EDGE_POSITION, "col_idx is -1", place().in_field(column::COL_IDX));
            }
            Some(other) if placeholder && other != -1 => {
                let message = format!("col_idx of a placeholder is {other}, expected -1");
                findings.push(&rules::EDGE_POSITION, message, place().in_field(column::COL_IDX));
            }
            Some(_) => {}
        }
        let id = hash(ids.value(row));
        let class = annnet.edges.class_of(id);
        // Each with whether it names no layer.
        let ends: Vec<(Placement, bool)> = match class {
            Class::Hyperedge => {
                let own = known.hyperedges.get(id);
                if let Some(node) = own.as_ref().and_then(|own| listed_twice(own.members)) {
                    let node = annnet.entities.keys.value(node as usize);
                    let message = format!("{node:?} is listed twice on one side of hyperedge {:?}", ids.value(row));
                    findings.push(&rules::HYPEREDGE_MEMBER_TWICE, message, Place::file(file::HYPEREDGES));
                }
                let members = own.iter().flat_map(|own| own.members.iter().zip(own.are_bare));
                members.map(|((member, _), is_bare)| (*member, *is_bare)).collect()
            }
            Class::Placeholder => Vec::new(),
            Class::TwoEnded | Class::OneSided => {
                let both = [end(&sources, &of_source, row)?, end(&targets, &of_target, row)?];
                let are_bare = [of_source.is_null(row), of_target.is_null(row)];
                both.into_iter().zip(are_bare).filter_map(|(end, is_bare)| Some((end?, is_bare))).collect()
            }
        };
        for placement in known.coefficients.others(id, &ends) {
            let node = annnet.entities.keys.value(placement.node as usize);
            let of = ids.value(row);
            let message = match ends.iter().find(|(end, _)| *end == placement) {
                Some((_, false)) => format!(
                    "the coefficient of {node:?} in edge {of:?} names no layer, but the member does: it has coefficient 0"
                ),
                Some((_, true)) => format!(
                    "the coefficient of {node:?} in edge {of:?} names a layer, but the member does not: it has coefficient 0"
                ),
                None => format!("{node:?} is not a member of edge {of:?}"),
            };
            findings.push(&rules::COEFFICIENT_MEMBER, message, Place::file(file::COEFFICIENTS));
        }
        // No documented rule defines the kind of hyperedges between layers.
        if class == Class::TwoEnded && stated.is_valid(row) {
            let follows = between(&ends.iter().map(|(end, _)| *end).collect::<Vec<_>>());
            if follows != stated.value(row) {
                let message = format!("ml_kind is {:?}, but the ends imply {follows}", stated.value(row));
                findings.push(&rules::ML_KIND, message, place().in_field(column::ML_KIND));
            }
        }
    }
    Ok(())
}

/// Returns the node of a member that one side of a hyperedge has twice, if there is one.
fn listed_twice(members: &[(Placement, Role)]) -> Option<u32> {
    let mut sorted: Vec<(Placement, &str)> = members.iter().map(|(member, role)| (*member, role.word())).collect();
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|two| two.first() == two.last())?;
    twice.first().map(|(member, _)| member.node)
}

/// Returns the kind that follows from the ends of an edge.
fn between(ends: &[Placement]) -> &'static str {
    match ends {
        [source, target] if source.layer == target.layer => "intra",
        [source, target] if source.node == target.node => "coupling",
        _ => "inter",
    }
}
