//! What a sort is told.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use arrow_schema::{Schema, SchemaRef};
use isomorph_storage::{Budget, Scratch};

/// How to sort. The result depends on none of it but the size of the batches.
#[derive(Debug, Clone)]
pub struct SortOptions {
    pub(super) budget: Budget,
    pub(super) scratch: Scratch,
    pub(super) payload: SchemaRef,
    pub(super) memory: u64,
    pub(super) batch_rows: usize,
    pub(super) threads: usize,
    pub(super) distinct: bool,
}

impl SortOptions {
    /// A sort without payload, with half of `budget` for itself, on all cores, in batches of 65,536 rows.
    pub fn new(budget: &Budget, scratch: &Scratch) -> Self {
        SortOptions {
            budget: budget.clone(),
            scratch: scratch.clone(),
            payload: Arc::new(Schema::empty()),
            memory: budget.limit() / 2,
            batch_rows: 1 << 16,
            threads: available_parallelism().map_or(1, NonZero::get),
            distinct: false,
        }
    }

    /// The columns that travel with every edge.
    pub fn payload(mut self, schema: SchemaRef) -> Self {
        self.payload = schema;
        self
    }

    /// The memory that this sort may reserve from the budget, bytes. Sorts that run side by side should get their
    /// shares here: whoever asked first would otherwise leave the others nothing but small runs.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Rows in a batch of the result, at least 1; the last one may be shorter.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// Threads to sort on, and streams that will be open at once, at least 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Promises that no two edges have equal ends, so that sequence numbers need not be kept.
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }
}
