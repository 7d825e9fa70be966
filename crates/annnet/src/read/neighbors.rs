//! The edges of one node, without loading the graph: one pass over one column finds the row groups that name it.

use arrow_array::cast::AsArray;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, EdgeBatch, Ends, NodeId, Part, Side};

use super::Annnet;
use super::edge_part::EdgePart;
use crate::layout::column;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Edges with two ends whose source (or target) is a node, whether they have a direction or not.
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
        EdgePart { annnet, group, ends_only: false, batch_rows: BATCH_ROWS }.read(&mut |batch| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let ends = if side == Side::Out { &edges.source } else { &edges.target };
            let Ends::Keys(ends) = ends else { return Ok(()) };
            for (row, end) in ends.as_string::<i32>().iter().enumerate() {
                if end == Some(key) {
                    found.push(edges.slice(row, 1));
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}
