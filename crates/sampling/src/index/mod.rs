//! The index: finds the entries of a node by its id.
//!
//! Maps are in the order in which nodes arrived, which is the order of ids in a graph that follows the specification.
//! One pass over the maps (20 bytes for each node, no edges) checks this; if it holds, nothing is built: ids with
//! equal distances are calculated, others are found by interpolation. Only for maps in another order, or split into
//! many partitions, a table is built. An index that took long to build can be kept in a file next to the graph.

mod file;
mod table;

use std::ops::Range;

use isomorph_error::{Result, index};
use isomorph_storage::{Budget, Reservation, pool};
use rayon::prelude::*;

use crate::partition::{DUMMY, Partition};
pub(crate) use file::NodeIdsFile;
pub use file::{IndexFile, IndexOrigin};
use table::Table;

/// Maximum number of partitions that are searched one after another.
const FEW: usize = 4;

/// Number of entries that one thread reads at once.
const PIECE: usize = 1 << 16;

/// Maximum number of interpolation steps before binary search: enough for evenly spread ids, and a limit for others.
const GUESSES: usize = 6;

/// One occurrence of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub partition: usize,
    pub entry: usize,
}

/// The order of the ids in a map.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// `first + step · entry`, for `count` entries. If the order comes from a file and is not `proven`, it is compared with the map.
    Steps { first: u64, step: u64, count: u64, proven: bool },
    /// Ascending, equal ids next to each other.
    Ascending,
}

/// The index of all partitions.
pub(crate) enum Index {
    /// Each partition is searched.
    Each(Vec<Order>),
    /// A hash table of all entries by id.
    Table(Table),
}

