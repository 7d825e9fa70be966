//! Options of a sort.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use arrow_schema::{Schema, SchemaRef};
use isomorph_storage::{Budget, Scratch};

/// How edges are sorted. Only the size of the batches affects the result.
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
    /// A sort without payload, with half of `budget`, on all cores, in batches of 65,536 rows.
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

    /// Sets the columns that are sorted along with the edges.
    pub fn payload(mut self, schema: SchemaRef) -> Self {
        self.payload = schema;
        self
    }

    /// Sets the memory that this sort may reserve from the budget, bytes. Set shares for sorts that run concurrently:
    /// otherwise the first one may leave so little for the others that their runs are tiny.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the number of rows in a batch of the result, at least 1; the last batch may be shorter.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// Sets the number of sorting threads, and of streams that will be read concurrently, at least 1.
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
