//! Nodes that exist because edges refer to them.

use std::collections::BTreeMap;

use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Ends, Progress};
use isomorph_tables::lookup::{ABSENT, KeyRows};

use super::kept_rows::{Kept, Reader, read};
use super::row_set::{Bits, RowSet};
use super::view::Selected;

/// Adds the nodes at the other ends of edges with one selected end, and the other members of hyperedges with a selected
/// member.
pub(super) fn bare_ends(selected: &mut Selected, progress: &dyn Progress) -> Result<()> {
    let reader = Reader { dataset: &selected.dataset, progress };
    let graph = selected.inner();
    let kept = &selected.built.nodes;
    let several = kept.values().filter(|kept| kept.keys.is_some()).count() * 2;
    let mut rows: BTreeMap<usize, KeyRows> = BTreeMap::new();
    for (ty, _) in kept.iter().filter(|(_, kept)| kept.keys.is_some()) {
        rows.insert(*ty, reader.keys_of(*ty, None, several)?);
    }
    // The row of each end in the whole table, and whether it is selected.
    let rows_of = |ty: usize, ends: &Ends| -> Result<Option<Vec<u64>>> {
        match (kept.get(&ty), ends) {
            (None, _) => Ok(None),
            (Some(_), Ends::Rows(rows)) => Ok(Some(rows.values().to_vec())),
            (Some(_), Ends::Keys(keys)) => {
                let own = rows.get(&ty).ok_or_else(|| Error::usage("ends are keys, but rows were announced"))?;
                let mut found = Vec::new();
                own.translate(keys.as_ref(), &mut found)?;
                Ok(Some(found))
            }
        }
    };
    let is_chosen = |ty: usize, row: u64| kept.get(&ty).is_none_or(|kept| kept.rows.rank(row).is_some());
    let mut bare: BTreeMap<usize, Bits> = kept.keys().map(|ty| (*ty, Bits::default())).collect();
    for shown in &selected.shape.edges.0 {
        let Some(ty) = graph.edges.get(shown.inner) else { continue };
        let ends = [ty.source, ty.target];
        let prepare = |batch: Batch| {
            let Batch::Edges(edges) = &batch else { return Err(Error::usage("expected edges")) };
            let wanted = selected.wanted(edges, &batch)?;
            let rows = [rows_of(ty.source, &edges.source)?, rows_of(ty.target, &edges.target)?];
            let mut found = Vec::new();
            for row in wanted.set_indices() {
                let own = |end: usize| rows.get(end)?.as_ref()?.get(row).copied();
                let chosen = [0, 1].map(|end| own(end).is_none_or(|row| is_chosen(ends[end], row)));
                for (end, other) in [(0, 1), (1, 0)] {
                    if let (false, true, Some(row)) = (chosen[end], chosen[other], own(end))
                        && row != ABSENT
                    {
                        found.push((ends[end], row));
                    }
                }
            }
            Ok(found)
        };
        let take = |found: Vec<(usize, u64)>| {
            found.into_iter().for_each(|(ty, row)| bare.entry(ty).or_default().add(row));
            Ok(())
        };
        let parts = selected.dataset.source().scan(&selected.ends_of(shown.inner)?)?;
        read(parts, reader.threads(), "ends", progress, prepare, take)?;
    }
    let mut all = BTreeMap::new();
    for (ty, bare) in bare {
        let Some(own) = kept.get(&ty) else { continue };
        let mut both = own.rows.bits().clone();
        bare.rows().for_each(|row| both.add(row));
        let both = RowSet::from(both);
        let mut ranks = Bits::default();
        bare.rows().filter_map(|row| both.rank(row)).for_each(|rank| ranks.add(rank));
        let keys = match own.keys {
            Some(_) => Some(reader.keys_of(ty, Some(&both), several)?),
            None => None,
        };
        all.insert(ty, Kept { rows: both, bare: Some(ranks), keys });
    }
    selected.built.nodes = all;
    Ok(())
}
