//! Properties that the members of a hyperedge share.

use crate::read::ids as hashes;

/// Whether values are all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Agreed<T> {
    #[default]
    None,
    One(T),
    Several,
}

impl<T: Copy + PartialEq> Agreed<T> {
    pub fn with(self, other: Agreed<T>) -> Agreed<T> {
        match (self, other) {
            (Agreed::None, one) | (one, Agreed::None) => one,
            (Agreed::One(left), Agreed::One(right)) if left == right => self,
            _ => Agreed::Several,
        }
    }

    /// Returns whether there is exactly one distinct value.
    pub fn is_one(self) -> bool {
        matches!(self, Agreed::One(_))
    }

    /// Returns the value that all share, if there is one.
    pub fn one(self) -> Option<T> {
        match self {
            Agreed::One(value) => Some(value),
            _ => None,
        }
    }
}

/// Properties that the members of one side share.
#[derive(Default)]
pub(super) struct Side {
    pub entity: Agreed<u128>,
    pub layer: Agreed<i64>,
}

impl Side {
    /// Adds a member.
    pub fn add(&mut self, entity: &str, layer: Option<i64>) {
        self.entity = self.entity.with(Agreed::One(hashes::hash(entity)));
        self.layer = self.layer.with(layer.map_or(Agreed::Several, Agreed::One));
    }

    pub fn with(&self, other: &Side) -> Side {
        Side { entity: self.entity.with(other.entity), layer: self.layer.with(other.layer) }
    }
}
