//! Bags: one JSON object with the properties of each row, written from columns and read as columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::Members;
use isomorph_model::{Property, json};

use super::columns::Typed;
use super::{CARRY_FITS, Slot};
use crate::mapping::json_in::JsonColumn;
use crate::mapping::json_out::JsonCells;

/// The edges that are marked as undirected, by a member of this name.
#[derive(Clone, Copy)]
pub(super) enum Undirected<'a> {
    All(&'a str),
    Rows(&'a str, &'a BooleanArray),
}

/// The bags of rows.
///
/// # Errors
/// If a value has no JSON form.
pub(super) fn written(own: Typed<'_>, undirected: Option<Undirected<'_>>, rows: usize) -> Result<ArrayRef> {
    let mut members = Vec::new();
    let mut rest = None;
    for ((property, column), slot) in own.properties.iter().zip(own.columns).zip(own.slots) {
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
            Some(Undirected::All(name)) => Some(name),
            Some(Undirected::Rows(name, directed)) if !directed.is_null(row) && !directed.value(row) => Some(name),
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

/// What bags have, as columns.
pub(super) struct Bags {
    /// The members that are properties, in order.
    pub members: std::vec::IntoIter<JsonColumn>,
    /// The other members, as JSON, if there is a property for them.
    pub rest: Option<ArrayRef>,
    /// Whether each row is directed, if there is a marker.
    pub directed: Option<BooleanArray>,
}

/// Reads bags. `marker` is the name of the member that marks undirected edges.
///
/// # Errors
/// Returns [`CARRY_FITS`] if there is a member that is not a property; also if a bag or a value is malformed.
pub(super) fn read(bags: &StringArray, properties: &[Property], slots: &[Slot], marker: Option<&str>) -> Result<Bags> {
    let mut shredder = Shredder::new(properties, slots, marker)?;
    shredder.read(bags)?;
    Ok(Bags {
        members: shredder.columns.into_iter(),
        rest: shredder.rest.map(|mut rest| Arc::new(rest.finish()) as ArrayRef),
        directed: shredder.directed.map(|mut directed| directed.finish()),
    })
}

/// Distributes the members of bags to columns.
struct Shredder<'a> {
    /// Member names in the order of `columns`.
    names: Vec<&'a str>,
    by_name: HashMap<&'a str, usize>,
    columns: Vec<JsonColumn>,
    rest: Option<StringBuilder>,
    marker: Option<&'a str>,
    directed: Option<BooleanBuilder>,
}

impl<'a> Shredder<'a> {
    fn new(typed: &[Property], slots: &'a [Slot], marker: Option<&'a str>) -> Result<Self> {
        let mut shredder = Shredder {
            names: Vec::new(),
            by_name: HashMap::new(),
            columns: Vec::new(),
            rest: None,
            marker,
            directed: marker.map(|_| BooleanBuilder::new()),
        };
        for (property, slot) in typed.iter().zip(slots) {
            match slot {
                Slot::Member(name) => {
                    shredder.by_name.insert(name, shredder.columns.len());
                    shredder.names.push(name);
                    shredder.columns.push(JsonColumn::new(property)?);
                }
                Slot::Rest => shredder.rest = Some(StringBuilder::new()),
                Slot::Column(_) | Slot::Labels | Slot::Relation => {}
            }
        }
        Ok(shredder)
    }

    fn read(&mut self, bags: &StringArray) -> Result<()> {
        let mut members = Members::default();
        let mut rest_text = String::new();
        for row in 0..bags.len() {
            let text = if bags.is_null(row) { "" } else { bags.value(row) };
            let mut expected = 0;
            let mut is_directed = true;
            rest_text.clear();
            members
                .read(text, |name, value| {
                    if self.marker == Some(name) {
                        is_directed = value != "false";
                        return Ok(());
                    }
                    // Members are usually in the order of the columns: check there first.
                    let at = match self.names.get(expected) {
                        Some(next) if *next == name => Some(expected),
                        _ => self.by_name.get(name).copied(),
                    };
                    if let Some((at, column)) = at.and_then(|at| Some((at, self.columns.get_mut(at)?))) {
                        expected = at + 1;
                        return column.push(value).map_err(|error| error.at(Place::field(name)));
                    }
                    if self.rest.is_some() {
                        rest_text.push(if rest_text.is_empty() { '{' } else { ',' });
                        json::push_string(&mut rest_text, name);
                        rest_text.push(':');
                        rest_text.push_str(value);
                        return Ok(());
                    }
                    Err(Error::broken(&CARRY_FITS, format!("member {name:?} is not a property of its type")))
                })
                .map_err(|error| error.at(Place::default().row(row as u64)))?;
            for column in &mut self.columns {
                if column.len() <= row {
                    column.push_null();
                }
            }
            if let Some(directed) = &mut self.directed {
                directed.append_value(is_directed);
            }
            if let Some(rest) = &mut self.rest {
                if rest_text.is_empty() {
                    rest.append_null();
                } else {
                    rest_text.push('}');
                    rest.append_value(&rest_text);
                }
            }
        }
        Ok(())
    }
}
