//! Shows one node type and one edge type as the typed graph that they were made from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, StringArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::batch::slice_columns;
use isomorph_model::{
    Columns, Direction, EdgeBatch, EdgeType, LabelColumn, LabelVocabulary, Narrowing, NodeBatch, NodeType, Property,
    Relations, Source, Tables,
};

use super::Fusion;
use crate::mapping::CARRY_FITS;
use crate::mapping::arrays::with_nulls;
use crate::mapping::declare::cast;
use crate::mapping::property_bags::{labels_of, relations_of};
use crate::mapping::split::{Divided, Split};
use crate::mapping::view::{Rows, columns_alone, positions, properties_of};

/// A fusion, and the positions of its attributes in a source.
pub struct Found {
    record: Fusion,
    /// For each attribute of the record, the column of the source.
    node_columns: Vec<Option<usize>>,
    edge_columns: Vec<Option<usize>>,
}

impl Divided<Found> {
    /// Shows `inner` as `record.typed`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if the source has hyperedges, or lacks attributes of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Fusion) -> Result<Self> {
        let found = inner.graph();
        let ([node], [edge]) = (found.nodes.as_slice(), found.edges.as_slice()) else {
            return Err(Error::usage("the mapping is of another graph"));
        };
        if let Some(other) = found.hyperedges.first() {
            return Err(Error::broken(&CARRY_FITS, format!("type {} is not in the sidecar", other.name)));
        }
        let node_columns = positions(properties_of(&record.fused, Tables::Nodes(0)), &node.properties);
        let edge_columns = positions(properties_of(&record.fused, Tables::Edges(0)), &edge.properties);
        let missing = |at: Option<usize>| at.is_some_and(|at| edge_columns.get(at).copied().flatten().is_none());
        if missing(record.relation) || missing(record.unweighted) {
            return Err(Error::broken(&CARRY_FITS, "the attribute with the types of edges is missing"));
        }
        let found = Found { record: record.clone(), node_columns, edge_columns };
        Ok(Divided::of(inner, found, record.typed.clone()))
    }
}

/// The column of an attribute.
fn column(columns: &Columns, places: &[Option<usize>], attribute: Option<usize>) -> Option<ArrayRef> {
    columns.get(places.get(attribute?).copied().flatten()?)?.clone()
}

/// The properties of a type, in their declared types.
fn properties(
    columns: &Columns,
    places: &[Option<usize>],
    attributes: &[usize],
    declared: &[Property],
) -> Result<Columns> {
    let declared = declared.iter().zip(attributes);
    let found = declared.map(|(property, at)| {
        column(columns, places, Some(*at)).map(|column| cast(&column, &property.data_type)).transpose()
    });
    found.collect()
}

