//! Row → key.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::OffsetBuffer;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_storage::{Budget, Scratch};

use super::column::{KeyColumn, KeyKind, integers};
use super::integers::{IntegerBuilder, Integers};
use super::prefix::Prefix;
use super::text::{TextBuilder, Texts};
use crate::sort::arrow_error;

/// The number of keys that are moved at a time.
pub(super) const BATCH: u64 = 1 << 16;

/// Collects the keys of nodes in the order of their rows.
pub struct RowKeysBuilder {
    budget: Budget,
    scratch: Scratch,
    memory: u64,
    store: Option<Building>,
}

enum Building {
    Text(TextBuilder),
    /// Texts that are a prefix and a number each, so far.
    Prefixed(Prefix, IntegerBuilder),
    Integers(KeyKind, IntegerBuilder),
}

impl RowKeysBuilder {
    /// Creates an empty collection. The keys stay in memory as long as they take at most `memory` bytes of the budget;
    /// after that they are written to a temporary file, which is mapped. Consecutive integers take no space, and neither do
    /// texts that are one prefix and consecutive numbers.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        RowKeysBuilder { budget: budget.clone(), scratch: scratch.clone(), memory, store: None }
    }

    /// Returns the number of keys.
    pub fn rows(&self) -> u64 {
        match &self.store {
            None => 0,
            Some(Building::Text(texts)) => texts.rows(),
            Some(Building::Prefixed(_, numbers) | Building::Integers(_, numbers)) => numbers.rows(),
        }
    }

    /// Returns the size of the stored keys, bytes.
    pub(super) fn bytes(&self) -> u64 {
        match &self.store {
            None => 0,
            Some(Building::Text(texts)) => texts.bytes(),
            Some(Building::Prefixed(_, numbers) | Building::Integers(_, numbers)) => numbers.bytes(),
        }
    }

    pub(super) fn is_spilled(&self) -> bool {
        match &self.store {
            None => false,
            Some(Building::Text(texts)) => texts.is_spilled(),
            Some(Building::Prefixed(_, numbers) | Building::Integers(_, numbers)) => numbers.is_spilled(),
        }
    }

    pub(super) fn spill(&mut self) -> Result<()> {
        match &mut self.store {
            None => Ok(()),
            Some(Building::Text(texts)) => texts.spill(),
            Some(Building::Prefixed(_, numbers) | Building::Integers(_, numbers)) => numbers.spill(),
        }
    }

    /// Appends keys: integers of any type, or texts, also from a dictionary.
    ///
    /// # Errors
    /// [`Kind::Malformed`](isomorph_error::Kind::Malformed) for a null, with its row;
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for other types, or for a type that cannot represent the
    /// earlier keys; [`Kind::NoSpace`](isomorph_error::Kind::NoSpace) and [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn push(&mut self, keys: &dyn Array) -> Result<()> {
        self.push_column(&KeyColumn::new(keys)?)
    }

    pub(super) fn push_column(&mut self, keys: &KeyColumn) -> Result<()> {
        keys.refuse_nulls(self.rows())?;
        let rows = self.rows();
        if keys.kind() == KeyKind::Text {
            return self.push_texts(keys, rows);
        }
        let (budget, scratch, memory) = (&self.budget, &self.scratch, self.memory);
        let store = self
            .store
            .get_or_insert_with(|| Building::Integers(keys.kind(), IntegerBuilder::new(budget, scratch, memory)));
        match store {
            Building::Integers(kind, numbers) => numbers.push(&same_kind(keys, *kind, rows)?),
            Building::Text(_) | Building::Prefixed(..) => Err(mixed(rows)),
        }
    }

    fn push_texts(&mut self, keys: &KeyColumn, rows: u64) -> Result<()> {
        let (budget, scratch, memory) = (&self.budget, &self.scratch, self.memory);
        if rows == 0
            && let None | Some(Building::Text(_)) = self.store
        {
            self.store = Some(match keys.texts().flatten().next().and_then(Prefix::of) {
                Some(prefix) => Building::Prefixed(prefix, IntegerBuilder::new(budget, scratch, memory)),
                None => Building::Text(TextBuilder::new(budget, scratch, memory)),
            });
        }
        if let Some(Building::Prefixed(prefix, numbers)) = &mut self.store {
            let read = keys.texts().flatten().map(|text| prefix.number(text)).collect::<Option<Vec<u64>>>();
            if let Some(read) = read {
                return numbers.push(&read);
            }
        }
        let is_prefixed = |store: &mut Building| matches!(store, Building::Prefixed(..));
        if let Some(Building::Prefixed(prefix, numbers)) = self.store.take_if(is_prefixed) {
            self.copy_texts(&RowKeys(Store::Prefixed(prefix, numbers.finish()?)))?;
        }
        match &mut self.store {
            Some(Building::Text(texts)) => texts.push(keys.texts().flatten()),
            _ => Err(mixed(rows)),
        }
    }

    /// Whether the keys are texts that are a prefix and a number each.
    pub(super) fn is_prefixed(&self) -> bool {
        matches!(self.store, Some(Building::Prefixed(..)))
    }

    /// Replaces everything by these keys, which are texts, as they are.
    ///
    /// # Errors
    /// Same as [`RowKeysBuilder::push`].
    pub(super) fn copy_texts(&mut self, keys: &RowKeys) -> Result<()> {
        let mut texts = TextBuilder::new(&self.budget, &self.scratch, self.memory);
        for first in (0..keys.rows()).step_by(index(BATCH)) {
            let batch = keys.range(first..keys.rows().min(first + BATCH))?;
            texts.push(KeyColumn::new(&batch)?.texts().flatten())?;
        }
        self.store = Some(Building::Text(texts));
        Ok(())
    }

    /// Returns the keys for reading.
    ///
    /// # Errors
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn finish(self) -> Result<RowKeys> {
        Ok(match self.store {
            Some(Building::Text(texts)) => RowKeys(Store::Text(texts.finish()?)),
            Some(Building::Prefixed(prefix, numbers)) => RowKeys(Store::Prefixed(prefix, numbers.finish()?)),
            Some(Building::Integers(kind, numbers)) => RowKeys(Store::Integers(kind, numbers.finish()?)),
            None => RowKeys(Store::Integers(KeyKind::Signed, Integers::Consecutive(0..0))),
        })
    }
}

