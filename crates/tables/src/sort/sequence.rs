//! Sequence numbers of edges, which determine the order of edges with equal ends.

use arrow_array::UInt64Array;
use isomorph_error::{Error, Result};

use super::buffer::Chunk;

/// Sequence numbers of the edges of a push.
#[derive(Debug, Clone, Copy)]
pub enum Sequence<'a> {
    /// Consecutive from this one on, as for edges from a file.
    From(u64),
    /// One for each edge, in any order, as for edges from a bulk look-up.
    Each(&'a [u64]),
}

impl From<u64> for Sequence<'_> {
    fn from(first: u64) -> Self {
        Sequence::From(first)
    }
}

impl<'a> From<&'a [u64]> for Sequence<'a> {
    fn from(numbers: &'a [u64]) -> Self {
        Sequence::Each(numbers)
    }
}

impl<'a> From<&'a UInt64Array> for Sequence<'a> {
    fn from(numbers: &'a UInt64Array) -> Self {
        Sequence::Each(numbers.values())
    }
}

impl Sequence<'_> {
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) if their number differs from the number of edges, or they exceed 2^64.
    pub(crate) fn check(self, rows: usize) -> Result<()> {
        match self {
            Sequence::From(first) if first.checked_add(rows as u64).is_some() => Ok(()),
            Sequence::Each(numbers) if numbers.len() == rows => Ok(()),
            _ => Err(Error::usage("the number of sequence numbers differs from the number of edges")),
        }
    }

    pub(super) fn keep(self) -> Numbers {
        match self {
            Sequence::From(first) => Numbers::From(first),
            Sequence::Each(numbers) => Numbers::Each(numbers.to_vec()),
        }
    }
}

/// Sequence numbers of a chunk.
pub(super) enum Numbers {
    From(u64),
    Each(Vec<u64>),
}

impl Numbers {
    pub fn bytes(&self) -> usize {
        match self {
            Numbers::From(_) => 0,
            Numbers::Each(numbers) => size_of_val(numbers.as_slice()),
        }
    }

    /// Returns the number of the first edge.
    pub fn first(&self) -> u64 {
        match self {
            Numbers::From(first) => *first,
            Numbers::Each(numbers) => numbers.first().copied().unwrap_or(0),
        }
    }

    fn get(&self, at: u32) -> u64 {
        match self {
            Numbers::From(first) => first + u64::from(at),
            Numbers::Each(numbers) => numbers.get(at as usize).copied().unwrap_or(0),
        }
    }
}

/// Sequence numbers of the edges in a buffer, by position.
pub(super) struct Origins {
    /// The first position and the numbers of each chunk.
    chunks: Vec<(u32, Numbers)>,
    /// For each block of `1 << SHIFT` positions, the chunk of the first position.
    jump: Vec<u32>,
}

/// Positions in a block, as a power of two.
const SHIFT: u32 = 10;

impl Origins {
    /// Takes the numbers from chunks, none of which may be empty.
    pub fn of(chunks: &mut [Chunk]) -> Self {
        Origins::new(chunks.iter_mut().map(|chunk| {
            let numbers = std::mem::replace(&mut chunk.numbers, Numbers::From(0));
            (chunk.rows(), numbers)
        }))
    }

    fn new(parts: impl Iterator<Item = (usize, Numbers)>) -> Self {
        let mut rows = 0usize;
        let (mut chunks, mut jump) = (Vec::new(), Vec::new());
        for (chunk, (count, numbers)) in (0..).zip(parts) {
            #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 rows in memory")]
            chunks.push((rows as u32, numbers));
            rows += count;
            while jump.len() << SHIFT < rows {
                jump.push(chunk);
            }
        }
        Origins { chunks, jump }
    }

    /// Whether positions are in the order of the sequence numbers, provided that the chunks are.
    pub fn in_order(&self) -> bool {
        self.chunks.iter().all(|(_, numbers)| matches!(numbers, Numbers::From(_)))
    }

    /// Returns the sequence number of the edge at a position.
    #[inline]
    pub fn sequence(&self, position: u32) -> u64 {
        let mut chunk = self.jump.get((position >> SHIFT) as usize).map_or(0, |chunk| *chunk as usize);
        while self.chunks.get(chunk + 1).is_some_and(|(start, _)| *start <= position) {
            chunk += 1;
        }
        self.chunks.get(chunk).map_or(0, |(start, numbers)| numbers.get(position - start))
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, Origins};

    #[test]
    fn every_position_finds_its_chunk() {
        let chunks = [(3usize, 100u64), (5_000, 1_000), (1, 900_000), (2_000, u64::MAX - 2_000)];
        let each: Vec<u64> = (0..700).map(|n| n * 7 % 700).collect();
        let numbered = chunks.iter().map(|(rows, first)| (*rows, Numbers::From(*first)));
        let origins = Origins::new(numbered.chain([(700, Numbers::Each(each.clone()))]));
        let expected = chunks.iter().flat_map(|(rows, first)| (0..*rows as u64).map(move |row| first + row));
        for (position, sequence) in (0..).zip(expected.chain(each)) {
            assert_eq!(origins.sequence(position), sequence);
        }
        assert!(!origins.in_order());
    }
}
