//! A hash table over the ids of all entries, for maps that are in no order.
//!
//! A slot holds half of a hash and the number of an entry; ids stay in the maps. Entries of the same id are linked. It is made in
//! one pass, and a look into it reads one slot and one entry, where halving a sorted list reads twenty.
//!
//! A table that was kept in a file is mapped. Nothing in it is believed: an entry that it names is compared with the map, links
//! lead forward only, and no look reads more slots than a table may need. So one that is damaged does not know a node; it
//! does not give another one.

use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::{Budget, Reservation};

use super::Entry;
use crate::map::prefetch_item;
use crate::partition::Partition;

/// What stands for no entry. Others are one more than their number.
const NONE: u32 = 0;

/// Entries between the fetch of a slot and its use.
const APART: usize = 16;

/// Slots that a look reads at most. Hashes with a random key need a few hundred in the worst case.
pub(super) const REACH: usize = 4096;

/// Numbers of N bytes, made here or mapped.
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

/// Ids and where they are.
pub(crate) struct Table {
    /// Half of the hash above, the first entry of an id below; 0 where there is none. A power of two, never full.
    pub(super) slots: Words<8>,
    /// Of each entry the next one of the same id; empty when all ids differ.
    pub(super) next: Words<4>,
    /// The number of the first entry of each partition, and of all entries.
    starts: Vec<usize>,
    /// Slots that a look reads at most.
    pub(super) reach: usize,
    /// Mixed into hashes, different each time: who makes a graph cannot know which ids fall together.
    pub(super) key: u64,
    /// Of what was made.
    memory: Option<Reservation>,
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

/// The number of the first entry of each partition, and of all entries.
fn starts(partitions: &[Partition]) -> Vec<usize> {
    let ends = partitions.iter().scan(0usize, |count, partition| {
        *count = count.saturating_add(partition.nodes().len());
        Some(*count)
    });
    std::iter::once(0).chain(ends).collect()
}

/// The entry in a slot, whose other half is of a hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn entry_in(slot: u64) -> u32 {
    slot as u32
}

/// Slots for so many entries: between three and six in eight are used.
pub(super) fn room(count: usize) -> usize {
    (count.saturating_mul(4) / 3 + 1).next_power_of_two()
}

impl Table {
    /// A table of all entries.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when the budget has no room for it, and
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for more than 2³² entries.
    pub fn of(partitions: &[Partition], budget: &Budget) -> Result<Table> {
        let starts = starts(partitions);
        let count = starts.last().copied().unwrap_or(0);
        if u32::try_from(count).is_err() {
            return Err(Error::unsupported("more than 2³² nodes in no order").hint("sort nodes by id"));
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

    /// A table that was kept: nothing where its parts have not the lengths that one of these partitions has.
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

    /// Number of entries.
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

    /// The slot that has an id, or where it would be, and how many were read for it.
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

    /// Puts an entry in front of those of its id, and returns how many slots were read for it.
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

    /// Whether there is such an entry and it has an id.
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

    /// Fetches the slot of an id.
    #[inline]
    pub fn foresee(&self, id: u64) {
        let slots = self.slots.all();
        prefetch_item(slots, index(self.hash(id)) & (slots.len() - 1));
    }

    /// The entry that an id probably has, by a look at its slot alone.
    #[inline]
    pub fn guess(&self, id: u64) -> Option<Entry> {
        let hash = self.hash(id);
        let slot = self.slot(index(hash) & (self.slots.all().len() - 1));
        if tag(slot) == tag(hash) { self.entry(entry_in(slot)) } else { None }
    }

    /// Whether an entry is the last of its id.
    #[inline]
    pub fn is_last(&self, entry: Entry) -> bool {
        let next = self.next.all();
        next.is_empty() || next.get(self.starts[entry.partition] + entry.entry) == Some(&[0; 4])
    }

    /// The entries whose id an entry before them has.
    pub fn linked(&self) -> impl Iterator<Item = Entry> + '_ {
        self.next.all().iter().filter_map(|next| self.entry(u32::from_le_bytes(*next)))
    }

    /// The first entry of an id, as [`Table::step`] takes it.
    #[inline]
    pub fn first(&self, partitions: &[Partition], id: u64) -> u32 {
        self.look(partitions, id).map_or(NONE, |(at, _)| entry_in(self.slot(at)))
    }

    /// An entry, and the next of the same id.
    #[inline]
    pub fn step(&self, partitions: &[Partition], id: u64, linked: u32) -> Option<(Entry, u32)> {
        let entry = self.entry(linked)?;
        let next = self.next.all().get(linked as usize - 1).map_or(NONE, |next| u32::from_le_bytes(*next));
        // Links of a kept table may lead anywhere.
        let next = if next > linked && self.is(partitions, next, id) { next } else { NONE };
        Some((entry, next))
    }
}
