//! Row → key.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::OffsetBuffer;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Budget, Scratch};

use super::column::{KeyColumn, KeyKind, integers};
use super::integers::{IntegerBuilder, Integers};
use super::text::{TextBuilder, Texts};
use crate::sort::arrow_error;

/// Collects the keys of nodes in the order of their rows.
pub struct RowKeysBuilder {
    budget: Budget,
    scratch: Scratch,
    memory: u64,
    store: Option<Building>,
}

enum Building {
    Text(TextBuilder),
    Integers(KeyKind, IntegerBuilder),
}

impl RowKeysBuilder {
    /// Creates an empty collection. The keys stay in memory as long as they take at most `memory` bytes of the budget;
    /// after that they are written to a temporary file, which is mapped. Consecutive integers take no space.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        RowKeysBuilder { budget: budget.clone(), scratch: scratch.clone(), memory, store: None }
    }

    /// Returns the number of keys.
    pub fn rows(&self) -> u64 {
        match &self.store {
            None => 0,
            Some(Building::Text(texts)) => texts.rows(),
            Some(Building::Integers(_, numbers)) => numbers.rows(),
        }
    }

    /// Returns the size of the stored keys, bytes.
    pub(super) fn bytes(&self) -> u64 {
        match &self.store {
            None => 0,
            Some(Building::Text(texts)) => texts.bytes(),
            Some(Building::Integers(_, numbers)) => numbers.bytes(),
        }
    }

    pub(super) fn is_spilled(&self) -> bool {
        match &self.store {
            None => false,
            Some(Building::Text(texts)) => texts.is_spilled(),
            Some(Building::Integers(_, numbers)) => numbers.is_spilled(),
        }
    }

    pub(super) fn spill(&mut self) -> Result<()> {
        match &mut self.store {
            None => Ok(()),
            Some(Building::Text(texts)) => texts.spill(),
            Some(Building::Integers(_, numbers)) => numbers.spill(),
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
        let (budget, scratch, memory) = (&self.budget, &self.scratch, self.memory);
        let store = match &mut self.store {
            Some(store) => store,
            empty => empty.insert(match keys.kind() {
                KeyKind::Text => Building::Text(TextBuilder::new(budget, scratch, memory)),
                kind => Building::Integers(kind, IntegerBuilder::new(budget, scratch, memory)),
            }),
        };
        match store {
            Building::Text(texts) if keys.kind() == KeyKind::Text => texts.push(keys.texts().flatten()),
            Building::Integers(kind, numbers) => numbers.push(&same_kind(keys, *kind, rows)?),
            Building::Text(_) => Err(mixed(rows)),
        }
    }

    /// Returns the keys for reading.
    ///
    /// # Errors
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn finish(self) -> Result<RowKeys> {
        Ok(match self.store {
            Some(Building::Text(texts)) => RowKeys(Store::Text(texts.finish()?)),
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
    Integers(KeyKind, Integers),
}

impl RowKeys {
    /// Returns the number of keys.
    pub fn rows(&self) -> u64 {
        match &self.0 {
            Store::Text(texts) => texts.rows(),
            Store::Integers(_, numbers) => numbers.rows(),
        }
    }

    /// Returns the type of the keys.
    pub fn kind(&self) -> KeyKind {
        match &self.0 {
            Store::Text(_) => KeyKind::Text,
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
            Store::Text(texts) => {
                let mut ends = Vec::with_capacity(expected + 1);
                let mut bytes = Vec::new();
                ends.push(0);
                for (at, row) in rows.enumerate() {
                    bytes.extend_from_slice(texts.get(row).ok_or_else(|| self.missing(at, row))?);
                    ends.push(i32::try_from(bytes.len()).map_err(|_| too_much_text())?);
                }
                let keys = StringArray::try_new(OffsetBuffer::new(ends.into()), bytes.into(), None);
                Ok(Arc::new(keys.map_err(arrow_error)?))
            }
        }
    }

    /// Returns the text of a row; `None` for integers.
    #[inline]
    pub(super) fn text(&self, row: u64) -> Option<&[u8]> {
        match &self.0 {
            Store::Text(texts) => texts.get(row),
            Store::Integers(..) => None,
        }
    }

    /// Returns the numbers of integer keys; `None` for texts.
    pub(super) fn integers(&self) -> Option<&Integers> {
        match &self.0 {
            Store::Text(_) => None,
            Store::Integers(_, numbers) => Some(numbers),
        }
    }

    fn missing(&self, at: usize, row: u64) -> Error {
        let message = format!("row {row} does not exist, there are {} rows", self.rows());
        Error::malformed(message).at(Place::default().row(at as u64))
    }
}
