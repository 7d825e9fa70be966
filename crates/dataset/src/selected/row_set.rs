//! Sets of rows, and the position of each row within a set.

/// Bits in a word.
const WORD: u64 = 64;

/// A set of rows that is being built, in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Adds a row.
    pub fn add(&mut self, row: u64) {
        let at = isomorph_error::index(row / WORD);
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        if let Some(word) = self.0.get_mut(at) {
            *word |= 1 << (row % WORD);
        }
    }

    /// Removes a row.
    pub fn remove(&mut self, row: u64) {
        if let Some(word) = self.0.get_mut(isomorph_error::index(row / WORD)) {
            *word &= !(1 << (row % WORD));
        }
    }

    /// Whether the set contains a row.
    pub fn has(&self, row: u64) -> bool {
        self.0.get(isomorph_error::index(row / WORD)).is_some_and(|word| word & (1 << (row % WORD)) != 0)
    }

    /// The rows, in ascending order.
    pub fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        (0u64..).zip(&self.0).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(at * WORD + u64::from(bit))
            })
        })
    }
}

/// A set of rows of a table, with their ranks.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSet {
    bits: Bits,
    /// Number of members before each word.
    ranks: Vec<u64>,
    len: u64,
}

impl From<Bits> for RowSet {
    fn from(bits: Bits) -> Self {
        let mut len = 0;
        let ranks = bits.0.iter().map(|word| {
            let before = len;
            len += u64::from(word.count_ones());
            before
        });
        let ranks = ranks.collect();
        RowSet { bits, ranks, len }
    }
}

impl RowSet {
    /// Number of members.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The members.
    pub fn bits(&self) -> &Bits {
        &self.bits
    }

    /// The rank of `row`, if it is a member.
    pub fn rank(&self, row: u64) -> Option<u64> {
        let at = isomorph_error::index(row / WORD);
        let (word, before) = (self.bits.0.get(at)?, self.ranks.get(at)?);
        let bit = 1u64 << (row % WORD);
        (word & bit != 0).then(|| before + u64::from((word & (bit - 1)).count_ones()))
    }

    /// The member of rank `rank`.
    pub fn select(&self, rank: u64) -> Option<u64> {
        if rank >= self.len {
            return None;
        }
        let at = self.ranks.partition_point(|before| *before <= rank).checked_sub(1)?;
        let mut word = *self.bits.0.get(at)?;
        for _ in 0..rank - self.ranks.get(at)? {
            word &= word - 1;
        }
        Some(at as u64 * WORD + u64::from(word.trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_members_are_inverse() {
        let members: Vec<u64> = (3..5).chain(60..130).chain(299..300).collect();
        let mut bits = Bits::default();
        members.iter().rev().for_each(|row| bits.add(*row));
        assert_eq!(bits.rows().collect::<Vec<_>>(), members);
        let set = RowSet::from(bits);
        assert_eq!(set.len(), members.len() as u64);
        for (rank, row) in (0u64..).zip(&members) {
            assert_eq!(set.rank(*row), Some(rank));
            assert_eq!(set.select(rank), Some(*row));
        }
        assert_eq!((set.rank(0), set.rank(59), set.rank(10_000), set.select(set.len())), (None, None, None, None));
        assert_eq!(RowSet::from(Bits::default()).len(), 0);
    }
}
