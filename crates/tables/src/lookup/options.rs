//! Options for look-ups.

use std::num::NonZero;
use std::thread::available_parallelism;

use arrow_schema::SchemaRef;
use isomorph_storage::{Budget, Scratch};

use crate::sort::SortOptions;

/// How keys are looked up. The results do not depend on these options.
#[derive(Debug, Clone)]
pub struct LookupOptions {
    pub(super) budget: Budget,
    pub(super) scratch: Scratch,
    pub(super) memory: u64,
    pub(super) threads: usize,
}

impl LookupOptions {
    /// Uses half of `budget` and all cores.
    pub fn new(budget: &Budget, scratch: &Scratch) -> Self {
        LookupOptions {
            budget: budget.clone(),
            scratch: scratch.clone(),
            memory: budget.limit() / 2,
            threads: available_parallelism().map_or(1, NonZero::get),
        }
    }

    /// Sets the memory that the keys may reserve from the budget, bytes; a bulk look-up may reserve the same again.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the number of threads, at least 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Returns the options for sorting keys or probes by number or hash.
    pub(super) fn sort(&self, payload: SchemaRef) -> SortOptions {
        SortOptions::new(&self.budget, &self.scratch)
            .memory(self.memory)
            .threads(self.threads)
            .payload(payload)
            .distinct()
    }
}
