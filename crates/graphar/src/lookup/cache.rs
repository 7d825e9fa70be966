//! A cache with a maximum weight; the least recently used entries are evicted first.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache with a total weight of at most `most`.
pub(super) struct Cache<K, V> {
    most: usize,
    kept: Mutex<Kept<K, V>>,
}

struct Kept<K, V> {
    entries: HashMap<K, Entry<V>>,
    weight: usize,
    clock: u64,
}

struct Entry<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    pub fn new(most: usize) -> Self {
        Cache { most, kept: Mutex::new(Kept { entries: HashMap::new(), weight: 0, clock: 0 }) }
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value of `key`.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let mut kept = self.lock();
        kept.clock += 1;
        let now = kept.clock;
        let entry = kept.entries.get_mut(key)?;
        entry.used = now;
        Some(entry.value.clone())
    }

    /// Inserts `value`, unless it would evict most of the others.
    pub fn keep(&self, key: K, value: V, weight: usize) {
        if weight > self.most / 4 {
            return;
        }
        let mut kept = self.lock();
        if kept.weight + weight > self.most {
            kept.shrink(self.most / 2);
        }
        kept.clock += 1;
        let entry = Entry { value, weight, used: kept.clock };
        let before = kept.entries.insert(key, entry).map_or(0, |entry| entry.weight);
        kept.weight = kept.weight + weight - before;
    }
}

impl<K: Hash + Eq + Clone, V> Kept<K, V> {
    /// Evicts half of the weight at once, so that entries are rarely sorted.
    fn shrink(&mut self, most: usize) {
        let mut oldest: Vec<(u64, K)> = self.entries.iter().map(|(key, entry)| (entry.used, key.clone())).collect();
        oldest.sort_unstable_by_key(|(used, _)| *used);
        for (_, key) in oldest {
            if self.weight <= most {
                break;
            }
            if let Some(entry) = self.entries.remove(&key) {
                self.weight -= entry.weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let cache: Cache<u32, u32> = Cache::new(100);
        for key in 0..100 {
            cache.keep(key, key, 1);
        }
        assert_eq!(cache.get(&0), Some(0));
        cache.keep(100, 100, 1);
        assert_eq!(
            (cache.get(&0), cache.get(&1), cache.get(&99), cache.get(&100)),
            (Some(0), None, Some(99), Some(100))
        );
        cache.keep(0, 7, 1);
        assert_eq!(cache.get(&0), Some(7));
        cache.keep(5, 5, 26);
        assert_eq!(cache.get(&5), None);
    }
}
