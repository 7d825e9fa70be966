//! Edge types by relation, shown as the graph whose edges name their relations.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{StringArray, UInt32Array};
use isomorph_error::{Error, Result};
use isomorph_model::{
    About, Batch, Columns, EdgeBatch, EndForm, Graph, NodeId, Part, Progress, Relations, Request, Run, Side, Source,
    Tables,
};

use super::Relating;
use crate::mapping::bundle::relations_of;
use crate::mapping::declared;
use crate::mapping::shred::CARRY_FITS;
use crate::mapping::view::{edges_as, of_types};
use isomorph_dataset::must_exist;
use isomorph_model::part::shown;

/// Shows edge types by relation as edges that name their relations.
pub struct Unrelated {
    inner: Arc<dyn Source>,
    record: Relating,
    shown: Graph,
}

impl Unrelated {
    /// Shows `inner`, which is `record.typed`, as `record.single`. Nothing is read.
    ///
    /// # Errors
    /// [`CARRY_FITS`] when types or columns of the record are missing.
    pub fn new(inner: Arc<dyn Source>, record: &Relating) -> Result<Self> {
        let inner = declared(inner, &record.typed)?;
        let (mut shown, found) = (record.single.clone(), inner.graph());
        shown.nodes.iter_mut().zip(&found.nodes).for_each(|(ty, found)| ty.rows = found.rows);
        shown.edges.iter_mut().for_each(|ty| ty.rows = found.edge_rows());
        Ok(Unrelated { inner, record: record.clone(), shown })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (Some(places), Some(ty)) = (self.record.columns.get(batch.ty), self.record.typed.edges.get(batch.ty))
        else {
            return Err(Error::usage("no such edge type"));
        };
        let width = self.shown.edges.first().map(|ty| ty.properties.len()).unwrap_or_default();
        let mut columns = batch.properties;
        let relations = match self.record.in_column {
            false => Relations {
                names: StringArray::from_iter_values([ty.relation.fixed().unwrap_or_default()]),
                index: UInt32Array::from_value(0, batch.rows),
            },
            true => {
                let column = columns.pop().flatten();
                let column = column.filter(|column| column.as_string_opt::<i32>().is_some());
                relations_of(&column.ok_or_else(|| Error::broken(&CARRY_FITS, "edges name no relation"))?)?
            }
        };
        let mut properties: Columns = vec![None; width];
        for (at, column) in places.iter().zip(columns) {
            if let Some(slot) = properties.get_mut(*at) {
                *slot = column;
            }
        }
        Ok(EdgeBatch { ty: 0, relations: Some(relations), properties, ..batch })
    }

    fn parts<'a>(&'a self, parts: Run<'a>) -> Run<'a> {
        let unrelated = |inner| {
            shown(inner, |batch, take| match batch {
                Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
                other => take(other),
            })
        };
        parts.into_iter().map(unrelated).collect()
    }
}

impl Source for Unrelated {
    fn graph(&self) -> &Graph {
        &self.shown
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let tables: Vec<Tables> = match request.tables {
            Tables::Edges(_) => vec![Tables::AllEdges],
            // The column with the relation is no end.
            Tables::EdgeEnds(_) if self.record.in_column => vec![Tables::AllEdges],
            Tables::EdgeEnds(_) => (0..self.record.typed.edges.len()).map(Tables::EdgeEnds).collect(),
            other => vec![other],
        };
        let mut parts = Vec::new();
        for tables in tables {
            parts.extend(self.parts(self.inner.scan(&request.for_tables(tables))?));
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        let rows = (0..self.record.typed.edges.len()).all(|ty| self.inner.end_form(ty) == EndForm::Rows);
        if rows { EndForm::Rows } else { EndForm::Keys }
    }

    fn neighbors(&self, _edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let types = 0..self.record.typed.edges.len();
        // Where there are no edges at all nobody looks for the node.
        if types.is_empty() {
            let ty = self.shown.edges.first().map_or(0, |ty| if side == Side::Out { ty.source } else { ty.target });
            must_exist(self.inner.as_ref(), ty, node)?;
        }
        Ok(edges_as(of_types(self.inner.as_ref(), types, node, side)?, |batch| self.edges(batch)))
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        // The layouts of all types are that of the one.
        about.edge_layouts.dedup();
        about.edge_layouts.truncate(1);
        about
    }
}
