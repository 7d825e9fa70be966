//! From the id of a node to its entries.
//!
//! Maps are in the order in which nodes arrived, which for a graph that follows the specification is that of their ids.
//! Whether they are is seen in one pass over the maps (20 bytes for each node, no edges); then nothing is built: ids with
//! equal distances are calculated, others are found by interpolation. Only for maps in another order, or split over
//! many partitions, a table is made. What took long to find out can be kept beside the graph.

mod beside;
mod table;

use std::ops::Range;

use isomorph_error::{Result, index};
use isomorph_storage::{Budget, Reservation};
use rayon::prelude::*;

use crate::partition::{DUMMY, Partition};
pub(crate) use beside::Beside;
pub use beside::{IndexFile, IndexOrigin};
use table::Table;

/// Partitions that are searched one after another.
const FEW: usize = 4;

/// Entries that one thread looks at at once.
const PIECE: usize = 1 << 16;

/// Steps by interpolation before halving: enough for evenly spread ids, and a bound for others.
const GUESSES: usize = 6;

/// One occurrence of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub partition: usize,
    pub entry: usize,
}

/// How the ids of a map lie.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// `first + step · entry`, for so many entries. What was not seen but is told by a file is compared with the map.
    Steps { first: u64, step: u64, count: u64, proven: bool },
    /// Ascending, equal ones side by side.
    Ascending,
}

/// The index of all partitions.
pub(crate) enum Index {
    /// Each partition is looked into.
    Each(Vec<Order>),
    /// All entries by hashes of their ids.
    Table(Table),
}

/// The first of `range` whose id is not less than `wanted`.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a guess, which is brought into the range")]
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
        // Both sides of the guess are narrowed at once: ids are seldom spread so evenly that it is met.
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
    /// `None` when ids descend somewhere.
    fn of(partition: &Partition) -> Option<Order> {
        let count = partition.nodes().len();
        let id = |entry: usize| partition.id(entry).cast_unsigned();
        let (first, step) = match count {
            0 => (0, 1),
            1 => (id(0), 1),
            _ => (id(0), id(1).wrapping_sub(id(0))),
        };
        // Of each piece that ascends, with the first entry of the next: whether it does by equal steps. One that does not ends it.
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
        let steps = looked.try_reduce(|| true, |a, b| Some(a && b))?;
        let order = Order::Steps { first, step, count: count as u64, proven: true };
        Some(if steps && step > 0 { order } else { Order::Ascending })
    }

    /// Where an id is, if ids lie in equal steps.
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
    /// Looks at the ids of all partitions, and makes a table if that is needed.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when a table is needed and the budget has no room for it.
    pub fn of(partitions: &[Partition], budget: &Budget) -> Result<Index> {
        if partitions.len() <= FEW {
            let orders: Option<Vec<Order>> = partitions.iter().map(Order::of).collect();
            if let Some(orders) = orders {
                return Ok(Index::Each(orders));
            }
        }
        Table::of(partitions, budget).map(Index::Table)
    }

    /// Fetches what [`Index::guess`] reads.
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

    /// An entry that a node may have, found without waiting for much; what [`Index::is_only`] reads is fetched.
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

    /// Whether an entry of [`Index::guess`] is the one entry of the node. Where that would take long to say, no.
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

    /// The entries that state a node which an entry before them states, in the order of partitions and maps. Entries that only
    /// stand for edges state none. Where ids lie in equal steps nothing is read.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when the budget has no room for them.
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
                        // One map in ascending order has equal ids side by side.
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

    /// Whether it is known without a look that no id has several entries.
    fn is_single(&self) -> bool {
        let Index::Each(orders) = self else { return false };
        let apart = |a: &Order, b: &Order| match (*a, *b) {
            (Order::Steps { first: a, step: of_a, .. }, Order::Steps { first: b, step: of_b, .. }) => {
                // Two such rows meet only where their distance is a multiple of what both steps are.
                !a.abs_diff(b).is_multiple_of(common(of_a, of_b))
            }
            _ => false,
        };
        orders.iter().all(|order| matches!(order, Order::Steps { .. }))
            && (1..orders.len()).all(|at| orders[..at].iter().all(|before| apart(before, &orders[at])))
    }

    /// The entries of a node: by partition, then as they stand there.
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

/// The greatest common divisor.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// The entries of a node.
pub(crate) struct Found<'a> {
    index: &'a Index,
    partitions: &'a [Partition],
    id: u64,
    /// The partition that `run` is of, where each is looked into.
    partition: usize,
    run: Range<usize>,
    /// The next entry in a table.
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
