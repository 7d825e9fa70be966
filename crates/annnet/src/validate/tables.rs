//! Every table can be read whole: the published libraries read all columns, also those that nothing here needs.

use isomorph_error::{Findings, Result};

use crate::Annnet;
use crate::layout::file;
use crate::table::Table;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Reads all columns of all tables, and the Arrow schema that each file embeds.
///
/// # Errors
/// When a file cannot be read on, for another reason than that it is not sound.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let words = &annnet.words;
    let of_words = [words.node_table, words.edge_table, words.presence, words.memberships, words.node_layer_attributes];
    for name in file::ALL.into_iter().filter(|name| name.ends_with(".parquet")).chain(of_words) {
        let parts = annnet.members.parts(name)?;
        if parts.is_empty() {
            continue;
        }
        if let Err(error) = Table::open(name, parts).and_then(|table| read(&table)) {
            match error.broken_rule() {
                Some(rule) => findings.push(rule, error.message(), error.place().clone()),
                None => return Err(error),
            }
        }
    }
    Ok(())
}

fn read(table: &Table) -> Result<()> {
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
