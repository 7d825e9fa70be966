//! Ids that are repeated, and ends of edges that are no ids.
//!
//! [`IdsInOrder`] says in the pass that reads a file anyway whether all is sound; where it cannot, or something is wrong,
//! [`wrong_ids`] reads ids and ends again, and names what is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::Result;

use super::{ABSENT, BulkLookup, KeyRows, KeyRowsBuilder, Lookup, LookupOptions, SpilledKeys};
use crate::sort::{Sequence, arrow_error};

/// The most characters of an id that are shown.
const SHOWN: usize = 60;

/// Whether ids are unique and all ends are among them, as far as a single pass can say: if nodes come before their edges, all ids are texts
/// or all are integers, and the ids fit into memory.
pub struct IdsInOrder(State);

enum State {
    /// The ids so far, and whether they are texts.
    Ids(Box<KeyRowsBuilder>, Option<bool>),
    /// All ids, if no other follows.
    Ends(Box<KeyRows>, Vec<u64>),
    /// Something is wrong, or this pass cannot tell.
    Doubt,
}

impl IdsInOrder {
    /// Starts without ids.
    pub fn new(options: LookupOptions) -> Self {
        IdsInOrder(State::Ids(Box::new(KeyRowsBuilder::new(options)), None))
    }

    /// Adds ids: integers or texts, without nulls.
    ///
    /// # Errors
    /// Same as [`KeyRowsBuilder::push`].
    pub fn push_ids(&mut self, ids: &dyn Array) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let own = is_text(ids);
        if let State::Ids(builder, kind) = &mut self.0
            && *kind.get_or_insert(own) == own
        {
            return builder.push(ids);
        }
        self.doubt();
        Ok(())
    }

    /// Adds ends of edges, which must be among the ids that were added before.
    ///
    /// # Errors
    /// Same as [`KeyRowsBuilder::finish`].
    pub fn push_ends(&mut self, ends: &dyn Array) -> Result<()> {
        if matches!(self.0, State::Ids(..)) && !ends.is_empty() {
            self.begin_ends()?;
        }
        if let State::Ends(keys, rows) = &mut self.0 {
            rows.clear();
            let misses = keys.translate(ends, rows)?;
            if misses.not_found + misses.nulls > 0 {
                self.doubt();
            }
        }
        Ok(())
    }

    /// The pass cannot tell whether all is sound.
    pub fn doubt(&mut self) {
        self.0 = State::Doubt;
    }

    fn begin_ends(&mut self) -> Result<()> {
        let State::Ids(builder, _) = std::mem::replace(&mut self.0, State::Doubt) else { return Ok(()) };
        if let Lookup::Memory(keys) = builder.finish()?
            && keys.repeats().is_empty()
        {
            self.0 = State::Ends(Box::new(keys), Vec::new());
        }
        Ok(())
    }

    /// Returns whether ids are known to be unique, and all ends to be ids.
    ///
    /// # Errors
    /// Same as [`KeyRowsBuilder::finish`].
    pub fn finish(mut self) -> Result<bool> {
        if matches!(self.0, State::Ids(..)) {
            self.begin_ends()?;
        }
        Ok(matches!(self.0, State::Ends(..)))
    }
}

fn is_text(ids: &dyn Array) -> bool {
    matches!(ids.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..))
}

/// What [`wrong_ids`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The ids of all nodes, in the order of their rows.
    Ids,
    /// The ends of all edges, with the rows of the edges.
    Ends,
}

/// An id that an earlier node has too, or an end of an edge that no node has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrongId {
    /// The row of the node, or of the edge.
    pub row: u64,
    /// The row of the first node with this id; `None` for an end.
    pub first: Option<u64>,
    /// The id, shortened.
    pub id: String,
}

/// All that is wrong with ids and ends, by row.
#[derive(Debug, Default)]
pub struct WrongIds {
    /// The number of ids that an earlier node has too.
    pub repeats: u64,
    /// The first of them.
    pub repeated: Vec<WrongId>,
    /// The number of ends that no node has.
    pub losses: u64,
    /// The first of them.
    pub lost: Vec<WrongId>,
}

impl WrongIds {
    /// Returns whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.repeats + self.losses == 0
    }

    /// Returns whether every one is named.
    pub fn is_complete(&self) -> bool {
        self.repeats == self.repeated.len() as u64 && self.losses == self.lost.len() as u64
    }
}

/// Passes on columns of ids or ends, each with the rows of its elements.
pub type Take<'a> = dyn FnMut(Sequence<'_>, &dyn Array) -> Result<()> + 'a;

