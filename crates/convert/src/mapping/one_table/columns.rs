//! The columns of a type and those of the one table, in both directions.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::batch::slice_columns;
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    Columns, Direction, EdgeBatch, LabelColumn, LabelVocabulary, Narrowing, NodeBatch, Property, Relations, ValueKind,
    well_known,
};

use super::bags::{self, Undirected};
use super::{CARRY_FITS, EdgeSlots, Layout, NodeSlots, Slot, weights};
use crate::mapping::arrays::{as_type, label_lists, labels_of, pick, relations_of, same_relation};
use crate::mapping::declare::cast;
use crate::mapping::json_in::JsonColumn;
use crate::mapping::narrowed::columns_alone;
use crate::mapping::view::{Rows, positions};

/// The columns of edges, apart from their ends.
pub(super) struct EdgeColumns {
    pub relations: Option<Relations>,
    pub directed: Option<BooleanArray>,
    pub properties: Columns,
}

/// Stores a column, if there is a place for it.
pub(super) fn set(columns: &mut Columns, at: Option<usize>, column: Option<ArrayRef>) {
    if let Some(slot) = at.and_then(|at| columns.get_mut(at)) {
        *slot = column;
    }
}

/// One text in every row.
fn same(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

impl Layout {
    /// Columns and labels of nodes in the one table.
    ///
    /// # Errors
    /// If a value has no form there.
    pub(super) fn nodes_merged(&self, batch: &NodeBatch) -> Result<(Columns, Option<LabelColumn>)> {
        let (Some(ty), Some(slots), Some(merged)) =
            (self.typed.nodes.get(batch.ty), self.nodes.get(batch.ty), self.merged.nodes.first())
        else {
            return Err(Error::usage("no such node type"));
        };
        let own = Typed { properties: &ty.properties, slots: &slots.properties, columns: &batch.properties };
        let mut columns = own
            .merged(&merged.properties, None, batch.rows)
            .map_err(|error| error.at(Place::field(ty.name.clone())))?;
        set(&mut columns, self.node_type, Some(same(&ty.name, batch.rows)));
        set(&mut columns, self.labels, batch.labels.as_ref().map(label_lists));
        let labels = match (&merged.labels, own.column_of(&Slot::Labels)) {
            (LabelVocabulary::None, _) => None,
            (_, Some(lists)) => Some(labels_of(lists)?),
            (_, None) => Some(slots.labels_merged(batch)),
        };
        Ok((columns, labels))
    }

    /// The columns of edges in the one table.
    ///
    /// # Errors
    /// As [`Layout::nodes_merged`].
    pub(super) fn edges_merged(&self, batch: &EdgeBatch) -> Result<EdgeColumns> {
        let (Some(ty), Some(slots), Some(merged)) =
            (self.typed.edges.get(batch.ty), self.edges.get(batch.ty), self.merged.edges.first())
        else {
            return Err(Error::usage("no such edge type"));
        };
        let own = Typed { properties: &ty.properties, slots: &slots.properties, columns: &batch.properties };
        let mut properties = own.merged(&merged.properties, slots.undirected(ty.direction, batch), batch.rows)?;
        if let Some(own) = self.weights {
            own.complete(&mut properties, slots.has_weights(), batch.rows);
        }
        set(&mut properties, self.relation, Some(same(ty.relation.fixed().unwrap_or_default(), batch.rows)));
        let relations = match own.column_of(&Slot::Relation) {
            _ if !self.names_relations() => None,
            Some(column) => Some(relations_of(column)?),
            None if self.has_relations_in_column(batch.ty) => {
                return Err(Error::broken(&CARRY_FITS, "edges do not name their relation"));
            }
            None => Some(same_relation(&slots.relation, batch.rows)),
        };
        let directed = match ty.direction {
            _ if merged.direction != Direction::PerRow => None,
            Direction::Directed => None,
            Direction::Undirected => Some(BooleanArray::from(vec![false; batch.rows])),
            Direction::PerRow => batch.directed.clone(),
        };
        Ok(EdgeColumns { relations, directed, properties })
    }
}

impl Layout {
    /// Columns and labels of nodes of type `at`: some rows of a batch of the one table.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if a value is not of its declared type.
    pub(super) fn nodes_divided(
        &self,
        at: usize,
        stored: &Stored,
        batch: &NodeBatch,
        rows: Range<usize>,
    ) -> Result<(Columns, Option<LabelColumn>)> {
        let (Some(ty), Some(slots)) = (self.typed.nodes.get(at), self.nodes.get(at)) else {
            return Err(Error::usage("no such node type"));
        };
        let columns = slice_columns(&batch.properties, rows.start, rows.len());
        let labels = || batch.labels.as_ref().map(|labels| labels.slice(rows.start, rows.len()));
        let of_slot = if slots.properties.contains(&Slot::Labels) { labels() } else { None };
        let own = Typed { properties: &ty.properties, slots: &slots.properties, columns: &columns };
        let (properties, _) = stored.divided(own, None, of_slot.as_ref().map(label_lists).as_ref())?;
        let labels = match (&ty.labels, self.labels) {
            (LabelVocabulary::None, _) => None,
            (_, Some(_)) => stored.column(&columns, self.labels).map(labels_of).transpose()?,
            (_, None) => labels().map(|labels| slots.labels_divided(&labels)),
        };
        Ok((properties, labels))
    }

    /// Columns and directions of edges of type `at`: some rows of a batch of the one table.
    ///
    /// # Errors
    /// As [`Layout::nodes_divided`].
    pub(super) fn edges_divided(
        &self,
        at: usize,
        stored: &Stored,
        batch: &EdgeBatch,
        rows: &Rows,
    ) -> Result<(Columns, Option<BooleanArray>)> {
        let (Some(ty), Some(slots)) = (self.typed.edges.get(at), self.edges.get(at)) else {
            return Err(Error::usage("no such edge type"));
        };
        // Only the columns of this type are selected.
        let mut columns: Columns = vec![None; batch.properties.len()];
        for at in self.places_of_edges(stored, slots, slots.properties.iter()) {
            set(&mut columns, Some(at), batch.properties.get(at).cloned().flatten());
        }
        let columns = rows.of_columns(&columns)?;
        let of_slot = batch.relations.as_ref().filter(|_| self.has_relations_in_column(at)).map(|relations| {
            let names: StringArray = relations.names.iter().map(|name| Some(name.unwrap_or_default())).collect();
            pick(&names, rows.of(&relations.index)?.as_primitive::<UInt32Type>())
        });
        let marker = slots.directed.as_deref().filter(|_| ty.direction != Direction::Directed);
        let own = Typed { properties: &ty.properties, slots: &slots.properties, columns: &columns };
        let (mut properties, marked) = stored.divided(own, marker, of_slot.transpose()?.as_ref())?;
        let weights = slots.properties.iter().position(|slot| *slot == Slot::Column(weights::COLUMN));
        let weights = weights.and_then(|at| properties.get_mut(at)?.as_mut());
        if let (Some(weights), Some(unweighted)) = (weights, stored.column(&columns, self.unweighted())) {
            weights::remove(weights, unweighted)?;
        }
        let directed = match (ty.direction, marker) {
            (Direction::PerRow, Some(_)) => marked,
            (Direction::PerRow, None) => rows.of_flags(batch.directed.as_ref())?,
            _ => None,
        };
        Ok((properties, directed))
    }

    /// What is read of the one table if these columns of a node type are wanted. Keys, which identify types, always are.
    pub(super) fn wanted_of_nodes(&self, at: usize, stored: &Stored, wanted: &Narrowing) -> Narrowing {
        if self.keeps_nodes() {
            return wanted.clone();
        }
        let slots = self.nodes.get(at).map(|slots| slots.properties.as_slice()).unwrap_or_default();
        let slots = wanted.properties.iter().filter_map(|at| slots.get(*at));
        let labels = wanted.labels || slots.clone().any(|slot| *slot == Slot::Labels);
        let column = self.labels.filter(|_| wanted.labels).and_then(|at| stored.place(at));
        columns_alone(true, labels && self.labels.is_none(), stored.places_of(slots).chain(column))
    }

    /// The same for an edge type. What states relations and directions is always read.
    pub(super) fn wanted_of_edges(&self, at: usize, stored: &Stored, wanted: &Narrowing) -> Narrowing {
        let Some(own) = self.edges.get(at) else { return columns_alone(true, false, std::iter::empty()) };
        let slots = wanted.properties.iter().filter_map(|at| own.properties.get(*at));
        let relation = self.relation.and_then(|at| stored.place(at));
        columns_alone(true, false, self.places_of_edges(stored, own, slots).chain(relation))
    }

    /// The places of properties of edges with these slots, and of what else is read with them.
    fn places_of_edges<'s>(
        &self,
        stored: &'s Stored,
        own: &EdgeSlots,
        slots: impl Iterator<Item = &'s Slot>,
    ) -> impl Iterator<Item = usize> {
        let marks = stored.bag.filter(|_| own.directed.is_some());
        let unweighted = self.unweighted().and_then(|at| stored.place(at));
        stored.places_of(slots).chain(marks).chain(unweighted)
    }

    /// The place with the same values as a property of a node type, unless these have another type.
    pub(super) fn place_in_nodes(&self, at: usize, stored: &Stored, property: usize) -> Option<usize> {
        if self.keeps_nodes() {
            return Some(property);
        }
        stored.place_of(self.nodes.get(at)?.properties.get(property)?)
    }

    /// The same of an edge type. Weights that some edges do not have are stored with a number in their place.
    pub(super) fn place_in_edges(&self, at: usize, stored: &Stored, property: usize) -> Option<usize> {
        let slot = self.edges.get(at)?.properties.get(property)?;
        let is_changed = *slot == Slot::Column(weights::COLUMN) && self.unweighted().is_some();
        stored.place_of(slot).filter(|_| !is_changed)
    }

    /// The column that marks edges without a weight.
    pub(super) fn unweighted(&self) -> Option<usize> {
        self.weights?.unweighted
    }
}

