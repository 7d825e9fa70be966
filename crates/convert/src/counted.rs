//! A graph with node counts, which are counted if its files do not state them.

use std::sync::Arc;

use isomorph_error::{Findings, Result};
use isomorph_model::{
    About, EdgeOrder, EndForm, Graph, Incidents, Narrowing, NodeId, Part, Progress as ModelProgress, Request, Run,
    Side, Source, Tables,
};

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
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn prepare(&self, threads: usize, progress: &dyn ModelProgress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.inner.scan(request)
    }

    fn is_one_table(&self, tables: Tables) -> bool {
        self.inner.is_one_table(tables)
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        self.inner.edge_orders(ty)
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        self.inner.runs(ty, order)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.inner.end_form(ty)
    }

    fn about(&self) -> About {
        self.inner.about()
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.inner.neighbors(edge, node, side)
    }

    fn narrowed_neighbors(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        narrowing: Narrowing,
    ) -> Result<Box<dyn Part + '_>> {
        self.inner.narrowed_neighbors(edge, node, side, narrowing)
    }

    fn incidents(&self, key: &str) -> Result<Incidents> {
        self.inner.incidents(key)
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        self.inner.as_any()
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        self.inner.validate(findings)
    }
}
