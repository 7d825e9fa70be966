//! Writes the rows of a typed graph as those of a bundled one: properties in bags.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, StringArray, UInt32Array, new_null_array,
};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    Columns, Direction, EdgeBatch, EdgeType, Graph, LabelColumn, NodeBatch, NodeType, Property, Relations, Source,
    ValueKind, json, well_known,
};

use super::{Bundling, EdgeSlots, NodeSlots, Slot};
use crate::arrow_limits::narrow;
use crate::mapping::arrays::{as_type, items_of};
use crate::mapping::json_out::JsonCells;
use crate::mapping::merge::{Merge, Merged, MergedEdges};

impl Merged<Bundling> {
    /// Shows `inner` as `bundling.bundled`. Reads nothing.
    ///
    /// # Errors
    /// If the row count of a node type is unknown, or the source is not the graph of the mapping.
    pub fn new(inner: Arc<dyn Source>, bundling: &Bundling) -> Result<Self> {
        Merged::of(inner, bundling.clone())
    }
}

impl Merge for Bundling {
    fn typed(&self) -> &Graph {
        &self.typed
    }

    fn merged(&self) -> &Graph {
        &self.bundled
    }

    fn prefix(&self, ty: usize) -> Option<&str> {
        self.nodes.get(ty).map(|slots| slots.prefix.as_str())
    }

    fn nodes(&self, ty: &NodeType, batch: &NodeBatch) -> Result<(Columns, Option<LabelColumn>)> {
        let (Some(slots), Some(target)) = (self.nodes.get(batch.ty), self.bundled.nodes.first()) else {
            return Err(Error::usage("no such node type"));
        };
        let properties =
            columns(&target.properties, &ty.properties, &batch.properties, &slots.properties, batch.rows, None)
                .map_err(|error| error.at(Place::field(ty.name.clone())))?;
        Ok((properties, Some(labels(slots, batch)?)))
    }

    fn edges(&self, ty: &EdgeType, batch: &EdgeBatch) -> Result<MergedEdges> {
        let (Some(slots), Some(target)) = (self.edges.get(batch.ty), self.bundled.edges.first()) else {
            return Err(Error::usage("no such edge type"));
        };
        let directed = undirected_rows(slots, ty.direction, batch);
        let properties =
            columns(&target.properties, &ty.properties, &batch.properties, &slots.properties, batch.rows, directed)?;
        let relations = match column_of(&Slot::Relation, &slots.properties, &batch.properties) {
            Some(column) => relations_of(column)?,
            None => same_relation(&slots.relation, batch.rows),
        };
        Ok(MergedEdges { relations: Some(relations), directed: None, properties })
    }

    fn names_relations(&self, ty: usize) -> bool {
        self.edges.get(ty).is_some_and(|slots| slots.properties.contains(&Slot::Relation))
    }
}

/// One relation for all rows.
pub(in crate::mapping) fn same_relation(relation: &str, rows: usize) -> Relations {
    Relations { names: StringArray::from_iter_values([relation]), index: UInt32Array::from_value(0, rows) }
}

/// The column of a slot.
fn column_of<'a>(slot: &Slot, slots: &[Slot], columns: &'a Columns) -> Option<&'a ArrayRef> {
    columns.get(slots.iter().position(|other| other == slot)?)?.as_ref()
}

/// Relations from a column.
pub(crate) fn relations_of(column: &ArrayRef) -> Result<Relations> {
    let column = column.as_string_opt::<i32>().ok_or_else(|| Error::malformed("relations are not text"))?;
    let mut known: HashMap<&str, u32> = HashMap::new();
    let index = UInt32Array::from_iter_values((0..column.len()).map(|row| {
        // A null relation is the empty one.
        let name = if column.is_null(row) { "" } else { column.value(row) };
        let next = narrow(known.len());
        *known.entry(name).or_insert(next)
    }));
    let mut names: Vec<(&str, u32)> = known.into_iter().collect();
    names.sort_unstable_by_key(|(_, index)| *index);
    Ok(Relations { names: StringArray::from_iter_values(names.into_iter().map(|(name, _)| name)), index })
}

/// Labels from a column of lists.
pub(crate) fn labels_of(column: &ArrayRef) -> Result<LabelColumn> {
    let refused = || Error::malformed("labels are not lists of text");
    let lists = column.as_list_opt::<i32>().ok_or_else(refused)?;
    let items = lists.values().as_string_opt::<i32>().ok_or_else(refused)?;
    let mut builder = LabelBuilder::default();
    for row in 0..lists.len() {
        let range = if lists.is_null(row) { 0..0 } else { items_of(lists, row) };
        builder.push(range.filter(|item| !items.is_null(*item)).map(|item| items.value(item)));
    }
    Ok(builder.finish())
}

