//! The latest neighbours as in the published engine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use isomorph_error::Result;

use super::neighbors::{Sums, is_there, runs};
use crate::partition::{target, type_of};
use crate::request::{Ask, Missing, Picks};
use crate::sampler::Sampler;

impl Sampler {
    /// Fills the slots of a node in the order of entries and files. When all are filled, an edge takes the slot of the oldest one (of several,
    /// the first slot) if it was created later: of edges that were created at the same time, the earlier ones stay. So slots are not in the
    /// order of time.
    ///
    /// Unlike in the engine, an edge that is removed at exactly the requested time does not exist. The engine's documentation says that an
    /// edge exists during `[created_at, removed_at)`, and its other calls do so.
    pub(crate) fn compat_last(
        &self,
        ask: &Ask<'_>,
        count: usize,
        missing: &Missing,
        picks: &mut Picks<'_>,
    ) -> Result<()> {
        ask.check(&self.graph)?;
        picks.check(ask.nodes.len().saturating_mul(count))?;
        let (mut oldest, mut beat) = (BinaryHeap::new(), self.stop.beat());
        for (at, node) in ask.nodes.iter().enumerate() {
            let mut row = picks.rows(at * count, (at + 1) * count);
            row.fill(0, missing);
            oldest.clear();
            beat.add(1)?;
            for entry in self.graph.find(*node) {
                let partition = self.graph.partition(entry);
                let range = partition.edge_range(entry.entry)?;
                let mut sums = Sums::new(partition, range.clone());
                for number in runs(partition, &range, ask.types).flatten() {
                    beat.add(1)?;
                    if ask.time(at).is_some_and(|time| !is_there(partition, number, time)) {
                        continue;
                    }
                    let created = partition.life(number).0;
                    let slot = if oldest.len() < count {
                        oldest.len()
                    } else {
                        match oldest.peek() {
                            Some(Reverse((first, slot))) if *first < created => {
                                let slot = *slot;
                                oldest.pop();
                                slot
                            }
                            _ => continue,
                        }
                    };
                    oldest.push(Reverse((created, slot)));
                    let edge = &partition.edges()[number];
                    row.put(slot, target(edge), sums.weight(number), type_of(edge), created);
                }
            }
        }
        self.stop.check()
    }
}
