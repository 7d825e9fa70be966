//! A cache of decompressed pages for look-ups.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use parquet::column::page::Page;

/// Decompressed pages, up to a number of bytes, for look-ups in any number of files. Clones share it.
#[derive(Clone)]
pub struct PageCache(Arc<Shared>);

struct Shared {
    most: usize,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    by_key: HashMap<Key, Kept>,
    bytes: usize,
    clock: u64,
}

struct Kept {
    page: Arc<Page>,
    used: u64,
}

/// File, row group, leaf and page; the dictionary has a number after the last page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub file: u64,
    pub group: usize,
    pub leaf: usize,
    pub page: usize,
}

impl Key {
    /// The number of the dictionary among the pages of its chunk.
    pub(super) const DICTIONARY: usize = usize::MAX;
}

/// Returns a number that no other opened file has.
pub(super) fn new_file() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl PageCache {
    /// Creates a cache of at most `bytes`; with 0 nothing is cached.
    pub fn new(bytes: usize) -> Self {
        PageCache(Arc::new(Shared { most: bytes, pages: Mutex::default() }))
    }

    /// Returns the current size, bytes.
    pub fn bytes(&self) -> usize {
        self.0.pages.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Page>> {
        let mut pages = self.0.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.clock += 1;
        let now = pages.clock;
        let kept = pages.by_key.get_mut(key)?;
        kept.used = now;
        Some(Arc::clone(&kept.page))
    }

    pub(super) fn keep(&self, key: Key, page: &Arc<Page>) {
        let size = page.buffer().len();
        // A page that would evict most of the others is not cached.
        if size > self.0.most / 4 {
            return;
        }
        let mut pages = self.0.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.bytes + size > self.0.most {
            pages.shrink(self.0.most / 2);
        }
        pages.clock += 1;
        let kept = Kept { page: Arc::clone(page), used: pages.clock };
        if pages.by_key.insert(key, kept).is_none() {
            pages.bytes += size;
        }
    }
}

impl Pages {
    /// Evicts the least recently used pages, down to `bytes`. Half of the cache is evicted at a time, so that the order has
    /// to be computed only rarely.
    fn shrink(&mut self, bytes: usize) {
        let mut oldest: Vec<(u64, Key)> = self.by_key.iter().map(|(key, kept)| (kept.used, *key)).collect();
        oldest.sort_unstable_by_key(|(used, _)| *used);
        for (_, key) in oldest {
            if self.bytes <= bytes {
                break;
            }
            if let Some(kept) = self.by_key.remove(&key) {
                self.bytes -= kept.page.buffer().len();
            }
        }
    }
}

/// The cache of the whole process, 32 MiB in total, however many files are open.
impl Default for PageCache {
    fn default() -> Self {
        static SHARED: LazyLock<PageCache> = LazyLock::new(|| PageCache::new(32 << 20));
        SHARED.clone()
    }
}

impl fmt::Debug for PageCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageCache({} of {} bytes)", self.bytes(), self.0.most)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::basic::Encoding;

    use super::*;

    #[test]
    fn the_pages_used_last_stay() {
        let cache = PageCache::new(1000);
        let page = |size: usize| {
            let buf = Bytes::from(vec![0; size]);
            Arc::new(Page::DictionaryPage { buf, num_values: 1, encoding: Encoding::PLAIN, is_sorted: false })
        };
        let key = |page| Key { file: 0, group: 0, leaf: 0, page };
        for number in 0..10 {
            cache.keep(key(number), &page(100));
        }
        assert!(cache.get(&key(0)).is_some());
        cache.keep(key(10), &page(100));
        assert!(cache.bytes() <= 1000);
        assert!(cache.get(&key(0)).is_some() && cache.get(&key(10)).is_some() && cache.get(&key(1)).is_none());
        cache.keep(key(11), &page(900));
        assert!(cache.get(&key(11)).is_none());
    }
}
