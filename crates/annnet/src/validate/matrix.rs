//! Checks that the incidence matrix matches the graph. If the tables are complete, nothing else reads the matrix.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Float32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::Scratch;
use isomorph_tables::sort::{EdgeSorter, EdgeStream, SortOptions, SortedBatch, SortedEdges};

use crate::cache::implied;
use crate::layout::{Layout, file};
use crate::matrix::Arrays;
use crate::read::Class;
use crate::{Annnet, rules};

/// Entries that are read at a time.
const ENTRIES: u64 = 1 << 16;

/// Checks the matrix, if there is one: it can be read, its shape is the number of entities and of edges, no cell is
/// outside, and the cells match the tables.
///
/// # Errors
/// Returns an error if it cannot be read for another reason than that it is malformed.
pub(super) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    match matrix(annnet, findings) {
        Err(error) => match error.broken_rule() {
            Some(rule) => {
                findings.push(rule, error.message(), error.place().clone());
                Ok(())
            }
            None => Err(error),
        },
        checked => checked,
    }
}

fn group() -> Place {
    Place::file(format!("{}/zarr.json", file::INCIDENCE))
}

fn matrix(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let Some(arrays) = Arrays::open(&annnet.members)? else { return Ok(()) };
    let edges = annnet.edges.ids.count - annnet.edges.count(Class::Placeholder);
    // Rows are placements, or entities in the specification's layout; the libraries that write that layout state a
    // larger shape than necessary.
    let (rows, is_exact) = match annnet.layout {
        Layout::V1 => (annnet.entities.len() as u64, annnet.manifest.is_specified()),
        _ if annnet.layers.is_flat() => (annnet.entities.len() as u64, true),
        _ => (annnet.entities.placements.len() as u64, true),
    };
    let fits = match is_exact {
        true => arrays.shape == [rows, edges],
        false => arrays.shape[0] >= rows && arrays.shape[1] >= edges,
    };
    if !fits {
        let message = format!("the shape is {:?}, but the graph has {rows} entities and {edges} edges", arrays.shape);
        findings.push(&rules::MATRIX_SHAPE, message, group().in_field("shape"));
    }
    let scratch = annnet.options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let Some(stored) = stored(annnet, &arrays, &scratch, findings)? else { return Ok(()) };
    // In the libraries' own files of the layouts before 0.3, coefficients are stored only here, and self-loops
    // differ between releases. A matrix of another shape belongs to another graph, and any cell could differ.
    if fits && is_exact {
        let implied = implied(annnet, &annnet.options.budget, &scratch)?;
        compare(&implied, &stored, annnet.members.has(file::COEFFICIENTS)?, findings)?;
    }
    Ok(())
}

/// Returns the cells sorted by column and row, whatever their stored order; `None` if one is outside the shape, which
/// is a finding.
fn stored(annnet: &Annnet, arrays: &Arrays, scratch: &Scratch, findings: &mut Findings) -> Result<Option<SortedEdges>> {
    let budget = &annnet.options.budget;
    let schema = Arc::new(Schema::new(vec![Field::new("data", DataType::Float32, false)]));
    let options = SortOptions::new(budget, scratch).memory(budget.limit() / 4).payload(Arc::clone(&schema));
    let sorter = EdgeSorter::new(options)?;
    let mut values = Vec::new();
    let mut places = [Vec::new(), Vec::new()];
    for start in (0..arrays.len()).step_by(ENTRIES as usize) {
        let range = start..(start + ENTRIES).min(arrays.len());
        for ((array, end, what), own) in
            [(&arrays.row, arrays.shape[0], "row"), (&arrays.column, arrays.shape[1], "col")]
                .into_iter()
                .zip(&mut places)
        {
            let mut numbers = Vec::new();
            array.integers(range.clone(), &mut numbers)?;
            own.clear();
            for (at, number) in (start..).zip(&numbers) {
                let Some(number) = u64::try_from(*number).ok().filter(|number| *number < end) else {
                    let message = format!("{what} {number} is outside the shape {:?} of the matrix", arrays.shape);
                    findings.push(&rules::MATRIX, message, group().row(at).in_field(what));
                    return Ok(None);
                };
                own.push(number);
            }
        }
        values.clear();
        arrays.data.floats(range, &mut values)?;
        let data = Arc::new(Float32Array::from_iter_values(values.iter().map(|value| *value as f32)));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![data])
            .map_err(|error| Error::usage(error.to_string()).caused_by(error))?;
        let [rows, columns] = &places;
        sorter.push(columns, rows, Some(&batch), start)?;
    }
    sorter.finish().map(Some)
}

