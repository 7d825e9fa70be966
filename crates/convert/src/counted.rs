//! A graph with node counts, which are counted if its files do not state them.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::{Graph, Progress as ModelProgress, Source};

use crate::mapping::forward;
use crate::node_keys;
use crate::progress::Progress;
use isomorph_storage::Resources;

/// A source with node counts in its description.
struct Counted {
    inner: Arc<dyn Source>,
    graph: Graph,
}

/// The same graph with the number of nodes of each type. For types that do not state it, a pass over their keys counts
/// them.
///
/// # Errors
/// If the nodes cannot be read.
pub(crate) fn counted(
    source: Arc<dyn Source>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>> {
    if source.graph().nodes.iter().all(|ty| ty.rows.is_some()) {
        return Ok(source);
    }
    let mut graph = source.graph().clone();
    for (ty, rows) in graph.nodes.iter_mut().zip(node_rows(source.as_ref(), resources.threads, progress)?) {
        ty.rows = Some(rows);
    }
    Ok(Arc::new(Counted { inner: source, graph }))
}

/// The number of nodes of each type: as stated by the source, otherwise counted in a pass over their keys.
///
/// # Errors
/// If the nodes cannot be read.
pub(crate) fn node_rows(source: &dyn Source, threads: usize, progress: &dyn ModelProgress) -> Result<Vec<u64>> {
    let types = &source.graph().nodes;
    let mut counts: Vec<u64> = types.iter().map(|ty| ty.rows.unwrap_or_default()).collect();
    let unknown = types.iter().enumerate().filter(|(_, ty)| ty.rows.is_none()).map(|(at, _)| at);
    for together in node_keys::passes(source, unknown, usize::MAX) {
        node_keys::read(source, &together, "nodes", threads, progress, |nodes| {
            if let Some(count) = counts.get_mut(nodes.ty) {
                *count += nodes.rows as u64;
            }
            Ok(())
        })?;
    }
    Ok(counts)
}

impl Source for Counted {
    forward!(inner:
        prepare scan is_one_table edge_orders runs end_form about neighbors narrowed_neighbors incidents as_any
        validate
    );

    fn graph(&self) -> &Graph {
        &self.graph
    }
}
