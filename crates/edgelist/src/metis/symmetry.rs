//! Finds an edge that its two vertices state differently.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::PackedFile;
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use super::Metis;
use crate::grammar::{Cell, End, Grammar, Item, State};
use crate::pieces::Pieces;
use crate::python::Value;

/// Sorts all mentions of edges, and describes the first edge that is not stated equally at both ends.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn contradiction(
    file: &PackedFile,
    metis: &Metis,
    (budget, scratch): (&Budget, &Scratch),
) -> Result<String> {
    let schema = Arc::new(Schema::new(vec![Field::new("weight", DataType::Int64, false)]));
    let options = SortOptions::new(budget, scratch).payload(Arc::clone(&schema)).memory(budget.available() / 4);
    let sorter = EdgeSorter::new(options)?;
    let (mut pieces, mut state, mut pushed) = (Pieces::of(file)?, State::default(), 0);
    while let Some(piece) = pieces.next()? {
        let (mut lower, mut upper, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let read = metis.read(&piece, &state, &mut |_, item| {
            if let Item::Edge(End::Row(own), End::Row(other), _, cells) = item
                && own != other
            {
                lower.push(own.min(other));
                upper.push(2 * own.max(other) + u64::from(own > other));
                weights.push(match cells.first() {
                    Some((_, Cell::Value(Value::Int(weight)))) => *weight,
                    _ => 0,
                });
            }
            Ok(())
        });
        read.and_then(|()| metis.skip(&piece, &mut state)).map_err(|wrong| wrong.in_piece(&piece, file))?;
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(weights))];
        let payload =
            RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|e| Error::malformed(e.to_string()))?;
        sorter.push(&lower, &upper, Some(&payload), pushed)?;
        pushed += lower.len() as u64;
    }
    let sorted = sorter.finish()?;
    let mut current: Option<(u64, u64)> = None;
    let mut sides: [Vec<i64>; 2] = Default::default();
    for batch in sorted.stream()? {
        let batch = batch?;
        let weights = batch.payload.column(0).as_primitive::<Int64Type>();
        for row in 0..batch.aligned.len() {
            let pair = (batch.aligned.value(row), batch.other.value(row) / 2);
            if current != Some(pair) {
                if let Some(message) = current.and_then(|pair| difference(pair, &mut sides)) {
                    return Ok(message);
                }
                current = Some(pair);
            }
            sides[usize::from(batch.other.value(row) % 2 == 1)].push(weights.value(row));
        }
    }
    let last = current.and_then(|pair| difference(pair, &mut sides));
    Ok(last.unwrap_or_else(|| "an edge is not stated equally at both of its vertices".to_owned()))
}

/// Describes how the vertices of a pair state their edges differently, and forgets the edges.
fn difference((lower, upper): (u64, u64), sides: &mut [Vec<i64>; 2]) -> Option<String> {
    let [mut at_lower, mut at_upper] = std::mem::take(sides);
    at_lower.sort_unstable();
    at_upper.sort_unstable();
    let (lower, upper) = (lower + 1, upper + 1);
    match at_lower.len().cmp(&at_upper.len()) {
        std::cmp::Ordering::Greater => {
            Some(format!("vertex {lower} has the neighbour {upper}, which does not have the neighbour {lower}"))
        }
        std::cmp::Ordering::Less => {
            Some(format!("vertex {upper} has the neighbour {lower}, which does not have the neighbour {upper}"))
        }
        std::cmp::Ordering::Equal if at_lower == at_upper => None,
        std::cmp::Ordering::Equal => {
            let (one, other) = at_lower.iter().zip(&at_upper).find(|(one, other)| one != other)?;
            Some(format!("the edge between {lower} and {upper} has weight {one} at {lower}, and {other} at {upper}"))
        }
    }
}
