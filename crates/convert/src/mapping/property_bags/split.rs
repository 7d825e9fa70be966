//! Shows one table of nodes and one of edges with bags as the types that were bundled.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{BooleanArray, StringArray, UInt32Array};
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::batch::slice_columns;
use isomorph_model::{
    Columns, Direction, EdgeBatch, EdgeType, LabelColumn, LabelVocabulary, Narrowing, NodeBatch, NodeType, Property,
    Relations, Source, Tables, ValueKind,
};

use super::columns::{columns_of, label_lists};
use super::{Bundling, Slot};
use crate::mapping::split::{Divided, Split};
use crate::mapping::view::{Rows, columns_alone, properties_of};

impl Divided<Bundling> {
    /// Shows `inner` as `bundling.typed`.
    ///
    /// # Errors
    /// If the source is not a bundled graph.
    pub fn new(inner: Arc<dyn Source>, bundling: &Bundling) -> Result<Self> {
        if inner.graph().nodes.len() != 1 || inner.graph().edges.len() != 1 {
            return Err(Error::usage("the mapping is of another graph"));
        }
        // Columns are at the positions of the source, not at those of the record.
        let record = Bundling { bundled: inner.graph().clone(), ..bundling.clone() };
        Ok(Divided::of(inner, record, bundling.typed.clone()))
    }
}

impl Bundling {
    fn labels(&self, ty: usize, labels: &LabelColumn) -> LabelColumn {
        let Some(slots) = self.nodes.get(ty) else { return labels.clone() };
        labels.map_sets(|names| {
            let kept = names.into_iter().filter(|name| slots.label.as_deref() != Some(*name));
            kept.map(|name| {
                let renamed = slots.labels.iter().find(|(_, bundled)| bundled == name);
                renamed.map_or_else(|| name.to_owned(), |(typed, _)| typed.clone())
            })
            .collect()
        })
    }
}

/// Where the bag is.
fn bag_of(inner: &[Property]) -> Option<usize> {
    inner.iter().position(|property| property.kind == ValueKind::Bag)
}

/// The columns with the wanted properties.
fn stored(inner: &[Property], slots: &[Slot], wanted: &Narrowing) -> impl Iterator<Item = usize> {
    wanted.properties.iter().filter_map(|at| match slots.get(*at)? {
        Slot::Column(column) => Some(*column),
        Slot::Member(_) | Slot::Rest => bag_of(inner),
        Slot::Labels | Slot::Relation => None,
    })
}

/// The column in which a property lies, if it has one of its own.
fn column_of(slots: &[Slot], property: usize) -> Option<usize> {
    match slots.get(property)? {
        Slot::Column(column) => Some(*column),
        Slot::Member(_) | Slot::Rest | Slot::Labels | Slot::Relation => None,
    }
}

impl Split for Bundling {
    fn prefix(&self, ty: usize) -> Option<&str> {
        self.nodes.get(ty).map(|slots| slots.prefix.as_str())
    }

    fn relation(&self, number: usize, _ty: &EdgeType) -> Option<String> {
        self.edges
            .get(number)
            .filter(|slots| !slots.properties.contains(&Slot::Relation))
            .map(|slots| slots.relation.clone())
    }

    fn nodes(
        &self,
        number: usize,
        ty: &NodeType,
        batch: &NodeBatch,
        rows: Range<usize>,
    ) -> Result<(Columns, Option<LabelColumn>)> {
        let slots = self.nodes.get(number).ok_or_else(|| Error::usage("no such node type"))?;
        let columns = slice_columns(&batch.properties, rows.start, rows.len());
        let inner = properties_of(&self.bundled, Tables::Nodes(0));
        let labels = || batch.labels.as_ref().map(|labels| labels.slice(rows.start, rows.len()));
        let of_slot = if slots.properties.contains(&Slot::Labels) { labels() } else { None };
        let of_slot = of_slot.as_ref().map(label_lists);
        let (properties, _) =
            columns_of(inner, &columns, &ty.properties, &slots.properties, None, of_slot, rows.len())?;
        let labels = if ty.labels == LabelVocabulary::None { None } else { labels() };
        Ok((properties, labels.map(|labels| self.labels(number, &labels))))
    }

    fn relations<'b>(&self, batch: &'b EdgeBatch) -> Result<Cow<'b, Relations>> {
        let relations = batch.relations.as_ref().map(Cow::Borrowed);
        relations.ok_or_else(|| Error::unsupported("bundled edges without relations"))
    }

    fn edges(
        &self,
        number: usize,
        ty: &EdgeType,
        batch: &EdgeBatch,
        rows: &Rows,
    ) -> Result<(Columns, Option<BooleanArray>)> {
        let slots = self.edges.get(number).ok_or_else(|| Error::usage("no such edge type"))?;
        let columns = rows.of_columns(&batch.properties)?;
        let inner = properties_of(&self.bundled, Tables::Edges(0));
        let marker = slots.directed.as_deref().filter(|_| ty.direction != Direction::Directed);
        let of_slot = batch.relations.as_ref().filter(|_| slots.properties.contains(&Slot::Relation));
        let of_slot = of_slot.map(|relations| {
            let index: UInt32Array = rows.of(&relations.index)?.as_primitive::<UInt32Type>().clone();
            let names: StringArray = relations.names.iter().map(|name| Some(name.unwrap_or_default())).collect();
            take(&names, &index, None).map_err(|error| Error::malformed(error.to_string()))
        });
        let (properties, directed) =
            columns_of(inner, &columns, &ty.properties, &slots.properties, marker, of_slot.transpose()?, rows.len())?;
        Ok((properties, directed.filter(|_| ty.direction == Direction::PerRow)))
    }

    fn wanted_of_nodes(&self, number: usize, wanted: &Narrowing) -> Narrowing {
        let slots = self.nodes.get(number).map(|slots| slots.properties.as_slice()).unwrap_or_default();
        let of_slot = wanted.properties.iter().any(|at| slots.get(*at) == Some(&Slot::Labels));
        let inner = properties_of(&self.bundled, Tables::Nodes(0));
        columns_alone(true, wanted.labels || of_slot, stored(inner, slots, wanted))
    }

    fn wanted_of_edges(&self, number: usize, wanted: &Narrowing) -> Narrowing {
        let own = self.edges.get(number);
        let slots = own.map(|slots| slots.properties.as_slice()).unwrap_or_default();
        let inner = properties_of(&self.bundled, Tables::Edges(0));
        // Directions are members, too.
        let marker = own.and_then(|slots| slots.directed.as_ref()).and_then(|_| bag_of(inner));
        columns_alone(true, false, stored(inner, slots, wanted).chain(marker))
    }

    fn place_in_nodes(&self, number: usize, property: usize) -> Option<usize> {
        column_of(&self.nodes.get(number)?.properties, property)
    }

    fn place_in_edges(&self, number: usize, property: usize) -> Option<usize> {
        column_of(&self.edges.get(number)?.properties, property)
    }

    fn ends_tell_types(&self) -> bool {
        true
    }

    fn rest(&self) -> Result<()> {
        Err(Error::unsupported("only nodes and edges can be shredded"))
    }
}
