//! New vertices, and new placements of existing ones.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use isomorph_error::{Error, Result};

use super::columns::name;
use super::ends::Ends;
use super::input::{Input, texts};
use super::memberships::Listed;
use crate::layout::word;
use crate::read::layers::PLACEHOLDER;
use crate::rules;
use crate::write::columns::gather;

/// New vertices.
#[derive(Default)]
pub(super) struct Vertices {
    /// Distinct ids of the new vertices.
    pub keys: Option<ArrayRef>,
    /// Their attributes.
    pub attributes: Vec<(String, ArrayRef)>,
    /// Ids of existing vertices that get a new placement.
    pub again: StringBuilder,
    /// Placements: ids and layers.
    pub placed: (StringBuilder, Vec<u32>),
}

impl Vertices {
    /// Reads the vertices of a table, and places them.
    ///
    /// # Errors
    /// Returns an error if a vertex already exists, is listed twice, or is in a layer or slice that does not exist.
    pub fn take(input: &Input, ends: &mut Ends<'_>, listed: &mut Listed<'_>) -> Result<Vertices> {
        let id = input.first_of(&name::VERTEX_IDS).ok_or_else(|| input.cells.missing(name::ID))?;
        let own = input.cells.ids(id, &rules::ENTITY_ID)?;
        let layers = input.lists(word::LAYER)?;
        let slices = input.lists(name::SLICES)?;
        let known: Vec<&str> = name::VERTEX_IDS.into_iter().chain([word::LAYER, name::SLICES]).collect();
        let columns = input.attributes(&known)?;
        let mut vertices = Vertices::default();
        let mut rows: Vec<u32> = Vec::with_capacity(own.len());
        for row in 0..own.len() {
            let vertex = own.value(row);
            let layer = ends.layer_of(input, &layers, row, word::LAYER)?;
            let at = || input.place(row, id);
            let twice = || Err(Error::broken(&rules::ENTITY_ID, format!("vertex {vertex:?} already exists")).at(at()));
            match (ends.is_old(vertex), ends.is_new(vertex)) {
                (false, false) => {
                    rows.push(row as u32);
                    for slice in texts(&slices, row) {
                        listed.node(slice, vertex).map_err(|error| error.at(input.place(row, name::SLICES)))?;
                    }
                }
                _ if ends.is_flat() => return twice(),
                (old, new) => {
                    if ends.is_placed(vertex, layer.unwrap_or(PLACEHOLDER)) {
                        return twice();
                    }
                    if columns.iter().any(|(_, column)| column.is_valid(row)) || slices.is_valid(row) {
                        let message = "attributes and slices belong to a vertex, not to its further placements";
                        let hint = "leave them empty in rows that place a vertex in a further layer";
                        return Err(Error::malformed(message).hint(hint).at(at()));
                    }
                    if !ends.is_placeable(vertex) {
                        let message = "in this layout, an edge that is an entity cannot have further placements";
                        return Err(Error::unsupported(message).at(at()));
                    }
                    if old && !new {
                        vertices.again.append_value(vertex);
                    }
                }
            }
            let layer = layer.unwrap_or(PLACEHOLDER);
            ends.place(vertex, layer);
            if !ends.is_flat() {
                vertices.placed.0.append_value(vertex);
                vertices.placed.1.push(layer);
            }
        }
        let rows = UInt32Array::from(rows);
        vertices.keys = Some(gather(&own, &rows)?);
        for (name, column) in columns {
            vertices.attributes.push((name, gather(&column, &rows)?));
        }
        Ok(vertices)
    }

    /// Adds edges that are entities, and their placements.
    pub fn add_entities(&mut self, entities: &StringArray, ends: &Ends<'_>) {
        if !ends.is_flat() {
            for id in entities.iter().flatten() {
                self.placed.0.append_value(id);
                self.placed.1.push(PLACEHOLDER);
            }
        }
    }

    /// Returns the number of new vertices.
    pub fn len(&self) -> usize {
        self.keys.as_ref().map_or(0, |keys| keys.len())
    }

    /// Returns the ids of the new vertices; an empty array if there are none.
    pub fn ids(&self) -> ArrayRef {
        self.keys.clone().unwrap_or_else(|| Arc::new(StringArray::new_null(0)))
    }
}
