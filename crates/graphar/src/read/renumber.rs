//! Edges as the model has them when vertices are left out: without those of the vertices that are gone, with the rows
//! that the others have then.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, UInt64Array};
use arrow_select::filter::filter;
use isomorph_error::{Error, Result};
use isomorph_model::{Columns, EdgeBatch, Ends};

use super::RowSet;
use super::ends::{as_rows, indexes};
use crate::lookup::Neighbors;
use crate::table::{SOURCE_INDEX, TARGET_INDEX};

/// The source and destination vertices that are shown, if not all.
pub(crate) type Sets = (Option<Arc<RowSet>>, Option<Arc<RowSet>>);

fn batch(ty: usize, source: UInt64Array, target: UInt64Array, properties: Columns) -> EdgeBatch {
    EdgeBatch {
        ty,
        rows: source.len(),
        relations: None,
        source: Ends::Rows(source),
        target: Ends::Rows(target),
        layers: None,
        directed: None,
        keys: None,
        properties,
    }
}

/// What is left of some edges.
struct Kept {
    rows: BooleanArray,
    source: UInt64Array,
    target: UInt64Array,
}

fn kept(source: &Int64Array, target: &Int64Array, (sources, targets): &Sets) -> Option<Kept> {
    if sources.is_none() && targets.is_none() {
        return None;
    }
    let rank = |set: &Option<Arc<RowSet>>, row: i64| match set {
        Some(set) => set.rank(row.cast_unsigned()),
        None => Some(row.cast_unsigned()),
    };
    let (mut rows, mut from, mut to) = (Vec::with_capacity(source.len()), Vec::new(), Vec::new());
    for (source, target) in source.values().iter().zip(target.values()) {
        let both = rank(sources, *source).zip(rank(targets, *target));
        rows.push(both.is_some());
        if let Some((source, target)) = both {
            from.push(source);
            to.push(target);
        }
    }
    Some(Kept { rows: rows.into(), source: from.into(), target: to.into() })
}

fn filtered(properties: Columns, rows: &BooleanArray) -> Result<Columns> {
    let one = |column: Option<ArrayRef>| column.map(|column| filter(&column, rows)).transpose();
    let failed = |error: arrow_schema::ArrowError| Error::malformed(error.to_string()).caused_by(error);
    properties.into_iter().map(|column| one(column).map_err(failed)).collect()
}

/// A batch of edges of type `ty`; nothing when none is left.
///
/// # Errors
/// When columns have another number of rows.
pub(crate) fn renumbered(
    ty: usize,
    source: &Int64Array,
    target: &Int64Array,
    properties: Columns,
    sets: &Sets,
) -> Result<Option<EdgeBatch>> {
    match kept(source, target, sets) {
        None => Ok(Some(batch(ty, as_rows(source), as_rows(target), properties))),
        Some(kept) if kept.source.is_empty() => Ok(None),
        Some(kept) => Ok(Some(batch(ty, kept.source, kept.target, filtered(properties, &kept.rows)?))),
    }
}

/// The edges of several vertices, `starts` being where those of each begin.
///
/// # Errors
/// As [`renumbered`].
pub(crate) fn neighbors(
    ty: usize,
    source: ArrayRef,
    target: ArrayRef,
    properties: Columns,
    mut starts: Vec<usize>,
    sets: &Sets,
) -> Result<Neighbors> {
    let (source, target) = (indexes(&source, SOURCE_INDEX, 0)?, indexes(&target, TARGET_INDEX, 0)?);
    let edges = match kept(source, target, sets) {
        None => batch(ty, as_rows(source), as_rows(target), properties),
        Some(kept) => {
            let before = |start: usize| kept.rows.slice(0, start).true_count();
            starts.iter_mut().for_each(|start| *start = before(*start));
            batch(ty, kept.source, kept.target, filtered(properties, &kept.rows)?)
        }
    };
    Ok(Neighbors { edges, starts })
}