fn labels(slots: &NodeSlots, batch: &NodeBatch) -> Result<LabelColumn> {
    let renamed = |name: &str| {
        let renamed = slots.labels.iter().find(|(typed, _)| typed == name);
        renamed.map_or_else(|| name.to_owned(), |(_, bundled)| bundled.clone())
    };
    if let Some(column) = column_of(&Slot::Labels, &slots.properties, &batch.properties) {
        return labels_of(column);
    }
    Ok(match &batch.labels {
        Some(labels) => labels.map_sets(|names| names.into_iter().map(renamed).chain(slots.label.clone()).collect()),
        None => {
            let mut builder = LabelBuilder::default();
            let set = builder.intern(slots.label.as_deref());
            (0..batch.rows).for_each(|_| builder.push_set(set));
            builder.finish()
        }
    })
}

/// Which rows must be marked as undirected.
enum Undirected<'a> {
    All(&'a str),
    Rows(&'a str, &'a BooleanArray),
}

fn undirected_rows<'a>(slots: &'a EdgeSlots, direction: Direction, batch: &'a EdgeBatch) -> Option<Undirected<'a>> {
    let name = slots.directed.as_deref()?;
    match direction {
        Direction::Directed => None,
        Direction::Undirected => Some(Undirected::All(name)),
        Direction::PerRow => batch.directed.as_ref().map(|directed| Undirected::Rows(name, directed)),
    }
}

/// The bundled columns: typed columns where they exist, defaults for missing ones, everything else in one bag.
fn columns(
    target: &[Property],
    typed: &[Property],
    cells: &Columns,
    slots: &[Slot],
    rows: usize,
    undirected: Option<Undirected<'_>>,
) -> Result<Columns> {
    let mut columns = Vec::with_capacity(target.len());
    for (at, property) in target.iter().enumerate() {
        if property.kind == ValueKind::Bag {
            columns.push(Some(bag(typed, cells, slots, rows, undirected.as_ref())?));
            continue;
        }
        let place = slots.iter().position(|slot| *slot == Slot::Column(at));
        let column = place.and_then(|place| cells.get(place).cloned().flatten());
        columns.push(match column {
            Some(column) => Some(as_type(&column, &property.data_type)?),
            None if place.is_some() => Some(new_null_array(&property.data_type, rows)),
            None => default(property, rows),
        });
    }
    Ok(columns)
}

/// The value of a well-known column if the typed graph has none.
fn default(property: &Property, rows: usize) -> Option<ArrayRef> {
    match (property.name.as_str(), &property.data_type) {
        (well_known::TRUTH, DataType::Float32) => Some(Arc::new(Float32Array::from_value(1.0, rows))),
        (well_known::TRUTH, DataType::Float64) => Some(Arc::new(Float64Array::from_value(1.0, rows))),
        (well_known::IS_RDF, DataType::Boolean) => Some(Arc::new(BooleanArray::from(vec![false; rows]))),
        _ => None,
    }
}

fn bag(
    typed: &[Property],
    cells: &Columns,
    slots: &[Slot],
    rows: usize,
    undirected: Option<&Undirected<'_>>,
) -> Result<ArrayRef> {
    let mut members = Vec::new();
    let mut rest = None;
    for ((property, column), slot) in typed.iter().zip(cells).zip(slots) {
        let Some(column) = column else { continue };
        match slot {
            Slot::Member(name) => {
                let mut quoted = String::new();
                json::push_string(&mut quoted, name);
                quoted.push(':');
                let cells =
                    JsonCells::new(property, column).map_err(|error| error.at(Place::field(property.name.clone())))?;
                members.push((quoted, cells));
            }
            Slot::Rest => rest = column.as_string_opt::<i32>(),
            Slot::Column(_) | Slot::Labels | Slot::Relation => {}
        }
    }
    let mut builder = StringBuilder::with_capacity(rows, rows * 16 * members.len());
    let mut text = String::new();
    for row in 0..rows {
        text.clear();
        let mut open = '{';
        for (name, cells) in &members {
            let start = text.len();
            text.push(open);
            text.push_str(name);
            if cells.push(row, &mut text) {
                open = ',';
            } else {
                text.truncate(start);
            }
        }
        let undirected = match undirected {
            Some(Undirected::All(name)) => Some(*name),
            Some(Undirected::Rows(name, directed)) if !directed.is_null(row) && !directed.value(row) => Some(*name),
            _ => None,
        };
        if let Some(name) = undirected {
            text.push(open);
            json::push_string(&mut text, name);
            text.push_str(":false");
            open = ',';
        }
        if let Some(rest) = rest.filter(|rest| !rest.is_null(row)) {
            let inside =
                rest.value(row).trim().trim_start_matches('{').trim_end().strip_suffix('}').unwrap_or_default();
            if !inside.trim().is_empty() {
                text.push(open);
                text.push_str(inside);
                open = ',';
            }
        }
        if open == ',' {
            text.push('}');
        }
        builder.append_value(&text);
    }
    Ok(Arc::new(builder.finish()))
}
