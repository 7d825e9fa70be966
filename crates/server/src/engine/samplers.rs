//! Samplers whose numbers encode what they draw.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use isomorph_sampling::{Choice, EdgeSampler, NodeSampler};
use tonic::Status;

use crate::status::invalid;

/// Number of samplers that are kept for reuse.
const KEPT: usize = 64;

/// Maximum bytes of the sets of types that are remembered because a number cannot encode them.
const REMEMBERED: usize = 16 << 20;

/// How long a remembered set is kept after its last use. It is kept longer if there is room.
const LEASE: Duration = Duration::from_secs(600);

/// Bytes of a remembered set besides its types.
const SET: usize = 64;

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
    remembered: Mutex<Remembered>,
}

/// Sets of types by their hashes. A hash is the same in every process: the number of a sampler never refers to another set after a restart.
#[derive(Default)]
struct Remembered {
    sets: HashMap<u64, Set>,
    bytes: usize,
}

struct Set {
    types: Vec<i32>,
    used: Instant,
}

impl Set {
    fn bytes(&self) -> usize {
        SET + size_of_val(self.types.as_slice())
    }
}

impl Remembered {
    /// Remembers a set, and returns its hash of [`HASH`] bits.
    fn add(&mut self, types: &[i32], now: Instant) -> Result<u64, Status> {
        let hash = hash_of(types);
        if let Some(set) = self.sets.get_mut(&hash) {
            if set.types != types {
                return Err(Status::resource_exhausted("this server cannot tell this set of types from another one"));
            }
            set.used = now;
            return Ok(hash);
        }
        let set = Set { types: types.to_vec(), used: now };
        if self.bytes + set.bytes() > REMEMBERED {
            self.sets.retain(|_, set| now.duration_since(set.used) < LEASE);
            self.bytes = self.sets.values().map(Set::bytes).sum();
        }
        if self.bytes + set.bytes() > REMEMBERED {
            let minutes = LEASE.as_secs() / 60;
            let message = "this server cannot remember more samplers of other types";
            let text = format!("{message}; those that are not used for {minutes} minutes make room");
            return Err(Status::resource_exhausted(text));
        }
        self.bytes += set.bytes();
        self.sets.insert(hash, set);
        Ok(hash)
    }

    /// Returns the set of a hash, whose lease begins again.
    fn get(&mut self, hash: u64, now: Instant) -> Option<&[i32]> {
        let set = self.sets.get_mut(&hash)?;
        set.used = now;
        Some(&set.types)
    }
}

/// Number of bits of a hash: those of a number that are left.
const HASH: u32 = 60;

fn hash_of(types: &[i32]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for ty in types {
        hasher.update(&ty.to_le_bytes());
    }
    let first = hasher.finalize().as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    first >> (u64::BITS - HASH)
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
    /// Returns `RESOURCE_EXHAUSTED` if its types must be remembered, but too many sets already are.
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
        Ok(TABLE | what | remembered.add(&key.types, Instant::now())? << SHIFT)
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
            let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            remembered.get((number ^ TABLE) >> SHIFT, Instant::now()).map(<[i32]>::to_vec).ok_or_else(unknown)?
        };
        if types.is_empty() {
            return Err(unknown());
        }
        Ok(Key { is_edge: number & 1 == 1, choice, types })
    }

    /// Returns how many samplers are kept, and how many sets of types are remembered.
    pub fn counts(&self) -> (usize, usize) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).len();
        (kept, self.remembered.lock().unwrap_or_else(PoisonError::into_inner).sets.len())
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
        assert_eq!(samplers.counts(), (0, 2));
    }

    #[test]
    fn a_number_never_refers_to_other_types_after_a_restart() {
        let key = |types| Key { is_edge: false, choice: Choice::Weighted, types };
        let before = Samplers::default();
        let (first, second) = (before.number(&key(vec![60])).unwrap(), before.number(&key(vec![70])).unwrap());
        assert_ne!(first, second);
        // In the next process, clients come in another order.
        let after = Samplers::default();
        assert_eq!(after.number(&key(vec![70])).unwrap(), second);
        assert_eq!(after.key(first).unwrap_err().code(), tonic::Code::NotFound);
        assert_eq!(after.key(second).unwrap().types, [70]);
    }

    #[test]
    fn sets_make_room_when_their_lease_ends() {
        let mut remembered = Remembered::default();
        let (start, set) = (Instant::now(), |first: i32| (first..first + 10_000).collect::<Vec<_>>());
        let held = (0..).take_while(|first| remembered.add(&set(*first), start).is_ok()).count();
        assert!((400..500).contains(&held), "{held}");
        assert!(remembered.bytes <= REMEMBERED);
        // One is used again, and survives.
        let (half, end) = (start + LEASE / 2, start + LEASE);
        let first = hash_of(&set(0));
        assert_eq!(remembered.get(first, half).map(<[i32]>::len), Some(10_000));
        assert!(remembered.add(&set(1_000_000), half).is_err());
        remembered.add(&set(1_000_000), end).unwrap();
        assert_eq!((remembered.sets.len(), remembered.get(first, end).is_some()), (2, true));
    }

    #[test]
    fn other_numbers_are_not_found() {
        let samplers = Samplers::default();
        for number in [0, 1, 6, 14, u64::MAX, TABLE, TABLE | 8, 1 << 62 | 6] {
            assert_eq!(samplers.key(number).unwrap_err().code(), tonic::Code::NotFound, "{number}");
        }
    }
}
