//! A hash table of the ids of all entries, for unsorted maps.
//!
//! A slot has half of a hash and the number of an entry; ids stay in the maps. Entries with the same id are linked. The table is built in
//! one pass, and a look-up reads one slot and one entry, whereas a binary search in a sorted list reads twenty.
//!
//! A table that was kept in a file is mapped. Nothing in it is trusted: its entries are compared with the map, links
//! lead forward only, and no look-up reads more slots than a table may need. A damaged table may therefore miss a node, but
//! never returns another one.

use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::{Budget, Reservation};

use super::Entry;
use crate::map::prefetch_item;
use crate::partition::Partition;

/// The value for no entry. Other values are the entry number plus one.
const NONE: u32 = 0;

/// Number of entries between the prefetch of a slot and its use.
const APART: usize = 16;

/// Maximum number of slots that a look-up reads. Hashes with a random key need a few hundred in the worst case.
pub(super) const REACH: usize = 4096;

/// Numbers of N bytes, in memory or mapped.
pub(super) enum Words<const N: usize> {
    Made(Vec<[u8; N]>),
    Mapped(Bytes),
}

impl<const N: usize> Words<N> {
    #[inline]
    pub fn all(&self) -> &[[u8; N]] {
        match self {
            Words::Made(words) => words,
            Words::Mapped(bytes) => bytes.as_chunks().0,
        }
    }

    #[inline]
    fn made(&mut self) -> &mut [[u8; N]] {
        match self {
            Words::Made(words) => words,
            Words::Mapped(_) => &mut [],
        }
    }
}

/// The table of ids and entries.
pub(crate) struct Table {
    /// Half of the hash in the upper bits, the first entry of an id in the lower bits; 0 if empty. A power of two in size, never full.
    pub(super) slots: Words<8>,
    /// For each entry, the next one with the same id; empty if all ids differ.
    pub(super) next: Words<4>,
    /// The number of the first entry of each partition, and the number of all entries.
    starts: Vec<usize>,
    /// Maximum number of slots that a look-up reads.
    pub(super) reach: usize,
    /// Mixed into hashes, different for each table: the author of a graph cannot know which ids collide.
    pub(super) key: u64,
    /// The memory of a table that was built here.
    memory: Option<Reservation>,
}

/// The mixing function of SplitMix64.
#[inline]
fn mixed(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    b ^ (b >> 31)
}

/// Returns a slot's half of a hash.
#[inline]
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

