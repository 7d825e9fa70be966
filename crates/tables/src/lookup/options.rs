//! What a look-up is told.

use std::num::NonZero;
use std::thread::available_parallelism;

use arrow_schema::SchemaRef;
use isomorph_storage::{Budget, Scratch};

use crate::sort::SortOptions;

/// How to look keys up. The rows that are found depend on none of it.
#[derive(Debug, Clone)]
pub struct LookupOptions {
    pub(super) budget: Budget,
    pub(super) scratch: Scratch,
    pub(super) memory: u64,
    pub(super) threads: usize,
}

impl LookupOptions {
    /// Half of `budget`, all cores.
    pub fn new(budget: &Budget, scratch: &Scratch) -> Self {
        LookupOptions {
            budget: budget.clone(),
            scratch: scratch.clone(),
            memory: budget.limit() / 2,
            threads: available_parallelism().map_or(1, NonZero::get),
        }
    }

    /// The memory that the keys may reserve from the budget, bytes; a bulk look-up may reserve as much again.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Threads to work on, at least 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// The sort of keys, or of probes, by what they are looked up by.
    pub(super) fn sort(&self, payload: SchemaRef) -> SortOptions {
        SortOptions::new(&self.budget, &self.scratch)
            .memory(self.memory)
            .threads(self.threads)
            .payload(payload)
            .distinct()
    }
}
