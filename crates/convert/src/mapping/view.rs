//! What the views of a source share: parts whose batches are shown as others, and look-ups in one table for several types.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::part::shown;
use isomorph_model::{About, Batch, EdgeBatch, Graph, NodeId, NodeType, Part, Side, Source, Take, part};

/// `inner`, each of whose batches of edges `show` hands on as it is seen through a view: as one, as several, or not at all.
pub(crate) fn edges_shown<'a>(
    inner: Box<dyn Part + 'a>,
    show: impl Fn(&EdgeBatch, Take<'_>) -> Result<()> + Send + 'a,
) -> Box<dyn Part + 'a> {
    shown(inner, move |batch, take| match batch {
        Batch::Edges(edges) => show(&edges, take),
        other => take(other),
    })
}

/// `inner`, each of whose batches of edges is seen as one that `show` makes of it.
pub(crate) fn edges_as<'a>(
    inner: Box<dyn Part + 'a>,
    show: impl Fn(EdgeBatch) -> Result<EdgeBatch> + Send + 'a,
) -> Box<dyn Part + 'a> {
    shown(inner, move |batch, take| match batch {
        Batch::Edges(edges) => take(Batch::Edges(show(edges)?)),
        other => take(other),
    })
}

/// The edges of several types that leave (or reach) a node, type by type.
///
/// # Errors
/// As [`Source::neighbors`].
pub(crate) fn of_types<'a>(
    source: &'a dyn Source,
    types: impl Iterator<Item = usize> + Send + 'a,
    node: NodeId<'_>,
    side: Side,
) -> Result<Box<dyn Part + 'a>> {
    let (key, row) = match node {
        NodeId::Key(key) => (Some(key.to_owned()), 0),
        NodeId::Row(row) => (None, row),
    };
    part::chained(types.map(move |ty| {
        let node = key.as_deref().map_or(NodeId::Row(row), NodeId::Key);
        source.neighbors(ty, node, side)
    }))
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

/// What is known of a source whose one table of edges is shown as that of `types` types.
pub(crate) fn one_table(mut about: About, types: usize) -> About {
    if let Some(layout) = about.edge_layouts.first().cloned() {
        about.edge_layouts = vec![layout; types];
    }
    about
}

/// Of one type there are as many nodes as are stored: those that edges alone imply may have been added behind what the record counts.
pub(super) fn node_rows_of_one(typed: &mut Graph, stored: Option<u64>) {
    if let [ty] = typed.nodes.as_mut_slice()
        && (ty.implied || stored.is_some())
    {
        ty.rows = stored;
    }
}
