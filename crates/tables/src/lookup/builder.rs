//! Builds key → row look-ups: in memory if possible, otherwise for bulk look-ups.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Result, index};
use isomorph_storage::Reservation;

use super::Lookup;
use super::column::{KeyColumn, KeyKind};
use super::key_rows::{Index, KeyRows};
use super::options::LookupOptions;
use super::ordered::{Direct, MAX_ROWS, Sorted};
use super::repeats::{Repeat, Repeats};
use super::row_keys::{BATCH, RowKeys, RowKeysBuilder, mixed, same_kind};
use super::spilled::{SpilledKeys, text_ordinal};
use super::table::Table;
use crate::sort::{EdgeSorter, SortedEdges, arrow_error};

/// Collects the keys of a node type in the order of their rows.
pub struct KeyRowsBuilder {
    options: LookupOptions,
    /// The keys in memory; empty after they are spilled.
    keys: RowKeysBuilder,
    /// The destination of keys that do not fit into memory. It exists from the first key on, because it reserves the memory
    /// that it will need.
    sorter: Option<(KeyKind, EdgeSorter)>,
    spilled: bool,
    rows: u64,
}

impl KeyRowsBuilder {
    /// Creates an empty builder.
    pub fn new(options: LookupOptions) -> Self {
        // The sorter takes up to a quarter for itself.
        let keys = RowKeysBuilder::new(&options.budget, &options.scratch, options.memory - options.memory / 4);
        KeyRowsBuilder { options, keys, sorter: None, spilled: false, rows: 0 }
    }

    /// Returns the number of keys.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds the keys of the next rows: integers of any type, or texts, also from a dictionary.
    ///
    /// # Errors
    /// [`Kind::Malformed`](isomorph_error::Kind::Malformed) for a null, with its row;
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for other types, or for a type that cannot represent the
    /// earlier keys; [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if the budget is too small even for spilling;
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace) and [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn push(&mut self, keys: &dyn Array) -> Result<()> {
        let keys = KeyColumn::new(keys)?;
        let (kind, sorter) = match &self.sorter {
            Some((kind, sorter)) => (*kind, sorter),
            None => {
                let sorter = EdgeSorter::new(self.options.sort(stored(keys.kind())))?;
                let (kind, sorter) = self.sorter.insert((keys.kind(), sorter));
                (*kind, &*sorter)
            }
        };
        if self.spilled {
            keys.refuse_nulls(self.rows)?;
            sort(sorter, kind, &keys, self.rows)?;
        } else {
            self.keys.push_column(&keys)?;
            if self.keys.is_spilled() {
                self.spill()?;
            }
        }
        self.rows += keys.len() as u64;
        Ok(())
    }

    /// Moves the keys to the sorter, which spills them to temporary files.
    fn spill(&mut self) -> Result<()> {
        let (budget, scratch) = (&self.options.budget, &self.options.scratch);
        let mut keys = std::mem::replace(&mut self.keys, RowKeysBuilder::new(budget, scratch, 0));
        keys.spill()?;
        self.spilled = true;
        match &self.sorter {
            Some((kind, sorter)) => drain(&keys.finish()?, *kind, sorter),
            None => Ok(()),
        }
    }

    /// Returns the look-up.
    ///
    /// # Errors
    /// Same as [`KeyRowsBuilder::push`].
    pub fn finish(mut self) -> Result<Lookup> {
        let rows = self.rows;
        if !self.spilled
            && self.keys.is_prefixed()
            && let Some(lookup) = self.prefixed()?
        {
            return Ok(lookup);
        }
        if !self.spilled && self.sorter.as_ref().is_some_and(|(kind, _)| *kind == KeyKind::Text) {
            let room = self.options.memory.saturating_sub(self.keys.bytes());
            match reserve(&self.options, Table::bytes(rows), rows, room) {
                Some(memory) => return self.table(memory),
                None => self.spill()?,
            }
        }
        let (kind, sorter) = match self.sorter.take() {
            Some(sorter) => sorter,
            None => return nothing(&self.options),
        };
        if !self.spilled {
            let keys = self.keys.finish()?;
            let mut repeats = Repeats::default();
            if let Some((index, memory)) = unsorted_index(&self.options, &keys, &mut repeats)? {
                return Ok(Lookup::Memory(KeyRows { kind, rows, prefix: None, index, repeats, _memory: memory }));
            }
            drain(&keys, kind, &sorter)?;
        }
        let sorted = sorter.finish()?;
        if kind != KeyKind::Text
            && let Some(memory) = reserve(&self.options, Sorted::bytes(rows, true), rows, self.options.memory)
        {
            let mut repeats = Repeats::default();
            let index = Index::Sorted(sorted_index(&sorted, &mut repeats)?);
            return Ok(Lookup::Memory(KeyRows { kind, rows, prefix: None, index, repeats, _memory: memory }));
        }
        Ok(Lookup::Spilled(SpilledKeys::new(sorted, kind, rows, self.options)?))
    }

    fn table(self, memory: Reservation) -> Result<Lookup> {
        let keys = self.keys.finish()?;
        let mut repeats = Repeats::default();
        let table = Table::new(&keys, &mut repeats);
        let index = Index::Table(table, keys);
        let (kind, prefix) = (KeyKind::Text, None);
        Ok(Lookup::Memory(KeyRows { kind, rows: self.rows, prefix, index, repeats, _memory: memory }))
    }

    /// Returns a look-up of texts by their numbers. If these suit no index, the texts are kept, and there is none.
    fn prefixed(&mut self) -> Result<Option<Lookup>> {
        let (budget, scratch) = (&self.options.budget, &self.options.scratch);
        let memory = self.options.memory - self.options.memory / 4;
        let keys = std::mem::replace(&mut self.keys, RowKeysBuilder::new(budget, scratch, memory)).finish()?;
        let mut repeats = Repeats::default();
        if let Some((index, memory)) = unsorted_index(&self.options, &keys, &mut repeats)? {
            let (kind, prefix) = (KeyKind::Text, keys.prefix().cloned());
            return Ok(Some(Lookup::Memory(KeyRows {
                kind,
                rows: self.rows,
                prefix,
                index,
                repeats,
                _memory: memory,
            })));
        }
        self.keys.copy_texts(&keys)?;
        if self.keys.is_spilled() {
            self.spill()?;
        }
        Ok(None)
    }
}

