//! Hyperedges that are kept.

use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Ends, Progress, Request, Tables};
use isomorph_tables::lookup::{ABSENT, KeyRows};

use super::kept_rows::{Kept, Reader, in_memory, read};
use super::row_set::{Bits, RowSet};
use super::test::{Conditions, Test};
use super::view::Selected;
use crate::table::TableKind;

/// The hyperedges that are kept: those that pass the conditions and whose members are all kept.
pub(super) fn hyperedges(
    selected: &mut Selected,
    conditions: &BTreeMap<usize, Conditions>,
    keep_dangling: bool,
    progress: &dyn Progress,
) -> Result<()> {
    let reader = Reader { dataset: &selected.dataset, progress };
    let mut all = BTreeMap::new();
    for shown in &selected.shape.hyperedges.0 {
        let Some(ty) = selected.inner().hyperedges.get(shown.inner) else { continue };
        let test = conditions.get(&shown.inner);
        let test = test.map(|own| Test::new(&selected.dataset, TableKind::Hyperedges(shown.inner), own)).transpose()?;
        let (test, ends) = (test.flatten(), selected.built.nodes_kept(ty.ends));
        if test.is_none() && ends.is_none() {
            continue;
        }
        let (mut bits, mut keys) = (Bits::default(), reader.keys(2));
        let prepare = |batch: Batch| match &batch {
            Batch::Hyperedges(own) if own.ty == shown.inner => {
                let rows = match &test {
                    Some(test) => test.passing(&batch)?,
                    None => arrow_buffer::BooleanBuffer::new_set(own.rows),
                };
                Ok(Some((own.start, own.keys.clone(), rows)))
            }
            _ => Ok(None),
        };
        let take = |found: Option<(u64, ArrayRef, arrow_buffer::BooleanBuffer)>| {
            let Some((start, found, rows)) = found else { return Ok(()) };
            rows.set_indices().for_each(|row| bits.add(start + row as u64));
            keys.push(found.as_ref())
        };
        let rest = || selected.dataset.source().scan(&Request::of(Tables::Rest));
        read(rest()?, reader.threads(), "selection", progress, prepare, take)?;
        let keys = in_memory(keys)?;
        if let Some(ends) = ends {
            // Hyperedges with members, with a member that was selected itself, and with one that was not.
            let (mut have, mut chosen, mut lose) = (Bits::default(), Bits::default(), Bits::default());
            let prepare = |batch: Batch| -> Result<Vec<(u64, u64)>> {
                let Batch::Members(members) = batch else { return Ok(Vec::new()) };
                if members.ty != shown.inner {
                    return Ok(Vec::new());
                }
                let owners = match &members.owner {
                    Ends::Rows(rows) => rows.values().to_vec(),
                    Ends::Keys(own) => translated(&keys, own)?,
                };
                let ranks = ends.ranks(&members.member)?;
                Ok(owners.into_iter().zip(ranks).collect())
            };
            let take = |members: Vec<(u64, u64)>| {
                for (owner, rank) in members.into_iter().filter(|(owner, _)| *owner != ABSENT) {
                    have.add(owner);
                    if ends.is_chosen(rank) { chosen.add(owner) } else { lose.add(owner) }
                }
                Ok(())
            };
            read(rest()?, reader.threads(), "members", progress, prepare, take)?;
            let dangling = lose.rows().filter(|row| bits.has(*row) && chosen.has(*row)).count();
            if keep_dangling && dangling > 0 {
                let what = if dangling == 1 { "1 element".to_owned() } else { format!("{dangling} elements") };
                let message =
                    format!("{what} of type {} would lose some of their members, and cannot be kept", ty.name);
                return Err(Error::unsupported(message).hint("without --keep-dangling    they are left out"));
            }
            lose.rows().for_each(|row| bits.remove(row));
            let alone: Vec<u64> = bits.rows().filter(|row| !have.has(*row)).collect();
            if !alone.is_empty() {
                without_nodes(&reader, (shown.inner, ty.ends), &alone, ends, &mut bits)?;
            }
        }
        let rows = RowSet::from(bits);
        let keys = remaining(&reader, &rows, |batch| match batch {
            Batch::Hyperedges(own) if own.ty == shown.inner => Some((own.start, own.keys.clone())),
            _ => None,
        })?;
        all.insert(shown.inner, Kept { rows, bare: None, keys: Some(keys) });
    }
    selected.built.hyperedges = all;
    Ok(())
}

/// Removes hyperedges that have no members and the key of a node that is left out: an annnet edge that is only an
/// entity is both.
fn without_nodes(
    reader: &Reader<'_>,
    (ty, ends): (usize, usize),
    alone: &[u64],
    kept: &Kept,
    bits: &mut Bits,
) -> Result<()> {
    let all = reader.keys_of(ends, None, 2)?;
    let prepare = |batch: Batch| -> Result<Vec<u64>> {
        let Batch::Hyperedges(own) = batch else { return Ok(Vec::new()) };
        if own.ty != ty {
            return Ok(Vec::new());
        }
        let is_out = |node: &u64| *node != ABSENT && kept.rows.rank(*node).is_none();
        let named = (own.start..).zip(translated(&all, &own.keys)?);
        Ok(named.filter(|(row, node)| is_out(node) && alone.binary_search(row).is_ok()).map(|(row, _)| row).collect())
    };
    let take = |gone: Vec<u64>| {
        gone.into_iter().for_each(|row| bits.remove(row));
        Ok(())
    };
    let parts = reader.dataset.source().scan(&Request::of(Tables::Rest))?;
    read(parts, reader.threads(), "selection", reader.progress, prepare, take)
}

fn translated(keys: &KeyRows, own: &ArrayRef) -> Result<Vec<u64>> {
    let mut rows = Vec::new();
    keys.translate(own.as_ref(), &mut rows)?;
    Ok(rows)
}

/// Key → rank for the elements in `rows`.
fn remaining(
    reader: &Reader<'_>,
    rows: &RowSet,
    keys_of: impl Fn(&Batch) -> Option<(u64, ArrayRef)> + Sync,
) -> Result<KeyRows> {
    let mut keys = reader.keys(2);
    let prepare = |batch: Batch| -> Result<Option<ArrayRef>> {
        let Some((start, keys)) = keys_of(&batch) else { return Ok(None) };
        let stays = (start..).take(keys.len()).map(|row| rows.rank(row).is_some());
        super::batches::Rows::new(stays.collect()).of(&keys).map(Some)
    };
    let take = |found: Option<ArrayRef>| found.map_or(Ok(()), |found| keys.push(found.as_ref()));
    let parts = reader.dataset.source().scan(&Request::of(Tables::Rest))?;
    read(parts, reader.threads(), "selection", reader.progress, prepare, take)?;
    in_memory(keys)
}
