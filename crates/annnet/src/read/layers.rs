//! Aspects, labels, and the layers that layer ids refer to.

use std::collections::HashMap;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, ListArray, UInt32Array};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::json::{Value, value};
use isomorph_model::type_name::ITEM;

use super::json;
use crate::layout::{Layout, file, word};
use crate::members::{DOCUMENT_BYTES, Members};
use crate::rules;

/// One aspect of a multilayer graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Aspect {
    pub name: String,
    /// Labels in the order in which they are declared.
    pub labels: Vec<String>,
    /// Whether this order is significant.
    pub ordered: bool,
    /// Attributes, a JSON object.
    pub attributes: Option<String>,
}

/// The distinct layers of a graph. A flat graph has only the placeholder.
#[derive(Debug)]
pub(crate) struct Layers {
    pub aspects: Vec<Aspect>,
    tuples: Vec<Vec<String>>,
    numbers: HashMap<Vec<String>, u32>,
    /// The layer of each position in the file.
    dictionary: Vec<u32>,
    /// Whether the placeholder of one element is a layer of its own: in a graph of several aspects, the published library
    /// keeps placements there apart from those at the placeholder of all aspects.
    is_literal: bool,
}

/// The layer that stands for none.
pub(crate) const PLACEHOLDER: u32 = 0;

impl Layers {
    /// Creates layers for a graph with these aspects; only the placeholder exists at first.
    pub fn new(aspects: Vec<Aspect>) -> Layers {
        let (tuples, numbers, dictionary) = (Vec::new(), HashMap::new(), Vec::new());
        let mut layers = Layers { aspects, tuples, numbers, dictionary, is_literal: false };
        let rank = layers.aspects.len().max(1);
        layers.intern(&vec![word::NO_LAYER.to_owned(); rank]);
        layers
    }

    /// Returns the same layers with the same numbers, to which others can be added.
    pub fn copied(&self) -> Layers {
        let mut layers = Layers { is_literal: self.is_literal, ..Layers::new(self.aspects.clone()) };
        for tuple in &self.tuples {
            layers.intern(tuple);
        }
        layers
    }

    /// Reads the aspects and the dictionary of layers of a graph that has, or had, this layout.
    ///
    /// # Errors
    /// Returns an error if a file is malformed.
    pub fn read(members: &Members, layout: Layout, findings: &mut Findings) -> Result<Layers> {
        let mut layers = Layers::new(Layers::aspects(members)?);
        // The ends of older layouts name no layers, and are at the placeholder of any rank.
        layers.is_literal = layers.aspects.len() > 1 && layout != Layout::V1;
        let Some(text) = members.text(file::LAYER_DICT, DOCUMENT_BYTES)? else {
            layers.dictionary.push(PLACEHOLDER);
            return Ok(layers);
        };
        json::members(&text, file::LAYER_DICT, |name, value| {
            if name != "layers" {
                return Ok(());
            }
            json::items(value, file::LAYER_DICT, |item| {
                let number = layers.intern(&json::strings(item, file::LAYER_DICT)?);
                layers.dictionary.push(number);
                Ok(())
            })
        })?;
        // A dictionary without layers is that of a flat graph.
        if layers.dictionary.is_empty() {
            layers.dictionary.push(PLACEHOLDER);
        }
        // Each dictionary begins with the placeholder of one element, whether or not anything is there.
        let unused = layers.bare();
        for at in (0..layers.tuples.len()).filter(|at| Some(*at as u32) != unused) {
            if let Some(what) = layers.misfit(at) {
                findings.push(&rules::LAYER, what, Place::file(file::LAYER_DICT));
            }
        }
        Ok(layers)
    }

    /// Reads the aspects with their labels and attributes; none in a flat graph.
    ///
    /// # Errors
    /// Returns an error if a file is malformed.
    pub fn aspects(members: &Members) -> Result<Vec<Aspect>> {
        aspects(members)
    }

    /// Returns whether there is only one, unnamed layer.
    pub fn is_flat(&self) -> bool {
        self.aspects.is_empty()
    }

    /// Returns the number of layers, including the placeholder.
    pub fn len(&self) -> usize {
        self.tuples.len()
    }