/// The columns of the wanted properties, and further attributes.
fn stored(
    places: &[Option<usize>],
    own: &[usize],
    wanted: &Narrowing,
    further: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = usize> {
    let attributes = wanted.properties.iter().filter_map(|at| own.get(*at).copied()).chain(further);
    attributes.filter_map(|at| places.get(at).copied().flatten())
}

impl Split for Found {
    fn prefix(&self, ty: usize) -> Option<&str> {
        self.record.nodes.get(ty).map(|own| own.prefix.as_str())
    }

    fn relation(&self, _number: usize, ty: &EdgeType) -> Option<String> {
        Some(ty.relation.fixed().unwrap_or_default().to_owned())
    }

    fn nodes(
        &self,
        number: usize,
        ty: &NodeType,
        batch: &NodeBatch,
        rows: Range<usize>,
    ) -> Result<(Columns, Option<LabelColumn>)> {
        let own = self.record.nodes.get(number).ok_or_else(|| Error::usage("no such node type"))?;
        let columns = slice_columns(&batch.properties, rows.start, rows.len());
        let lists = column(&columns, &self.node_columns, self.record.labels);
        let lists = lists.filter(|_| ty.labels != LabelVocabulary::None);
        let properties = properties(&columns, &self.node_columns, &own.properties, &ty.properties)?;
        Ok((properties, lists.as_ref().map(labels_of).transpose()?))
    }

    fn relations<'b>(&self, batch: &'b EdgeBatch) -> Result<Cow<'b, Relations>> {
        if let [only] = self.record.typed.edges.as_slice() {
            let names = StringArray::from_iter_values([only.relation.fixed().unwrap_or_default()]);
            return Ok(Cow::Owned(Relations { names, index: UInt32Array::from_value(0, batch.rows) }));
        }
        let relations = column(&batch.properties, &self.edge_columns, self.record.relation);
        let relations = relations.filter(|relations| relations.as_string_opt::<i32>().is_some());
        let relations = relations.ok_or_else(|| Error::broken(&CARRY_FITS, "edges do not state their type"))?;
        relations_of(&relations).map(Cow::Owned)
    }

    fn edges(
        &self,
        number: usize,
        ty: &EdgeType,
        batch: &EdgeBatch,
        rows: &Rows,
    ) -> Result<(Columns, Option<BooleanArray>)> {
        let own = self.record.edges.get(number).ok_or_else(|| Error::usage("no such edge type"))?;
        // Only the columns of this type are selected.
        let wanted = |at: usize| {
            let attribute = self.edge_columns.iter().position(|place| *place == Some(at));
            attribute.is_some_and(|own_at| own.contains(&own_at) || self.record.unweighted == Some(own_at))
        };
        let columns = batch.properties.iter().enumerate();
        let columns = columns.map(|(at, column)| column.clone().filter(|_| wanted(at))).collect();
        let columns = rows.of_columns(&columns)?;
        let mut properties = properties(&columns, &self.edge_columns, own, &ty.properties)?;
        let unweighted = column(&columns, &self.edge_columns, self.record.unweighted);
        if let (Some(unweighted), Some(at)) = (unweighted, own.iter().position(|at| *at == 0)) {
            let unweighted = cast(&unweighted, &DataType::Boolean)?;
            let weights = properties.get_mut(at).and_then(Option::as_mut);
            weights.map_or(Ok(()), |weights| without(weights, &unweighted))?;
        }
        Ok((properties, rows.of_flags(batch.directed.as_ref().filter(|_| ty.direction == Direction::PerRow))?))
    }

    fn wanted_of_nodes(&self, number: usize, wanted: &Narrowing) -> Narrowing {
        let own = self.record.nodes.get(number).map(|own| own.properties.as_slice()).unwrap_or_default();
        let labels = self.record.labels.filter(|_| wanted.labels);
        columns_alone(true, false, stored(&self.node_columns, own, wanted, labels))
    }

    fn wanted_of_edges(&self, number: usize, wanted: &Narrowing) -> Narrowing {
        let own = self.record.edges.get(number).map(Vec::as_slice).unwrap_or_default();
        let of_types = self.record.relation.into_iter().chain(self.record.unweighted);
        columns_alone(true, false, stored(&self.edge_columns, own, wanted, of_types))
    }

    fn place_in_nodes(&self, number: usize, property: usize) -> Option<usize> {
        let attribute = self.record.nodes.get(number)?.properties.get(property)?;
        self.node_columns.get(*attribute).copied().flatten()
    }

    /// Weights that some edges do not have are stored with a number in their place.
    fn place_in_edges(&self, number: usize, property: usize) -> Option<usize> {
        let attribute = self.record.edges.get(number)?.get(property)?;
        let is_stored = *attribute != 0 || self.record.unweighted.is_none();
        self.edge_columns.get(*attribute).copied().flatten().filter(|_| is_stored)
    }

    fn ends_tell_types(&self) -> bool {
        self.record.typed.edges.len() == 1
    }

    /// The slice of everything, which the typed graph does not have.
    fn rest(&self) -> Result<()> {
        Ok(())
    }
}

/// Sets nulls where `absent` is true.
fn without(column: &mut ArrayRef, absent: &ArrayRef) -> Result<()> {
    let absent = absent.as_boolean();
    let stated: NullBuffer = absent.iter().map(|absent| absent != Some(true)).collect();
    *column = with_nulls(column, Some(&stated))?;
    Ok(())
}