/// Checks that every cell of one is a cell of the other. Without `values`, the matrix is the source of the
/// coefficients: a cell may have any value or be missing, and only a cell without a member contradicts the tables.
fn compare(implied: &SortedEdges, stored: &SortedEdges, values: bool, findings: &mut Findings) -> Result<()> {
    let (mut implied, mut stored) = (Cells::of(implied)?, Cells::of(stored)?);
    let (mut wanted, mut found) = (implied.next()?, stored.next()?);
    loop {
        // A missing cell sorts after all others.
        let at = |cell: &Option<Cell>| cell.as_ref().map_or((u64::MAX, u64::MAX), |cell| cell.at);
        let (column, row) = at(&wanted).min(at(&found));
        let own = (at(&wanted) == (column, row)).then_some(&wanted).and_then(Option::as_ref);
        let other = (at(&found) == (column, row)).then_some(&found).and_then(Option::as_ref);
        let message = match (own, other) {
            (None, None) => return Ok(()),
            (None, Some(other)) if other.sum != 0.0 => Some(format!("is {}, but the tables imply none", other.sum)),
            (Some(own), None) if values && own.sum != 0.0 => {
                Some(format!("is missing, but the tables imply {}", own.sum))
            }
            (Some(own), Some(other)) if values && !own.allows(other.sum) => {
                Some(format!("is {}, but the tables imply {}", other.sum, own.sum))
            }
            _ => None,
        };
        if let Some(message) = message {
            let message = format!("the cell in row {row} and column {column} {message}");
            findings.push(&rules::MATRIX_CELL, message, group().in_field("data"));
        }
        let (is_wanted, is_found) = (own.is_some(), other.is_some());
        if is_wanted {
            wanted = implied.next()?;
        }
        if is_found {
            found = stored.next()?;
        }
    }
}

/// A cell, which may consist of several entries.
struct Cell {
    /// Column and row.
    at: (u64, u64),
    /// Sum of all entries, with 32 bits.
    sum: f32,
    /// Value of the first entry.
    first: f32,
    /// Number of entries.
    count: usize,
}

impl Cell {
    /// Returns whether a cell of the matrix may have this value. For an entity on several sides, the published library
    /// stores the sum of its coefficients, and reads the sum as the value of each side; a matrix that it wrote then has
    /// the value of one side.
    fn allows(&self, value: f32) -> bool {
        let is = |own: f32| own == value || (own.is_nan() && value.is_nan());
        is(self.sum) || (self.count > 1 && is(self.first))
    }
}

/// Combines sorted entries into cells.
struct Cells<'a> {
    stream: EdgeStream<'a>,
    batch: Option<SortedBatch>,
    next: usize,
}

impl<'a> Cells<'a> {
    fn of(sorted: &'a SortedEdges) -> Result<Self> {
        Ok(Cells { stream: sorted.stream()?, batch: None, next: 0 })
    }

    /// Returns the next entry without consuming it.
    fn peek(&mut self) -> Result<Option<((u64, u64), f32)>> {
        while self.batch.as_ref().is_none_or(|batch| self.next >= batch.aligned.len()) {
            let Some(batch) = self.stream.next_batch()? else { return Ok(None) };
            (self.batch, self.next) = (Some(batch), 0);
        }
        Ok(self.batch.as_ref().map(|batch| {
            let values = batch.payload.column(0).as_primitive::<Float32Type>();
            ((batch.aligned.value(self.next), batch.other.value(self.next)), values.value(self.next))
        }))
    }

    fn next(&mut self) -> Result<Option<Cell>> {
        let Some((at, first)) = self.peek()? else { return Ok(None) };
        let mut cell = Cell { at, sum: first, first, count: 1 };
        self.next += 1;
        while let Some((_, value)) = self.peek()?.filter(|(own, _)| *own == at) {
            cell.sum += value;
            cell.count += 1;
            self.next += 1;
        }
        Ok(Some(cell))
    }
}
