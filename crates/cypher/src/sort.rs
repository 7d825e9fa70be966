//! `ORDER BY`: all rows sorted, or, with a limit, only the first ones kept.

use std::cmp::Ordering;

use crate::exec::Context;
use crate::fault::Result;
use crate::value::{Value, order};

struct Entry {
    keys: Vec<Value>,
    values: Vec<Value>,
}

/// Rows in order.
pub(crate) struct Sorted {
    descending: Vec<bool>,
    /// How many of the first rows are wanted.
    most: u64,
    entries: Vec<Entry>,
    rows: std::vec::IntoIter<Entry>,
}

impl Sorted {
    pub(crate) fn new(descending: Vec<bool>, most: u64) -> Self {
        Sorted { descending, most, entries: Vec::new(), rows: Vec::new().into_iter() }
    }

    pub(crate) fn push(&mut self, keys: Vec<Value>, values: Vec<Value>, cx: &Context<'_>) -> Result<()> {
        // With a limit, at most twice as many rows are held, so the memory that was counted once serves again.
        let bounded = usize::try_from(self.most.saturating_mul(2)).unwrap_or(usize::MAX).max(1024);
        if self.entries.len() >= bounded {
            self.cut();
        } else {
            cx.grow(48 + keys.iter().chain(&values).map(Value::bytes).sum::<u64>())?;
        }
        self.entries.push(Entry { keys, values });
        Ok(())
    }

    /// Sorts what there is, and drops what is beyond the limit. Equal rows stay in the order in which they came.
    fn cut(&mut self) {
        let descending = &self.descending;
        self.entries.sort_by(|a, b| by_keys(&a.keys, &b.keys, descending));
        self.entries.truncate(usize::try_from(self.most).unwrap_or(usize::MAX));
    }

    pub(crate) fn finish(&mut self) {
        self.cut();
        self.rows = std::mem::take(&mut self.entries).into_iter();
    }

    /// The values of the next row.
    pub(crate) fn next(&mut self) -> Option<Vec<Value>> {
        self.rows.next().map(|entry| entry.values)
    }
}

fn by_keys(left: &[Value], right: &[Value], descending: &[bool]) -> Ordering {
    for ((a, b), descending) in left.iter().zip(right).zip(descending) {
        let compared = order(a, b);
        let compared = if *descending { compared.reverse() } else { compared };
        if compared != Ordering::Equal {
            return compared;
        }
    }
    Ordering::Equal
}
