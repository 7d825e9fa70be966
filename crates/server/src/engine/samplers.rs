//! Samplers whose numbers encode what they draw.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph_sampling::{Choice, EdgeSampler, NodeSampler};
use tonic::Status;

use crate::status::invalid;

/// Number of samplers that are kept for reuse.
const KEPT: usize = 64;

/// Maximum number of sets of types that are remembered because a number cannot encode them.
const REMEMBERED: usize = 1 << 16;

/// Number of types that a number can encode: one bit for each.
const TYPES: u32 = 56;

/// Position of the types in a number: after what is drawn (one bit) and how (two bits).
const SHIFT: u32 = 3;

/// The bit of numbers that refer to a remembered set.
const TABLE: u64 = 1 << 63;

/// What a sampler draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub is_edge: bool,
    pub choice: Choice,
    /// Types that the graph has, in ascending order, each once.
    pub types: Vec<i32>,
}

/// A kept sampler.
#[derive(Clone)]
pub(super) enum Elements {
    Nodes(NodeSampler),
    Edges(EdgeSampler),
}

/// The kept samplers.
#[derive(Default)]
pub(super) struct Samplers {
    /// The most recently used samplers, the latest at the end.
    kept: Mutex<Vec<(u64, Arc<Elements>)>>,
    /// The sets of types of numbers with [`TABLE`].
    remembered: Mutex<Vec<Vec<i32>>>,
}

/// Returns how elements are chosen, from its number in messages.
pub(super) fn choice(category: u64) -> Option<Choice> {
    match category {
        0 => Some(Choice::Weighted),
        1 => Some(Choice::Uniform),
        2 => Some(Choice::WithoutReplacement),
        _ => None,
    }
}

impl Samplers {
    /// Returns the number of a sampler.
    ///
    /// # Errors
    /// Returns an error if its types must be remembered, but too many sets already are.
    pub fn number(&self, key: &Key) -> Result<u64, Status> {
        let category = match key.choice {
            Choice::Weighted => 0,
            Choice::Uniform => 1,
            Choice::WithoutReplacement => 2,
        };
        let what = u64::from(key.is_edge) | category << 1;
        let bits = key.types.iter().map(|ty| u32::try_from(*ty).ok().filter(|ty| *ty < TYPES));
        if let Some(set) = bits.map(|bit| bit.map(|bit| 1u64 << bit)).try_fold(0, |set, bit| bit.map(|bit| set | bit)) {
            return Ok(what | set << SHIFT);
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match remembered.iter().position(|types| *types == key.types) {
            Some(at) => at,
            None if remembered.len() >= REMEMBERED => {
                return Err(Status::resource_exhausted("this server cannot remember more samplers of other types"));
            }
            None => {
                remembered.push(key.types.clone());
                remembered.len() - 1
            }
        };
        Ok(TABLE | what | (at as u64) << SHIFT)
    }

    /// Returns what the sampler of a number draws.
    ///
    /// # Errors
    /// Returns an error if no sampler has the number.
    pub fn key(&self, number: u64) -> Result<Key, Status> {
        let unknown = || Status::not_found(format!("sampler {number} not found; Create returns numbers of samplers"));
        let choice = choice(number >> 1 & 3).ok_or_else(unknown)?;
        let types = if number & TABLE == 0 {
            let set = number >> SHIFT;
            if set >> TYPES != 0 {
                return Err(unknown());
            }
            (0i32..).take(TYPES as usize).filter(|ty| set >> ty & 1 == 1).collect()
        } else {
            let at = usize::try_from((number ^ TABLE) >> SHIFT).map_err(|_| unknown())?;
            let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            remembered.get(at).cloned().ok_or_else(unknown)?
        };
        if types.is_empty() {
            return Err(unknown());
        }
        Ok(Key { is_edge: number & 1 == 1, choice, types })
    }

    /// Returns the sampler of a number, which is created if it is not kept.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn get(&self, number: u64, make: impl Fn() -> Result<Elements, Status>) -> Result<Arc<Elements>, Status> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut kept = lock();
            if let Some(at) = kept.iter().rposition(|(other, _)| *other == number) {
                let found = kept.remove(at);
                let sampler = Arc::clone(&found.1);
                kept.push(found);
                return Ok(sampler);
            }
        }
        // Not under the lock: it may read all nodes. Other samplers are dropped if they use the memory.
        let made = make().or_else(|status| match status.code() {
            tonic::Code::ResourceExhausted => {
                lock().clear();
                make()
            }
            _ => Err(status),
        });
        let made = Arc::new(made?);
        let mut kept = lock();
        kept.retain(|(other, _)| *other != number);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((number, Arc::clone(&made)));
        Ok(made)
    }
}

/// Checks that a request for nodes or edges matches the number of the sampler.
///
/// # Errors
/// Returns an error if it does not.
pub(super) fn same_elements(key: &Key, is_edge: bool) -> Result<(), Status> {
    let name = |is_edge| if is_edge { "edges" } else { "nodes" };
    if key.is_edge == is_edge {
        return Ok(());
    }
    Err(invalid(format!("this sampler draws {}, but {} were requested", name(key.is_edge), name(is_edge))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_number_says_what_is_drawn() {
        let samplers = Samplers::default();
        for types in [vec![0], vec![0, 1, 2], vec![55], vec![56], vec![3, 900]] {
            for is_edge in [false, true] {
                for choice in [Choice::Weighted, Choice::Uniform, Choice::WithoutReplacement] {
                    let key = Key { is_edge, choice, types: types.clone() };
                    let number = samplers.number(&key).unwrap();
                    assert_eq!(samplers.key(number).unwrap(), key);
                    assert_ne!(number, u64::MAX);
                }
            }
        }
        assert_eq!(samplers.remembered.lock().unwrap().len(), 2);
    }

    #[test]
    fn other_numbers_are_not_found() {
        let samplers = Samplers::default();
        for number in [0, 1, 6, 14, u64::MAX, TABLE, TABLE | 8, 1 << 62 | 6] {
            assert_eq!(samplers.key(number).unwrap_err().code(), tonic::Code::NotFound, "{number}");
        }
    }
}
