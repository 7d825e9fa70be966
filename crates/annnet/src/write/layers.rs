//! Numbers of layers.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::{DataType, Field};
use isomorph_error::Result;
use isomorph_model::json::push_string;
use isomorph_model::type_name::{ITEM, list_of};
use xxhash_rust::xxh3::Xxh3;

use super::WriteLayout;
use super::columns::lists;
use super::json::ascii;
use crate::layout::{column as name, word};
use crate::read::ids::IdMap;

/// The number of the layer that stands for no layer in a flat graph.
pub(super) const PLACEHOLDER: i64 = 0;

/// Returns the name and type of a column of layers.
pub(super) fn layer_column(layout: WriteLayout) -> (&'static str, DataType) {
    match layout {
        WriteLayout::V2 => (name::LAYER_ID, DataType::Int64),
        WriteLayout::Specification => (name::LAYER, list_of(DataType::Utf8)),
    }
}

/// All layers that are in use, numbered in the order of first use.
pub(crate) struct LayerIds {
    labels: Vec<Vec<String>>,
    numbers: IdMap<i64>,
}

impl LayerIds {
    /// Creates a set with only the placeholder.
    pub fn new() -> Self {
        let labels = vec![word::NO_LAYER.to_owned()];
        let numbers = IdMap::from_iter([(hash(labels.iter().map(String::as_str)), PLACEHOLDER)]);
        LayerIds { labels: vec![labels], numbers }
    }

    /// Creates a set from layers that already have numbers, in their order.
    pub fn of(known: Vec<Vec<String>>) -> Self {
        if known.is_empty() {
            return LayerIds::new();
        }
        let mut numbers = IdMap::default();
        for (number, labels) in known.iter().enumerate() {
            numbers.entry(hash(labels.iter().map(String::as_str))).or_insert(number as i64);
        }
        LayerIds { labels: known, numbers }
    }

    /// Returns the number of a layer, and adds the layer if it is new.
    pub fn intern(&mut self, labels: &[String]) -> i64 {
        let next = self.labels.len() as i64;
        match self.numbers.entry(hash(labels.iter().map(String::as_str))) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.labels.push(labels.to_vec());
                *entry.insert(next)
            }
        }
    }

    /// Returns the number of layers.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns the numbers of a column of layers; null for nulls.
    ///
    /// # Errors
    /// Returns an error if the column does not contain lists of labels.
    pub fn column(&mut self, column: &ArrayRef) -> Result<Int64Array> {
        let lists = lists(column)?;
        let labels = lists.values().as_string::<i32>();
        let offsets = lists.value_offsets();
        let numbers = (0..lists.len()).map(|row| {
            if lists.is_null(row) {
                return None;
            }
            let own = || {
                (offsets[row] as usize..offsets[row + 1] as usize)
                    .map(|at| if labels.is_valid(at) { labels.value(at) } else { word::NO_LAYER })
            };
            let next = self.labels.len() as i64;
            Some(match self.numbers.entry(hash(own())) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    self.labels.push(own().map(str::to_owned).collect());
                    *entry.insert(next)
                }
            })
        });
        Ok(numbers.collect())
    }

    /// Returns a column of layers by their labels; a missing layer is null.
    pub fn lists(&self, numbers: &Int64Array) -> ArrayRef {
        let mut lists = ListBuilder::new(StringBuilder::new()).with_field(Field::new(ITEM, DataType::Utf8, true));
        for number in numbers {
            let labels = number.map(|number| self.labels(number));
            labels.into_iter().flatten().for_each(|label| lists.values().append_value(label));
            lists.append(labels.is_some());
        }
        Arc::new(lists.finish())
    }

    /// Returns a column of layers as the layout names them: by their numbers, or by their labels.
    pub fn as_column(&self, numbers: Int64Array, layout: WriteLayout) -> ArrayRef {
        match layout {
            WriteLayout::V2 => Arc::new(numbers),
            WriteLayout::Specification => self.lists(&numbers),
        }
    }

    /// Returns the labels of a layer.
    pub fn labels(&self, number: i64) -> &[String] {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.labels.get(at)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the content of `layer_dict.json`.
    pub fn to_json(&self) -> String {
        let all: Vec<String> = self.labels.iter().map(|labels| list(labels)).collect();
        ascii(&format!("{{\"layers\": [{}]}}", all.join(", ")))
    }
}

/// Returns a list of texts as JSON.
pub(crate) fn list<T: AsRef<str>>(texts: &[T]) -> String {
    let mut out = String::from("[");
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        push_string(&mut out, text.as_ref());
    }
    out.push(']');
    out
}

fn hash<'a>(labels: impl Iterator<Item = &'a str>) -> u128 {
    let mut state = Xxh3::new();
    for label in labels {
        state.update(&(label.len() as u64).to_le_bytes());
        state.update(label.as_bytes());
    }
    state.digest128()
}
