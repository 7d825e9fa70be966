//! Looking ahead: what a batch will read is fetched for many nodes at once.
//!
//! A look at a node waits for memory three or four times, each time for what the look before told. Looks at different nodes do not wait
//! for each other, so a processor that is asked for many at once fetches them side by side: in a graph larger than its caches that
//! is most of the time of a sample.

use std::hint::black_box;
use std::ops::Range;

use crate::graph::Graph;
use crate::partition::type_of;

/// Nodes that are looked at together: what they need stays in the nearer caches.
pub(crate) const AHEAD: usize = 64;

/// Records that are touched of a node, at most: three of 24 bytes lie on a line of 64 or two.
const TOUCHED: usize = 48;

/// A buffer for where the edges of nodes are.
#[derive(Default)]
pub(crate) struct Ahead(Vec<(usize, Range<usize>)>);

impl Ahead {
    /// Fetches the edges of some nodes. Damage is passed over: it is found when they are used.
    #[inline]
    pub fn fetch(&mut self, graph: &Graph, nodes: impl Iterator<Item = i64>) {
        self.0.clear();
        self.0.extend(nodes.filter_map(|node| {
            let entry = graph.find(node).next()?;
            Some((entry.partition, graph.partition(entry).edge_range(entry.entry).ok()?))
        }));
        let mut sum = 0;
        for (partition, range) in &self.0 {
            let edges = graph.partitions[*partition].edges().get(range.clone()).unwrap_or_default();
            for edge in edges.iter().take(TOUCHED).step_by(3).chain(edges.last()) {
                sum ^= type_of(edge);
            }
        }
        black_box(sum);
    }
}
