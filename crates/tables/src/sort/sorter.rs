//! Collects edges and spills sorted runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, RecordBatch};
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Reservation;

use super::buffer::{Buffer, Chunk};
use super::memory::SortedRows;
use super::merge::Merge;
use super::options::SortOptions;
use super::payload::Payload;
use super::plan::MemoryPlan;
use super::run::{Encoded, Run, RunWriter};
use super::sequence::{Numbers, Sequence};
use super::shape::used_bytes;
use super::sorted::SortedEdges;

/// The maximum number of rows in a buffer: positions are 32-bit numbers.
const MAX_ROWS: usize = 1 << 31;

/// The maximum payload in a buffer, bytes: text columns have 32-bit offsets.
const MAX_PAYLOAD: usize = 1 << 30;

/// The minimum memory of a sort, bytes.
const LEAST_MEMORY: u64 = 4 << 10;

/// Sorts edges by (aligned end, other end), in memory as long as the budget allows, then in temporary files.
///
/// Edges with equal ends are ordered by their sequence numbers, so that the result does not depend on the order of
/// the pushes, the number of threads, or the memory.
pub struct EdgeSorter {
    options: SortOptions,
    payload: Payload,
    plan: MemoryPlan,
    state: Mutex<State>,
}

struct State {
    buffer: Buffer,
    /// The memory of the buffer.
    held: Reservation,
    /// The memory for encoding and merging, reserved at the beginning, so that spilling never fails for lack of memory.
    working: Reservation,
    /// Runs by the number of times that their edges were merged.
    levels: Vec<Vec<Run>>,
    /// The first and last sequence number of every push with consecutive numbers, to detect overlaps.
    pushes: Vec<(u64, u64)>,
    /// Set while edges are moved; if that fails, some are lost.
    broken: bool,
}

impl EdgeSorter {
    /// Creates an empty sorter. If the budget has less memory than the options request, the sorter uses what is left.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the budget has almost nothing left; [`Kind::Unsupported`] if a payload column has a
    /// type that is not supported (unions, and dictionaries whose keys have less than 32 bits).
    pub fn new(options: SortOptions) -> Result<Self> {
        let payload = Payload::new(options.payload.clone())?;
        let memory = options.memory.min(options.budget.available()).max(LEAST_MEMORY);
        let plan = MemoryPlan::new(memory, options.threads);
        let working = options.budget.reserve(plan.working)?;
        let state = State {
            buffer: Buffer::default(),
            held: options.budget.reserve(0)?,
            working,
            levels: Vec::new(),
            pushes: Vec::new(),
            broken: false,
        };
        Ok(EdgeSorter { options, payload, plan, state: Mutex::new(state) })
    }

