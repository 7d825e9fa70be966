//! The triples that live: files merged, equal triples collapsed, deleted ones left out.

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
    /// Whether the order of the whole file is known to hold, so that no key that is looked for stands behind what is greater.
    tried: bool,
    /// The first key that its triple is not behind, where keys are wanted.
    key: usize,
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
    wanted: Wanted,
    inputs: BinaryHeap<Box<Input>>,
    /// The one whose triple was given last: it goes on when the next one is wanted.
    given: Option<Box<Input>>,
    pub(crate) revived: Revived,
}

/// Triples that live although there are deletions of them: who reads the specification by its words takes them for deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Revived {
    /// How many there were so far.
    pub(crate) all: u64,
    /// Those of them of which a deletion has the version of the newest copy, and no effect.
    pub(crate) in_vain: u64,
}

impl Merge {
    /// Nothing yet. In `naive` reading, a triple that was deleted stays deleted.
    pub(crate) fn new(order: Order, naive: bool) -> Self {
        Merge::only(order, naive, Wanted::All)
    }

    /// The same for some of the triples.
    pub(crate) fn only(order: Order, naive: bool, wanted: Wanted) -> Self {
        Merge { order, naive, wanted, inputs: BinaryHeap::new(), given: None, revived: Revived::default() }
    }

    /// Adds a file; where its order is known to hold (`tried`), it is not read on behind what is wanted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn add(&mut self, cursor: Cursor, version: i64, tombstone: bool, tried: bool) -> Result<()> {
        let key = if let Wanted::Keys(_, among) = &self.wanted { among.start } else { 0 };
        let mut input = Input { cursor, order: self.order, version, tombstone, tried, key };
        if input.forward(&self.wanted)? {
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

    /// The triple that was given last, with the number of the key that it has.
    pub(crate) fn current(&self) -> Option<(&Triple, usize)> {
        self.given.as_ref().map(|input| (&input.cursor.triple, input.key))
    }

    /// The input with the smallest triple; the one that gave the last has gone on.
    fn smallest(&mut self) -> Result<Option<Box<Input>>> {
        if let Some(mut last) = self.given.take()
            && last.forward(&self.wanted)?
        {
            // Mostly it is the smallest again, or the only one.
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
    /// Goes to the next triple that is wanted; false when there is none. A file that nobody has tried is read to its end, so that
    /// what is out of order is found.
    fn forward(&mut self, wanted: &Wanted) -> Result<bool> {
        while self.cursor.advance()? {
            let text = self.cursor.triple.first(self.order).as_bytes();
            match wanted {
                Wanted::All => return Ok(true),
                Wanted::Between(low, high) => {
                    // Read on behind the last one, a block at most where there is an index: stretches that overlap try the order of
                    // every two neighbours, so that together they leave nothing out.
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