/// Returns the first entry of `range` whose id is at least `wanted`.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a guess, which is clamped to the range")]
fn lower_bound(range: Range<usize>, wanted: u64, id: impl Fn(usize) -> u64) -> usize {
    let Range { start: mut low, end: mut high } = range;
    for _ in 0..GUESSES {
        if high - low < 8 {
            break;
        }
        let (first, last) = (id(low), id(high - 1));
        if wanted <= first {
            return low;
        }
        if wanted > last {
            return high;
        }
        // first < wanted <= last, so last − first is not 0.
        let part = (wanted - first) as f64 / (last - first) as f64;
        let guess = (low + (part * (high - 1 - low) as f64) as usize).clamp(low, high - 1);
        // Both sides of the guess are narrowed at once: ids are rarely spread so evenly that the guess is exact.
        let reach = ((high - low) as f64).sqrt() as usize + 1;
        let (before, behind) = (guess.saturating_sub(reach).max(low), (guess + reach).min(high - 1));
        if id(before) < wanted {
            low = before + 1;
        } else {
            high = before + 1;
            continue;
        }
        if low <= behind && id(behind) >= wanted {
            high = behind + 1;
        } else {
            low = behind + 1;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if id(middle) < wanted { low = middle + 1 } else { high = middle }
    }
    low
}

impl Order {
    /// Returns the order of a map; `None` if ids descend somewhere.
    fn of(partition: &Partition) -> Option<Order> {
        let count = partition.nodes().len();
        let id = |entry: usize| partition.id(entry).cast_unsigned();
        let (first, step) = match count {
            0 => (0, 1),
            1 => (id(0), 1),
            _ => (id(0), id(1).wrapping_sub(id(0))),
        };
        // For each ascending piece, including the first entry of the next: whether its steps are equal. A piece that does not ascend ends
        // the check.
        let pieces = (0..count.saturating_sub(1)).into_par_iter().step_by(PIECE);
        let looked = pieces.map(|start| {
            let end = (start + PIECE).min(count - 1);
            let (mut ascends, mut steps, mut last) = (true, true, id(start));
            for entry in start + 1..=end {
                let next = id(entry);
                ascends &= last <= next;
                steps &= next.wrapping_sub(last) == step;
                last = next;
            }
            ascends.then_some(steps)
        });
        let steps = pool::run(|| looked.try_reduce(|| true, |a, b| Some(a && b)))?;
        let order = Order::Steps { first, step, count: count as u64, proven: true };
        Some(if steps && step > 0 { order } else { Order::Ascending })
    }

    /// Returns the entry of an id, if ids have equal steps.
    #[inline]
    fn calculated(&self, wanted: u64) -> Option<usize> {
        let Order::Steps { first, step, count, .. } = *self else { return None };
        let distance = wanted.checked_sub(first)?;
        let entry = if step == 1 { distance } else { distance / step };
        (entry < count && entry * step == distance).then_some(index(entry))
    }

    #[inline]
    fn find(&self, partition: &Partition, wanted: u64) -> Range<usize> {
        match *self {
            Order::Steps { proven, .. } => match self.calculated(wanted) {
                Some(entry) if proven || partition.has(entry, wanted.cast_signed()) => entry..entry + 1,
                _ => 0..0,
            },
            Order::Ascending => {
                let id = |entry: usize| partition.id(entry).cast_unsigned();
                let count = partition.nodes().len();
                let start = lower_bound(0..count, wanted, id);
                let mut end = start;
                while end < count && id(end) == wanted {
                    end += 1;
                }
                start..end
            }
        }
    }
}

impl Index {
    /// Reads the ids of all partitions, and builds a table if needed.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if a table is needed and the budget is too small for it.
    pub fn of(partitions: &[Partition], budget: &Budget) -> Result<Index> {
        if partitions.len() <= FEW {
            let orders: Option<Vec<Order>> = partitions.iter().map(Order::of).collect();
            if let Some(orders) = orders {
                return Ok(Index::Each(orders));
            }
        }
        Table::of(partitions, budget).map(Index::Table)
    }

    /// Prefetches what [`Index::guess`] reads.
    #[inline]
    pub fn foresee(&self, partitions: &[Partition], id: i64) {
        match self {
            Index::Table(table) => table.foresee(id.cast_unsigned()),
            Index::Each(orders) => {
                if let ([order @ Order::Steps { proven: false, .. }], [partition]) = (orders.as_slice(), partitions)
                    && let Some(entry) = order.calculated(id.cast_unsigned())
                {
                    partition.fetch_node(entry);
                }
            }
        }
    }

    /// Returns an entry that a node may have, with little waiting for memory; prefetches what [`Index::is_only`] reads.
    #[inline]
    pub fn guess(&self, partitions: &[Partition], id: i64) -> Option<Entry> {
        match self {
            Index::Each(orders) => {
                orders.iter().zip(partitions).enumerate().find_map(|(partition, (order, entries))| {
                    order.find(entries, id.cast_unsigned()).next().map(|entry| Entry { partition, entry })
                })
            }
            Index::Table(table) => {
                let entry = table.guess(id.cast_unsigned())?;
                partitions[entry.partition].fetch_node(entry.entry);
                Some(entry)
            }
        }
    }

    /// Returns whether an entry of [`Index::guess`] is the only entry of the node; false if this would take long to determine.
    #[inline]
    pub fn is_only(&self, partitions: &[Partition], id: i64, entry: Entry) -> bool {
        let has = |at: usize| partitions[entry.partition].has(at, id);
        match self {
            Index::Each(orders) => match orders.as_slice() {
                [Order::Steps { .. }] => true,
                [Order::Ascending] => !has(entry.entry + 1),
                _ => false,
            },
            Index::Table(table) => has(entry.entry) && table.is_last(entry),
        }
    }

    /// Returns the entries of nodes that an earlier entry already states, in the order of partitions and maps. Entries that only
    /// represent ends of edges do not count. If ids have equal steps, nothing is read.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if the budget is too small for them.
    pub fn repeated(&self, partitions: &[Partition], budget: &Budget) -> Result<(Vec<Entry>, Reservation)> {
        let (mut repeated, mut memory) = (Vec::new(), budget.reserve(0)?);
        let states = |entry: &Entry| partitions[entry.partition].node_type(entry.entry) != DUMMY;
        let mut look = |here: Entry| -> Result<()> {
            let id = partitions[here.partition].id(here.entry);
            if states(&here) && self.find(partitions, id).find(states) != Some(here) {
                memory.grow(size_of::<Entry>() as u64)?;
                repeated.push(here);
            }
            Ok(())
        };
        match self {
            Index::Table(table) => table.linked().try_for_each(&mut look)?,
            Index::Each(_) if self.is_single() => {}
            Index::Each(_) => {
                for (number, partition) in partitions.iter().enumerate() {
                    for entry in 0..partition.nodes().len() {
                        // A map in ascending order has equal ids next to each other.
                        let alone = || entry == 0 || partition.id(entry - 1) != partition.id(entry);
                        if partitions.len() > 1 || !alone() {
                            look(Entry { partition: number, entry })?;
                        }
                    }
                }
            }
        }
        repeated.sort_unstable_by_key(|entry| (entry.partition, entry.entry));
        Ok((repeated, memory))
    }

    /// Returns whether it is known without reading that no id has several entries.
    fn is_single(&self) -> bool {
        let Index::Each(orders) = self else { return false };
        let apart = |a: &Order, b: &Order| match (*a, *b) {
            (Order::Steps { first: a, step: of_a, .. }, Order::Steps { first: b, step: of_b, .. }) => {
                // Two such sequences have a common id only if their distance is a multiple of the common divisor of the steps.
                !a.abs_diff(b).is_multiple_of(common(of_a, of_b))
            }
            _ => false,
        };
        orders.iter().all(|order| matches!(order, Order::Steps { .. }))
            && (1..orders.len()).all(|at| orders[..at].iter().all(|before| apart(before, &orders[at])))
    }

    /// Returns the entries of a node: by partition, then in stored order.
    #[inline]
    pub fn find<'a>(&'a self, partitions: &'a [Partition], id: i64) -> Found<'a> {
        match self {
            Index::Each(orders) => {
                let mut found =
                    Found { index: self, partitions, id: id.cast_unsigned(), partition: 0, run: 0..0, linked: 0 };
                if let (Some(order), Some(partition)) = (orders.first(), partitions.first()) {
                    found.run = order.find(partition, id.cast_unsigned());
                }
                found
            }
            Index::Table(table) => {
                let linked = table.first(partitions, id.cast_unsigned());
                Found { index: self, partitions, id: id.cast_unsigned(), partition: 0, run: 0..0, linked }
            }
        }
    }
}

/// Returns the greatest common divisor.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// The entries of a node.
pub(crate) struct Found<'a> {
    index: &'a Index,
    partitions: &'a [Partition],
    id: u64,
    /// The partition of `run`, if each partition is searched.
    partition: usize,
    run: Range<usize>,
    /// The next entry in the table.
    linked: u32,
}

