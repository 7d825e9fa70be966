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
    /// Whether the order of the whole file is known to hold, so that nothing that is looked for stands behind what is greater.
    tried: bool,
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
    /// The only first text that is wanted.
    only: Option<String>,
    inputs: BinaryHeap<Box<Input>>,
    triple: Triple,
}

impl Merge {
    /// Nothing yet. In `naive` reading, a triple that was deleted stays deleted.
    pub(crate) fn new(order: Order, naive: bool) -> Self {
        Merge { order, naive, only: None, inputs: BinaryHeap::new(), triple: Triple::default() }
    }

    /// The same for triples whose first text is `key`.
    pub(crate) fn only(order: Order, naive: bool, key: &str) -> Self {
        Merge { only: Some(key.to_owned()), ..Merge::new(order, naive) }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// When its first record cannot be read.
    pub(crate) fn add(&mut self, cursor: Cursor, version: i64, tombstone: bool) -> Result<()> {
        self.add_tried(cursor, version, tombstone, false)
    }

    /// The same for a file whose order may be known to hold: then it is not read on behind what is wanted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn add_tried(&mut self, cursor: Cursor, version: i64, tombstone: bool, tried: bool) -> Result<()> {
        let mut input = Input { cursor, order: self.order, version, tombstone, tried };
        if input.forward(self.only.as_deref())? {
            self.inputs.push(Box::new(input));
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
            forward(top, self.only.as_deref())?;
            while let Some(top) = self.inputs.peek_mut() {
                if top.cursor.triple.compare(&self.triple, self.order) != Ordering::Equal {
                    break;
                }
                note(&top, &mut added, &mut deleted);
                forward(top, self.only.as_deref())?;
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
fn forward(mut top: PeekMut<'_, Box<Input>>, only: Option<&str>) -> Result<()> {
    if !top.forward(only)? {
        PeekMut::pop(top);
    }
    Ok(())
}

impl Input {
    /// Goes to the next triple that is wanted; false when there is none.
    fn forward(&mut self, only: Option<&str>) -> Result<bool> {
        while self.cursor.advance()? {
            let Some(only) = only else { return Ok(true) };
            match self.cursor.triple.first(self.order).as_bytes().cmp(only.as_bytes()) {
                Ordering::Equal => return Ok(true),
                Ordering::Greater if self.tried => return Ok(false),
                // A file that nobody has tried is read to its end, so that what is out of order is found.
                Ordering::Less | Ordering::Greater => {}
            }
        }
        Ok(false)
    }
}
