//! The pairs of members of a hyperedge: each head with each tail, and each two members without a direction.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Result};
use isomorph_tables::sort::SortedBatch;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::gather::{Is, at};
use crate::mapping::reify::malformed;
use crate::narrow::narrow;

/// A hyperedge and its members, as rows of a batch.
pub(super) struct Group<'a> {
    /// The hyperedge's own row.
    pub own: u32,
    /// Rows of its heads, each end once.
    pub heads: &'a [u32],
    /// Of its tails.
    pub tails: &'a [u32],
    /// Of its members, of an undirected one.
    pub members: &'a [u32],
}

impl Group<'_> {
    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        let (heads, tails, members) = (self.heads.len() as u64, self.tails.len() as u64, self.members.len() as u64);
        // Rows of a batch are 32-bit numbers, so that neither product goes beyond 64 bits.
        (heads * tails).saturating_add(members * members.saturating_sub(1) / 2)
    }

    /// Gives the rows of source and target of each pair.
    ///
    /// # Errors
    /// As `take`.
    pub fn each(&self, mut take: impl FnMut(u32, u32) -> Result<()>) -> Result<()> {
        for head in self.heads {
            self.tails.iter().try_for_each(|tail| take(*head, *tail))?;
        }
        for (at, one) in self.members.iter().enumerate() {
            self.members.iter().skip(at + 1).try_for_each(|other| take(*one, *other))?;
        }
        Ok(())
    }
}

/// Cuts sorted rows into hyperedges.
#[derive(Default)]
pub(super) struct Grouping {
    /// Rows of a hyperedge that may go on in the next batch.
    open: Vec<RecordBatch>,
    place: Option<(u64, u64)>,
    seen: HashSet<(u8, u128)>,
    rows: [Vec<u32>; 3],
}

impl Grouping {
    /// Adds the next rows, and gives the hyperedges that end in them.
    ///
    /// # Errors
    /// When a member has no hyperedge, or `take` returns an error.
    pub fn add(
        &mut self,
        batch: SortedBatch,
        take: &mut dyn FnMut(&RecordBatch, &Group<'_>) -> Result<()>,
    ) -> Result<()> {
        let (first, second) = (batch.aligned.values(), batch.other.values());
        let place = |row: usize| (first[row], second[row]);
        let rows = first.len();
        let mut start = 0;
        if self.place.is_some_and(|open| open == place(0)) {
            start = (0..rows).find(|row| Some(place(*row)) != self.place).unwrap_or(rows);
            self.open.push(batch.payload.slice(0, start));
            if start == rows {
                return Ok(());
            }
        }
        self.finish(take)?;
        // All hyperedges but the last end here.
        let mut ends = Vec::new();
        for row in start + 1..rows {
            if place(row) != place(row - 1) {
                ends.push(row);
            }
        }
        for end in ends {
            self.give(&batch.payload, start..end, take)?;
            start = end;
        }
        self.place = Some(place(start));
        self.open.push(batch.payload.slice(start, rows - start));
        Ok(())
    }

    /// Gives the last hyperedge.
    ///
    /// # Errors
    /// As [`Grouping::add`].
    pub fn finish(&mut self, take: &mut dyn FnMut(&RecordBatch, &Group<'_>) -> Result<()>) -> Result<()> {
        let open = std::mem::take(&mut self.open);
        let Some(first) = open.first() else { return Ok(()) };
        let columns = concat_batches(&first.schema(), &open).map_err(malformed)?;
        self.give(&columns, 0..columns.num_rows(), take)
    }

    fn give(
        &mut self,
        columns: &RecordBatch,
        rows: std::ops::Range<usize>,
        take: &mut dyn FnMut(&RecordBatch, &Group<'_>) -> Result<()>,
    ) -> Result<()> {
        let is = columns.column(at::IS).as_primitive::<UInt8Type>();
        let (end, layer) = (columns.column(at::END), columns.column(at::LAYER));
        self.rows.iter_mut().for_each(Vec::clear);
        self.seen.clear();
        let mut own = None;
        for row in rows {
            let what = is.value(row);
            if what == Is::Hyperedge as u8 {
                if own.replace(narrow(row)).is_some() {
                    return Err(Error::malformed("two hyperedges have one key"));
                }
                continue;
            }
            // An end that is named twice in a role is in it once.
            if self.seen.insert((what, hash(end, layer, row))) {
                self.rows[usize::from(what - Is::Head as u8)].push(narrow(row));
            }
        }
        let own = own.ok_or_else(|| Error::malformed("a member is of a hyperedge that is not there"))?;
        let [heads, tails, members] = &self.rows;
        take(columns, &Group { own, heads, tails, members })
    }
}

/// The hash of an end with its layer.
fn hash(end: &ArrayRef, layer: &ArrayRef, row: usize) -> u128 {
    let labels = layer.as_list::<i32>();
    if labels.is_null(row) {
        return of_end(end, row);
    }
    let mut state = Xxh3::new();
    state.update(&of_end(end, row).to_le_bytes());
    let (labels, texts) = (labels.value_offsets(), labels.values().as_string::<i32>());
    for at in labels[row].as_usize()..labels[row + 1].as_usize() {
        let text = texts.value(at);
        state.update(&(text.len() as u64).to_le_bytes());
        state.update(text.as_bytes());
    }
    state.digest128()
}

fn of_end(end: &ArrayRef, row: usize) -> u128 {
    use arrow_array::types::{Int64Type, UInt64Type};
    if let Some(texts) = end.as_string_opt::<i32>() {
        return xxh3_128(texts.value(row).as_bytes());
    }
    let numbers = end.as_primitive_opt::<UInt64Type>().map(|numbers| numbers.value(row));
    let signed = || end.as_primitive_opt::<Int64Type>().map(|numbers| numbers.value(row).cast_unsigned());
    // Keys of other types are not looked into: each of them is another end.
    numbers.or_else(signed).map_or(row as u128, u128::from)
}