impl Iterator for Found<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        match self.index {
            Index::Each(orders) => loop {
                if let Some(entry) = self.run.next() {
                    return Some(Entry { partition: self.partition, entry });
                }
                self.partition += 1;
                let (order, partition) = (orders.get(self.partition)?, self.partitions.get(self.partition)?);
                self.run = order.find(partition, self.id);
            },
            Index::Table(table) => {
                let (entry, next) = table.step(self.partitions, self.id, self.linked)?;
                self.linked = next;
                Some(entry)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_however_they_are_spread() {
        let even: Vec<u64> = (0..1000).map(|at| 7 + at * 13).collect();
        let clumped: Vec<u64> =
            (0..500).map(|at| at * at * at).chain((0..500).map(|at| u64::MAX - 1000 + at)).collect();
        let repeated: Vec<u64> = (0..300).map(|at| at / 3).collect();
        for ids in [even, clumped, repeated, vec![5], Vec::new()] {
            let questions =
                ids.iter().flat_map(|id| [id.wrapping_sub(1), *id, id.wrapping_add(1)]).chain([0, u64::MAX]);
            for wanted in questions {
                let found = lower_bound(0..ids.len(), wanted, |at| ids[at]);
                assert_eq!(found, ids.partition_point(|id| *id < wanted), "{wanted}");
            }
        }
    }
}