    /// Returns the labels of a layer.
    pub fn labels(&self, layer: u32) -> &[String] {
        self.tuples.get(layer as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the layer at a position of the dictionary.
    ///
    /// # Errors
    /// Returns an error if the dictionary has no such position.
    pub fn at(&self, id: i64) -> Result<u32> {
        let found = usize::try_from(id).ok().and_then(|id| self.dictionary.get(id)).copied();
        found.ok_or_else(|| {
            let message =
                format!("layer id is {id}, but structure/layer_dict.json has {} layers", self.dictionary.len());
            Error::broken(&rules::LAYER_ID, message)
        })
    }

    /// Returns the first position of a layer in the dictionary.
    pub fn position(&self, layer: u32) -> Option<i64> {
        self.dictionary.iter().position(|own| *own == layer).map(|at| at as i64)
    }

    /// Returns the approximate number of bytes that the labels take.
    pub fn bytes(&self) -> u64 {
        let label = |label: &String| 2 * (label.len() + size_of::<String>()) as u64;
        self.tuples.iter().map(|labels| 96 + labels.iter().map(label).sum::<u64>()).sum()
    }

    /// Returns the layer of an end that names none although its node is in several: that of the placeholder of one element,
    /// if the graph has it.
    pub fn bare(&self) -> Option<u32> {
        self.find(&[word::NO_LAYER.to_owned()])
    }

    /// Returns the number of a layer, and adds the layer if it is new. In files of the older layouts, the placeholder of one
    /// element stands for the placeholder of any rank.
    pub fn intern(&mut self, labels: &[String]) -> u32 {
        if let Some(number) = self.find(labels) {
            return number;
        }
        let number = self.tuples.len() as u32;
        self.numbers.insert(labels.to_vec(), number);
        self.tuples.push(labels.to_vec());
        number
    }

    /// Returns the number of a layer, if it is known.
    pub fn find(&self, labels: &[String]) -> Option<u32> {
        match labels {
            [only] if only == word::NO_LAYER && !self.is_literal && !self.tuples.is_empty() => Some(PLACEHOLDER),
            _ => self.numbers.get(labels).copied(),
        }
    }

    /// Returns why a layer does not match the aspects, if it does not.
    pub fn misfit(&self, at: usize) -> Option<String> {
        let labels = self.tuples.get(at)?;
        if at == PLACEHOLDER as usize {
            return None;
        }
        if labels.len() != self.aspects.len() {
            let labels_of = if labels.len() == 1 { "label" } else { "labels" };
            return Some(format!(
                "layer {labels:?} has {} {labels_of}, but the graph has {} aspects",
                labels.len(),
                self.aspects.len()
            ));
        }
        let mut pairs = self.aspects.iter().zip(labels);
        let known = |aspect: &Aspect, label: &String| label == word::NO_LAYER || aspect.labels.contains(label);
        let (aspect, label) = pairs.find(|(aspect, label)| !known(aspect, label))?;
        Some(format!("label {label:?} of layer {labels:?} is not declared in aspect {:?}", aspect.name))
    }

    /// Returns all layers as lists of labels.
    fn lists(&self) -> ListArray {
        tuples(self.tuples.iter().map(Vec::as_slice))
    }

    /// Returns a writer of columns of layers.
    pub fn columns(&self) -> LayerColumns {
        LayerColumns(std::sync::Arc::new(self.lists()))
    }
}

/// Writes layers as lists of labels.
#[derive(Debug, Clone)]
pub(crate) struct LayerColumns(ArrayRef);

impl LayerColumns {
    /// Returns a column of layers; a missing layer is null.
    pub fn column(&self, layers: &UInt32Array) -> Result<ArrayRef> {
        take(self.0.as_ref(), layers, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }

    /// Returns the type of such a column.
    pub fn data_type() -> DataType {
        isomorph_model::type_name::list_of(DataType::Utf8)
    }
}

/// Builds a column of lists of labels.
pub(crate) fn tuples<'a>(all: impl Iterator<Item = &'a [String]>) -> ListArray {
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(Field::new(ITEM, DataType::Utf8, true));
    for labels in all {
        labels.iter().for_each(|label| builder.values().append_value(label));
        builder.append(true);
    }
    builder.finish()
}

/// Returns whether the published library treats a value as true: it follows Python's rules of truth.
fn is_true(text: &str) -> bool {
    match value(text) {
        Ok(Value::Bool(own)) => own,
        Ok(Value::Integer(own)) => own != 0,
        Ok(Value::Float(own)) => own != 0.0,
        Ok(Value::Text(own)) => !own.is_empty(),
        Ok(Value::Array(own) | Value::Object(own)) => {
            own.get(1..own.len() - 1).is_some_and(|own| !own.trim().is_empty())
        }
        Ok(Value::Number(_)) => true,
        Ok(Value::Null) | Err(_) => false,
    }
}

/// Reads the aspects with their labels and attributes; none in a flat graph.
fn aspects(members: &Members) -> Result<Vec<Aspect>> {
    let mut aspects: Vec<Aspect> = Vec::new();
    let Some(text) = members.text(file::LAYERS, DOCUMENT_BYTES)? else { return Ok(aspects) };
    let mut labels: Vec<(String, Vec<String>)> = Vec::new();
    json::members(&text, file::LAYERS, |name, value| {
        match name {
            "aspects" => {
                let names = json::strings(value, file::LAYERS)?;
                aspects = names.into_iter().map(|name| Aspect { name, ..Aspect::default() }).collect();
            }
            "elem_layers" => json::members(value, file::LAYERS, |aspect, value| {
                let mut found = json::strings(value, file::LAYERS)?;
                found.retain(|label| label != word::NO_LAYER);
                labels.push((aspect.to_owned(), found));
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    // Older versions write the placeholder as the only aspect of a flat graph.
    if aspects.len() == 1 && aspects.iter().all(|aspect| aspect.name == word::NO_LAYER) {
        return Ok(Vec::new());
    }
    for (name, found) in labels {
        if let Some(aspect) = aspects.iter_mut().find(|aspect| aspect.name == name) {
            aspect.labels = found;
        }
    }
    let Some(text) = members.text(file::ASPECT_ATTRIBUTES, DOCUMENT_BYTES)? else { return Ok(aspects) };
    json::members(&text, file::ASPECT_ATTRIBUTES, |name, value| {
        let Some(aspect) = aspects.iter_mut().find(|aspect| aspect.name == name) else { return Ok(()) };
        let mut kept = String::new();
        json::members(value, file::ASPECT_ATTRIBUTES, |name, value| {
            if name == word::ORDERED_KEY {
                aspect.ordered = is_true(value);
                return Ok(());
            }
            kept.push(if kept.is_empty() { '{' } else { ',' });
            isomorph_model::json::push_string(&mut kept, name);
            kept.push(':');
            kept.push_str(value);
            Ok(())
        })?;
        if !kept.is_empty() {
            kept.push('}');
            aspect.attributes = Some(kept);
        }
        Ok(())
    })?;
    Ok(aspects)
}
