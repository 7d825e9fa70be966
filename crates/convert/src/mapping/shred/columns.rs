//! Keys, labels and bags of bundled rows as typed columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::Members;
use isomorph_model::type_name::ITEM;
use isomorph_model::{Columns, Ends, Key, KeyKind, LabelColumn, Property, ValueKind, json};

use super::CARRY_FITS;
use crate::mapping::Slot;
use crate::mapping::json_in::JsonColumn;
use crate::mapping::reify::as_type;
/// Keys of names: without the prefix, in the key's own type; rows where the type has no key.
pub(in crate::mapping) fn keys(prefix: &str, key: &Key, names: &StringArray) -> Result<Ends> {
    let strip = |name: &str| -> Result<usize> {
        name.starts_with(prefix)
            .then_some(prefix.len())
            .ok_or_else(|| Error::broken(&CARRY_FITS, format!("{name:?} does not begin with {prefix:?}")))
    };
    let number = |name: &str| -> Result<i128> {
        let text = name.get(strip(name)?..).unwrap_or_default();
        let number = text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<u64>().map(i128::from));
        number.map_err(|_| Error::broken(&CARRY_FITS, format!("{name:?} holds no number")))
    };
    let range = || Error::broken(&CARRY_FITS, "a key is out of its type's range");
    let array: ArrayRef = match (key.kind, &key.data_type) {
        (KeyKind::Row, _) => {
            let mut rows = UInt64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                rows.append_value(u64::try_from(number(name)?).map_err(|_| range())?);
            }
            return Ok(Ends::Rows(rows.finish()));
        }
        (KeyKind::Int, DataType::UInt64) => {
            let mut keys = UInt64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                keys.append_value(u64::try_from(number(name)?).map_err(|_| range())?);
            }
            Arc::new(keys.finish())
        }
        (KeyKind::Int, data_type) => {
            let mut keys = Int64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                keys.append_value(i64::try_from(number(name)?).map_err(|_| range())?);
            }
            let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
            arrow_cast::cast_with_options(&keys.finish(), data_type, &options).map_err(|_| range())?
        }
        _ if prefix.is_empty() => Arc::new(names.clone()),
        _ => {
            let mut keys = StringBuilder::with_capacity(names.len(), names.values().len());
            for name in names.iter().flatten() {
                keys.append_value(name.get(strip(name)?..).unwrap_or_default());
            }
            Arc::new(keys.finish())
        }
    };
    Ok(Ends::Keys(array))
}

/// Labels as a column of lists; no labels are null.
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

/// The typed columns of a run of rows; and, where `marker` names a member, whether each row is directed. `of_slot` are
/// the labels or relations of the rows, where they are a property.
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
    // Without a bag nothing is said, and every edge is directed.
    let directed = shredder.directed.filter(|_| bag.is_some());
    Ok((columns, directed.map(|mut directed| directed.finish())))
}

/// Sorts the members of bags into columns.
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
                    // Members mostly come in the order of the columns: look there first.
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
                    Err(Error::broken(&CARRY_FITS, format!("member {name:?} is no property of its type")))
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
