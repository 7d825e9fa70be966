//! The typed graph as a source: which parts of the bundled one are read for which tables.

use isomorph_error::{Error, Result};
use isomorph_model::{About, Batch, EndForm, Graph, KeyKind, NodeId, Part, Progress, Request, Side, Source, Tables};

use super::{BundledId, Shredded};
use crate::mapping::view::{edges_shown, one_table};
use isomorph_model::part::shown;

impl Source for Shredded {
    fn graph(&self) -> &Graph {
        &self.bundling.typed
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (tables, only) = match request.tables {
            Tables::Nodes(ty) => (Tables::Nodes(0), Some(ty)),
            Tables::NodeKeys(ty) => (Tables::NodeKeys(0), Some(ty)),
            Tables::Edges(ty) => (Tables::Edges(0), Some(ty)),
            Tables::EdgeEnds(ty) => (Tables::EdgeEnds(0), Some(ty)),
            other => (other, None),
        };
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let shred = |inner| {
            shown(inner, move |batch, take| match batch {
                Batch::Nodes(nodes) => self.nodes(&nodes, only, take),
                Batch::Edges(edges) => self.edges(&edges, only, take),
                _ => Err(Error::unsupported("only nodes and edges can be shredded")),
            })
        };
        Ok(parts.into_iter().map(shred).collect())
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, ty: usize) -> EndForm {
        // Types without a key are told by numbers: those are rows.
        let keyless = |node: usize| self.bundling.typed.nodes.get(node).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        match self.bundling.typed.edges.get(ty) {
            Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
            _ if self.bundling.nodes.len() == 1 => self.inner.end_form(0),
            _ => EndForm::Keys,
        }
    }

    /// The edges of the node that the bundled table has, as far as they are of this type.
    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = self.bundling.typed.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = match side {
            Side::Out => ty.source,
            Side::In => ty.target,
        };
        let batches = match self.bundled_id(near, node)? {
            BundledId::Name(name) => self.inner.neighbors(0, NodeId::Key(&name), side)?,
            BundledId::Row(row) => self.inner.neighbors(0, NodeId::Row(row), side)?,
        };
        Ok(edges_shown(batches, move |batch, take| self.edges(batch, Some(edge), take)))
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.bundling.typed.edges.len())
    }
}
