//! Files of 0.1.0 to 0.2.0, converted to the current tables.
//!
//! They have one table for each fact, name layers by their labels, and members by plain ids. They are converted in
//! memory to the tables of the layout since 0.3; all other modules know only that layout. Such files are small: their
//! library needed half a minute to write a million edges. Memory is reserved in the budget before it is used, and a
//! graph that exceeds the budget is refused.

mod edges;
mod entities;
mod layers;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::json::push_string;
use isomorph_storage::{Budget, Reservation};

use crate::cells::Cells;
use crate::layout::{Words, column, file};
use crate::members::Members;
use crate::read::ids::{ENTRY_BYTES, IdMap};
use crate::read::{Layers, hash};
use crate::table::Table;

/// Tables that are read completely, and the memory that they take.
struct Reader<'a> {
    members: &'a Members,
    budget: &'a Budget,
    held: Reservation,
}

impl Reader<'_> {
    /// Reads all rows of a table; none if it does not exist.
    fn cells(&mut self, name: &str) -> Result<Cells> {
        let Some(table) = Table::find(self.members, name)? else { return Ok(Cells::empty(name)) };
        let (cells, held) = table.read(&[], self.budget)?;
        self.hold(held.bytes(), name)?;
        Ok(cells)
    }

    /// Reserves memory for data derived from a file.
    fn hold(&mut self, bytes: u64, name: &str) -> Result<()> {
        self.held.grow(bytes).map_err(|error| error.at(Place::file(name)))
    }

    /// Reads all rows of a table, and the row of each edge; if an edge has several rows, the last one.
    fn facts(&mut self, name: &str) -> Result<Facts> {
        let cells = self.cells(name)?;
        self.hold(cells.rows() as u64 * ENTRY_BYTES, name)?;
        let ids = cells.text(column::EDGE_ID)?;
        let rows = ids.iter().enumerate().filter_map(|(row, id)| Some((hash(id?), row as u32))).collect();
        Ok(Facts { cells, rows })
    }
}

/// A table that states one fact about edges.
struct Facts {
    cells: Cells,
    rows: IdMap<u32>,
}

impl Facts {
    /// Returns the row of an edge in which `column` has a value.
    fn row(&self, edge: u128, column: &dyn Array) -> Option<usize> {
        self.rows.get(&edge).map(|row| *row as usize).filter(|row| column.is_valid(*row))
    }
}

/// Builds a table of the current layout.
fn table(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns)
        .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

/// Replaces the tables in `members` with those of the current layout. Returns the memory that they take.
///
/// # Errors
/// Returns an error if a table is malformed or exceeds the budget.
pub(crate) fn translate(
    members: &mut Members,
    words: &Words,
    budget: &Budget,
    findings: &mut Findings,
) -> Result<Reservation> {
    let mut layers = Layers::new(Layers::aspects(members)?);
    let mut reader = Reader { members, budget, held: budget.reserve(0)? };
    let entities = entities::read(&mut reader, words, &mut layers, findings)?;
    let edge_layers = layers::of_edges(&mut reader, &mut layers)?;
    let hyperedges = reader.facts(file::HYPEREDGES)?;
    let edges = edges::read(&mut reader, &entities, &edge_layers, &hyperedges)?;
    let hyperedges = edges::hyperedges(&hyperedges.cells, &layers, &edge_layers, &entities.objects)?;
    let coefficients = layers::coefficients(&mut reader, &mut layers)?;
    let of_layers = layers::attributes(&mut reader, file::LAYER_ATTRIBUTES, None, &mut layers)?;
    let of_placements = layers::attributes(&mut reader, words.node_layer_attributes, Some(words.node_id), &mut layers)?;
    reader.hold(layers.bytes(), file::LAYER_DICT)?;
    let mut held = reader.held;
    let made = [
        (file::ENTITY_INDEX, entities.table),
        (file::EDGES, edges),
        (file::HYPEREDGES, hyperedges),
        (file::LAYER_ATTRIBUTES, of_layers),
        (words.node_layer_attributes, of_placements),
    ];
    for (name, table) in made.into_iter().chain(coefficients.map(|table| (file::COEFFICIENTS, table))) {
        held.grow(table.get_array_memory_size() as u64)?;
        members.make_table(name, table);
    }
    // All placements are now in the index of entities.
    members.hide(words.presence);
    members.make_text(file::LAYER_DICT, dictionary(&layers));
    Ok(held)
}

/// Returns the layers as JSON, in the order of their numbers.
fn dictionary(layers: &Layers) -> String {
    let mut text = "{\"layers\":[".to_owned();
    for layer in 0..layers.len() as u32 {
        text.push_str(if layer == 0 { "[" } else { ",[" });
        push_labels(&mut text, layers.labels(layer));
        text.push(']');
    }
    text.push_str("]}");
    text
}

fn push_labels(text: &mut String, labels: &[String]) {
    for (at, label) in labels.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_string(text, label);
    }
}

/// Returns an array as a column.
fn array<A: Array + 'static>(column: A) -> ArrayRef {
    Arc::new(column)
}
