//! Members of slices are there.

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};

use crate::layout::column;
use crate::read::hash;
use crate::{Annnet, rules};

/// Checks both tables of memberships.
///
/// # Errors
/// When they cannot be read on.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let slices = &annnet.slices;
    let of_nodes = slices.nodes.as_ref().map(|table| (table, annnet.words.node_id));
    let of_edges = slices.edges.as_ref().map(|table| (table, column::EDGE_ID));
    for (table, member) in of_nodes.into_iter().chain(of_edges) {
        let mut start = 0;
        for cells in table.batches(&[column::SLICE_ID, member, column::WEIGHT], 0..table.rows(), 1 << 14)? {
            let cells = cells?;
            let (groups, members) = (cells.text(column::SLICE_ID)?, cells.text(member)?);
            let weights = (member == column::EDGE_ID).then(|| cells.floats(column::WEIGHT)).transpose()?;
            for row in 0..cells.rows() {
                let place = || Place::file(&table.name).row(start + row as u64);
                if groups.is_null(row) || members.is_null(row) {
                    findings.push(&rules::SLICE_MEMBER, "slice or member is missing", place());
                    continue;
                }
                let is_there = match member {
                    // What is in the slice of everything was compared with everything.
                    column::EDGE_ID => {
                        slices.find(groups.value(row)) == slices.all || slices.knows(hash(members.value(row)))
                    }
                    _ => annnet.entities.row(members.value(row)).is_some(),
                };
                if !is_there {
                    let message = format!("{:?} is not in the graph", members.value(row));
                    let is_weighted = weights.as_ref().is_some_and(|weights| weights.is_valid(row));
                    let rule = if is_weighted { &rules::SLICE_WEIGHT } else { &rules::SLICE_MEMBER };
                    findings.push(rule, message, place().in_field(member));
                }
            }
            start += cells.rows() as u64;
        }
    }
    Ok(())
}