impl NodeSlots {
    /// The labels of nodes in the one table.
    fn labels_merged(&self, batch: &NodeBatch) -> LabelColumn {
        let renamed = |name: &str| {
            let renamed = self.labels.iter().find(|(typed, _)| typed == name);
            renamed.map_or_else(|| name.to_owned(), |(_, merged)| merged.clone())
        };
        match &batch.labels {
            Some(labels) => labels.map_sets(|names| names.into_iter().map(renamed).chain(self.label.clone()).collect()),
            None => {
                let mut builder = LabelBuilder::default();
                let set = builder.intern(self.label.as_deref());
                (0..batch.rows).for_each(|_| builder.push_set(set));
                builder.finish()
            }
        }
    }

    /// The labels of nodes of the one table that are not their type.
    fn labels_divided(&self, labels: &LabelColumn) -> LabelColumn {
        labels.map_sets(|names| {
            let kept = names.into_iter().filter(|name| self.label.as_deref() != Some(*name));
            kept.map(|name| {
                let renamed = self.labels.iter().find(|(_, merged)| merged == name);
                renamed.map_or_else(|| name.to_owned(), |(typed, _)| typed.clone())
            })
            .collect()
        })
    }
}

impl EdgeSlots {
    /// The edges that the bag marks as undirected.
    fn undirected<'a>(&'a self, direction: Direction, batch: &'a EdgeBatch) -> Option<Undirected<'a>> {
        let name = self.directed.as_deref()?;
        match direction {
            Direction::Directed => None,
            Direction::Undirected => Some(Undirected::All(name)),
            Direction::PerRow => batch.directed.as_ref().map(|directed| Undirected::Rows(name, directed)),
        }
    }