/// Returns a look-up without keys.
fn nothing(options: &LookupOptions) -> Result<Lookup> {
    Ok(Lookup::Memory(KeyRows {
        kind: KeyKind::Signed,
        rows: 0,
        prefix: None,
        index: Index::Consecutive(0),
        repeats: Repeats::default(),
        _memory: options.budget.reserve(0)?,
    }))
}

/// Reserves memory for an index over `rows` rows, if it needs at most `room` and the budget has it.
fn reserve(options: &LookupOptions, bytes: u64, rows: u64, room: u64) -> Option<Reservation> {
    if rows < MAX_ROWS && bytes <= room { options.budget.try_reserve(bytes) } else { None }
}

/// Returns an index over integers that works without sorting, if there is a suitable one and enough memory.
fn unsorted_index(
    options: &LookupOptions,
    keys: &RowKeys,
    repeats: &mut Repeats,
) -> Result<Option<(Index, Reservation)>> {
    let Some(numbers) = keys.integers() else { return Ok(None) };
    if let Some(first) = numbers.consecutive_from() {
        return Ok(Some((Index::Consecutive(first), options.budget.reserve(0)?)));
    }
    let rows = keys.rows();
    let (mut least, mut greatest, mut ascending, mut last) = (u64::MAX, 0, true, None);
    for number in numbers.iter() {
        least = least.min(number);
        greatest = greatest.max(number);
        ascending &= last.is_none_or(|last| last < number);
        last = Some(number);
    }
    if let Some(bytes) = Direct::bytes(least, greatest, rows)
        && let Some(memory) = reserve(options, bytes, rows, options.memory)
    {
        return Ok(Some((Index::Direct(Direct::new(numbers.iter(), least, greatest, repeats)), memory)));
    }
    if ascending && let Some(memory) = reserve(options, Sorted::bytes(rows, false), rows, options.memory) {
        return Ok(Some((Index::Sorted(Sorted::new(numbers.iter().collect(), None)), memory)));
    }
    Ok(None)
}

/// Returns an index over sorted integers.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 rows, as `reserve` checks")]
fn sorted_index(sorted: &SortedEdges, repeats: &mut Repeats) -> Result<Sorted> {
    let expected = usize::try_from(sorted.rows()).unwrap_or(0);
    let (mut numbers, mut rows) = (Vec::with_capacity(expected), Vec::<u32>::with_capacity(expected));
    for batch in sorted.stream()? {
        let batch = batch?;
        for (number, row) in batch.aligned.values().iter().zip(batch.other.values().iter()) {
            match (numbers.last(), rows.last()) {
                (Some(last), Some(first)) if last == number => {
                    repeats.add(Repeat { row: *row, first: u64::from(*first) });
                }
                _ => {
                    numbers.push(*number);
                    rows.push(*row as u32);
                }
            }
        }
    }
    Ok(Sorted::new(numbers, Some(rows)))
}

/// The columns stored for each key in addition to its number and its row.
fn stored(kind: KeyKind) -> SchemaRef {
    let fields = match kind {
        KeyKind::Text => vec![Field::new("key", DataType::Utf8, false)],
        KeyKind::Signed | KeyKind::Unsigned => Vec::new(),
    };
    Arc::new(Schema::new(fields))
}

/// Pushes keys without nulls.
fn sort(sorter: &EdgeSorter, kind: KeyKind, keys: &KeyColumn, first_row: u64) -> Result<()> {
    let rows: Vec<u64> = (first_row..first_row + keys.len() as u64).collect();
    match (kind, keys.kind()) {
        (KeyKind::Text, KeyKind::Text) => {
            let ordinals: Vec<u64> = keys.texts().flatten().map(text_ordinal).collect();
            let column = keys.utf8()?;
            let columns = RecordBatch::try_new(stored(kind), vec![column]).map_err(arrow_error)?;
            sorter.push(&ordinals, &rows, Some(&columns), first_row)
        }
        (KeyKind::Text, _) => Err(mixed(first_row)),
        _ => sorter.push(&same_kind(keys, kind, first_row)?, &rows, None, first_row),
    }
}

/// Pushes collected keys.
fn drain(keys: &RowKeys, kind: KeyKind, sorter: &EdgeSorter) -> Result<()> {
    for first in (0..keys.rows()).step_by(index(BATCH)) {
        let batch = keys.range(first..keys.rows().min(first + BATCH))?;
        sort(sorter, kind, &KeyColumn::new(&batch)?, first)?;
    }
    Ok(())
}
