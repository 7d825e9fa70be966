//! A hash table over the ids of all entries, for maps that are in no order.
//!
//! A slot holds half of a hash and the number of an entry; ids stay in the maps. Entries of the same id are linked. It is made in
//! one pass, and a look into it reads one slot and one entry, where halving a sorted list reads twenty.

use std::hash::{BuildHasher, RandomState};

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation};

use super::Entry;
use crate::map::prefetch_item;
use crate::partition::Partition;

/// What stands for no entry. Others are one more than their number.
const NONE: u32 = 0;

/// Entries between the fetch of a slot and its use.
const APART: usize = 16;

/// Ids and where they are.
pub(crate) struct Table {
    /// Half of the hash above, the first entry of an id below; 0 where there is none. A power of two, never full.
    slots: Vec<u64>,
    /// Of each entry the next one of the same id; empty when all ids differ.
    next: Vec<u32>,
    /// The number of the first entry of each partition.
    starts: Vec<usize>,
    /// Mixed into hashes, different each time: who makes a graph cannot know which ids fall together.
    key: u64,
    _memory: Reservation,
}

/// The mixing function of SplitMix64.
#[inline]
fn mixed(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    b ^ (b >> 31)
}

/// A slot's half of a hash.
#[inline]
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

impl Table {
    /// A table of all entries.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when the budget has no room for it, and
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for more than 2³² entries.
    pub fn of(partitions: &[Partition], budget: &Budget) -> Result<Table> {
        let mut count = 0usize;
        let starts = partitions.iter().map(|partition| {
            let start = count;
            count = count.saturating_add(partition.nodes().len());
            start
        });
        let starts: Vec<usize> = starts.collect();
        if u32::try_from(count).is_err() {
            return Err(Error::unsupported("more than 2³² nodes in no order").hint("sort nodes by id"));
        }
        // Between three and six in eight are used.
        let room = (count.saturating_mul(4) / 3 + 1).next_power_of_two();
        let memory = budget.reserve((room as u64).saturating_mul(8))?;
        let key = RandomState::new().hash_one(count);
        let mut table = Table { slots: vec![0; room], next: Vec::new(), starts, key, _memory: memory };
        // From the last to the first, so that links lead from the first to the last.
        for (number, partition) in partitions.iter().enumerate().rev() {
            let start = table.starts[number];
            for entry in (0..partition.nodes().len()).rev() {
                if let Some(later) = entry.checked_sub(APART) {
                    table.foresee(partition.id(later) as u64);
                }
                table.put(partitions, partition.id(entry) as u64, start + entry, count)?;
            }
        }
        Ok(table)
    }

    #[inline]
    fn hash(&self, id: u64) -> u64 {
        mixed(id ^ self.key)
    }

    /// The slot that has an id, or where it would be.
    #[inline]
    fn slot(&self, partitions: &[Partition], id: u64) -> usize {
        let (hash, mask) = (self.hash(id), self.slots.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot as u32 == NONE || tag(slot) == tag(hash) && self.id(partitions, slot as u32) == id {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn put(&mut self, partitions: &[Partition], id: u64, number: usize, count: usize) -> Result<()> {
        let at = self.slot(partitions, id);
        let before = self.slots[at] as u32;
        if before != NONE {
            if self.next.is_empty() {
                self._memory.grow(count as u64 * 4)?;
                self.next = vec![NONE; count];
            }
            self.next[number] = before;
        }
        self.slots[at] = tag(self.hash(id)) | (number as u64 + 1);
        Ok(())
    }

    fn id(&self, partitions: &[Partition], linked: u32) -> u64 {
        let entry = self.entry(linked);
        partitions.get(entry.partition).map_or(0, |partition| partition.id(entry.entry) as u64)
    }

    #[inline]
    fn entry(&self, linked: u32) -> Entry {
        let number = linked as usize - 1;
        let partition = match self.starts.as_slice() {
            [_] => 0,
            starts => starts.partition_point(|start| *start <= number) - 1,
        };
        Entry { partition, entry: number - self.starts[partition] }
    }

    /// Fetches the slot of an id.
    #[inline]
    pub fn foresee(&self, id: u64) {
        prefetch_item(&self.slots, self.hash(id) as usize & (self.slots.len() - 1));
    }

    /// The entry that an id probably has, by a look at its slot alone.
    #[inline]
    pub fn guess(&self, id: u64) -> Option<Entry> {
        let hash = self.hash(id);
        let slot = self.slots[hash as usize & (self.slots.len() - 1)];
        (slot as u32 != NONE && tag(slot) == tag(hash)).then(|| self.entry(slot as u32))
    }

    /// Whether an entry is the last of its id.
    #[inline]
    pub fn is_last(&self, entry: Entry) -> bool {
        self.next.is_empty() || self.next[self.starts[entry.partition] + entry.entry] == NONE
    }

    /// The first entry of an id, as [`Table::step`] takes it.
    #[inline]
    pub fn first(&self, partitions: &[Partition], id: u64) -> u32 {
        self.slots[self.slot(partitions, id)] as u32
    }

    /// An entry, and the next of the same id.
    #[inline]
    pub fn step(&self, linked: u32) -> Option<(Entry, u32)> {
        if linked == NONE {
            return None;
        }
        let next = self.next.get(linked as usize - 1).copied().unwrap_or(NONE);
        Some((self.entry(linked), next))
    }
}
