//! What the views of a source share: parts whose batches are shown as others, and look-ups in one table for several types.

use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{About, Batch, EdgeBatch, KeyKind, NodeId, NodeType, Request, Source, Tables, Take};

/// The edges that `show` hands on for `batches`.
///
/// # Errors
/// Those of `show`.
pub(crate) fn edges_shown(
    batches: &[EdgeBatch],
    show: impl Fn(&EdgeBatch, Take<'_>) -> Result<()>,
) -> Result<Vec<EdgeBatch>> {
    let mut found = Vec::new();
    for batch in batches {
        show(batch, &mut |batch| {
            if let Batch::Edges(edges) = batch {
                found.push(edges);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Fails where `node` is named by a row that nodes of type number `ty` do not reach: in one table of several types the row behind the
/// last is a node of another type. Behind the last type there is none, and the table itself says what there is.
///
/// # Errors
/// [`Kind::NotFound`].
pub(crate) fn within(types: &[NodeType], ty: usize, node: NodeId<'_>) -> Result<()> {
    let Some(ty) = types.get(ty).filter(|_| ty + 1 < types.len()) else { return Ok(()) };
    match (node, ty.rows) {
        (NodeId::Row(row), Some(rows)) if row >= rows => {
            Err(Error::new(Kind::NotFound, format!("there is no row {row} of {}", ty.name)))
        }
        _ => Ok(()),
    }
}

/// Fails unless the node is there. For nodes whose type has no edges to look among: reads the keys of the type.
///
/// # Errors
/// [`Kind::NotFound`] when it is not; when keys cannot be read.
pub fn must_exist(source: &dyn Source, ty: usize, node: NodeId<'_>) -> Result<()> {
    let own = source.graph().nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
    let row = match node {
        NodeId::Row(row) => Some(row),
        // A text that is no number names no row.
        NodeId::Key(key) if own.key.kind == KeyKind::Row => key.parse().ok(),
        NodeId::Key(_) => None,
    };
    let mut is_there = false;
    for mut part in source.scan(&Request::of(Tables::NodeKeys(ty)))? {
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            is_there |= match (node, row, &nodes.keys) {
                (_, Some(row), _) => (nodes.start..nodes.start.saturating_add(nodes.rows as u64)).contains(&row),
                (NodeId::Key(key), None, Some(keys)) => {
                    let names = cast(keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()))?;
                    names.as_string::<i32>().iter().any(|name| name == Some(key))
                }
                _ => false,
            };
            Ok(())
        })?;
    }
    match (is_there, node) {
        (true, _) => Ok(()),
        (false, NodeId::Key(key)) => Err(Error::new(Kind::NotFound, format!("there is no node {key:?}"))),
        (false, NodeId::Row(row)) => Err(Error::new(Kind::NotFound, format!("there is no node in row {row}"))),
    }
}

/// What is known of a source whose one table of edges is shown as that of `types` types.
pub(crate) fn one_table(mut about: About, types: usize) -> About {
    if let Some(layout) = about.edge_layouts.first().cloned() {
        about.edge_layouts = vec![layout; types];
    }
    about
}
