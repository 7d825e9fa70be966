//! The edges of one node: with a cache the few pages that hold them; without one a pass over one column finds the row
//! groups that name it.

use arrow_array::cast::AsArray;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, EdgeBatch, Ends, NodeId, Side};

use super::Annnet;
use super::edge_part::EdgePart;
use crate::cache::{self, Cache};
use crate::layout::column;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Edges with two ends whose source (or target) is a node, whether they have a direction or not: for an edge without one, both
/// sides have to be asked for.
///
/// # Errors
/// [`Kind::NotFound`] when there is no such node; when the edges cannot be read.
pub(super) fn neighbors(annnet: &Annnet, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
    let entities = &annnet.entities;
    let row = match node {
        NodeId::Row(row) => usize::try_from(row).ok().filter(|row| *row < entities.len()),
        NodeId::Key(key) => entities.row(key).map(|row| row as usize),
    };
    let row = row.ok_or_else(|| match node {
        NodeId::Row(row) => Error::new(Kind::NotFound, format!("there is no node in row {row}")),
        NodeId::Key(key) => Error::new(Kind::NotFound, format!("there is no node {key:?}")),
    })?;
    let key = entities.keys.value(row);
    let said = annnet.cache()?.map(|cache| cache::if_sound(by_cache(annnet, cache, key, side))).transpose()?;
    match said.flatten() {
        Some(found) => Ok(found),
        None => by_pass(annnet, key, side),
    }
}

/// The edges that the cache names, from the pages that hold them.
fn by_cache(annnet: &Annnet, cache: &Cache, key: &str, side: Side) -> Result<Vec<EdgeBatch>> {
    let sides = if side == Side::Out { [cache::Side::Source] } else { [cache::Side::Target] };
    let rows = cache.edges_of(key, &sides)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let part = EdgePart { annnet, group: 0, ends_only: false, batch_rows: rows.len() };
    let batch = part.of_rows(&rows)?;
    let Some(batch) = batch else { return Ok(Vec::new()) };
    only_of(batch, key, side)
}

/// The rows that have the node at one side.
///
/// # Errors
/// When ends are no keys.
pub(crate) fn only_of(batch: EdgeBatch, key: &str, side: Side) -> Result<Vec<EdgeBatch>> {
    let is_wanted = naming(&batch, key, side)?;
    if is_wanted.iter().all(|wanted| *wanted) {
        return Ok(vec![batch]);
    }
    // The others have an id of the same hash.
    Ok((0..batch.rows).filter(|row| is_wanted[*row]).map(|row| batch.slice(row, 1)).collect())
}

/// Which rows have the node at one side.
fn naming(batch: &EdgeBatch, key: &str, side: Side) -> Result<Vec<bool>> {
    let ends = if side == Side::Out { &batch.source } else { &batch.target };
    match ends {
        Ends::Keys(ends) => Ok(ends.as_string::<i32>().iter().map(|end| end == Some(key)).collect()),
        Ends::Rows(_) => Err(Error::usage("ends of annnet are keys")),
    }
}

/// The edges of the row groups that name the node.
fn by_pass(annnet: &Annnet, key: &str, side: Side) -> Result<Vec<EdgeBatch>> {
    let name = if side == Side::Out { column::SOURCE } else { column::TARGET };
    let mut found = Vec::new();
    for (group, rows) in annnet.edges.groups.iter().enumerate() {
        let mut named = false;
        for cells in annnet.edges.table.batches(&[name], rows.clone(), BATCH_ROWS)? {
            named = cells?.text(name)?.iter().any(|end| end == Some(key));
            if named {
                break;
            }
        }
        if !named {
            continue;
        }
        for batch in (EdgePart { annnet, group, ends_only: false, batch_rows: BATCH_ROWS }.part()) {
            let Batch::Edges(edges) = batch? else { continue };
            let is_wanted = naming(&edges, key, side)?;
            found.extend((0..edges.rows).filter(|row| is_wanted[*row]).map(|row| edges.slice(row, 1)));
        }
    }
    Ok(found)
}
