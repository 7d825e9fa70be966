//! A graph whose edges refer to their ends by key, for consumers that determine types from keys: files of some formats
//! refer to them by row.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::{EdgeBatch, EdgeOrder, EndForm, Ends, NodeId, Part, Request, Run, Side, Source};

use crate::mapping::{edges_as, forward};
use crate::node_keys;
use crate::progress::Progress;
use isomorph_dataset::KeysByRow;
use isomorph_storage::Resources;

/// The keys of all nodes, by row.
#[derive(Clone)]
pub(crate) struct Keying(Arc<KeysByRow>);

impl std::fmt::Debug for Keying {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keying")
    }
}

impl Keying {
    /// Reads the keys of `source`, if it has edges whose ends are rows.
    ///
    /// # Errors
    /// If they cannot be read, or there is no space for temporary files.
    pub(crate) fn of(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Option<Keying>> {
        let graph = source.graph();
        if (0..graph.edges.len()).all(|ty| source.end_form(ty) != EndForm::Rows) {
            return Ok(None);
        }
        let mut keys = KeysByRow::builder(graph, resources);
        for together in node_keys::passes(source, 0..graph.nodes.len(), usize::MAX) {
            node_keys::read(source, &together, "keys", resources.threads, progress, |nodes| keys.add(nodes))?;
        }
        Ok(Some(Keying(Arc::new(keys.finish()?))))
    }

    /// `source`, whose keys these are, with keys as ends.
    pub(crate) fn shown(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Keyed { inner: source, keys: Arc::clone(&self.0) })
    }
}

/// A source whose edges refer to their ends by key.
struct Keyed {
    inner: Arc<dyn Source>,
    keys: Arc<KeysByRow>,
}

impl Keyed {
    fn edges(&self, mut edges: EdgeBatch) -> Result<EdgeBatch> {
        let Some(ty) = self.inner.graph().edges.get(edges.ty) else { return Ok(edges) };
        for (ends, node) in [(&mut edges.source, ty.source), (&mut edges.target, ty.target)] {
            if let Ends::Rows(rows) = ends {
                *ends = Ends::Keys(self.keys.gather(node, rows.values())?);
            }
        }
        Ok(edges)
    }

    fn parts<'a>(&'a self, parts: Run<'a>) -> Run<'a> {
        parts.into_iter().map(|inner| edges_as(inner, |edges| self.edges(edges))).collect()
    }
}

impl Source for Keyed {
    forward!(inner: graph prepare is_one_table edge_orders about validate);

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        Ok(self.parts(self.inner.scan(&request.whole())?))
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        Ok(self.inner.runs(ty, order)?.map(|runs| runs.into_iter().map(|run| self.parts(run)).collect()))
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        Ok(edges_as(self.inner.neighbors(edge, node, side)?, |edges| self.edges(edges)))
    }
}
