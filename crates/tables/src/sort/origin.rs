//! Which sequence number an edge had.

/// Sequence numbers of the edges in a buffer, by position.
pub(super) struct Origins {
    /// First position and its sequence number, for each chunk.
    chunks: Vec<(u32, u64)>,
    /// For each block of `1 << SHIFT` positions, the chunk of the first.
    jump: Vec<u32>,
}

/// Positions in a block, as a power of two.
const SHIFT: u32 = 10;

impl Origins {
    /// From the number of rows and the first sequence number of each chunk, in order.
    pub fn new(chunks: impl Iterator<Item = (usize, u64)>) -> Self {
        let mut rows = 0usize;
        let mut starts = Vec::new();
        let mut jump = Vec::new();
        for (chunk, (count, sequence)) in chunks.filter(|(count, _)| *count > 0).enumerate() {
            starts.push((rows as u32, sequence));
            rows += count;
            while jump.len() << SHIFT < rows {
                jump.push(chunk as u32);
            }
        }
        Origins { chunks: starts, jump }
    }

    /// The sequence number of the edge at a position.
    #[inline]
    pub fn sequence(&self, position: u32) -> u64 {
        let mut chunk = self.jump.get((position >> SHIFT) as usize).map_or(0, |chunk| *chunk as usize);
        while self.chunks.get(chunk + 1).is_some_and(|(start, _)| *start <= position) {
            chunk += 1;
        }
        self.chunks.get(chunk).map_or(0, |(start, sequence)| sequence.wrapping_add(u64::from(position - start)))
    }
}

#[cfg(test)]
mod tests {
    use super::Origins;

    #[test]
    fn every_position_finds_its_chunk() {
        let chunks = [(3usize, 100u64), (0, 7), (5_000, 1_000), (1, 900_000), (2_000, u64::MAX - 1_999)];
        let origins = Origins::new(chunks.into_iter());
        let expected = chunks.iter().flat_map(|(rows, first)| (0..*rows as u64).map(move |row| first + row));
        for (position, sequence) in (0..).zip(expected) {
            assert_eq!(origins.sequence(position), sequence);
        }
    }
}
