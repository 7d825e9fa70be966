//! Keys, labels and bags of bundled rows as typed columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::Members;
use isomorph_model::type_name::ITEM;
use isomorph_model::{Columns, LabelColumn, Property, ValueKind, json};

use super::Slot;
use crate::mapping::CARRY_FITS;
use crate::mapping::arrays::as_type;
use crate::mapping::json_in::JsonColumn;

/// Labels as a column of lists; null if there are none.
pub(crate) fn label_lists(labels: &LabelColumn) -> ArrayRef {
    let item = Field::new(ITEM, DataType::Utf8, true);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item);
    for row in 0..labels.len() {
        let mut any = false;
        for label in labels.row(row) {
            builder.values().append_value(label);
            any = true;
        }
        builder.append(any);
    }
    Arc::new(builder.finish())
}

/// The typed columns of a run of rows; and, if `marker` names a member, whether each row is directed. `of_slot` are the
/// labels or relations of the rows, if they are a property.
pub(super) fn columns_of(
    inner: &[Property],
    cells: &Columns,
    typed: &[Property],
    slots: &[Slot],
    marker: Option<&str>,
    of_slot: Option<ArrayRef>,
    rows: usize,
) -> Result<(Columns, Option<arrow_array::BooleanArray>)> {
    let bag = inner.iter().position(|property| property.kind == ValueKind::Bag);
    let bag = bag.and_then(|at| cells.get(at)?.as_ref()).and_then(|column| column.as_string_opt::<i32>());
    let mut shredder = Shredder::new(typed, slots, marker)?;
    if let Some(bag) = bag {
        shredder.read(bag)?;
    }
    let mut shredded = shredder.columns.into_iter();
    let mut rest = shredder.rest;
    let columns = typed
        .iter()
        .zip(slots)
        .map(|(property, slot)| match slot {
            Slot::Column(at) => match cells.get(*at).cloned().flatten() {
                Some(column) => as_type(&column, &property.data_type).map(Some),
                None => Ok(None),
            },
            Slot::Member(_) => match shredded.next() {
                Some(column) if bag.is_some() => column.finish().map(Some),
                _ => Ok(None),
            },
            Slot::Labels | Slot::Relation => Ok(of_slot.clone()),
            Slot::Rest => Ok(rest.take().filter(|_| bag.is_some()).map(|mut rest| Arc::new(rest.finish()) as ArrayRef)),
        })
        .collect::<Result<Columns>>()?;
    debug_assert!(columns.iter().flatten().all(|column| column.len() == rows));
    // Without a bag there are no members, and every edge is directed.
    let directed = shredder.directed.filter(|_| bag.is_some());
    Ok((columns, directed.map(|mut directed| directed.finish())))
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
