//! Integer key → row: direct addressing, or a sorted array.

use isomorph_error::index;

use super::repeats::{Repeat, Repeats};

/// Marks a number without a row.
const NONE: u32 = u32::MAX;

/// The maximum number of rows in an index: row numbers have 32 bits, and one of them is the mark.
pub(super) const MAX_ROWS: u64 = NONE as u64;

/// The number of keys per directory entry of the sorted array.
const PER_ENTRY: u64 = 4;

/// Interpolation steps before the search falls back to bisection.
const INTERPOLATIONS: usize = 3;

/// The row of every number between the smallest and the largest.
pub(super) struct Direct {
    least: u64,
    rows: Vec<u32>,
}

impl Direct {
    /// Returns the size for numbers from `least` to `greatest`, if that is reasonable for so many rows.
    pub fn bytes(least: u64, greatest: u64, rows: u64) -> Option<u64> {
        let numbers = (greatest - least).checked_add(1)?;
        (rows < MAX_ROWS && numbers / 4 <= rows).then(|| numbers * size_of::<u32>() as u64)
    }

    /// Creates it from the numbers of all rows, in order.
    pub fn new(numbers: impl Iterator<Item = u64>, least: u64, greatest: u64, repeats: &mut Repeats) -> Self {
        let mut rows = vec![NONE; index(greatest - least + 1)];
        for (row, number) in (0..).zip(numbers) {
            let entry = &mut rows[index(number - least)];
            if *entry == NONE {
                *entry = row;
            } else {
                repeats.add(Repeat { row: u64::from(row), first: u64::from(*entry) });
            }
        }
        Direct { least, rows }
    }

    #[inline]
    pub fn get(&self, number: u64) -> Option<u64> {
        let at = usize::try_from(number.checked_sub(self.least)?).ok()?;
        self.rows.get(at).filter(|row| **row != NONE).map(|row| u64::from(*row))
    }
}

/// Numbers in ascending order, with their rows unless they are in the order of the rows, and a directory that narrows a search
/// to a few numbers.
pub(super) struct Sorted {
    numbers: Vec<u64>,
    rows: Option<Vec<u32>>,
    /// First position for each value of `(number - least) >> shift`.
    directory: Vec<u32>,
    shift: u32,
}

impl Sorted {
    /// Returns the size for so many numbers, with or without rows.
    pub fn bytes(numbers: u64, with_rows: bool) -> u64 {
        numbers * (8 + if with_rows { 4 } else { 0 }) + (2 * (numbers / PER_ENTRY) + 4) * 4
    }

    /// Creates it from distinct numbers in ascending order, and their rows if these are not 0, 1, 2, ….
    pub fn new(numbers: Vec<u64>, rows: Option<Vec<u32>>) -> Self {
        let least = numbers.first().copied().unwrap_or(0);
        let span = numbers.last().map_or(0, |last| last - least);
        let mut shift = 0;
        while (span >> shift) / 2 > numbers.len() as u64 / PER_ENTRY {
            shift += 1;
        }
        let mut directory = Vec::with_capacity(index(span >> shift) + 2);
        for (at, number) in (0..).zip(&numbers) {
            let entry = index((number - least) >> shift);
            directory.extend(std::iter::repeat_n(at, (entry + 1).saturating_sub(directory.len())));
        }
        #[expect(clippy::cast_possible_truncation, reason = "callers have fewer than 2^32 rows")]
        directory.push(numbers.len() as u32);
        Sorted { numbers, rows, directory, shift }
    }

    #[inline]
    pub fn get(&self, number: u64) -> Option<u64> {
        let entry = usize::try_from(number.checked_sub(*self.numbers.first()?)? >> self.shift).ok()?;
        let start = *self.directory.get(entry)? as usize;
        let end = *self.directory.get(entry + 1)? as usize;
        let at = start + find(&self.numbers[start..end], number)?;
        match &self.rows {
            Some(rows) => rows.get(at).map(|row| u64::from(*row)),
            None => Some(at as u64),
        }
    }
}

/// Finds the position of `number` in an ascending slice. One directory entry may cover many numbers if they are dense; then
/// they are usually evenly spaced, and interpolation finds them.
fn find(mut numbers: &[u64], number: u64) -> Option<usize> {
    let mut skipped = 0;
    for _ in 0..INTERPOLATIONS {
        if numbers.len() <= 8 {
            break;
        }
        let (first, last) = (*numbers.first()?, *numbers.last()?);
        if number < first || number > last {
            return None;
        }
        let share = u128::from(number - first) * (numbers.len() as u128 - 1) / u128::from(last - first).max(1);
        let guess = share as usize;
        match number.cmp(&numbers[guess]) {
            std::cmp::Ordering::Equal => return Some(skipped + guess),
            std::cmp::Ordering::Less => numbers = &numbers[..guess],
            std::cmp::Ordering::Greater => {
                skipped += guess + 1;
                numbers = &numbers[guess + 1..];
            }
        }
    }
    numbers.binary_search(&number).ok().map(|at| skipped + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_numbers_are_found_however_they_lie() {
        let even: Vec<u64> = (0..10_000).map(|n| 5 + n * 1_000).collect();
        let crowded: Vec<u64> = (0..5_000).chain((0..5_000).map(|n| (1 << 60) + n * 3)).collect();
        let growing: Vec<u64> = (0..63).map(|n| 1 << n).chain([u64::MAX]).collect();
        for numbers in [even, crowded, growing, vec![7], vec![0, u64::MAX], Vec::new()] {
            let index = Sorted::new(numbers.clone(), None);
            let needed = (index.numbers.len() * 8 + index.directory.len() * 4) as u64;
            assert!(needed <= Sorted::bytes(numbers.len() as u64, false));
            for (row, number) in (0..).zip(&numbers) {
                assert_eq!(index.get(*number), Some(row));
                for near in [number.wrapping_sub(1), number.wrapping_add(1)] {
                    assert_eq!(index.get(near), numbers.binary_search(&near).ok().map(|row| row as u64));
                }
            }
        }
    }

    #[test]
    fn direct_addressing_finds_the_first_of_equal_keys() {
        let mut repeats = Repeats::default();
        let index = Direct::new([7, 5, 7, 9].into_iter(), 5, 9, &mut repeats);
        let found: Vec<_> = (4..11).map(|number| index.get(number)).collect();
        assert_eq!(found, [None, Some(1), None, Some(0), None, Some(3), None]);
        assert_eq!(repeats.shown(), [Repeat { row: 2, first: 0 }]);
        assert_eq!(Direct::bytes(0, u64::MAX, 10), None);
    }
}