    /// Adds edges: the end by which they are sorted first and the other end, both as rows; the columns of the payload, if
    /// any; and either the sequence number of the first edge, if the numbers are consecutive, or all of them. Several
    /// threads may push concurrently. Each sequence number may be used only once. Without payload, equal edges are
    /// indistinguishable and sequence numbers are ignored.
    ///
    /// # Errors
    /// [`Kind::Usage`] if the columns differ in length or type; [`Kind::NoSpace`] and [`Kind::Io`] if spilling
    /// fails, and [`Kind::Poisoned`] in every call after that.
    pub fn push<'s>(
        &self,
        aligned: &[u64],
        other: &[u64],
        payload: Option<&RecordBatch>,
        sequence: impl Into<Sequence<'s>>,
    ) -> Result<()> {
        let rows = aligned.len();
        let sequence = sequence.into();
        sequence.check(rows)?;
        if other.len() != rows || payload.is_some_and(|payload| payload.num_rows() != rows) {
            return Err(Error::usage("the columns of the edges differ in length"));
        }
        if payload.is_none() && !self.payload.is_empty() {
            return Err(Error::usage("the columns of the payload are missing"));
        }
        if rows == 0 {
            return Ok(());
        }
        let columns = payload.map_or(Ok(Vec::new()), |payload| self.payload.keep(payload))?;
        let mut bytes = 0;
        for column in &columns {
            bytes += used_bytes(&column.to_data())?;
        }
        let numbers = if self.keeps_order() { sequence.keep() } else { Numbers::From(0) };
        let chunk = Chunk::new(aligned, other, columns, bytes, numbers);
        let mut state = self.lock()?;
        if let (Sequence::From(first), true) = (sequence, self.keeps_order()) {
            state.pushes.push((first, first + (rows as u64 - 1)));
        }
        self.add(&mut state, chunk)
    }

    /// Returns the sorted edges.
    ///
    /// # Errors
    /// Same as [`EdgeSorter::push`]; [`Kind::Usage`] if sequence numbers overlap.
    pub fn finish(self) -> Result<SortedEdges> {
        let mut state = self.lock()?;
        check_sequences(&mut state.pushes)?;
        if state.levels.is_empty() {
            let buffer = std::mem::take(&mut state.buffer);
            let sorted = SortedRows::sort(buffer, self.payload.columns(), self.options.threads)?;
            let bytes = sorted.bytes() as u64;
            let spare = state.held.bytes().saturating_sub(bytes);
            state.held.shrink(spare);
            drop(state);
            let State { held, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
            return Ok(SortedEdges::in_memory(sorted, self.payload, self.options.batch_rows, held));
        }
        self.spill(&mut state)?;
        let mut runs: Vec<Run> = std::mem::take(&mut state.levels).into_iter().flatten().collect();
        while runs.len() > 1 && !self.can_read(&mut state, &runs) {
            // Merging the smallest runs moves the fewest bytes.
            runs.sort_by_key(|run| std::cmp::Reverse(run.rows));
            let surplus = (runs.len() + 1).saturating_sub(self.plan.fan_in);
            let smallest = runs.split_off(runs.len() - surplus.clamp(2, self.plan.fan_in));
            runs.push(self.merge(&smallest)?);
        }
        drop(state);
        let State { working, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(SortedEdges::merged(runs, self.payload, self.options.batch_rows, working))
    }

    /// Whether there is enough memory to merge these runs while they are read, on as many threads as set in the options.
    fn can_read(&self, state: &mut State, runs: &[Run]) -> bool {
        let needed = self.plan.merging(runs.iter().map(|run| run.largest));
        let missing = needed.saturating_sub(state.working.bytes());
        runs.len() <= self.plan.fan_in && (missing == 0 || state.working.try_grow(missing))
    }

    /// Whether the order of edges with equal ends is observable.
    fn keeps_order(&self) -> bool {
        !self.payload.is_empty() && !self.options.distinct
    }

    fn lock(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken {
            return Err(Error::new(Kind::Poisoned, "an earlier spill of this sort failed"));
        }
        Ok(state)
    }

    /// Adds a chunk to the buffer, which is spilled first if there is not enough memory.
    fn add(&self, state: &mut State, chunk: Chunk) -> Result<()> {
        state.buffer.push(chunk);
        if self.make_room(state) {
            return Ok(());
        }
        let Some(chunk) = state.buffer.pop() else { return Ok(()) };
        self.spill(state)?;
        state.buffer.push(chunk);
        if !self.make_room(state) {
            // The chunk is larger than the memory, so it is spilled alone.
            self.spill(state)?;
        }
        Ok(())
    }

    /// Whether the current buffer fits into memory. It may use half of the working memory, so that runs do not
    /// become tiny if others use the whole budget; the other half is enough to encode blocks.
    fn make_room(&self, state: &mut State) -> bool {
        let cost = state.buffer.cost(!self.payload.is_empty());
        let missing = cost.saturating_sub(state.held.bytes() + state.working.bytes() / 2);
        let fits =
            cost <= self.plan.buffer && state.buffer.rows() <= MAX_ROWS && state.buffer.payload_bytes() <= MAX_PAYLOAD;
        fits && (missing == 0 || state.held.try_grow(missing))
    }

    /// Sorts the edges of the buffer and writes them to a run.
    fn spill(&self, state: &mut State) -> Result<()> {
        let buffer = std::mem::take(&mut state.buffer);
        if buffer.is_empty() {
            return Ok(());
        }
        state.broken = true;
        let row_bytes = 2 * size_of::<u64>() + buffer.payload_bytes() / buffer.rows();
        let block_rows = (self.plan.block / row_bytes).clamp(1, self.options.batch_rows.max(1024));
        let threads = self.options.threads;
        let sorted = SortedRows::sort(buffer, self.payload.columns(), threads)?;
        let mut writer = RunWriter::new(&self.options.scratch)?;
        writer.write_sorted(&sorted, block_rows, self.keeps_order(), threads)?;
        drop(sorted);
        self.keep(state, 0, writer.finish()?)?;
        let held = state.held.bytes();
        state.held.shrink(held);
        state.broken = false;
        Ok(())
    }

    /// Adds a run to its level; a full level is merged into one run of the next.
    fn keep(&self, state: &mut State, level: usize, run: Run) -> Result<()> {
        while state.levels.len() <= level {
            state.levels.push(Vec::new());
        }
        state.levels[level].push(run);
        if state.levels[level].len() < self.plan.max_runs {
            return Ok(());
        }
        let full = std::mem::take(&mut state.levels[level]);
        let merged = self.merge(&full)?;
        drop(full);
        self.keep(state, level + 1, merged)
    }

    /// Merges runs into one. The runs are consumed, so that their edges are not stored twice.
    fn merge(&self, runs: &[Run]) -> Result<Run> {
        let block_rows = runs.iter().flat_map(|run| &run.blocks).map(|block| block.rows).max().unwrap_or(1);
        let mut merge = Merge::new(runs, &self.payload, 0, true)?;
        let mut writer = RunWriter::new(&self.options.scratch)?;
        loop {
            let rows = merge.next(block_rows, None)?;
            if rows.len() == 0 {
                return writer.finish();
            }
            writer.write(&Encoded::new(&rows)?)?;
        }
    }
}

/// Finds pushes with the same sequence numbers.
fn check_sequences(pushes: &mut [(u64, u64)]) -> Result<()> {
    pushes.sort_unstable();
    match pushes.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
        Some(pair) => {
            let message = format!("two batches of edges have the sequence number {}", pair[1].0);
            Err(Error::usage(message))
        }
        None => Ok(()),
    }
}
