//! Writes the rows of a typed graph as one node type and one edge type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::batch::GroupBatch;
use isomorph_model::{
    Batch, Columns, Direction, EdgeBatch, EdgeType, Graph, LabelColumn, NodeBatch, NodeType, Part, Source, part,
};

use super::{DEFAULT, Fusing, Fusion};
use crate::mapping::merge::{Merge, Merged, MergedEdges};
use crate::mapping::property_bags::label_lists;

impl Merged<Fusion> {
    /// Shows `inner` as `record.fused`. Reads nothing.
    ///
    /// # Errors
    /// If the row count of a node type is unknown, or the source is not the graph of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Fusion) -> Result<Self> {
        Merged::of(inner, record.clone())
    }
}

impl Merge for Fusion {
    fn typed(&self) -> &Graph {
        &self.typed
    }

    fn merged(&self) -> &Graph {
        &self.fused
    }

    fn prefix(&self, ty: usize) -> Option<&str> {
        self.nodes.get(ty).map(|own| own.prefix.as_str())
    }

    fn nodes(&self, ty: &NodeType, batch: &NodeBatch) -> Result<(Columns, Option<LabelColumn>)> {
        let (Some(own), Some(fused)) = (self.nodes.get(batch.ty), self.fused.nodes.first()) else {
            return Err(Error::usage("no such node type"));
        };
        let mut properties: Columns = vec![None; fused.properties.len()];
        place(&mut properties, &own.properties, &batch.properties);
        set(&mut properties, self.node_type, Some(same(&ty.name, batch.rows)));
        set(&mut properties, self.labels, batch.labels.as_ref().map(label_lists));
        Ok((properties, None))
    }

    fn edges(&self, ty: &EdgeType, batch: &EdgeBatch) -> Result<MergedEdges> {
        let (Some(own), Some(fused)) = (self.edges.get(batch.ty), self.fused.edges.first()) else {
            return Err(Error::usage("no such edge type"));
        };
        let mut properties: Columns = vec![None; fused.properties.len()];
        place(&mut properties, own, &batch.properties);
        if self.fusing == Fusing::Annnet {
            self.weigh(&mut properties, own, batch.rows)?;
        }
        set(&mut properties, self.relation, Some(same(ty.relation.fixed().unwrap_or_default(), batch.rows)));
        let by_row = fused.direction == Direction::PerRow;
        let directed = match ty.direction {
            _ if !by_row => None,
            Direction::Directed => None,
            Direction::Undirected => Some(BooleanArray::from(vec![false; batch.rows])),
            Direction::PerRow => batch.directed.clone(),
        };
        Ok(MergedEdges { relations: None, directed, properties })
    }

    fn rest(&self) -> Option<Box<dyn Part>> {
        (self.fusing == Fusing::Annnet).then(slice)
    }
}

impl Fusion {
    /// Adds the weight as the first property, which every edge of annnet has.
    fn weigh(&self, properties: &mut Columns, own: &[usize], rows: usize) -> Result<()> {
        let stated = properties.first_mut().and_then(Option::take);
        let weights = stated.as_ref().map(doubles).transpose()?;
        let is_missing = weights.as_ref().filter(|weights| weights.null_count() > 0);
        let is_missing = is_missing.map(|weights| weights.iter().map(|weight| weight.is_none().then_some(true)));
        let is_missing: Option<ArrayRef> = match (own.contains(&0), is_missing) {
            (true, Some(missing)) => Some(Arc::new(missing.collect::<BooleanArray>())),
            (true, None) if weights.is_none() => Some(Arc::new(BooleanArray::from(vec![true; rows]))),
            _ => None,
        };
        // Every edge of annnet has a weight. The attribute `unweighted` marks edges without one.
        let weights = match weights {
            Some(weights) if weights.null_count() == 0 => weights,
            Some(weights) => weights.iter().map(|weight| Some(weight.unwrap_or(1.0))).collect(),
            None => Float64Array::from_value(1.0, rows),
        };
        set(properties, Some(0), Some(Arc::new(weights)));
        set(properties, self.unweighted, is_missing);
        Ok(())
    }
}

/// Stores a column as an attribute, if there is one.
fn set(attributes: &mut Columns, at: Option<usize>, column: Option<ArrayRef>) {
    if let Some(slot) = at.and_then(|at| attributes.get_mut(at)) {
        *slot = column;
    }
}

/// Stores columns as attributes.
fn place(attributes: &mut Columns, places: &[usize], columns: &Columns) {
    for (at, column) in places.iter().zip(columns) {
        set(attributes, Some(*at), column.clone());
    }
}

/// One text in every row.
fn same(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

fn doubles(column: &ArrayRef) -> Result<Float64Array> {
    let column = arrow_cast::cast(column, &DataType::Float64).map_err(|error| Error::malformed(error.to_string()))?;
    Ok(column.as_primitive::<Float64Type>().clone())
}

/// The single slice.
fn slice() -> Box<dyn Part> {
    let batch = || {
        let keys = Arc::new(StringArray::from(vec![DEFAULT]));
        Ok(Batch::Groups(GroupBatch { kind: 0, start: 0, keys, properties: Vec::new() }))
    };
    part::of(Some(1), std::iter::once_with(batch))
}
