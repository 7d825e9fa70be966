//! Sparse indexes of files: where records begin, every so many bytes. Files have none of their own; these are made when a
//! file is first asked, and kept in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Result;
use isomorph_storage::{Budget, Reservation};

use crate::cursor::Cursor;
use crate::read::Order;

/// Bytes between two records that an index knows.
const STEP: u64 = 16 << 10;

/// Files that are shorter than this are read from their begin, bytes.
const SMALL: u64 = 4 * STEP;

/// Where records begin in a file, with their first texts.
#[derive(Debug)]
pub(crate) struct Index {
    /// Ascending by text and by offset.
    entries: Vec<(String, u64)>,
    _memory: Reservation,
}

/// The indexes of the files of a snapshot, by their names.
#[derive(Debug, Default)]
pub(crate) struct Indexes(Mutex<HashMap<String, Arc<Index>>>);

impl Indexes {
    /// The index of the file called `name`, of so many bytes, made from a cursor over it if there is none; nothing for small
    /// files, and when the budget has no room.
    ///
    /// # Errors
    /// When the file is broken, or not in its order: then no record of it can be found by a search.
    pub(crate) fn get(
        &self,
        name: &str,
        size: u64,
        order: Order,
        budget: &Budget,
        cursor: impl FnOnce() -> Result<Cursor>,
    ) -> Result<Option<Arc<Index>>> {
        if size < SMALL {
            return Ok(None);
        }
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = known().get(name) {
            return Ok(Some(Arc::clone(index)));
        }
        let Some(index) = Index::build(cursor()?, order, budget)? else { return Ok(None) };
        let index = Arc::new(index);
        known().insert(name.to_owned(), Arc::clone(&index));
        Ok(Some(index))
    }
}

impl Index {
    fn build(mut cursor: Cursor, order: Order, budget: &Budget) -> Result<Option<Self>> {
        let Some(mut memory) = budget.try_reserve(0) else { return Ok(None) };
        let mut entries: Vec<(String, u64)> = Vec::new();
        let mut next = 0;
        loop {
            let offset = cursor.offset();
            if !cursor.advance()? {
                return Ok(Some(Index { entries, _memory: memory }));
            }
            if offset >= next {
                let text = cursor.triple.first(order);
                if !memory.try_grow((text.len() + 2 * size_of::<(String, u64)>()) as u64) {
                    return Ok(None);
                }
                entries.push((text.to_owned(), offset));
                next = offset + STEP;
            }
        }
    }

    /// Where to begin to look for records whose first text is `text`: behind it there may be some, before it there is none.
    pub(crate) fn begin(&self, text: &str) -> u64 {
        // Of equal texts the first may stand before the first known one.
        let at = self.entries.partition_point(|(known, _)| known.as_bytes() < text.as_bytes());
        at.checked_sub(1).and_then(|at| self.entries.get(at)).map_or(0, |(_, offset)| *offset)
    }
}
