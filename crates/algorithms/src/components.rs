//! Weakly connected components.

use isomorph_error::Result;
use isomorph_storage::{Reservation, Resources};

use crate::array::Array;

/// Sets of nodes that are connected, as trees; the root of a tree is its smallest number.
pub(crate) struct Union {
    parents: Array<u32>,
    /// Nodes that were not known at first.
    more: Vec<u32>,
    memory: Reservation,
}

impl Union {
    /// Each of `nodes` nodes alone.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn new(nodes: u64, resources: &Resources) -> Result<Self> {
        let mut parents: Array<u32> = Array::zeros(nodes, 0, resources)?;
        parents.iter_mut().zip(0..).for_each(|(parent, node)| *parent = node);
        Ok(Union { parents, more: Vec::new(), memory: resources.budget.reserve(0)? })
    }

    /// Adds nodes up to number `nodes - 1`.
    ///
    /// # Errors
    /// If the budget is too small for them.
    pub fn grow(&mut self, nodes: u32) -> Result<()> {
        let missing = (nodes as usize).saturating_sub(self.parents.len() + self.more.len());
        if missing > 0 {
            self.memory.grow(4 * missing as u64)?;
            let first = self.parents.len() + self.more.len();
            self.more.extend((first..).take(missing).map(|node| u32::try_from(node).unwrap_or(u32::MAX)));
        }
        Ok(())
    }

    #[inline]
    fn parent(&self, node: u32) -> u32 {
        match self.parents.get(node as usize) {
            Some(parent) => *parent,
            None => self.more.get(node as usize - self.parents.len()).copied().unwrap_or(node),
        }
    }

    #[inline]
    fn set(&mut self, node: u32, parent: u32) {
        let known = self.parents.len();
        let slot = match (node as usize).checked_sub(known) {
            None => self.parents.get_mut(node as usize),
            Some(at) => self.more.get_mut(at),
        };
        if let Some(slot) = slot {
            *slot = parent;
        }
    }

    /// The smallest number of the set of a node.
    #[inline]
    pub fn find(&mut self, mut node: u32) -> u32 {
        loop {
            let parent = self.parent(node);
            if parent == node {
                return node;
            }
            let above = self.parent(parent);
            if above == parent {
                return parent;
            }
            self.set(node, above);
            node = above;
        }
    }

    /// Unites the sets of two nodes.
    #[inline]
    pub fn unite(&mut self, one: u32, other: u32) {
        let (one, other) = (self.find(one), self.find(other));
        match one.cmp(&other) {
            std::cmp::Ordering::Less => self.set(other, one),
            std::cmp::Ordering::Greater => self.set(one, other),
            std::cmp::Ordering::Equal => {}
        }
    }

    /// The smallest number of the component of each of `nodes` nodes.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn finish(mut self, nodes: u32, resources: &Resources) -> Result<Array<u32>> {
        self.grow(nodes)?;
        if self.more.is_empty() {
            for node in 0..nodes {
                let root = self.find(node);
                self.set(node, root);
            }
            return Ok(self.parents);
        }
        let mut roots: Array<u32> = Array::zeros(u64::from(nodes), 0, resources)?;
        for (node, slot) in (0..nodes).zip(roots.iter_mut()) {
            *slot = self.find(node);
        }
        Ok(roots)
    }
}
