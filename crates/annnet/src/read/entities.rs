//! Nodes and their placements.

use std::collections::HashSet;

use arrow_array::{Array, StringArray, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_select::take::take;
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Budget, Reservation};

use super::ids::ENTRY_BYTES;
use super::layers::{Layers, PLACEHOLDER};
use super::slots::Slots;
use crate::cells::Cells;
use crate::layout::{column, word};
use crate::rules;
use crate::table::Table;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 15;

/// A node in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Placement {
    /// Row of the node.
    pub node: u32,
    /// The layer; in a flat graph the placeholder.
    pub layer: u32,
}

/// All nodes, each once, in the order of the format.
#[derive(Debug)]
pub(crate) struct Entities {
    /// Ids.
    pub keys: StringArray,
    /// Whether each node is an edge that is an entity.
    pub is_edge: Vec<bool>,
    /// The number of these nodes.
    edge_count: usize,
    /// Distinct placements in the order of the format; empty in a flat graph.
    pub placements: Vec<Placement>,
    rows: Slots,
    placed: HashSet<Placement>,
    /// The placements that only the placement table has: in the published library, no edge ends in them.
    late: HashSet<Placement>,
    /// The only layer of each node in the index; `None` if the index has several.
    only: Vec<Option<u32>>,
    /// The layer of ends that name none, of nodes in several layers.
    bare: Option<u32>,
    is_flat: bool,
    held: Reservation,
}

