//! Sets of rows, and the row that each has once the others are gone.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Result;

/// Bits of a word.
const WORD: u64 = 64;

/// A set of rows of a table, with their ranks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowSet {
    words: Vec<u64>,
    /// Members before each word.
    ranks: Vec<u64>,
    len: u64,
}

impl RowSet {
    /// The set of the given ranges, in order and apart. It takes no more memory than its last member asks for: how many
    /// rows a table claims to have does not matter.
    pub fn new(ranges: &[std::ops::Range<u64>]) -> Self {
        let rows = ranges.last().map_or(0, |range| range.end);
        let mut words = vec![0u64; usize::try_from(rows.div_ceil(WORD)).unwrap_or_default()];
        for range in ranges {
            let mut row = range.start;
            while row < range.end {
                let bit = row % WORD;
                let take = (WORD - bit).min(range.end - row);
                let mask = if take == WORD { u64::MAX } else { ((1 << take) - 1) << bit };
                if let Some(word) = words.get_mut((row / WORD) as usize) {
                    *word |= mask;
                }
                row += take;
            }
        }
        let mut len = 0;
        let ranks = words
            .iter()
            .map(|word| {
                let before = len;
                len += u64::from(word.count_ones());
                before
            })
            .collect();
        RowSet { words, ranks, len }
    }

    /// Number of members.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The rank of `row`, if it is a member.
    pub fn rank(&self, row: u64) -> Option<u64> {
        let at = (row / WORD) as usize;
        let (word, before) = (self.words.get(at)?, self.ranks.get(at)?);
        let bit = 1u64 << (row % WORD);
        (word & bit != 0).then(|| before + u64::from((word & (bit - 1)).count_ones()))
    }

    /// The member of rank `rank`.
    pub fn select(&self, rank: u64) -> Option<u64> {
        if rank >= self.len {
            return None;
        }
        let at = self.ranks.partition_point(|before| *before <= rank).checked_sub(1)?;
        let mut word = *self.words.get(at)?;
        for _ in 0..rank - self.ranks.get(at)? {
            word &= word - 1;
        }
        Some(at as u64 * WORD + u64::from(word.trailing_zeros()))
    }

    /// The members within `range`, as ranges.
    pub fn within(&self, range: std::ops::Range<u64>) -> Vec<std::ops::Range<u64>> {
        let mut found: Vec<std::ops::Range<u64>> = Vec::new();
        let end = range.end.min(self.words.len() as u64 * WORD);
        for row in (range.start..end).filter(|row| self.rank(*row).is_some()) {
            match found.last_mut() {
                Some(last) if last.end == row => last.end += 1,
                _ => found.push(row..row + 1),
            }
        }
        found
    }
}

/// The rows that pass the filters of the vertex types, each found once, when it is first needed.
#[derive(Debug)]
pub(crate) struct RowSets(Vec<Mutex<Option<Arc<RowSet>>>>);

impl RowSets {
    pub fn new(types: usize) -> Self {
        RowSets((0..types).map(|_| Mutex::default()).collect())
    }

    /// The set of vertex type `ty`, found by `find` the first time.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn get(&self, ty: usize, find: impl FnOnce() -> Result<RowSet>) -> Result<Arc<RowSet>> {
        let Some(cell) = self.0.get(ty) else { return find().map(Arc::new) };
        let mut known = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = &*known {
            return Ok(Arc::clone(set));
        }
        Ok(Arc::clone(known.insert(Arc::new(find()?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_members_are_inverse() {
        let set = RowSet::new(&[3..5, 60..130, 299..300]);
        let members: Vec<u64> = (3..5).chain(60..130).chain(299..300).collect();
        assert_eq!(set.len(), members.len() as u64);
        for (rank, row) in members.iter().enumerate() {
            assert_eq!(set.rank(*row), Some(rank as u64));
            assert_eq!(set.select(rank as u64), Some(*row));
        }
        assert_eq!((set.rank(0), set.rank(59), set.rank(10_000), set.select(set.len())), (None, None, None, None));
        assert_eq!(set.within(0..70), [3..5, 60..70]);
        assert_eq!(set.within(0..u64::MAX), [3..5, 60..130, 299..300]);
        assert_eq!(RowSet::new(&[]).len(), 0);
    }
}
