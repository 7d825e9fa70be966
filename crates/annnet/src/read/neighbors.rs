//! The edges of one node. With a cache, the pages that contain them are read; without one, a pass over one column
//! finds the row groups that name the node.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, EdgeBatch, Ends, Narrowing, NodeId, Part, Side, Take, part};

use super::Annnet;
use super::edge_part::EdgePart;
use crate::cache::{self, Cache};
use crate::layout::column;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Edges with two ends whose source (or target) is a node, whether they have a direction or not: for an edge without one, both
/// sides have to be asked for. Where a pass finds them, properties that `narrowing` does not want are not read.
///
/// # Errors
/// [`Kind::NotFound`] when there is no such node; when the edges cannot be read.
pub(super) fn neighbors<'a>(
    annnet: &'a Annnet,
    node: NodeId<'_>,
    side: Side,
    narrowing: Option<Narrowing>,
) -> Result<Box<dyn Part + 'a>> {
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
    Ok(match said.flatten() {
        Some(found) => found,
        None => by_pass(annnet, key, side, narrowing.map(Arc::new)),
    })
}

/// Reads the edges that the cache names, from the pages that contain them.
fn by_cache<'a>(annnet: &'a Annnet, cache: &Cache, key: &str, side: Side) -> Result<Box<dyn Part + 'a>> {
    let sides = if side == Side::Out { [cache::Side::Source] } else { [cache::Side::Target] };
    let rows = cache.edges_of(key, &sides)?;
    let key = key.to_owned();
    in_pieces(rows, move |rows| {
        let part = EdgePart { annnet, group: 0, narrowing: None, batch_rows: rows.len() };
        let batch = part.of_rows(rows)?;
        batch.map_or(Ok(Vec::new()), |batch| only_of(batch, &key, side))
    })
}

/// Reads the edges at `rows` through `read`: the first batch immediately, so that damage is reported at once, the
/// others on demand.
///
/// # Errors
/// Returns the errors of `read`.
pub(crate) fn in_pieces<'a>(
    rows: Vec<u64>,
    read: impl Fn(&[u64]) -> Result<Vec<EdgeBatch>> + Send + 'a,
) -> Result<Box<dyn Part + 'a>> {
    let first = match rows.chunks(BATCH_ROWS).next() {
        Some(rows) => read(rows)?,
        None => return Ok(part::edges(Vec::new())),
    };
    let mut start = BATCH_ROWS;
    let step = move |first: &mut Option<Vec<EdgeBatch>>, take: Take<'_>| {
        let batches = match (first.take(), rows.get(start..rows.len().min(start + BATCH_ROWS))) {
            (Some(first), _) => first,
            (None, Some(rows)) if !rows.is_empty() => {
                start += BATCH_ROWS;
                read(rows)?
            }
            (None, _) => return Ok(false),
        };
        batches.into_iter().try_for_each(|batch| take(Batch::Edges(batch)))?;
        Ok(true)
    };
    Ok(part::stepped(None, move || Ok(Some(first)), step))
}

/// Keeps the rows that have the node at one side.
///
/// # Errors
/// Returns an error if the ends are not keys.
pub(crate) fn only_of(batch: EdgeBatch, key: &str, side: Side) -> Result<Vec<EdgeBatch>> {
    let is_wanted = naming(&batch, key, side)?;
    if is_wanted.iter().all(|wanted| *wanted) {
        return Ok(vec![batch]);
    }
    // The others have an id with the same hash.
    Ok((0..batch.rows).filter(|row| is_wanted[*row]).map(|row| batch.slice(row, 1)).collect())
}

/// Returns which rows have the node at one side.
fn naming(batch: &EdgeBatch, key: &str, side: Side) -> Result<Vec<bool>> {
    let ends = if side == Side::Out { &batch.source } else { &batch.target };
    match ends {
        Ends::Keys(ends) => Ok(ends.as_string::<i32>().iter().map(|end| end == Some(key)).collect()),
        Ends::Rows(_) => Err(Error::usage("the ends of annnet edges must be keys")),
    }
}

/// The edges of the row groups that name the node.
fn by_pass<'a>(annnet: &'a Annnet, key: &str, side: Side, narrowing: Option<Arc<Narrowing>>) -> Box<dyn Part + 'a> {
    let name = if side == Side::Out { column::SOURCE } else { column::TARGET };
    let (key, mut groups) = (key.to_owned(), annnet.edges.groups.iter().enumerate());
    let open = || Ok(None);
    part::stepped(None, open, move |reading, take| {
        let Some(part) = reading else {
            let Some((group, rows)) = groups.next() else { return Ok(false) };
            for cells in annnet.edges.table.batches(&[name], rows.clone(), BATCH_ROWS)? {
                if cells?.text(name)?.iter().any(|end| end == Some(key.as_str())) {
                    let part = EdgePart { annnet, group, narrowing: narrowing.clone(), batch_rows: BATCH_ROWS };
                    *reading = Some(part.part());
                    break;
                }
            }
            return Ok(true);
        };
        match part.next().transpose()? {
            Some(Batch::Edges(edges)) => {
                let is_wanted = naming(&edges, &key, side)?;
                (0..edges.rows)
                    .filter(|row| is_wanted[*row])
                    .try_for_each(|row| take(Batch::Edges(edges.slice(row, 1))))?;
            }
            Some(_) => {}
            None => *reading = None,
        }
        Ok(true)
    })
}
