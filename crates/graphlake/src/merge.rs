//! The triples that live: files merged, equal triples collapsed, deleted ones left out.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use isomorph_error::Result;

use crate::cursor::Cursor;
use crate::read::Order;
use crate::triple::Triple;

/// One of the files that are merged.
struct Input {
    cursor: Cursor,
    order: Order,
    /// Version of the commit that added it.
    version: i64,
    tombstone: bool,
}

impl Ord for Input {
    /// The heap gives its greatest first: the smallest triple.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cursor.triple.compare(&self.cursor.triple, self.order)
    }
}

impl PartialOrd for Input {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Input {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Input {}

/// The living triples of one predicate in one graph, in order.
pub(crate) struct Merge {
    order: Order,
    naive: bool,
    inputs: BinaryHeap<Box<Input>>,
    triple: Triple,
}

impl Merge {
    /// Nothing yet. In `naive` reading, a triple that was deleted stays deleted.
    pub(crate) fn new(order: Order, naive: bool) -> Self {
        Merge { order, naive, inputs: BinaryHeap::new(), triple: Triple::default() }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// When its first record cannot be read.
    pub(crate) fn add(&mut self, mut cursor: Cursor, version: i64, tombstone: bool) -> Result<()> {
        if cursor.advance()? {
            self.inputs.push(Box::new(Input { cursor, order: self.order, version, tombstone }));
        }
        Ok(())
    }

    /// The next living triple.
    ///
    /// A triple lives if no file with a greater version than that of its newest copy deletes it: deletes of a commit come
    /// before its inserts.
    ///
    /// # Errors
    /// When a file cannot be read on.
    pub(crate) fn next(&mut self) -> Result<Option<&Triple>> {
        loop {
            let Some(mut top) = self.inputs.peek_mut() else { return Ok(None) };
            std::mem::swap(&mut self.triple, &mut top.cursor.triple);
            // The cursor compares with what it gave last.
            top.cursor.triple.clone_from(&self.triple);
            let (mut added, mut deleted) = (None, None);
            note(&top, &mut added, &mut deleted);
            forward(top)?;
            while let Some(top) = self.inputs.peek_mut() {
                if top.cursor.triple.compare(&self.triple, self.order) != Ordering::Equal {
                    break;
                }
                note(&top, &mut added, &mut deleted);
                forward(top)?;
            }
            let lives = match (added, deleted) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(added), Some(deleted)) => !self.naive && added >= deleted,
            };
            if lives {
                return Ok(Some(&self.triple));
            }
        }
    }
}

/// Remembers the newest copy and the newest deletion.
fn note(input: &Input, added: &mut Option<i64>, deleted: &mut Option<i64>) {
    let newest = if input.tombstone { deleted } else { added };
    *newest = Some(newest.map_or(input.version, |before: i64| before.max(input.version)));
}

/// Takes the first input to its next triple.
fn forward(mut top: PeekMut<'_, Box<Input>>) -> Result<()> {
    if !top.cursor.advance()? {
        PeekMut::pop(top);
    }
    Ok(())
}
