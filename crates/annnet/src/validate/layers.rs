//! Checks of layers of edges, and of labels of aspects, that only the published library reads.

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};

use crate::layout::{Layout, column, file};
use crate::members::DOCUMENT_BYTES;
use crate::read::ids::{ENTRY_BYTES, IdMap};
use crate::read::json::{items, members};
use crate::read::{check_json, hash};
use crate::table::Table;
use crate::{Annnet, rules};

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Checks that layers belong to existing edges, and that an aspect with a list of labels has at least one.
///
/// # Errors
/// Returns an error if a file cannot be read to the end.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let Some(text) = annnet.members.text(file::LAYERS, DOCUMENT_BYTES)? else { return Ok(()) };
    if !annnet.layers.is_flat() && check_json(&text, file::LAYERS).is_ok() {
        check_labels(annnet, &text, findings)?;
    }
    // In older layouts, the ends take their layers from this table.
    if annnet.layout == Layout::V1 {
        return Ok(());
    }
    match Table::find(&annnet.members, file::EDGE_LAYERS) {
        Ok(Some(table)) => check_edges(annnet, &table, findings),
        Ok(None) => Ok(()),
        // Errors in the table are already reported.
        Err(error) if error.broken_rule().is_some() => Ok(()),
        Err(error) => Err(error),
    }
}

fn check_labels(annnet: &Annnet, text: &str, findings: &mut Findings) -> Result<()> {
    members(text, file::LAYERS, |name, value| {
        if name != "elem_layers" {
            return Ok(());
        }
        members(value, file::LAYERS, |aspect, labels| {
            if annnet.layers.aspects.iter().all(|own| own.name != aspect) {
                let message = format!("labels are listed for {aspect:?}, which is not an aspect");
                findings.push(&rules::LAYER_ATTRIBUTES, message, Place::file(file::LAYERS).in_field("elem_layers"));
            }
            let mut count = 0;
            items(labels, file::LAYERS, |_| {
                count += 1;
                Ok(())
            })?;
            if count == 0 {
                let message = format!("the list of labels of aspect {aspect:?} is empty");
                findings.push(&rules::LAYER_ATTRIBUTES, message, Place::file(file::LAYERS).in_field("elem_layers"));
            }
            Ok(())
        })
    })
}

/// Finds the ids of the table that no edge has: all of them are held, and those of edges are removed.
fn check_edges(annnet: &Annnet, table: &Table, findings: &mut Findings) -> Result<()> {
    let mut held = annnet.options.budget.reserve(0)?;
    let mut rows: IdMap<u64> = IdMap::default();
    let mut start = 0;
    for cells in table.batches(&[column::EDGE_ID], 0..table.rows(), BATCH_ROWS)? {
        let ids = cells?.text(column::EDGE_ID)?;
        held.grow(ids.len() as u64 * ENTRY_BYTES)?;
        rows.extend((start..).zip(&ids).filter_map(|(row, id)| Some((hash(id?), row))));
        start += ids.len() as u64;
    }
    let edges = &annnet.edges.table;
    for cells in edges.batches(&[column::EDGE_ID], 0..edges.rows(), BATCH_ROWS)? {
        cells?.text(column::EDGE_ID)?.iter().flatten().for_each(|id| {
            rows.remove(&hash(id));
        });
    }
    let mut unknown: Vec<u64> = rows.into_values().collect();
    unknown.sort_unstable();
    for row in unknown {
        let place = Place::file(&table.name).row(row).in_field(column::EDGE_ID);
        findings.push(&rules::EDGE_LAYERS_UNKNOWN, "no edge has this id", place);
    }
    Ok(())
}
