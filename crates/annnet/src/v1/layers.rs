//! Layers by their labels, and their attributes.

use arrow_array::cast::AsArray;
use arrow_array::{Array, Int64Array, ListArray, RecordBatch, StringArray};
use isomorph_error::Result;

use super::entities::LAYER;
use super::{Reader, array, table};
use crate::layout::{column, file};
use crate::read::ids::{ENTRY_BYTES, IdMap};
use crate::read::{Layers, hash};

/// Layers of edges by the hashes of edge ids: one for all ends, or one for each side.
pub(super) type EdgeLayers = IdMap<(u32, Option<u32>)>;

/// Returns the labels in one row of a column.
pub(super) fn labels_of(lists: &ListArray, row: usize) -> Vec<String> {
    let labels = lists.value(row);
    labels.as_string::<i32>().iter().map(|label| label.unwrap_or_default().to_owned()).collect()
}

/// Reads the layers of each edge.
pub(super) fn of_edges(reader: &mut Reader<'_>, layers: &mut Layers) -> Result<EdgeLayers> {
    let cells = reader.cells(file::EDGE_LAYERS)?;
    let (ids, first, second) =
        (cells.text(column::EDGE_ID)?, cells.lists(column::LAYER_1)?, cells.lists(column::LAYER_2)?);
    let entry = ENTRY_BYTES + size_of::<(u32, Option<u32>)>() as u64;
    reader.hold(cells.rows() as u64 * entry, file::EDGE_LAYERS)?;
    let mut found = EdgeLayers::default();
    for row in (0..cells.rows()).filter(|&row| ids.is_valid(row) && first.is_valid(row)) {
        let own = layers.intern(&labels_of(&first, row));
        let other = second.is_valid(row).then(|| layers.intern(&labels_of(&second, row)));
        found.insert(hash(ids.value(row)), (own, other));
    }
    Ok(found)
}

/// Reads explicit coefficients. No published version stores them in a table; isomorph does when it writes the
/// specification's layout.
pub(super) fn coefficients(reader: &mut Reader<'_>, layers: &mut Layers) -> Result<Option<RecordBatch>> {
    let cells = reader.cells(file::COEFFICIENTS)?;
    if cells.raw(column::COEFFICIENT).is_none() {
        return Ok(None);
    }
    let lists = cells.lists(LAYER)?;
    let numbers = numbers(&lists, layers);
    table(vec![
        (column::EDGE_ID, array(cells.text(column::EDGE_ID)?)),
        (column::ENTITY_ID, array(cells.text(column::ENTITY_ID)?)),
        (column::LAYER_ID, array(numbers)),
        (column::COEFFICIENT, array(cells.floats(column::COEFFICIENT)?)),
    ])
    .map(Some)
}

/// Returns the numbers of a column of layers; null for nulls.
fn numbers(lists: &ListArray, layers: &mut Layers) -> Int64Array {
    let number = |row: usize| lists.is_valid(row).then(|| i64::from(layers.intern(&labels_of(lists, row))));
    (0..lists.len()).map(number).collect()
}

/// Converts a table of attributes by layer, and by node if the table names one.
pub(super) fn attributes(
    reader: &mut Reader<'_>,
    name: &str,
    node: Option<&str>,
    layers: &mut Layers,
) -> Result<RecordBatch> {
    let cells = reader.cells(name)?;
    let lists = cells.lists(LAYER)?;
    let numbers = numbers(&lists, layers);
    let mut columns =
        vec![(column::LAYER_ID, array(numbers)), (column::ATTRIBUTES, array(cells.text(column::ATTRIBUTES)?))];
    if let Some(node) = node {
        let nodes: StringArray = cells.text(node)?;
        columns.push((node, array(nodes)));
    }
    table(columns)
}
