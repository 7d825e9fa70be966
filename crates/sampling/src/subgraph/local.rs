//! The nodes of a subgraph, and where in its list each of them is.

use isomorph_error::{Error, Kind, Result};

use crate::map::prefetch_item;

/// Slots of a table at first; always a power of two.
const LEAST: usize = 1 << 10;

/// A node, the seed whose subgraph it is in, and its position plus one; 0 for an empty slot.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    node: u64,
    owner: u32,
    position: u32,
}

/// The nodes of one type in a subgraph, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct LocalNodes {
    /// Their rows.
    pub nodes: Vec<i64>,
    /// The seed of each, if subgraphs of seeds are disjoint; otherwise empty.
    pub owners: Vec<i64>,
    slots: Vec<Slot>,
    /// Nodes in the table: those that are in the list twice are there once.
    known: usize,
}

impl LocalNodes {
    /// Makes it empty, with room for other nodes.
    pub fn clear(&mut self) {
        self.nodes = Vec::new();
        self.owners = Vec::new();
        self.known = 0;
        self.slots.fill(Slot::default());
    }

    #[inline]
    fn slot(&self, node: u64, owner: u32) -> usize {
        let mixed = (node ^ (u64::from(owner) << 40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        isomorph_error::index(mixed >> 32) & self.slots.len().saturating_sub(1)
    }

    /// Prefetches where [`LocalNodes::add`] looks first.
    #[inline]
    pub fn fetch(&self, node: u64, owner: u32) {
        prefetch_item(&self.slots, self.slot(node, owner));
    }

    /// Returns the position of a node, if it is in the list.
    #[inline]
    pub fn get(&self, node: u64, owner: u32) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.slot(node, owner);
        loop {
            let slot = self.slots[at];
            match slot.position.checked_sub(1) {
                None => return None,
                Some(position) if slot.node == node && slot.owner == owner => return Some(position),
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Returns the position of a node in the list, at whose end it is put if it is not there.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`] for more than 2³² − 2 nodes.
    #[inline]
    pub fn add(&mut self, node: u64, owner: u32, disjoint: bool) -> Result<u32> {
        if 2 * self.known >= self.slots.len() {
            self.grow();
        }
        let mut at = self.slot(node, owner);
        loop {
            let slot = self.slots[at];
            match slot.position.checked_sub(1) {
                Some(position) if slot.node == node && slot.owner == owner => return Ok(position),
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
                None => break,
            }
        }
        let position = self.append(node, owner, disjoint)?;
        self.slots[at] = Slot { node, owner, position: position + 1 };
        self.known += 1;
        Ok(position)
    }

    /// Puts a node at the end of the list, whether or not it is there, and returns its position. [`LocalNodes::get`] returns the first.
    ///
    /// # Errors
    /// As [`LocalNodes::add`].
    pub fn add_again(&mut self, node: u64, owner: u32, disjoint: bool) -> Result<u32> {
        match self.get(node, owner) {
            None => self.add(node, owner, disjoint),
            Some(_) => self.append(node, owner, disjoint),
        }
    }

    #[inline]
    fn append(&mut self, node: u64, owner: u32, disjoint: bool) -> Result<u32> {
        let position = u32::try_from(self.nodes.len()).ok().filter(|position| *position < u32::MAX - 1);
        let position = position.ok_or_else(|| {
            Error::new(Kind::TooLarge, "a subgraph has more than 2³² nodes").hint("fewer seeds, or fewer neighbours")
        })?;
        self.nodes.push(node.cast_signed());
        if disjoint {
            self.owners.push(owner.into());
        }
        Ok(position)
    }

    #[cold]
    fn grow(&mut self) {
        let room = (2 * self.slots.len()).max(LEAST);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); room]);
        for slot in old.into_iter().filter(|slot| slot.position > 0) {
            let mut at = self.slot(slot.node, slot.owner);
            while self.slots[at].position > 0 {
                at = (at + 1) & (room - 1);
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::HashMap;

    use super::*;
    use crate::random::Key;

    #[test]
    fn positions_are_those_of_a_map() {
        let (mut local, mut stream) = (LocalNodes::default(), Key::new(5, 0).stream(1, 0));
        for round in 0..3 {
            local.clear();
            let mut known: HashMap<(u64, u32), u32> = HashMap::new();
            let limit = [50, 3_000, 100_000][round];
            for _ in 0..20_000 {
                let (node, owner) = (stream.below(limit), u32::try_from(stream.below(3)).unwrap());
                assert_eq!(local.get(node, owner), known.get(&(node, owner)).copied());
                let next = u32::try_from(known.len()).unwrap();
                let expected = *known.entry((node, owner)).or_insert(next);
                assert_eq!(local.add(node, owner, true).unwrap(), expected);
            }
            assert_eq!(local.nodes.len(), known.len());
            assert_eq!(local.owners.len(), known.len());
        }
    }

    #[test]
    fn a_seed_that_is_there_twice_keeps_its_first_position() {
        let mut local = LocalNodes::default();
        assert_eq!([7, 8, 7].map(|node| local.add_again(node, 0, false).unwrap()), [0, 1, 2]);
        assert_eq!((local.get(7, 0), local.get(8, 0), local.get(9, 0)), (Some(0), Some(1), None));
        assert!(local.owners.is_empty());
    }
}