/// Returns the keys as numbers of a kind that earlier keys have determined.
pub(super) fn same_kind(keys: &KeyColumn, kind: KeyKind, first_row: u64) -> Result<Vec<u64>> {
    match keys.ordinals(kind) {
        Some(ordinals) if ordinals.outside.is_empty() => Ok(ordinals.numbers.into_owned()),
        Some(ordinals) => Err(mixed(first_row + ordinals.outside.first().map_or(0, |at| *at as u64))),
        None => Err(mixed(first_row)),
    }
}

pub(super) fn mixed(row: u64) -> Error {
    Error::unsupported("the type of this key differs from that of earlier keys").at(Place::default().row(row))
}

fn too_much_text() -> Error {
    Error::new(Kind::TooLarge, "the keys of one batch take more than 2 GiB").hint("use a smaller batch")
}

/// The keys of nodes by row.
pub struct RowKeys(Store);

enum Store {
    Text(Texts),
    Prefixed(Prefix, Integers),
    Integers(KeyKind, Integers),
}

impl RowKeys {
    /// Returns the number of keys.
    pub fn rows(&self) -> u64 {
        match &self.0 {
            Store::Text(texts) => texts.rows(),
            Store::Prefixed(_, numbers) | Store::Integers(_, numbers) => numbers.rows(),
        }
    }

    /// Returns the type of the keys.
    pub fn kind(&self) -> KeyKind {
        match &self.0 {
            Store::Text(_) | Store::Prefixed(..) => KeyKind::Text,
            Store::Integers(kind, _) => *kind,
        }
    }

    /// Returns the keys of some rows, as `Utf8`, `Int64` or `UInt64`.
    ///
    /// # Errors
    /// [`Kind::Malformed`](isomorph_error::Kind::Malformed) for a row that does not exist, with its position in `rows`;
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if the texts take more than 2 GiB.
    pub fn gather(&self, rows: &[u64]) -> Result<ArrayRef> {
        self.collect(rows.iter().copied())
    }

    /// Returns the keys of consecutive rows, like [`RowKeys::gather`].
    ///
    /// # Errors
    /// Same as [`RowKeys::gather`].
    pub fn range(&self, rows: std::ops::Range<u64>) -> Result<ArrayRef> {
        self.collect(rows)
    }

    fn collect(&self, rows: impl Iterator<Item = u64>) -> Result<ArrayRef> {
        let expected = rows.size_hint().0;
        match &self.0 {
            Store::Integers(kind, numbers) => {
                let mut found = Vec::with_capacity(expected);
                for (at, row) in rows.enumerate() {
                    found.push(numbers.get(row).ok_or_else(|| self.missing(at, row))?);
                }
                Ok(integers(*kind, found))
            }
            Store::Text(texts) => spelled(rows, Vec::with_capacity(expected * texts.usual()), |at, row, bytes| {
                bytes.extend_from_slice(texts.get(row).ok_or_else(|| self.missing(at, row))?);
                Ok(())
            }),
            Store::Prefixed(prefix, numbers) => {
                spelled(rows, Vec::with_capacity(expected * prefix.usual()), |at, row, bytes| {
                    prefix.write(numbers.get(row).ok_or_else(|| self.missing(at, row))?, bytes);
                    Ok(())
                })
            }
        }
    }

    /// Returns the text of a row; `None` for integers, and for texts that are stored as numbers.
    #[inline]
    pub(super) fn text(&self, row: u64) -> Option<&[u8]> {
        match &self.0 {
            Store::Text(texts) => texts.get(row),
            Store::Prefixed(..) | Store::Integers(..) => None,
        }
    }

    /// Returns the numbers of integer keys, or those behind a prefix; `None` for other texts.
    pub(super) fn integers(&self) -> Option<&Integers> {
        match &self.0 {
            Store::Text(_) => None,
            Store::Prefixed(_, numbers) | Store::Integers(_, numbers) => Some(numbers),
        }
    }

    /// Returns the prefix of texts that are stored as numbers.
    pub(super) fn prefix(&self) -> Option<&Prefix> {
        match &self.0 {
            Store::Prefixed(prefix, _) => Some(prefix),
            Store::Text(_) | Store::Integers(..) => None,
        }
    }

    fn missing(&self, at: usize, row: u64) -> Error {
        let message = format!("row {row} does not exist, there are {} rows", self.rows());
        Error::malformed(message).at(Place::default().row(at as u64))
    }
}

/// Returns the texts of rows, each of which `write` appends to the bytes.
fn spelled(
    rows: impl Iterator<Item = u64>,
    mut bytes: Vec<u8>,
    mut write: impl FnMut(usize, u64, &mut Vec<u8>) -> Result<()>,
) -> Result<ArrayRef> {
    let mut ends = Vec::with_capacity(rows.size_hint().0 + 1);
    ends.push(0);
    for (at, row) in rows.enumerate() {
        write(at, row, &mut bytes)?;
        ends.push(i32::try_from(bytes.len()).map_err(|_| too_much_text())?);
    }
    let keys = StringArray::try_new(OffsetBuffer::new(ends.into()), bytes.into(), None);
    Ok(Arc::new(keys.map_err(arrow_error)?))
}
