//! Checks for repeated rows.

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::Scratch;

use crate::cells::Cells;
use crate::layout::{Layout, column, file, word};
use crate::read::{Hashes, PLACEHOLDER, before, hash, ids};
use crate::table::Table;
use crate::{Annnet, rules};

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Returns the hash of what each row is about; `None` if it is about nothing.
type Keys<'a> = &'a dyn Fn(&Cells) -> Result<Vec<Option<u128>>>;

/// Calls `found` for each row that repeats an earlier one, with the earlier row, the row, its batch and its index in
/// the batch.
///
/// # Errors
/// Returns an error if the table cannot be read.
pub(super) fn each(
    annnet: &Annnet,
    table: &Table,
    columns: &[&str],
    keys: Keys<'_>,
    found: &mut dyn FnMut(u64, u64, &Cells, usize) -> Result<()>,
) -> Result<()> {
    let scratch = annnet.options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let hashes = Hashes::new(&annnet.options.budget, &scratch)?;
    for cells in table.batches(columns, 0..table.rows(), BATCH_ROWS)? {
        hashes.add(keys(&cells?)?.into_iter().flatten())?;
    }
    let mut first_rows = hashes.repeated()?;
    if first_rows.is_empty() {
        return Ok(());
    }
    let mut start = 0;
    for cells in table.batches(columns, 0..table.rows(), BATCH_ROWS)? {
        let cells = cells?;
        for (at, key) in keys(&cells)?.into_iter().enumerate() {
            let row = start + at as u64;
            if let Some(first) = key.and_then(|key| before(&mut first_rows, key, row)) {
                found(first, row, &cells, at)?;
            }
        }
        start += cells.rows() as u64;
    }
    Ok(())
}

/// Returns hashes of one column of ids, or of two columns combined.
pub(super) fn of_ids(cells: &Cells, columns: &[&str]) -> Result<Vec<Option<u128>>> {
    let mut all: Vec<Option<u128>> = Vec::new();
    for (at, name) in columns.iter().enumerate() {
        let own = cells.text(name)?;
        match at {
            0 => all.extend(own.iter().map(|id| id.map(hash))),
            _ => all
                .iter_mut()
                .zip(&own)
                .for_each(|(key, id)| *key = key.zip(id).map(|(key, id)| ids::pair(key, hash(id)))),
        }
    }
    Ok(all)
}

/// Checks that entities have one kind and are listed once in each layer, and that attribute tables have one row for
/// each element.
///
/// # Errors
/// Returns an error if a table cannot be read.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    if_sound(entities(annnet, findings))?;
    let tables: [(&str, &[&str]); 4] = [
        (annnet.words.node_table, &[annnet.words.node_id]),
        (annnet.words.edge_table, &[column::EDGE_ID]),
        (file::SLICE_ATTRIBUTES, &[column::SLICE_ID]),
        (file::EDGE_SLICE_ATTRIBUTES, &[column::SLICE_ID, column::EDGE_ID]),
    ];
    for (name, columns) in tables {
        if_sound(attributes(annnet, name, columns, findings))?;
    }
    Ok(())
}

/// Errors in a table are already reported.
fn if_sound(checked: Result<()>) -> Result<()> {
    match checked {
        Err(error) if error.broken_rule().is_some() => Ok(()),
        checked => checked,
    }
}

fn attributes(annnet: &Annnet, name: &str, columns: &[&str], findings: &mut Findings) -> Result<()> {
    let table = Table::find(&annnet.members, name)?.filter(|table| columns.iter().all(|column| table.has(column)));
    let Some(table) = table else { return Ok(()) };
    each(annnet, &table, columns, &|cells| of_ids(cells, columns), &mut |first, row, _, _| {
        let message = format!("the row repeats attributes that row {first} has as well");
        findings.push(&rules::ATTRIBUTES_REPEATED, message, Place::file(name).row(row));
        Ok(())
    })
}

fn entities(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    // Older layouts have a row for each entity and list placements elsewhere; that of 0.2.0 is read unchanged.
    let (name, layer) = match annnet.layout {
        Layout::V1 => (file::ENTITY_TO_IDX, None),
        _ => (file::ENTITY_INDEX, Some(column::LAYER_ID)),
    };
    let parts = annnet.members.parts(name)?;
    if parts.is_empty() {
        return Ok(());
    }
    let table = Table::open(name, parts)?;
    let keys = |cells: &Cells| -> Result<Vec<Option<u128>>> {
        let mut keys = of_ids(cells, &[column::ENTITY_ID])?;
        if let Some(layer) = layer {
            for (key, number) in keys.iter_mut().zip(&cells.integers(layer)?) {
                let layer = number.map_or(Ok(PLACEHOLDER), |number| annnet.layers.at(number))?;
                // The published library cannot open a graph with a node at both placeholders.
                let layer = if Some(layer) == annnet.layers.bare() { PLACEHOLDER } else { layer };
                *key = key.map(|key| ids::pair(key, u128::from(layer)));
            }
        }
        Ok(keys)
    };
    let columns: Vec<&str> = std::iter::once(column::ENTITY_ID).chain(layer).collect();
    each(annnet, &table, &columns, &keys, &mut |first, row, cells, at| {
        let ids = cells.text(column::ENTITY_ID)?;
        let message = format!("entity {:?} is repeated: row {first} has it as well", ids.value(at));
        findings.push(&rules::ENTITY_ID, message, Place::file(name).row(row).in_field(column::ENTITY_ID));
        Ok(())
    })?;
    if layer.is_none() {
        return Ok(());
    }
    let mut start = 0;
    for cells in table.batches(&[column::ENTITY_ID, column::TYPE], 0..table.rows(), BATCH_ROWS)? {
        let cells = cells?;
        let (ids, types) = (cells.text(column::ENTITY_ID)?, cells.text(column::TYPE)?);
        for (at, id) in ids.iter().enumerate() {
            let is_edge = types.is_valid(at) && types.value(at) == word::EDGE_ENTITY;
            if id.is_some_and(|id| annnet.entities.is_edge_entity(id) != is_edge) {
                let message = format!("{:?} is a node in one row, but an edge in another", ids.value(at));
                let place = Place::file(name).row(start + at as u64).in_field(column::TYPE);
                findings.push(&rules::ENTITY_ID, message, place);
            }
        }
        start += cells.rows() as u64;
    }
    Ok(())
}