    /// Whether weights are a property of the type.
    fn has_weights(&self) -> bool {
        self.properties.contains(&Slot::Column(weights::COLUMN))
    }
}

/// The columns of a type.
#[derive(Clone, Copy)]
pub(super) struct Typed<'a> {
    pub properties: &'a [Property],
    pub slots: &'a [Slot],
    pub columns: &'a Columns,
}

impl<'a> Typed<'a> {
    fn column_of(self, slot: &Slot) -> Option<&'a ArrayRef> {
        self.columns.get(self.slots.iter().position(|other| other == slot)?)?.as_ref()
    }

    /// The columns of the one table: those that a slot names, defaults for well-known ones, everything else in the bag.
    fn merged(self, merged: &[Property], undirected: Option<Undirected<'_>>, rows: usize) -> Result<Columns> {
        let mut columns: Columns = vec![None; merged.len()];
        for (slot, column) in self.slots.iter().zip(self.columns) {
            let (Slot::Column(at), Some(column)) = (slot, column) else { continue };
            if let (Some(place), Some(property)) = (columns.get_mut(*at), merged.get(*at)) {
                *place = Some(as_type(column, &property.data_type)?);
            }
        }
        for (column, property) in columns.iter_mut().zip(merged).filter(|(column, _)| column.is_none()) {
            *column = match property.kind {
                ValueKind::Bag => Some(bags::written(self, undirected, rows)?),
                _ => default(property, rows),
            };
        }
        Ok(columns)
    }
}