/// Ids while they are collected, in the memory layout of [`StringArray`].
struct Gathered {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Gathered {
    fn text(&self, row: u32) -> &[u8] {
        let row = row as usize;
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    fn push(&mut self, id: &str) -> Option<()> {
        self.bytes.extend_from_slice(id.as_bytes());
        self.offsets.push(i32::try_from(self.bytes.len()).ok()?);
        Some(())
    }

    fn finish(self) -> Result<StringArray> {
        let offsets = OffsetBuffer::new(self.offsets.into());
        StringArray::try_new(offsets, self.bytes.into(), None)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }
}

impl Entities {
    /// Reads the index of entities, and further placements in `presence`.
    ///
    /// # Errors
    /// Returns an error if a table is malformed, a layer is invalid, or the budget is too small.
    pub fn read(
        index: &Table,
        presence: Option<(&Table, &str)>,
        layers: &Layers,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<Entities> {
        let count = usize::try_from(index.rows()).ok().filter(|count| *count < u32::MAX as usize);
        let count = count.ok_or_else(|| too_many(&index.name))?;
        let held = budget.reserve(Slots::bytes_for(count) + count as u64 * 5)?;
        let mut entities = Entities {
            keys: StringArray::new_null(0),
            is_edge: Vec::with_capacity(count),
            edge_count: 0,
            placements: Vec::new(),
            rows: Slots::for_rows(count),
            placed: HashSet::new(),
            late: HashSet::new(),
            only: Vec::new(),
            bare: layers.bare(),
            is_flat: layers.is_flat(),
            held,
        };
        let mut ids = Gathered { offsets: Vec::with_capacity(count + 1), bytes: Vec::new() };
        ids.offsets.push(0);
        let wanted = [column::ENTITY_ID, column::LAYER_ID, column::TYPE];
        match in_order(index, budget, findings)? {
            None => {
                let mut start = 0;
                for cells in index.batches(&wanted, 0..index.rows(), BATCH_ROWS)? {
                    let cells = cells?;
                    entities.add(&cells, start, 0..cells.rows(), layers, &mut ids)?;
                    start += cells.rows();
                }
            }
            Some((order, _held)) => {
                let (cells, _held) = index.read(&wanted, budget)?;
                entities.add(&cells, 0, order.into_iter(), layers, &mut ids)?;
            }
        }
        entities.keys = ids.finish()?;
        if let Some((table, id)) = presence.filter(|_| !entities.is_flat) {
            entities.add_presence(table, id, layers, budget, findings)?;
        }
        Ok(entities)
    }

    /// Adds the entities in `rows` of `cells`; the first is row `start` of the table.
    fn add(
        &mut self,
        cells: &Cells,
        start: usize,
        rows: impl Iterator<Item = usize>,
        layers: &Layers,
        gathered: &mut Gathered,
    ) -> Result<()> {
        let ids = cells.ids(column::ENTITY_ID, &rules::ENTITY_ID)?;
        let (types, numbers) = (cells.text(column::TYPE)?, cells.integers(column::LAYER_ID)?);
        // The texts of ids, and the memory that a placement takes.
        let placed = if self.is_flat { 0 } else { ids.len() as u64 * (2 * ENTRY_BYTES) };
        self.held.grow(ids.value_data().len() as u64 + placed)?;
        for row in rows {
            let at = || Place::file(&cells.name).row((start + row) as u64);
            let layer = match numbers.is_valid(row) {
                true => layers.at(numbers.value(row)).map_err(|error| error.at(at().in_field(column::LAYER_ID)))?,
                false => PLACEHOLDER,
            };
            let id = ids.value(row);
            if self.is_flat && layer != PLACEHOLDER {
                let message = format!("{id:?} is in layer {:?}, but the graph has no aspects", layers.labels(layer));
                return Err(Error::broken(&rules::LAYER_ID, message).at(at()));
            }
            let next = self.is_edge.len() as u32;
            let node = self.rows.find_or_insert(id.as_bytes(), next, |row| gathered.text(row));
            if node == next {
                gathered.push(id).ok_or_else(|| too_many(&cells.name))?;
                let kind = if types.is_valid(row) { types.value(row) } else { word::NODE };
                // Any other type is that of a node, as in the published library.
                self.is_edge.push(kind == word::EDGE_ENTITY);
                self.edge_count += usize::from(self.is_edge.last() == Some(&true));
            }
            self.place(Placement { node, layer });
        }
        Ok(())
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

    /// Adds placements that only the placement table has. It does not create nodes that are listed nowhere else.
    fn add_presence(
        &mut self,
        table: &Table,
        id: &str,
        layers: &Layers,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<()> {
        let (cells, _held) = table.read(&[id, column::LAYER_ID], budget)?;
        let (ids, numbers) = (cells.text(id)?, cells.integers(column::LAYER_ID)?);
        for row in (0..cells.rows()).filter(|&row| ids.is_valid(row) && numbers.is_valid(row)) {
            let place = || Place::file(&table.name).row(row as u64).in_field(column::LAYER_ID);
            let layer = layers.at(numbers.value(row)).map_err(|error| error.at(place()))?;
            match self.row(ids.value(row)) {
                Some(node) => {
                    let placement = Placement { node, layer };
                    let bare = Placement { node, layer: PLACEHOLDER };
                    if self.placed.insert(placement) {
                        let is_bare = self.placed.contains(&bare) && !self.late.contains(&bare);
                        if layer != PLACEHOLDER && is_bare && !self.is_edge[node as usize] {
                            let id = ids.value(row);
                            let message = format!(
                                "{id:?} is at the placeholder in the index, but in another layer in this table"
                            );
                            findings.push(&rules::PLACEMENT_MOVED, message, place());
                        }
                        if let Some(what) = layers.misfit(layer as usize) {
                            findings.push(&rules::PLACEMENT, what, place());
                        }
                        self.placements.push(placement);
                        self.late.insert(placement);
                    }
                }
                None => {
                    findings.push(&rules::LAYER, unlisted(ids.value(row)), Place::file(&table.name).row(row as u64))
                }
            }
        }
        Ok(())
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether one of the nodes is an edge.
    pub fn has_edges(&self) -> bool {
        self.edge_count > 0
    }

    /// Returns whether the node `id` is an edge.
    pub fn is_edge_entity(&self, id: &str) -> bool {
        self.edge_count > 0 && self.row(id).is_some_and(|row| self.is_edge.get(row as usize) == Some(&true))
    }

    /// Returns the row of the node `id`.
    pub fn row(&self, id: &str) -> Option<u32> {
        let text = |row: u32| self.keys.value(row as usize).as_bytes();
        self.rows.find(id.as_bytes(), text)
    }

    /// Returns the rows of nodes; `None` for a null and for an unknown node.
    pub fn rows_of(&self, ids: &StringArray) -> Vec<Option<u32>> {
        let text = |row: u32| self.keys.value(row as usize).as_bytes();
        let mut rows = Vec::with_capacity(ids.len());
        self.rows.find_all(ids.iter().map(|id| id.map(str::as_bytes)), text, |row| rows.push(row));
        rows
    }

    /// Resolves an end: the node in the named layer; if no layer is named, in its only layer or in that of one label that
    /// stands for none.
    pub fn resolve(&self, id: &str, layer: Option<u32>) -> Option<Placement> {
        self.placement(self.row(id)?, layer)
    }

    /// Same as [`Entities::resolve`], for the row of a node.
    pub fn placement(&self, node: u32, layer: Option<u32>) -> Option<Placement> {
        if self.is_flat {
            return (layer.unwrap_or(PLACEHOLDER) == PLACEHOLDER).then_some(Placement { node, layer: PLACEHOLDER });
        }
        let only = || self.only.get(node as usize).copied().flatten();
        let placement = Placement { node, layer: layer.or_else(only).or(self.bare)? };
        self.placed.contains(&placement).then_some(placement)
    }

    /// Returns the message for an end at a placement that the index lacks, if it is one.
    pub fn late(&self, placement: Placement, layers: &Layers) -> Option<String> {
        if self.late.is_empty() || !self.late.contains(&placement) {
            return None;
        }
        let (id, labels) = (self.keys.value(placement.node as usize), layers.labels(placement.layer));
        Some(format!(
            "an edge ends in {id:?} in layer {labels:?}, but structure/entity_index.parquet lacks this placement"
        ))
    }

    /// Returns the keys of some nodes.
    pub fn keys_of(&self, nodes: &UInt32Array) -> Result<arrow_array::ArrayRef> {
        take(&self.keys, nodes, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }
}

/// Returns the message for a node that only the placement table names.
pub(crate) fn unlisted(id: &str) -> String {
    format!(
        "{id:?} is placed in a layer but is not an entity: it is ignored; the published library creates a node there"
    )
}

/// Returns the rows in the order of `idx`, if this differs from the order of the file. A missing `idx` sorts first.
fn in_order(index: &Table, budget: &Budget, findings: &mut Findings) -> Result<Option<(Vec<usize>, Reservation)>> {
    if !index.has(column::IDX) {
        return Err(Cells::empty(&index.name).missing(column::IDX));
    }
    let (mut last, mut start) = (None, 0);
    let mut ascending = true;
    for cells in index.batches(&[column::IDX], 0..index.rows(), BATCH_ROWS)? {
        let positions = cells?.integers(column::IDX)?;
        for (row, position) in positions.iter().enumerate() {
            if position.is_none() {
                let place = Place::file(&index.name).row((start + row) as u64).in_field(column::IDX);
                findings.push(&rules::ENTITY_POSITION, "idx is missing", place);
            }
            ascending &= last <= position;
            last = position;
        }
        start += positions.len();
    }
    if ascending {
        return Ok(None);
    }
    let (cells, mut held) = index.read(&[column::IDX], budget)?;
    let positions = cells.integers(column::IDX)?;
    held.grow(positions.len() as u64 * 8)?;
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by_key(|&row| positions.is_valid(row).then(|| positions.value(row)));
    Ok(Some((order, held)))
}

fn too_many(name: &str) -> Error {
    Error::new(isomorph_error::Kind::TooLarge, "the table has more than 4,294,967,295 placements").at(Place::file(name))
}
