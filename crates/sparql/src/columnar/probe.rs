//! Look-ups in a sorted order, one after another.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use isomorph::storage::{Budget, Reservation};

/// Rows of an order that begin with the same terms, and so are sorted by the next one.
///
/// A few look-ups search; from the place of the last one, because keys often ascend. Many make a table of where the rows of each
/// term begin: then each takes one access.
pub(super) struct Probe<'g> {
    rows: &'g [[u32; 3]],
    column: usize,
    done: AtomicUsize,
    starts: OnceLock<Option<Starts>>,
    /// How many rows a look-up finds, on average over the keys.
    fan_out: OnceLock<f64>,
}

struct Starts {
    /// The smallest key.
    first: u32,
    /// Where the rows of each key begin, and the number of rows at the end.
    at: Vec<u32>,
    _held: Reservation,
}

/// Fewer rows are always searched: they fit into a cache.
const FEW_ROWS: usize = 2_048;

/// Rows that are looked at for the average number of rows of a key.
const SAMPLE: usize = 64;

impl<'g> Probe<'g> {
    pub fn new(rows: &'g [[u32; 3]], column: usize) -> Self {
        Probe { rows, column, done: AtomicUsize::new(0), starts: OnceLock::new(), fan_out: OnceLock::new() }
    }

    pub fn rows(&self) -> &'g [[u32; 3]] {
        self.rows
    }

    /// Says how many look-ups follow.
    pub fn announce(&self, count: usize, budget: &Budget) {
        let done = self.done.fetch_add(count, Relaxed) + count;
        if self.rows.len() > FEW_ROWS && done > self.rows.len() / 8 {
            self.starts.get_or_init(|| self.make_starts(budget));
        }
    }

    fn make_starts(&self, budget: &Budget) -> Option<Starts> {
        let first = self.rows.first()?[self.column];
        let last = self.rows.last()?[self.column];
        let keys = (last - first) as usize + 2;
        // Where keys are rare, searching costs less than the table.
        if keys / 16 > self.rows.len() {
            return None;
        }
        let held = budget.try_reserve((keys * size_of::<u32>()) as u64)?;
        let mut at = Vec::with_capacity(keys);
        for (place, row) in self.rows.iter().enumerate() {
            let place = u32::try_from(place).ok()?;
            let key = (row[self.column] - first) as usize;
            if at.len() <= key {
                at.resize(key + 1, place);
            }
        }
        at.push(u32::try_from(self.rows.len()).ok()?);
        Some(Starts { first, at, _held: held })
    }

    /// The rows of a key. `near` is where the last look-up ended.
    pub fn find(&self, key: u32, near: &mut usize) -> &'g [[u32; 3]] {
        if let Some(Some(starts)) = self.starts.get() {
            let Some(at) = key.checked_sub(starts.first).map(|at| at as usize) else { return &[] };
            let (Some(start), Some(end)) = (starts.at.get(at), starts.at.get(at + 1)) else { return &[] };
            return &self.rows[*start as usize..*end as usize];
        }
        let rows = self.rows;
        let of = |row: &[u32; 3]| row[self.column];
        let (mut low, mut high) = (0, rows.len());
        match rows.get(*near).map(of) {
            // The last place is the first of its key.
            Some(there) if there <= key => {
                low = *near;
                let mut step = 1;
                while let Some(row) = rows.get(low + step) {
                    if of(row) >= key {
                        high = low + step;
                        break;
                    }
                    low += step;
                    step *= 2;
                }
            }
            Some(_) => high = *near,
            None => {}
        }
        let start = low + rows[low..high].partition_point(|row| of(row) < key);
        *near = start;
        prefix(&rows[start..], |row| of(row) == key)
    }

    /// The average number of rows of a key, over all keys.
    pub fn fan_out(&self) -> f64 {
        *self.fan_out.get_or_init(|| {
            let count = self.rows.len();
            if count == 0 {
                return 0.0;
            }
            let samples = SAMPLE.min(count);
            let mut keys = 0.0;
            for sample in 0..samples {
                let at = sample * count / samples;
                let key = self.rows[at][self.column];
                let before = self.rows[..at].partition_point(|row| row[self.column] < key);
                let length = prefix(&self.rows[before..], |row| row[self.column] == key).len();
                keys += 1.0 / length.max(1) as f64;
            }
            samples as f64 / keys
        })
    }
}

/// The rows at the beginning for which `is` holds; it holds for none after these.
pub(super) fn prefix(rows: &[[u32; 3]], is: impl Fn(&[u32; 3]) -> bool) -> &[[u32; 3]] {
    let mut far = 1;
    while rows.get(far).is_some_and(&is) {
        far *= 2;
    }
    let near = &rows[..rows.len().min(far + 1)];
    &near[..near.partition_point(is)]
}

/// The rows whose terms from `column` on are these.
pub(super) fn narrow<'g>(rows: &'g [[u32; 3]], column: usize, keys: &[u32]) -> &'g [[u32; 3]] {
    let of = |row: &[u32; 3]| row[column..column + keys.len()].cmp(keys);
    let start = rows.partition_point(|row| of(row).is_lt());
    prefix(&rows[start..], |row| of(row).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_find_what_a_scan_finds() {
        let mut rows: Vec<[u32; 3]> = (0..5_000u32).map(|at| [7, (at * at) % 611 + 20, at]).collect();
        rows.sort_unstable();
        for (rows, many) in [(&rows[..], true), (&rows[..], false), (&rows[..1], false), (&[], false)] {
            let probe = Probe::new(rows, 1);
            probe.announce(if many { 10_000 } else { 1 }, &Budget::new(1 << 20));
            assert_eq!(probe.starts.get().is_some_and(Option::is_some), many);
            let mut near = 0;
            for key in (0..700).chain([40, 20, 631, 21, 0, 690]) {
                let expected: Vec<[u32; 3]> = rows.iter().filter(|row| row[1] == key).copied().collect();
                let found = probe.find(key, &mut near);
                assert_eq!(found, expected, "{key}");
                if let Some(row) = expected.first() {
                    assert_eq!(narrow(found, 1, &row[1..]), &expected[..1]);
                }
            }
        }
    }
}
