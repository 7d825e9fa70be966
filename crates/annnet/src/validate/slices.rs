//! Checks that members of slices exist.

use arrow_array::Array;
use arrow_schema::DataType;
use isomorph_error::{Findings, Place, Result};

use super::repeats;
use crate::cells::Cells;
use crate::layout::{Layout, column};
use crate::read::hash;
use crate::table::Table;
use crate::{Annnet, rules};

/// Checks both tables of memberships.
///
/// # Errors
/// Returns an error if they cannot be read to the end.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let slices = &annnet.slices;
    let of_nodes = slices.nodes.as_ref().map(|table| (table, annnet.words.node_id));
    let of_edges = slices.edges.as_ref().map(|table| (table, column::EDGE_ID));
    for (table, member) in of_nodes.into_iter().chain(of_edges) {
        check_repeats(annnet, table, member, findings)?;
        let mut start = 0;
        let layer = annnet.words.node_layer_id;
        for cells in table.batches(&[column::SLICE_ID, member, column::WEIGHT, layer], 0..table.rows(), 1 << 14)? {
            let cells = cells?;
            let is_placed = is_stated(&cells, layer);
            let (groups, members) = (cells.text(column::SLICE_ID)?, cells.text(member)?);
            let weights = (member == column::EDGE_ID).then(|| cells.floats(column::WEIGHT)).transpose()?;
            for row in 0..cells.rows() {
                let place = || Place::file(&table.name).row(start + row as u64);
                if groups.is_null(row) || members.is_null(row) {
                    // The published library fails on a node without a slice, but accepts such an edge.
                    let is_node = member != column::EDGE_ID && annnet.layout != Layout::V1;
                    let is_there =
                        is_node && members.is_valid(row) && annnet.entities.row(members.value(row)).is_some();
                    let rule = if is_there { &rules::SLICE_UNREGISTERED } else { &rules::SLICE_MEMBER };
                    findings.push(rule, "slice or member is missing", place());
                    continue;
                }
                let is_there = match member {
                    // Members of the slice that contains everything have already been compared with all elements.
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
                } else if member != column::EDGE_ID && is_placed(row) {
                    let message =
                        format!("{:?} is listed by a placement: node_layer_id is not null", members.value(row));
                    findings.push(&rules::SLICE_LAYER, message, place().in_field(layer));
                }
            }
            start += cells.rows() as u64;
        }
    }
    Ok(())
}

/// Returns which rows have a value in a column that should be null. NaN, which pandas writes for null, counts as null.
fn is_stated(cells: &Cells, name: &str) -> impl Fn(usize) -> bool + use<> {
    let column = cells.raw(name).filter(|column| *column.data_type() != DataType::Null).cloned();
    let numbers = column.as_ref().and_then(|_| cells.integers(name).ok());
    move |row| match (&numbers, &column) {
        (Some(numbers), _) => numbers.is_valid(row),
        (None, Some(column)) => column.is_valid(row),
        (None, None) => false,
    }
}

/// Checks that no slice lists a member twice.
fn check_repeats(annnet: &Annnet, table: &Table, member: &'static str, findings: &mut Findings) -> Result<()> {
    let columns = [column::SLICE_ID, member];
    repeats::each(annnet, table, &columns, &|cells| repeats::of_ids(cells, &columns), &mut |first, row, cells, at| {
        let message = format!("{:?} is repeated: row {first} lists it as well", cells.text(member)?.value(at));
        findings.push(&rules::SLICE_REPEATED, message, Place::file(&table.name).row(row).in_field(member));
        Ok(())
    })
}
