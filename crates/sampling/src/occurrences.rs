//! Counts the earlier occurrences of each node in a batch.

use isomorph_error::index;

/// A table that is reused by later calls.
#[derive(Default)]
pub(crate) struct Occurrences {
    counts: Vec<u32>,
    /// Open addressing: the position in the batch where a node last occurred, plus one.
    table: Vec<u32>,
}

impl Occurrences {
    /// Returns for each node the number of equal nodes before it. If nodes are not ascending, this takes a hash look-up for each.
    pub fn of(&mut self, nodes: &[i64]) -> &[u32] {
        self.counts.clear();
        self.counts.resize(nodes.len(), 0);
        if nodes.windows(2).all(|pair| pair[0] < pair[1]) {
            return &self.counts;
        }
        let room = (nodes.len() * 2).next_power_of_two();
        self.table.clear();
        self.table.resize(room, 0);
        for (at, node) in nodes.iter().enumerate() {
            let mut slot = index(node.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) & (room - 1);
            loop {
                match self.table[slot] {
                    0 => break,
                    last if nodes[last as usize - 1] == *node => {
                        self.counts[at] = self.counts[last as usize - 1] + 1;
                        break;
                    }
                    _ => slot = (slot + 1) & (room - 1),
                }
            }
            #[expect(clippy::cast_possible_truncation, reason = "a batch has fewer than 2^32 nodes: see `Ask::check`")]
            let place = at as u32 + 1;
            self.table[slot] = place;
        }
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_nodes_are_counted() {
        let mut occurrences = Occurrences::default();
        assert_eq!(occurrences.of(&[5, 3, 5, -1, 3, 5]), [0, 0, 1, 0, 1, 2]);
        assert_eq!(occurrences.of(&[1, 2, 3]), [0, 0, 0]);
        assert_eq!(occurrences.of(&[7, 7]), [0, 1]);
        assert!(occurrences.of(&[]).is_empty());
    }
}
