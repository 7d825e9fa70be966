//! Checks that every table can be read completely and has the columns that the published libraries require, with or
//! without rows: they read all columns, including those that isomorph does not need.

use isomorph_error::{Findings, Result};

use crate::Annnet;
use crate::cells::Cells;
use crate::layout::{Layout, NODE_WORDS, column, file};
use crate::table::Table;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Reads all columns of all tables, and the Arrow schema embedded in each file.
///
/// # Errors
/// Returns an error if a file cannot be read for another reason than that it is malformed.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let words = &annnet.words;
    let of_words = [words.node_table, words.edge_table, words.presence, words.memberships, words.node_layer_attributes];
    for name in file::ALL.into_iter().filter(|name| name.ends_with(".parquet")).chain(of_words) {
        let parts = annnet.members.parts(name)?;
        if parts.is_empty() {
            continue;
        }
        let wanted = wanted(annnet, name)?;
        if let Err(error) = Table::open(name, parts).and_then(|table| read(&table, wanted)) {
            match error.broken_rule() {
                Some(rule) => findings.push(rule, error.message(), error.place().clone()),
                None => return Err(error),
            }
        }
    }
    Ok(())
}

/// Returns the columns without which the published library fails.
fn wanted(annnet: &Annnet, name: &str) -> Result<&'static [&'static str]> {
    if annnet.layout == Layout::V1 {
        return Ok(&[]);
    }
    let words = &annnet.words;
    Ok(match name {
        file::ENTITY_INDEX => &[column::ENTITY_ID, column::LAYER_ID, column::IDX],
        file::EDGE_MEMBERSHIPS => &[column::SLICE_ID, column::EDGE_ID],
        own if own == words.memberships && words.node_id == NODE_WORDS.node_id => {
            &[column::SLICE_ID, NODE_WORDS.node_id]
        }
        // Without aspects, these are not read.
        file::EDGE_LAYERS if annnet.members.has(file::LAYERS)? => &[column::EDGE_ID, column::LAYER_1_ID],
        own if own == words.presence && annnet.members.has(file::LAYERS)? && words.node_id == NODE_WORDS.node_id => {
            &[NODE_WORDS.node_id, column::LAYER_ID]
        }
        _ => &[],
    })
}

fn read(table: &Table, wanted: &[&str]) -> Result<()> {
    if let Some(missing) = wanted.iter().find(|name| !table.has(name)) {
        return Err(Cells::empty(&table.name).missing(missing));
    }
    table.check_embedded()?;
    let schema = table.schema();
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if columns.is_empty() {
        return Ok(());
    }
    for batch in table.batches(&columns, 0..table.rows(), BATCH_ROWS)? {
        batch?;
    }
    Ok(())
}