/// The value of a well-known column that every row must have.
fn default(property: &Property, rows: usize) -> Option<ArrayRef> {
    match (property.name.as_str(), &property.data_type) {
        _ if property.nullable => None,
        (well_known::TRUTH, DataType::Float32) => Some(Arc::new(Float32Array::from_value(1.0, rows))),
        (well_known::TRUTH, DataType::Float64) => Some(Arc::new(Float64Array::from_value(1.0, rows))),
        (well_known::IS_RDF, DataType::Boolean) => Some(Arc::new(BooleanArray::from(vec![false; rows]))),
        _ => None,
    }
}

/// Where a source has the columns of one of the two tables.
pub(super) struct Stored {
    /// For each column, the property of the source.
    places: Vec<Option<usize>>,
    /// The property of the source that is the bag.
    bag: Option<usize>,
}

impl Stored {
    /// The places of the columns `merged` among the properties that were `found`.
    pub fn of(merged: &[Property], found: &[Property]) -> Self {
        let bag = found.iter().position(|property| property.kind == ValueKind::Bag);
        Stored { places: positions(merged, found), bag }
    }

    /// The place of a column.
    pub fn place(&self, column: usize) -> Option<usize> {
        self.places.get(column).copied().flatten()
    }

    /// The place of a property that has a column of its own.
    pub fn place_of(&self, slot: &Slot) -> Option<usize> {
        match slot {
            Slot::Column(at) => self.place(*at),
            Slot::Member(_) | Slot::Rest | Slot::Labels | Slot::Relation => None,
        }
    }

    pub fn column<'c>(&self, columns: &'c Columns, at: Option<usize>) -> Option<&'c ArrayRef> {
        columns.get(self.place(at?)?)?.as_ref()
    }

    /// The places that hold properties with these slots.
    fn places_of<'s>(&'s self, slots: impl Iterator<Item = &'s Slot>) -> impl Iterator<Item = usize> {
        slots.filter_map(|slot| match slot {
            Slot::Column(_) => self.place_of(slot),
            Slot::Member(_) | Slot::Rest => self.bag,
            Slot::Labels | Slot::Relation => None,
        })
    }

    /// The columns of a type from those of the source; and, if `marker` names a member, whether each row is directed.
    /// `of_slot` are the labels or relations of the rows, if they are a property.
    fn divided(
        &self,
        own: Typed<'_>,
        marker: Option<&str>,
        of_slot: Option<&ArrayRef>,
    ) -> Result<(Columns, Option<BooleanArray>)> {
        let Typed { properties, slots, columns } = own;
        let bag = self.bag.and_then(|at| columns.get(at)?.as_ref()?.as_string_opt::<i32>());
        // Without a bag there are no members, and every edge is directed.
        let mut bag = bag.map(|bag| bags::read(bag, properties, slots, marker)).transpose()?;
        let columns = properties.iter().zip(slots).map(|(property, slot)| match slot {
            Slot::Column(at) => {
                self.column(columns, Some(*at)).map(|column| cast(column, &property.data_type)).transpose()
            }
            Slot::Member(_) => bag.as_mut().and_then(|bag| bag.members.next()).map(JsonColumn::finish).transpose(),
            Slot::Labels | Slot::Relation => Ok(of_slot.cloned()),
            Slot::Rest => Ok(bag.as_mut().and_then(|bag| bag.rest.take())),
        });
        let columns = columns.collect::<Result<Columns>>()?;
        Ok((columns, bag.and_then(|bag| bag.directed)))
    }
}
