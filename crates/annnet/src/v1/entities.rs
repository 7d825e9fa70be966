//! Entities and their placements.

use std::collections::{HashMap, HashSet};

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use isomorph_error::Result;

use super::layers::labels_of;
use super::{Reader, array, table};
use crate::layout::{Words, column, file, word};
use crate::read::{Layers, PLACEHOLDER};
use crate::rules;

/// Labels of a layer.
pub(super) const LAYER: &str = column::LAYER;

/// The index of entities.
pub(super) struct Read {
    pub table: RecordBatch,
    /// Entities that are edges.
    pub edges: HashSet<String>,
    /// Those of them that are placed in no layer: the layers of the edges at them are not theirs.
    pub unplaced: HashSet<String>,
    /// Ids that look like a JSON object.
    pub objects: HashSet<String>,
}

/// Reads ids, types and placements.
pub(super) fn read(reader: &mut Reader<'_>, words: &Words, layers: &mut Layers) -> Result<Read> {
    // 0.2.0 has one table, 0.1 has two.
    let index = reader.cells(file::ENTITY_INDEX)?;
    let (index, types) = match index.rows() {
        0 => (reader.cells(file::ENTITY_TO_IDX)?, reader.cells(file::ENTITY_TYPES)?),
        _ => (index.clone(), index),
    };
    if index.rows() > 0 && index.raw(column::IDX).is_none() {
        return Err(index.missing(column::IDX));
    }
    let mut placed: HashMap<String, Vec<u32>> = HashMap::new();
    let presence = reader.cells(words.presence)?;
    let (ids, lists) = (presence.text(words.node_id)?, presence.lists(LAYER)?);
    for row in (0..presence.rows()).filter(|&row| ids.is_valid(row) && lists.is_valid(row)) {
        placed.entry(ids.value(row).to_owned()).or_default().push(layers.intern(&labels_of(&lists, row)));
    }
    let kinds = types.text(column::TYPE)?;
    let mut edges = HashSet::new();
    for (row, id) in types.text(column::ENTITY_ID)?.iter().enumerate().filter(|(row, _)| kinds.is_valid(*row)) {
        if matches!(kinds.value(row), word::EDGE | word::EDGE_ENTITY) {
            edges.extend(id.map(str::to_owned));
        }
    }
    let in_layer = |at: &u32| layers.labels(*at).iter().any(|label| label != word::NO_LAYER);
    let is_placed = |id: &String| placed.get(id).is_some_and(|at| at.iter().any(in_layer));
    let unplaced = edges.iter().filter(|id| !is_placed(id)).cloned().collect();
    let ids = match index.rows() {
        0 => StringArray::new_null(0),
        _ => index.ids(column::ENTITY_ID, &rules::ENTITY_ID)?,
    };
    let (positions, own) = (index.integers(column::IDX)?, index.lists(LAYER)?);
    let (mut of_id, mut of_layer, mut of_position, mut of_type) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..ids.len() {
        let id = ids.value(row);
        let mut at = placed.remove(id).unwrap_or_default();
        // The library wrote them in no order.
        at.sort_by(|left, right| layers.labels(*left).cmp(layers.labels(*right)));
        if at.is_empty() {
            at.push(if own.is_valid(row) { layers.intern(&labels_of(&own, row)) } else { PLACEHOLDER });
        }
        for layer in at {
            of_id.push(id);
            of_layer.push(i64::from(layer));
            of_position.push(positions.is_valid(row).then(|| positions.value(row)));
            of_type.push(if edges.contains(id) { word::EDGE_ENTITY } else { word::NODE });
        }
    }
    let table = table(vec![
        (column::ENTITY_ID, array(StringArray::from(of_id))),
        (column::LAYER_ID, array(Int64Array::from(of_layer))),
        (column::IDX, array(Int64Array::from(of_position))),
        (column::TYPE, array(StringArray::from(of_type))),
    ])?;
    let objects = ids.iter().flatten().filter(|id| id.starts_with('{')).map(str::to_owned).collect();
    Ok(Read { table, edges, unplaced, objects })
}
