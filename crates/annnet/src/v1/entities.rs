//! Entities and their placements.

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use isomorph_error::{Error, Findings, Place, Result};

use super::layers::labels_of;
use super::{Reader, array, table};
use crate::layout::{Words, column, file, word};
use crate::read::ids::{ENTRY_BYTES, IdMap};
use crate::read::{Layers, PLACEHOLDER, hash, unlisted};
use crate::rules;

/// The column with the labels of a layer.
pub(super) const LAYER: &str = column::LAYER;

/// The index of entities.
pub(super) struct Read {
    pub table: RecordBatch,
    /// Entities that are edges, by the hashes of their ids. True if the entity is placed in no layer: it then does not
    /// take the layers of the edges that end in it.
    pub edges: IdMap<bool>,
    /// Ids that look like a JSON object.
    pub objects: IdMap<()>,
}

/// Bytes that a placement takes: each entity has a short list.
const PLACEMENT_BYTES: u64 = ENTRY_BYTES + 40;

/// Reads ids, types and placements.
///
/// # Errors
/// Returns an error if no table lists the entities, a table is malformed, or they exceed the budget.
pub(super) fn read(
    reader: &mut Reader<'_>,
    words: &Words,
    layers: &mut Layers,
    findings: &mut Findings,
) -> Result<Read> {
    if !reader.members.has(file::ENTITY_INDEX)? && !reader.members.has(file::ENTITY_TO_IDX)? {
        return Err(Error::broken(&rules::MEMBER, "the file is missing").at(Place::file(file::ENTITY_TO_IDX)));
    }
    // 0.2.0 has one table, 0.1 has two.
    let index = reader.cells(file::ENTITY_INDEX)?;
    let (index, types) = match index.rows() {
        0 => (reader.cells(file::ENTITY_TO_IDX)?, reader.cells(file::ENTITY_TYPES)?),
        _ => (index.clone(), index),
    };
    if index.rows() > 0 && index.raw(column::IDX).is_none() {
        return Err(index.missing(column::IDX));
    }
    let mut placed: IdMap<Vec<u32>> = IdMap::default();
    let presence = reader.cells(words.presence)?;
    reader.hold(presence.rows() as u64 * PLACEMENT_BYTES, words.presence)?;
    let (present, lists) = (presence.text(words.node_id)?, presence.lists(LAYER)?);
    for row in (0..presence.rows()).filter(|&row| present.is_valid(row) && lists.is_valid(row)) {
        placed.entry(hash(present.value(row))).or_default().push(layers.intern(&labels_of(&lists, row)));
    }
    let kinds = types.text(column::TYPE)?;
    let in_layer = |at: &u32| layers.labels(*at).iter().any(|label| label != word::NO_LAYER);
    let is_placed = |id: u128| placed.get(&id).is_some_and(|at| at.iter().any(in_layer));
    reader.hold(types.rows() as u64 * ENTRY_BYTES, file::ENTITY_TYPES)?;
    let mut edges = IdMap::default();
    for (row, id) in types.text(column::ENTITY_ID)?.iter().enumerate().filter(|(row, _)| kinds.is_valid(*row)) {
        if matches!(kinds.value(row), word::EDGE | word::EDGE_ENTITY) {
            edges.extend(id.map(hash).map(|id| (id, !is_placed(id))));
        }
    }
    let ids = match index.rows() {
        0 => StringArray::new_null(0),
        _ => index.ids(column::ENTITY_ID, &rules::ENTITY_ID)?,
    };
    let (positions, own) = (index.integers(column::IDX)?, index.lists(LAYER)?);
    // Four columns, first as lists; an id and a type are references to texts.
    let placements = ids.len() as u64 + presence.rows() as u64;
    reader.hold(placements * 2 * (2 * size_of::<&str>() as u64 + 24), file::ENTITY_INDEX)?;
    let (mut of_id, mut of_layer, mut of_position, mut of_type) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..ids.len() {
        let id = ids.value(row);
        let mut at = placed.remove(&hash(id)).unwrap_or_default();
        // The library did not sort them.
        at.sort_by(|left, right| layers.labels(*left).cmp(layers.labels(*right)));
        if at.is_empty() {
            at.push(if own.is_valid(row) { layers.intern(&labels_of(&own, row)) } else { PLACEHOLDER });
        }
        for layer in at {
            of_id.push(id);
            of_layer.push(i64::from(layer));
            of_position.push(positions.is_valid(row).then(|| positions.value(row)));
            of_type.push(if edges.contains_key(&hash(id)) { word::EDGE_ENTITY } else { word::NODE });
        }
    }
    // The remaining ids are not entities.
    for (row, id) in present.iter().enumerate().filter(|_| !placed.is_empty()) {
        if let Some(id) = id.filter(|id| placed.contains_key(&hash(id))) {
            findings.push(&rules::LAYER, unlisted(id), Place::file(words.presence).row(row as u64));
        }
    }
    let table = table(vec![
        (column::ENTITY_ID, array(StringArray::from(of_id))),
        (column::LAYER_ID, array(Int64Array::from(of_layer))),
        (column::IDX, array(Int64Array::from(of_position))),
        (column::TYPE, array(StringArray::from(of_type))),
    ])?;
    let objects = ids.iter().flatten().filter(|id| id.starts_with('{')).map(|id| (hash(id), ())).collect();
    Ok(Read { table, edges, objects })
}
