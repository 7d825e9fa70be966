//! Key → row, in memory.

use arrow_array::Array;
use isomorph_error::Result;
use isomorph_storage::Reservation;

use super::column::{KeyColumn, KeyKind};
use super::ordered::{Direct, Sorted};
use super::prefix::Prefix;
use super::repeats::Repeats;
use super::row_keys::RowKeys;
use super::table::Table;
use super::{ABSENT, Misses};

/// The row of every key of a node type, in memory.
pub struct KeyRows {
    pub(super) kind: KeyKind,
    pub(super) rows: u64,
    /// What texts have in front of the numbers that the index has.
    pub(super) prefix: Option<Prefix>,
    pub(super) index: Index,
    pub(super) repeats: Repeats,
    pub(super) _memory: Reservation,
}

/// The index by which rows are found.
pub(super) enum Index {
    /// The keys are consecutive from this one on, in the order of the rows.
    Consecutive(u64),
    Direct(Direct),
    Sorted(Sorted),
    Table(Table, RowKeys),
}

impl KeyRows {
    /// Returns the number of keys, including repeated ones.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the type of the keys.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the keys that occur more than once. They refer to their first row.
    pub fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// Appends the row of each key to `rows`: [`ABSENT`] for a null and for a key that is not found. Several threads may
    /// translate concurrently.
    ///
    /// # Errors
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) if the keys are neither integers nor texts.
    pub fn translate(&self, keys: &dyn Array, rows: &mut Vec<u64>) -> Result<Misses> {
        let keys = KeyColumn::new(keys)?;
        let mut misses = Misses::default();
        rows.reserve(keys.len());
        match &self.index {
            Index::Table(table, own) => {
                if keys.kind() != KeyKind::Text {
                    misses.add_all(keys.array(), rows);
                    return Ok(misses);
                }
                table.find(own, keys.texts(), |text, row| rows.push(misses.note(text.is_none(), row)));
            }
            Index::Consecutive(first) => {
                let row = |number: u64| number.checked_sub(*first).filter(|row| *row < self.rows);
                self.numbers(&keys, rows, &mut misses, row);
            }
            Index::Direct(direct) => self.numbers(&keys, rows, &mut misses, |number| direct.get(number)),
            Index::Sorted(sorted) => self.numbers(&keys, rows, &mut misses, |number| sorted.get(number)),
        }
        Ok(misses)
    }

    fn numbers(&self, keys: &KeyColumn, rows: &mut Vec<u64>, misses: &mut Misses, row: impl Fn(u64) -> Option<u64>) {
        if let Some(prefix) = self.prefix.as_ref().filter(|_| keys.kind() == KeyKind::Text) {
            let of = |text: Option<&[u8]>| (text.is_none(), text.and_then(|text| row(prefix.number(text)?)));
            rows.extend(keys.texts().map(of).map(|(null, row)| misses.note(null, row)));
            return;
        }
        let Some(ordinals) = keys.ordinals(self.kind) else {
            misses.add_all(keys.array(), rows);
            return;
        };
        let numbers = ordinals.numbers.iter();
        if ordinals.outside.is_empty() && keys.array().null_count() == 0 {
            rows.extend(numbers.map(|number| misses.note(false, row(*number))));
            return;
        }
        let mut outside = ordinals.outside.iter().peekable();
        rows.extend(numbers.enumerate().map(|(at, number)| {
            let inside = outside.next_if(|outside| **outside == at).is_none();
            let null = keys.array().is_null(at);
            misses.note(null, if inside && !null { row(*number) } else { None })
        }));
    }
}

impl Misses {
    /// Counts a look-up and returns the row to report.
    #[inline]
    pub(super) fn note(&mut self, null: bool, row: Option<u64>) -> u64 {
        let at = self.looked_up;
        self.looked_up += 1;
        if let Some(row) = row {
            return row;
        }
        let (count, first) = if null {
            (&mut self.nulls, &mut self.first_null)
        } else {
            (&mut self.not_found, &mut self.first_not_found)
        };
        *count += 1;
        first.get_or_insert(at);
        ABSENT
    }

    fn add_all(&mut self, keys: &dyn Array, rows: &mut Vec<u64>) {
        rows.extend((0..keys.len()).map(|at| self.note(keys.is_null(at), None)));
    }
}
