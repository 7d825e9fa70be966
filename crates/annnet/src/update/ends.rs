//! Possible ends of new edges: existing entities, and new ones of the same change.

use std::collections::HashMap;

use isomorph_error::{Error, Place, Result};

use super::input::{Input, texts};
use crate::layout::{Layout, word};
use crate::read::Annnet;
use crate::read::ids::{self, IdMap};
use crate::read::layers::{Layers, PLACEHOLDER};
use crate::rules;

/// All entities after the change, and the layers in which they are placed.
pub(super) struct Ends<'a> {
    annnet: &'a Annnet,
    /// The layers of the graph, followed by new ones.
    pub layers: Layers,
    /// New placements by the hashes of ids; in a flat graph only the ids.
    new: IdMap<Vec<u32>>,
    /// Layers by their labels as they are written in a table.
    seen: HashMap<Vec<u8>, u32>,
}

impl<'a> Ends<'a> {
    /// Creates the set of ends from the entities of `annnet`.
    pub fn of(annnet: &'a Annnet) -> Self {
        Ends { annnet, layers: annnet.layers.copied(), new: IdMap::default(), seen: HashMap::new() }
    }

    /// Returns whether the graph has no layers.
    pub fn is_flat(&self) -> bool {
        self.layers.is_flat()
    }

    /// Returns whether an entity exists already.
    pub fn is_old(&self, id: &str) -> bool {
        self.annnet.entities.row(id).is_some()
    }

    /// Returns whether an entity is added by this change.
    pub fn is_new(&self, id: &str) -> bool {
        self.new.contains_key(&ids::hash(id))
    }

    /// Returns whether an entity is placed in a layer.
    pub fn is_placed(&self, id: &str, layer: u32) -> bool {
        let old = (layer as usize) < self.annnet.layers.len();
        let old = old && self.annnet.entities.resolve(id, Some(layer)).is_some();
        old || self.new.get(&ids::hash(id)).is_some_and(|layers| layers.contains(&layer))
    }

    /// Returns whether an existing entity can be placed in further layers. In the specification's layout, edges cannot,
    /// because no row states the single placement that they have.
    pub fn is_placeable(&self, id: &str) -> bool {
        let is_edge = |row: u32| self.annnet.entities.is_edge.get(row as usize).copied().unwrap_or_default();
        self.annnet.layout() != Layout::V1 || !self.annnet.entities.row(id).is_some_and(is_edge)
    }

    /// Places an entity that is new, or new in this layer.
    pub fn place(&mut self, id: &str, layer: u32) {
        self.new.entry(ids::hash(id)).or_default().push(layer);
    }

    /// Returns the layer of a row of a table; `None` if no layer is named.
    ///
    /// # Errors
    /// Returns an error if the graph has no layer with these labels.
    pub fn layer_of(
        &mut self,
        input: &Input,
        labels: &arrow_array::ListArray,
        row: usize,
        column: &str,
    ) -> Result<Option<u32>> {
        if !arrow_array::Array::is_valid(labels, row) {
            return Ok(None);
        }
        let mut key = Vec::new();
        for label in texts(labels, row) {
            key.extend((label.len() as u64).to_le_bytes());
            key.extend(label.as_bytes());
        }
        if let Some(layer) = self.seen.get(&key) {
            return Ok(Some(*layer));
        }
        let own: Vec<String> = texts(labels, row).map(str::to_owned).collect();
        let aspects = &self.layers.aspects;
        let known = |(aspect, label): (&crate::read::layers::Aspect, &String)| {
            label == word::NO_LAYER || aspect.labels.contains(label)
        };
        if own.len() != aspects.len() || !aspects.iter().zip(&own).all(known) {
            let message = match aspects.is_empty() {
                true => "the graph has no layers".to_owned(),
                false => {
                    format!("{own:?} is not a layer: expected one declared label for each of {} aspects", aspects.len())
                }
            };
            return Err(Error::broken(&rules::LAYER, message).at(input.place(row, column)));
        }
        let layer = self.layers.intern(&own);
        self.seen.insert(key, layer);
        Ok(Some(layer))
    }

    /// Returns the layer of an end; the placeholder in a flat graph.
    ///
    /// # Errors
    /// Returns an error if the end is not an entity, is not placed in this layer, or is placed in several layers and
    /// none is named.
    pub fn resolve(&self, id: &str, layer: Option<u32>, place: impl FnOnce() -> Place) -> Result<u32> {
        let wrong = |message: String| Err(Error::broken(&rules::EDGE_END, message).at(place()));
        let added = self.new.get(&ids::hash(id));
        if added.is_none() && !self.is_old(id) {
            return wrong(format!("{id:?} is not an entity of the graph or of this change"));
        }
        if self.is_flat() {
            return Ok(PLACEHOLDER);
        }
        if let Some(layer) = layer {
            return match self.is_placed(id, layer) {
                true => Ok(layer),
                false => wrong(format!("{id:?} is not placed in layer {:?}", self.layers.labels(layer))),
            };
        }
        let old = self.annnet.entities.resolve(id, None).map(|placement| placement.layer);
        let found = match (old, added.map(Vec::as_slice)) {
            (Some(layer), None) => Some(layer),
            (None, Some([layer])) => Some(*layer),
            _ => self.is_placed(id, PLACEHOLDER).then_some(PLACEHOLDER),
        };
        match found {
            Some(layer) => Ok(layer),
            None => wrong(format!("{id:?} is placed in several layers: name one of them")),
        }
    }
}
