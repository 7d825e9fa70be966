//! Nodes, and where they are placed.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray, UInt32Array};
use arrow_select::take::take;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Budget, Reservation};

use super::ids::{self, ENTRY_BYTES, IdMap};
use super::layers::{Layers, PLACEHOLDER};
use crate::cells::Cells;
use crate::layout::{column, word};
use crate::rules;
use crate::table::Table;

/// A node in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Placement {
    /// Row of the node.
    pub node: u32,
    /// The layer; the placeholder in a flat graph.
    pub layer: u32,
}

/// All nodes, each once, in the order of the format.
#[derive(Debug)]
pub(crate) struct Entities {
    /// Ids.
    pub keys: StringArray,
    /// Whether a node is an edge that is an entity.
    pub is_edge: Vec<bool>,
    /// Placements in the order of the format, each once; empty in a flat graph.
    pub placements: Vec<Placement>,
    rows: IdMap<u32>,
    placed: HashSet<Placement>,
    /// The only layer of a node, or nothing when it has several.
    only: Vec<Option<u32>>,
    is_flat: bool,
    _held: Reservation,
}

impl Entities {
    /// Reads the index of entities, and in `presence` further placements.
    ///
    /// # Errors
    /// When a table is not sound, a layer is none, or the budget is too small.
    pub fn read(index: &Table, presence: Option<(&Table, &str)>, layers: &Layers, budget: &Budget) -> Result<Entities> {
        let wanted = [column::ENTITY_ID, column::LAYER_ID, column::IDX, column::TYPE];
        let (cells, mut held) = index.read(&wanted, budget)?;
        let ids = cells.ids(column::ENTITY_ID, &rules::ENTITY_ID)?;
        held.grow(ids.len() as u64 * (2 * ENTRY_BYTES))?;
        let (types, numbers) = (cells.text(column::TYPE)?, cells.integers(column::LAYER_ID)?);
        let order = in_order(&cells)?;
        let mut entities = Entities {
            keys: StringArray::new_null(0),
            is_edge: Vec::new(),
            placements: Vec::new(),
            rows: IdMap::with_capacity_and_hasher(ids.len(), Default::default()),
            placed: HashSet::new(),
            only: Vec::new(),
            is_flat: layers.is_flat(),
            _held: held,
        };
        let mut first: Vec<u32> = Vec::with_capacity(ids.len());
        let rows = (0..ids.len()).map(|at| order.as_ref().map_or(at, |order| order[at]));
        for row in rows {
            let at = || Place::file(&index.name).row(row as u64);
            let layer = match numbers.is_valid(row) {
                true => layers.at(numbers.value(row)).map_err(|error| error.at(at().in_field(column::LAYER_ID)))?,
                false => PLACEHOLDER,
            };
            if entities.is_flat && layer != PLACEHOLDER {
                let message = format!(
                    "{:?} is in the layer {:?} of a graph without aspects",
                    ids.value(row),
                    layers.labels(layer)
                );
                return Err(Error::broken(&rules::LAYER_ID, message).at(at()));
            }
            let next = first.len() as u32;
            let node = *entities.rows.entry(ids::hash(ids.value(row))).or_insert(next);
            if node == next {
                first.push(u32::try_from(row).map_err(|_| too_many(&index.name))?);
                let kind = if types.is_valid(row) { types.value(row) } else { word::NODE };
                entities.is_edge.push(kind == word::EDGE_ENTITY || kind == word::EDGE);
            }
            entities.place(Placement { node, layer });
        }
        let keys = take(&ids, &UInt32Array::from(first), None).map_err(|error| Error::malformed(error.to_string()))?;
        entities.keys = keys.as_string::<i32>().clone();
        if let Some((table, id)) = presence.filter(|_| !entities.is_flat) {
            entities.add_presence(table, id, layers, budget)?;
        }
        Ok(entities)
    }

    fn place(&mut self, placement: Placement) {
        if self.is_flat {
            return;
        }
        if self.placed.insert(placement) {
            self.placements.push(placement);
            match self.only.get_mut(placement.node as usize) {
                Some(only) => *only = None,
                None => self.only.push(Some(placement.layer)),
            }
        }
    }

    /// Placements that only the table of placements has. Nodes that are nowhere else are not made up.
    fn add_presence(&mut self, table: &Table, id: &str, layers: &Layers, budget: &Budget) -> Result<()> {
        let (cells, _held) = table.read(&[id, column::LAYER_ID], budget)?;
        let (ids, numbers) = (cells.text(id)?, cells.integers(column::LAYER_ID)?);
        for row in (0..cells.rows()).filter(|&row| ids.is_valid(row) && numbers.is_valid(row)) {
            let place = || Place::file(&table.name).row(row as u64).in_field(column::LAYER_ID);
            let layer = layers.at(numbers.value(row)).map_err(|error| error.at(place()))?;
            if let Some(node) = self.row(ids.value(row)) {
                self.place(Placement { node, layer });
            }
        }
        Ok(())
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is an edge among the nodes.
    pub fn has_edges(&self) -> bool {
        self.is_edge.contains(&true)
    }

    /// The row of the node `id`.
    pub fn row(&self, id: &str) -> Option<u32> {
        self.rows.get(&ids::hash(id)).copied()
    }

    /// What an end means: a node in a layer if that is named; else in its only layer, or in none.
    pub fn resolve(&self, id: &str, layer: Option<u32>) -> Option<Placement> {
        let node = self.row(id)?;
        if self.is_flat {
            return (layer.unwrap_or(PLACEHOLDER) == PLACEHOLDER).then_some(Placement { node, layer: PLACEHOLDER });
        }
        let only = || self.only.get(node as usize).copied().flatten();
        let placement = Placement { node, layer: layer.or_else(only).unwrap_or(PLACEHOLDER) };
        self.placed.contains(&placement).then_some(placement)
    }

    /// The keys of some nodes.
    pub fn keys_of(&self, nodes: &UInt32Array) -> Result<arrow_array::ArrayRef> {
        take(&self.keys, nodes, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }
}

/// The rows in the order of `idx`, when that is not the order of the file. A missing `idx` comes first.
fn in_order(cells: &Cells) -> Result<Option<Vec<usize>>> {
    if cells.raw(column::IDX).is_none() {
        return Err(cells.missing(column::IDX));
    }
    let positions = cells.integers(column::IDX)?;
    let key = |row: usize| positions.is_valid(row).then(|| positions.value(row));
    if (1..positions.len()).all(|row| key(row - 1) <= key(row)) {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by_key(|&row| key(row));
    Ok(Some(order))
}

fn too_many(name: &str) -> Error {
    Error::new(isomorph_error::Kind::TooLarge, "there are more than 4,294,967,295 placements").at(Place::file(name))
}
