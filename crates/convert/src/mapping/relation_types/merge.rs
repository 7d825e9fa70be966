//! Shows edge types by relation as edges that name their relations.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use isomorph_error::{Error, Result};
use isomorph_model::{Columns, EdgeBatch, EdgeType, Graph, LabelColumn, NodeBatch, NodeType, Source};

use super::Relating;
use crate::mapping::declared;
use crate::mapping::merge::{Merge, Merged, MergedEdges};
use crate::mapping::property_bags::{relations_of, same_relation};
use crate::mapping::split::CARRY_FITS;

impl Merged<Relating> {
    /// Shows `inner`, which is `record.typed`, as `record.single`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or columns of the record are missing.
    pub fn new(inner: Arc<dyn Source>, record: &Relating) -> Result<Self> {
        let inner = declared(inner, &record.typed)?;
        let (mut record, found) = (record.clone(), inner.graph());
        record.single.nodes.iter_mut().zip(&found.nodes).for_each(|(ty, found)| ty.rows = found.rows);
        record.single.edges.iter_mut().for_each(|ty| ty.rows = found.edge_rows());
        Merged::of(inner, record)
    }
}

impl Merge for Relating {
    fn typed(&self) -> &Graph {
        &self.typed
    }

    fn merged(&self) -> &Graph {
        &self.single
    }

    fn prefix(&self, _ty: usize) -> Option<&str> {
        None
    }

    fn nodes(&self, _ty: &NodeType, batch: &NodeBatch) -> Result<(Columns, Option<LabelColumn>)> {
        Ok((batch.properties.clone(), batch.labels.clone()))
    }

    fn edges(&self, ty: &EdgeType, batch: &EdgeBatch) -> Result<MergedEdges> {
        let places = self.columns.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let mut columns = batch.properties.clone();
        let relations = match self.in_column {
            false => same_relation(ty.relation.fixed().unwrap_or_default(), batch.rows),
            true => {
                let column = columns.pop().flatten();
                let column = column.filter(|column| column.as_string_opt::<i32>().is_some());
                relations_of(&column.ok_or_else(|| Error::broken(&CARRY_FITS, "edges do not name their relation"))?)?
            }
        };
        let width = self.single.edges.first().map(|ty| ty.properties.len()).unwrap_or_default();
        let mut properties: Columns = vec![None; width];
        for (at, column) in places.iter().zip(columns) {
            if let Some(slot) = properties.get_mut(*at) {
                *slot = column;
            }
        }
        Ok(MergedEdges { relations: Some(relations), directed: batch.directed.clone(), properties })
    }

    fn names_relations(&self, _ty: usize) -> bool {
        self.in_column
    }
}
