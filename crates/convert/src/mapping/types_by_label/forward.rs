//! Shows a graph of one node type with several.

use std::collections::HashMap;
use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::label::{LabelBuilder, LabelColumn};
use isomorph_model::{
    About, Batch, EdgeBatch, EndForm, Graph, NodeBatch, NodeId, Part, Progress, Request, Side, Source, Tables,
};

use super::{By, Parting, labels};
use crate::mapping::declared;
use crate::mapping::view::{Rows, edges_shown, one_table, rows_by_type};
use isomorph_model::part::shown;

/// Shows a graph with a node type for each value of a property, or each label.
pub struct Parted {
    inner: Arc<dyn Source>,
    record: Parting,
    /// Edge types by the one of the inner graph and the types of their ends.
    edges: HashMap<(usize, usize, usize), usize>,
}

impl Parted {
    /// Shows `inner`, which is `record.single`, as `record.typed`. Reads nothing.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Parting) -> Result<Self> {
        let inner = declared(inner, &record.single)?;
        let edges = record.typed.edges.iter().zip(&record.edges).enumerate();
        let edges = edges.map(|(at, (ty, of))| ((*of, ty.source, ty.target), at)).collect();
        Ok(Parted { inner, record: record.clone(), edges })
    }

    /// Nodes of all types, or of one.
    fn nodes(&self, batch: &NodeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let types = self.record.types.of_nodes(batch)?;
        let type_of = |row: usize| {
            types.get(row).copied().map(usize::from).ok_or_else(|| Error::usage("a node of an unknown type"))
        };
        for (ty, rows) in rows_by_type(self.record.typed.nodes.len(), batch.rows, type_of)? {
            if only.is_some_and(|only| only != ty) {
                continue;
            }
            let all = rows.of_columns(&batch.properties)?;
            let keys = batch.keys.as_ref().map(|keys| rows.of(keys)).transpose()?;
            let (properties, labels) = match &self.record.by {
                By::Property { property, .. } => {
                    let others = all.into_iter().enumerate().filter(|(at, _)| at != property);
                    (others.map(|(_, column)| column).collect(), None)
                }
                By::Label { labels, columns } => {
                    let kept = columns.get(ty).map(Vec::as_slice).unwrap_or_default().iter();
                    let kept = kept.map(|at| all.get(*at).cloned().flatten()).collect();
                    let own = labels.get(ty).and_then(Option::as_deref);
                    (kept, self.labels(batch, ty, own, &rows))
                }
            };
            give(Batch::Nodes(NodeBatch {
                ty,
                start: batch.start,
                numbers: None,
                rows: rows.len(),
                keys,
                labels,
                properties,
            }))?;
        }
        Ok(())
    }

    /// The labels of some rows, without the label that is their type.
    fn labels(&self, batch: &NodeBatch, ty: usize, own: Option<&str>, rows: &Rows) -> Option<LabelColumn> {
        self.record.typed.nodes.get(ty).filter(|ty| labels::has_labels(ty))?;
        let column = batch.labels.as_ref()?;
        let mut builder = LabelBuilder::default();
        for row in rows.numbers() {
            builder.push(column.row(row).filter(|label| own != Some(*label)));
        }
        Some(builder.finish())
    }

    /// Edges of all types, or of one.
    fn edges(&self, batch: &EdgeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let (sources, targets) = (self.record.types.of_ends(&batch.source)?, self.record.types.of_ends(&batch.target)?);
        let type_of = |row: usize| {
            let ends = sources.get(row).zip(targets.get(row));
            let ty = ends
                .and_then(|(source, target)| self.edges.get(&(batch.ty, usize::from(*source), usize::from(*target))));
            ty.copied()
                .ok_or_else(|| Error::malformed("the data has changed while it was read: an edge connects other types"))
        };
        for (ty, rows) in rows_by_type(self.record.typed.edges.len(), batch.rows, type_of)? {
            if only.is_none_or(|only| only == ty) {
                give(Batch::Edges(EdgeBatch { ty, ..rows.of_edges(batch)? }))?;
            }
        }
        Ok(())
    }
}

impl Source for Parted {
    fn graph(&self) -> &Graph {
        &self.record.typed
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let of = |ty: usize| self.record.edges.get(ty).copied().unwrap_or_default();
        let (tables, nodes, edges) = match request.tables {
            Tables::Nodes(ty) => (Tables::Nodes(0), Some(ty), None),
            Tables::NodeKeys(ty) => (Tables::NodeKeys(0), Some(ty), None),
            Tables::Edges(ty) => (Tables::Edges(of(ty)), None, Some(ty)),
            Tables::EdgeEnds(ty) => (Tables::EdgeEnds(of(ty)), None, Some(ty)),
            other => (other, None, None),
        };
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let parted = |inner| {
            shown(inner, move |batch, give| match batch {
                Batch::Nodes(batch) => self.nodes(&batch, nodes, give),
                Batch::Edges(batch) => self.edges(&batch, edges, give),
                other => give(other),
            })
        };
        Ok(parts.into_iter().map(parted).collect())
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let of = self.record.edges.get(edge).copied().ok_or_else(|| Error::usage("no such edge type"))?;
        let found = self.inner.neighbors(of, node, side)?;
        Ok(edges_shown(found, move |batch, give| self.edges(batch, Some(edge), give)))
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.record.typed.edges.len())
    }
}
