//! Live triples: merges files, combines equal triples and omits deleted ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use isomorph_error::Result;

use crate::cursor::Cursor;
use crate::lookup::Wanted;
use crate::read::Order;
use crate::triple::Triple;

/// One of the files that are merged.
struct Input {
    cursor: Cursor,
    order: Order,
    /// Version of the commit that added it.
    version: i64,
    tombstone: bool,
    /// Whether the whole file is known to be in order, so that no wanted key follows a greater one.
    tried: bool,
    /// The first key that is not less than its triple, if keys are wanted.
    key: usize,
}

impl Ord for Input {
    /// The heap returns its greatest element first, which must be the smallest triple.
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

/// The live triples of one predicate in one graph, in order.
pub(crate) struct Merge {
    order: Order,
    naive: bool,
    wanted: Wanted,
    inputs: BinaryHeap<Box<Input>>,
    /// The input whose triple was returned last; it advances when the next triple is wanted.
    given: Option<Box<Input>>,
    pub(crate) revived: Revived,
}

/// Live triples that have a deletion: readers that follow the specification literally treat them as deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Revived {
    /// Their number so far.
    pub(crate) all: u64,
    /// Those of them whose deletion has the version of the newest copy, and therefore no effect.
    pub(crate) in_vain: u64,
}

impl Merge {
    /// An empty merge. In `naive` reading, a triple that was deleted stays deleted.
    pub(crate) fn new(order: Order, naive: bool) -> Self {
        Merge::only(order, naive, Wanted::All)
    }

    /// The same for some of the triples.
    pub(crate) fn only(order: Order, naive: bool, wanted: Wanted) -> Self {
        Merge { order, naive, wanted, inputs: BinaryHeap::new(), given: None, revived: Revived::default() }
    }

    /// Adds a file; if its order is known to hold (`tried`), it is not read beyond what is wanted.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub(crate) fn add(&mut self, cursor: Cursor, version: i64, tombstone: bool, tried: bool) -> Result<()> {
        let key = if let Wanted::Keys(_, among) = &self.wanted { among.start } else { 0 };
        let mut input = Input { cursor, order: self.order, version, tombstone, tried, key };
        if input.forward(&self.wanted)? {
            self.inputs.push(Box::new(input));
        }
        Ok(())
    }

    /// Returns the next live triple.
    ///
    /// A triple is live unless a file with a greater version than its newest copy deletes it: within a commit, deletes
    /// come before inserts.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<&Triple>> {
        loop {
            let Some(top) = self.smallest()? else { return Ok(None) };
            let (mut added, mut deleted) = (None, None);
            note(&top, &mut added, &mut deleted);
            while let Some(mut other) = self.inputs.peek_mut() {
                if other.cursor.triple.compare(&top.cursor.triple, self.order) != Ordering::Equal {
                    break;
                }
                note(&other, &mut added, &mut deleted);
                if !other.forward(&self.wanted)? {
                    PeekMut::pop(other);
                }
            }
            self.given = Some(top);
            let lives = match (added, deleted) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(added), Some(deleted)) => {
                    let lives = !self.naive && added >= deleted;
                    self.revived.all += u64::from(lives);
                    self.revived.in_vain += u64::from(lives && added == deleted);
                    lives
                }
            };
            if lives {
                return Ok(self.current().map(|(triple, _)| triple));
            }
        }
    }

    /// The triple that was returned last, with the number of its key.
    pub(crate) fn current(&self) -> Option<(&Triple, usize)> {
        self.given.as_ref().map(|input| (&input.cursor.triple, input.key))
    }

    /// The input with the smallest triple; the input that returned the last one has advanced.
    fn smallest(&mut self) -> Result<Option<Box<Input>>> {
        if let Some(mut last) = self.given.take()
            && last.forward(&self.wanted)?
        {
            // Usually it is the smallest again, or the only one.
            if let Some(mut first) = self.inputs.peek_mut()
                && *first > last
            {
                std::mem::swap(&mut *first, &mut last);
            }
            return Ok(Some(last));
        }
        Ok(self.inputs.pop())
    }
}

/// Remembers the newest copy and the newest deletion.
fn note(input: &Input, added: &mut Option<i64>, deleted: &mut Option<i64>) {
    let newest = if input.tombstone { deleted } else { added };
    *newest = Some(newest.map_or(input.version, |before: i64| before.max(input.version)));
}

impl Input {
    /// Advances to the next wanted triple; false at the end. A file whose order was not checked is read to its end, so
    /// that records out of order are found.
    fn forward(&mut self, wanted: &Wanted) -> Result<bool> {
        while self.cursor.advance()? {
            let text = self.cursor.triple.first(self.order).as_bytes();
            match wanted {
                Wanted::All => return Ok(true),
                Wanted::Between(low, high) => {
                    // Continue after the last one, for at most a block if there is an index: overlapping sections check
                    // the order of every two neighbours, so together they check everything.
                    let below = high.as_ref().is_none_or(|high| text < high.as_bytes());
                    if below && low.as_ref().is_none_or(|low| text >= low.as_bytes()) {
                        return Ok(true);
                    }
                }
                Wanted::Keys(keys, among) => {
                    if self.key < among.end && keys.text(self.key) < text {
                        self.key = keys.not_before(self.key..among.end, text);
                    }
                    if self.key >= among.end {
                        if self.tried {
                            return Ok(false);
                        }
                    } else if keys.text(self.key) == text {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}
