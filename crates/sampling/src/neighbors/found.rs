//! Which nodes of a batch exist, and how many edges they have.

use isomorph_error::{Error, Kind, Result};

use crate::prefetch::{Ahead, AtEdges};
use crate::sampler::Sampler;

impl Sampler {
    /// Returns the total number of edges of the nodes, whatever their types and times.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if there are more than `most`, or `DEEPGNN-BOUNDS` if an offset is
    /// out of range.
    pub fn edges_of(&self, nodes: &[i64], most: u64) -> Result<u64> {
        self.look_up(nodes, most, |_| {})
    }

    /// Writes to `found` whether each node exists, or entries that only represent ends of edges. The nodes may have at most `most` edges in
    /// total: this limits the work of a batch that is drawn from them, however large they are.
    ///
    /// # Errors
    /// As [`Sampler::edges_of`].
    pub fn found(&self, nodes: &[i64], most: u64, found: &mut Vec<bool>) -> Result<()> {
        found.clear();
        self.look_up(nodes, most, |entries| found.push(entries > 0)).map(drop)
    }

    /// Passes the number of entries of each node to `take`, and returns the number of their edges.
    fn look_up(&self, nodes: &[i64], most: u64, mut take: impl FnMut(usize)) -> Result<u64> {
        let graph = &*self.graph;
        let (mut ahead, mut looked_at, mut beat) = (Ahead::new(AtEdges(graph)), Most::new(most), self.stop.beat());
        for (at, node) in nodes.iter().enumerate() {
            beat.add(1)?;
            let mut entries = 0;
            match ahead.place(graph, at, nodes.len(), |at| nodes[at]) {
                Some(place) => {
                    entries = 1;
                    looked_at.add(place.range().len())?;
                }
                None => {
                    for entry in graph.find(*node) {
                        entries += 1;
                        looked_at.add(graph.partition(entry).edge_range(entry.entry)?.len())?;
                    }
                }
            }
            take(entries);
        }
        self.stop.check()?;
        Ok(looked_at.sum)
    }
}

/// A counter of edges with a maximum.
struct Most {
    sum: u64,
    most: u64,
}

impl Most {
    /// Creates a counter at 0.
    fn new(most: u64) -> Self {
        Most { sum: 0, most }
    }

    /// Adds to the counter.
    ///
    /// # Errors
    /// Returns an error if the maximum is exceeded.
    #[inline]
    fn add(&mut self, edges: usize) -> Result<()> {
        self.sum = self.sum.saturating_add(edges as u64);
        if self.sum > self.most {
            let message = format!("these nodes have more than {} edges in total", self.most);
            return Err(Error::new(Kind::TooLarge, message).hint("request fewer nodes at once"));
        }
        Ok(())
    }
}
