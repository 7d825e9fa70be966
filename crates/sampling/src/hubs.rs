//! Sums of the weights of nodes with many edges, computed once.
//!
//! A draw by weight adds the weights of a node. For most nodes, this takes less time than fetching them; for a node with a million edges,
//! it takes a million additions for ten neighbours. So the sums of such nodes are kept, and a draw does a binary search. They are the same
//! sums that are computed for other nodes in each call, so results do not depend on what is kept.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use isomorph_storage::{Budget, Reservation};

use crate::graph::Graph;
use crate::pagerank::IdHasher;
use crate::partition::target;

/// Minimum number of edges for keeping sums: adding fewer takes as long as looking up the sums.
pub(crate) const MANY: usize = 256;

/// Divisor of the budget for all kept sums.
const SHARE: u64 = 4;

/// Bytes that are kept for an entry in addition to the sums.
const ROOM: u64 = 96;

/// What is kept for the edges of a node.
pub(crate) struct Hub {
    /// Sums of their weights.
    pub sums: Vec<f64>,
    /// Whether their targets ascend, so that binary search is possible.
    pub ascends: bool,
}

/// Kept sums, by partition, first edge and end of the edges.
type Kept = HashMap<(usize, usize, usize), Arc<Hub>, BuildHasherDefault<IdHasher>>;

/// The sums of a graph, shared by its samplers.
pub(crate) struct Hubs {
    kept: RwLock<(Kept, Option<Reservation>)>,
    budget: Budget,
}

impl Hubs {
    /// Creates an empty cache that may use a quarter of `budget`.
    pub fn new(budget: &Budget) -> Hubs {
        Hubs { kept: RwLock::new((Kept::default(), None)), budget: budget.clone() }
    }

    /// Returns the sums of these edges of a partition, or `None` if there is not enough memory.
    pub fn of(&self, graph: &Graph, partition: usize, edges: Range<usize>) -> Option<Arc<Hub>> {
        let (key, count) = ((partition, edges.start, edges.end), edges.len());
        if let Some(found) = self.kept.read().unwrap_or_else(PoisonError::into_inner).0.get(&key) {
            return Some(Arc::clone(found));
        }
        let needed = (count as u64).saturating_mul(8).saturating_add(ROOM);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let (kept, memory) = &mut *kept;
        if let Some(found) = kept.get(&key) {
            return Some(Arc::clone(found));
        }
        let held = memory.as_ref().map_or(0, Reservation::bytes);
        if held.saturating_add(needed) > self.budget.limit() / SHARE {
            return None;
        }
        match memory {
            Some(memory) => memory.try_grow(needed).then_some(())?,
            None => *memory = Some(self.budget.try_reserve(needed)?),
        }
        let (partition, mut sums) = (&graph.partitions[partition], Vec::with_capacity(count));
        partition.add_up(edges.clone(), 0.0, &mut sums);
        let edges = partition.edges().get(edges)?;
        let made = Arc::new(Hub { sums, ascends: edges.is_sorted_by_key(target) });
        kept.insert(key, Arc::clone(&made));
        Some(made)
    }
}
