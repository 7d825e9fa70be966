//! Files of 0.1.0 to 0.2.0, told in the tables of today.
//!
//! They have a table for each fact, name layers by their labels, and members by plain ids. What is read here becomes the
//! tables of the layout since 0.3, in memory; everything behind this module knows that one alone. Such files are small:
//! their library needed half a minute to write a million edges. What is held is taken from the budget before it is there:
//! a graph that is too large for it is refused.

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

/// Tables that are read whole, and the memory that they take.
struct Reader<'a> {
    members: &'a Members,
    budget: &'a Budget,
    held: Reservation,
}

impl Reader<'_> {
    /// All rows of a table; none when it is not there.
    fn cells(&mut self, name: &str) -> Result<Cells> {
        let Some(table) = Table::find(self.members, name)? else { return Ok(Cells::empty(name)) };
        let (cells, held) = table.read(&[], self.budget)?;
        self.hold(held.bytes(), name)?;
        Ok(cells)
    }

    /// Takes memory for something that follows from a file.
    fn hold(&mut self, bytes: u64, name: &str) -> Result<()> {
        self.held.grow(bytes).map_err(|error| error.at(Place::file(name)))
    }

    /// All rows of a table, and the row of each edge; of several the last one.
    fn facts(&mut self, name: &str) -> Result<Facts> {
        let cells = self.cells(name)?;
        self.hold(cells.rows() as u64 * ENTRY_BYTES, name)?;
        let ids = cells.text(column::EDGE_ID)?;
        let rows = ids.iter().enumerate().filter_map(|(row, id)| Some((hash(id?), row as u32))).collect();
        Ok(Facts { cells, rows })
    }
}

/// A table that says one thing of edges.
struct Facts {
    cells: Cells,
    rows: IdMap<u32>,
}

impl Facts {
    /// The row of an edge in which `column` says something.
    fn row(&self, edge: u128, column: &dyn Array) -> Option<usize> {
        self.rows.get(&edge).map(|row| *row as usize).filter(|row| column.is_valid(*row))
    }
}

/// A table of today.
fn table(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns)
        .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

/// Puts the tables of today in the place of those in `members`; returns the memory that they take.
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
    // All placements are in the index of entities now.
    members.hide(words.presence);
    members.make_text(file::LAYER_DICT, dictionary(&layers));
    Ok(held)
}

/// The layers as JSON, in the order of their numbers.
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

/// A column.
fn array<A: Array + 'static>(column: A) -> ArrayRef {
    Arc::new(column)
}
