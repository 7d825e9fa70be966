//! The pairs of members of a hyperedge: each head with each tail; without direction, every two members.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Result};
use isomorph_tables::sort::{EdgeStream, SortedBatch};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::gather::{Is, at};
use crate::arrow_limits::narrow;
use crate::mapping::arrays::malformed;

/// A hyperedge and its members, as rows of `columns`.
#[derive(Default)]
pub(super) struct Group {
    /// The rows; `None` before the first hyperedge.
    pub columns: Option<RecordBatch>,
    /// The row of the hyperedge itself.
    pub own: u32,
    /// Rows of the heads, of the tails, and of the members of an undirected one: each end once.
    members: [Vec<u32>; 3],
    /// The next pair.
    next: (usize, usize),
}

impl Group {
    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        let [heads, tails, members] = self.members.each_ref().map(|rows| rows.len() as u64);
        // Row numbers of a batch have 32 bits, so that neither product exceeds 64 bits.
        (heads * tails).saturating_add(members * members.saturating_sub(1) / 2)
    }

    /// The rows of source and target of the next pair.
    pub fn next_pair(&mut self) -> Option<(u32, u32)> {
        let [heads, tails, members] = &self.members;
        loop {
            let (one, other) = self.next;
            self.next.1 += 1;
            match heads.get(one) {
                Some(head) => {
                    if let Some(tail) = tails.get(other) {
                        return Some((*head, *tail));
                    }
                }
                None => {
                    let one = one - heads.len();
                    let first = members.get(one)?;
                    if let Some(second) = members.get(one + 1 + other) {
                        return Some((*first, *second));
                    }
                }
            }
            self.next = (one + 1, 0);
        }
    }
}

/// Splits sorted rows into hyperedges.
pub(super) struct Groups<'a> {
    stream: EdgeStream<'a>,
    /// Rows of a hyperedge that may continue in the next batch.
    open: Vec<RecordBatch>,
    place: Option<(u64, u64)>,
    /// A batch, the ends of the hyperedges that end in it, last first, and the start of the next one.
    whole: Option<(RecordBatch, Vec<usize>, usize)>,
    seen: HashSet<(u8, u128)>,
    /// The current hyperedge.
    pub group: Group,
}

impl<'a> Groups<'a> {
    pub fn new(stream: EdgeStream<'a>) -> Self {
        let group = Group::default();
        Groups { stream, open: Vec::new(), place: None, whole: None, seen: HashSet::new(), group }
    }

    /// Moves to the next hyperedge. Returns whether there is one.
    ///
    /// # Errors
    /// If rows cannot be read back, or a member has no hyperedge.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            if let Some((columns, ends, start)) = &mut self.whole {
                if let Some(end) = ends.pop() {
                    let (columns, rows) = (columns.clone(), *start..end);
                    *start = end;
                    return self.set(columns, rows).map(|()| true);
                }
                self.whole = None;
            }
            let ended = match self.stream.next_batch()? {
                Some(batch) => self.add(&batch),
                None => std::mem::take(&mut self.open),
            };
            if let Some(first) = ended.first() {
                let columns = concat_batches(&first.schema(), &ended).map_err(malformed)?;
                let rows = 0..columns.num_rows();
                return self.set(columns, rows).map(|()| true);
            }
            if self.open.is_empty() && self.whole.is_none() {
                return Ok(false);
            }
        }
    }

    /// Adds the next rows. Returns the pieces of the previous hyperedge, if it has ended.
    fn add(&mut self, batch: &SortedBatch) -> Vec<RecordBatch> {
        let (first, second) = (batch.aligned.values(), batch.other.values());
        let place = |row: usize| (first[row], second[row]);
        let rows = first.len();
        let mut start = 0;
        if self.place.is_some_and(|open| open == place(0)) {
            start = (0..rows).find(|row| Some(place(*row)) != self.place).unwrap_or(rows);
            self.open.push(batch.payload.slice(0, start));
            if start == rows {
                return Vec::new();
            }
        }
        // All hyperedges except the last end here.
        let mut ends: Vec<usize> = (start + 1..rows).filter(|row| place(*row) != place(row - 1)).collect();
        let last = ends.last().copied().unwrap_or(start);
        ends.reverse();
        self.whole = Some((batch.payload.clone(), ends, start));
        self.place = Some(place(last));
        std::mem::replace(&mut self.open, vec![batch.payload.slice(last, rows - last)])
    }

    fn set(&mut self, columns: RecordBatch, rows: std::ops::Range<usize>) -> Result<()> {
        let is = columns.column(at::IS).as_primitive::<UInt8Type>();
        let (end, layer) = (columns.column(at::END), columns.column(at::LAYER));
        self.group.members.iter_mut().for_each(Vec::clear);
        self.group.next = (0, 0);
        self.seen.clear();
        let mut own = None;
        for row in rows {
            let what = is.value(row);
            if what == Is::Hyperedge as u8 {
                if own.replace(narrow(row)).is_some() {
                    return Err(Error::malformed("two hyperedges have the same key"));
                }
                continue;
            }
            // An end that occurs twice in a role counts once.
            if self.seen.insert((what, hash(end, layer, row))) {
                self.group.members[usize::from(what - Is::Head as u8)].push(narrow(row));
            }
        }
        self.group.own = own.ok_or_else(|| Error::malformed("a member refers to a hyperedge that does not exist"))?;
        self.group.columns = Some(columns);
        Ok(())
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
    // Keys of other types are not compared: each of them counts as a different end.
    numbers.or_else(signed).map_or(row as u128, u128::from)
}
