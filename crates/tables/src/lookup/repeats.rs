//! Keys that occur more than once.

/// The number of repeated keys that are kept for messages.
const SHOWN: usize = 16;

/// A key that occurs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repeat {
    /// Row of the repeated key.
    pub row: u64,
    /// The row where the same key occurs first.
    pub first: u64,
}

/// The repeated keys: their number, and those with the lowest rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeats {
    count: u64,
    shown: Vec<Repeat>,
}

impl Repeats {
    /// Returns the number of rows whose key occurred before.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first of them, by row.
    pub fn shown(&self) -> &[Repeat] {
        &self.shown
    }

    /// Whether every key occurs only once.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn add(&mut self, repeat: Repeat) {
        self.count += 1;
        if self.shown.len() == SHOWN && self.shown.last().is_some_and(|last| *last <= repeat) {
            return;
        }
        let at = self.shown.partition_point(|shown| *shown <= repeat);
        self.shown.insert(at, repeat);
        self.shown.truncate(SHOWN);
    }

    pub(super) fn merge(&mut self, other: Repeats) {
        let hidden = other.count - other.shown.len() as u64;
        other.shown.into_iter().for_each(|repeat| self.add(repeat));
        self.count += hidden;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rows_are_shown_in_order() {
        let mut repeats = Repeats::default();
        let mut others = Repeats::default();
        for row in 0..1_000u64 {
            let repeat = Repeat { row: row * 7_919 % 1_000 + 1, first: 0 };
            if row % 3 == 0 { repeats.add(repeat) } else { others.add(repeat) }
        }
        repeats.merge(others);
        assert_eq!(repeats.count(), 1_000);
        assert!(repeats.shown().iter().map(|repeat| repeat.row).eq(1..=SHOWN as u64));
    }
}