/// Finds ids that are repeated and ends that are no ids, and names up to `most` of each: of ids that do not fit into the memory of
/// `options`, only those with the lowest rows. `read` is called several times.
///
/// # Errors
/// Same as [`KeyRowsBuilder::push`], and errors of `read`.
pub fn wrong_ids(
    options: &LookupOptions,
    most: usize,
    mut read: impl FnMut(Asked, &mut Take<'_>) -> Result<()>,
) -> Result<WrongIds> {
    let mut builder = KeyRowsBuilder::new(options.clone());
    read(Asked::Ids, &mut |_, ids| builder.push(ids))?;
    let lookup = builder.finish()?;
    let mut found = WrongIds { repeats: lookup.repeats().count(), ..WrongIds::default() };
    if found.repeats > 0 {
        let known: BTreeMap<u64, u64> = lookup.repeats().shown().iter().map(|own| (own.row, own.first)).collect();
        let (mut start, mut rows) = (0, Vec::new());
        read(Asked::Ids, &mut |_, ids| {
            rows.clear();
            match &lookup {
                Lookup::Memory(keys) => {
                    keys.translate(ids, &mut rows)?;
                }
                Lookup::Spilled(_) => {
                    let all = start..start + ids.len() as u64;
                    rows.extend(all.map(|row| known.get(&row).copied().unwrap_or(row)));
                }
            }
            for (at, first) in rows.iter().enumerate() {
                let row = start + at as u64;
                if *first < row && found.repeated.len() < most {
                    found.repeated.push(WrongId { row, first: Some(*first), id: shown(ids, at) });
                }
            }
            start += ids.len() as u64;
            Ok(())
        })?;
    }
    match &lookup {
        Lookup::Memory(keys) => {
            let mut rows = Vec::new();
            read(Asked::Ends, &mut |sequence, ends| {
                rows.clear();
                let misses = keys.translate(ends, &mut rows)?;
                if misses.not_found + misses.nulls > 0 {
                    found.add_lost(&rows, most, |at| (row_at(sequence, at), shown(ends, at)));
                }
                Ok(())
            })?;
        }
        Lookup::Spilled(keys) => lost_among(keys, most, &mut read, &mut found)?,
    }
    found.lost.sort();
    Ok(found)
}

impl WrongIds {
    fn add_lost(&mut self, rows: &[u64], most: usize, mut named: impl FnMut(usize) -> (u64, String)) {
        for (at, _) in rows.iter().enumerate().filter(|(_, row)| **row == ABSENT) {
            self.losses += 1;
            if self.lost.len() < most {
                let (row, id) = named(at);
                self.lost.push(WrongId { row, first: None, id });
            }
        }
    }
}

/// Finds ends that are none of the ids in temporary files.
fn lost_among(
    keys: &SpilledKeys,
    most: usize,
    read: &mut dyn FnMut(Asked, &mut Take<'_>) -> Result<()>,
    found: &mut WrongIds,
) -> Result<()> {
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("row", DataType::UInt64, false),
        Field::new("id", DataType::Utf8, false),
    ]));
    let bulk = BulkLookup::new(keys, &schema)?;
    let mut pushed = 0;
    read(Asked::Ends, &mut |sequence, ends| {
        let rows: UInt64Array = (0..ends.len()).map(|at| row_at(sequence, at)).collect();
        let ids: StringArray = (0..ends.len()).map(|at| Some(shown(ends, at))).collect();
        let columns: Vec<ArrayRef> = vec![Arc::new(rows), Arc::new(ids)];
        let tags = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(arrow_error)?;
        bulk.add_probes(ends, &tags, pushed)?;
        pushed += ends.len() as u64;
        Ok(())
    })?;
    let answers = bulk.finish()?;
    let mut stream = answers.stream()?;
    while let Some(batch) = stream.next_batch()? {
        let rows = batch.tags.column(0).as_primitive::<UInt64Type>();
        let ids = batch.tags.column(1).as_string::<i32>();
        found.add_lost(&batch.rows, most, |at| (rows.value(at), ids.value(at).to_owned()));
    }
    Ok(())
}

fn row_at(sequence: Sequence<'_>, at: usize) -> u64 {
    match sequence {
        Sequence::From(first) => first + at as u64,
        Sequence::Each(rows) => rows.get(at).copied().unwrap_or(ABSENT),
    }
}

fn shown(ids: &dyn Array, at: usize) -> String {
    let text = array_value_to_string(ids, at).unwrap_or_default();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text,
    }
}