/// The number of the first entry of each partition, and the number of all entries.
fn starts(partitions: &[Partition]) -> Vec<usize> {
    let ends = partitions.iter().scan(0usize, |count, partition| {
        *count = count.saturating_add(partition.nodes().len());
        Some(*count)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Returns the entry in a slot, whose other half is part of a hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn entry_in(slot: u64) -> u32 {
    slot as u32
}

/// Returns the number of slots for `count` entries: between three and six of eight are used.
pub(super) fn room(count: usize) -> usize {
    (count.saturating_mul(4) / 3 + 1).next_power_of_two()
}

impl Table {
    /// Builds a table of all entries.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if the budget is too small for it, or
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for more than 2³² entries.
    pub fn of(partitions: &[Partition], budget: &Budget) -> Result<Table> {
        let starts = starts(partitions);
        let count = starts.last().copied().unwrap_or(0);
        if u32::try_from(count).is_err() {
            return Err(Error::unsupported("more than 2³² unsorted nodes").hint("sort nodes by id"));
        }
        let room = room(count);
        let memory = Some(budget.reserve((room as u64).saturating_mul(8))?);
        let key = RandomState::new().hash_one(count);
        let (slots, next) = (Words::Made(vec![[0; 8]; room]), Words::Made(Vec::new()));
        let mut table = Table { slots, next, starts, reach: room, key, memory };
        let mut reach = 0;
        // From the last to the first, so that links lead from the first to the last.
        for (number, partition) in partitions.iter().enumerate().rev() {
            let start = table.starts[number];
            for entry in (0..partition.nodes().len()).rev() {
                if let Some(later) = entry.checked_sub(APART) {
                    table.foresee(partition.id(later).cast_unsigned());
                }
                reach = reach.max(table.put(partitions, partition.id(entry).cast_unsigned(), start + entry)?);
            }
        }
        table.reach = reach;
        Ok(table)
    }

    /// Returns a kept table; `None` if its parts do not have the lengths for these partitions.
    pub(super) fn kept(partitions: &[Partition], key: u64, reach: usize, slots: Bytes, next: Bytes) -> Option<Table> {
        let starts = starts(partitions);
        let count = starts.last().copied()?;
        let fits = reach <= REACH
            && u32::try_from(count).is_ok()
            && slots.len() == room(count).checked_mul(8)?
            && (next.is_empty() || next.len() == count.checked_mul(4)?);
        let (slots, next) = (Words::Mapped(slots), Words::Mapped(next));
        fits.then_some(Table { slots, next, starts, reach, key, memory: None })
    }

    /// Returns the number of entries.
    fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    #[inline]
    fn hash(&self, id: u64) -> u64 {
        mixed(id ^ self.key)
    }

    #[inline]
    fn slot(&self, at: usize) -> u64 {
        self.slots.all().get(at).map_or(0, |slot| u64::from_le_bytes(*slot))
    }

    /// Returns the slot that has an id, or where it would be, and the number of slots read.
    #[inline]
    fn look(&self, partitions: &[Partition], id: u64) -> Option<(usize, usize)> {
        let (hash, mask) = (self.hash(id), self.slots.all().len() - 1);
        let mut at = index(hash) & mask;
        for read in 1..=self.reach {
            let slot = self.slot(at);
            if entry_in(slot) == NONE || tag(slot) == tag(hash) && self.is(partitions, entry_in(slot), id) {
                return Some((at, read));
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Inserts an entry before those with its id, and returns the number of slots read.
    fn put(&mut self, partitions: &[Partition], id: u64, number: usize) -> Result<usize> {
        let Some((at, read)) = self.look(partitions, id) else {
            return Err(Error::new(Kind::Conflict, "ids of nodes changed while they were read"));
        };
        let before = entry_in(self.slot(at));
        if before != NONE {
            let count = self.count();
            if self.next.all().is_empty() {
                if let Some(memory) = &mut self.memory {
                    memory.grow(count as u64 * 4)?;
                }
                self.next = Words::Made(vec![[0; 4]; count]);
            }
            self.next.made()[number] = before.to_le_bytes();
        }
        self.slots.made()[at] = (tag(self.hash(id)) | (number as u64 + 1)).to_le_bytes();
        Ok(read)
    }

    /// Returns whether the entry exists and has this id.
    #[inline]
    fn is(&self, partitions: &[Partition], linked: u32, id: u64) -> bool {
        self.entry(linked).is_some_and(|entry| partitions[entry.partition].has(entry.entry, id.cast_signed()))
    }

    #[inline]
    fn entry(&self, linked: u32) -> Option<Entry> {
        let number = (linked as usize).checked_sub(1)?;
        let partition = match self.starts.as_slice() {
            [_, count] => (number < *count).then_some(0)?,
            starts => starts.partition_point(|start| *start <= number).checked_sub(1)?,
        };
        (partition + 1 < self.starts.len()).then(|| Entry { partition, entry: number - self.starts[partition] })
    }

    /// Prefetches the slot of an id.
    #[inline]
    pub fn foresee(&self, id: u64) {
        let slots = self.slots.all();
        prefetch_item(slots, index(self.hash(id)) & (slots.len() - 1));
    }

    /// Returns the probable entry of an id, from its slot alone.
    #[inline]
    pub fn guess(&self, id: u64) -> Option<Entry> {
        let hash = self.hash(id);
        let slot = self.slot(index(hash) & (self.slots.all().len() - 1));
        if tag(slot) == tag(hash) { self.entry(entry_in(slot)) } else { None }
    }

    /// Returns whether an entry is the last with its id.
    #[inline]
    pub fn is_last(&self, entry: Entry) -> bool {
        let next = self.next.all();
        next.is_empty() || next.get(self.starts[entry.partition] + entry.entry) == Some(&[0; 4])
    }

    /// Returns the entries whose id an earlier entry has.
    pub fn linked(&self) -> impl Iterator<Item = Entry> + '_ {
        self.next.all().iter().filter_map(|next| self.entry(u32::from_le_bytes(*next)))
    }

    /// Returns the first entry of an id, in the form for [`Table::step`].
    #[inline]
    pub fn first(&self, partitions: &[Partition], id: u64) -> u32 {
        self.look(partitions, id).map_or(NONE, |(at, _)| entry_in(self.slot(at)))
    }

    /// Returns an entry, and the next one with the same id.
    #[inline]
    pub fn step(&self, partitions: &[Partition], id: u64, linked: u32) -> Option<(Entry, u32)> {
        let entry = self.entry(linked)?;
        let next = self.next.all().get(linked as usize - 1).map_or(NONE, |next| u32::from_le_bytes(*next));
        // Links of a kept table may be wrong.
        let next = if next > linked && self.is(partitions, next, id) { next } else { NONE };
        Some((entry, next))
    }
}
