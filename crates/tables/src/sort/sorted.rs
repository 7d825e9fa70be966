//! Sorted edges, which can be read repeatedly, completely or in parts.

use arrow_array::{RecordBatch, UInt64Array};
use isomorph_error::{Error, Result};
use isomorph_storage::Reservation;

use super::memory::SortedRows;
use super::merge::Merge;
use super::payload::Payload;
use super::rows::Rows;
use super::run::Run;

/// Edges in the order (aligned end, other end, sequence number). Several threads may read parts concurrently.
pub struct SortedEdges {
    source: Source,
    payload: Payload,
    batch_rows: usize,
    rows: u64,
    /// Set after the edges were read for the last time.
    drained: bool,
    /// The memory of the edges, or for reading the runs.
    _memory: Reservation,
}

enum Source {
    Memory(SortedRows),
    Runs(Vec<Run>),
}

/// Some of the edges in sorted order.
#[derive(Debug, Clone)]
pub struct SortedBatch {
    /// The end by which edges are sorted first, as rows.
    pub aligned: UInt64Array,
    /// The other end, as rows.
    pub other: UInt64Array,
    /// The columns that were pushed with the edges; no columns if there were none.
    pub payload: RecordBatch,
}

impl SortedEdges {
    pub(super) fn in_memory(sorted: SortedRows, payload: Payload, batch_rows: usize, memory: Reservation) -> Self {
        let rows = sorted.len() as u64;
        SortedEdges { source: Source::Memory(sorted), payload, batch_rows, rows, drained: false, _memory: memory }
    }

    pub(super) fn merged(runs: Vec<Run>, payload: Payload, batch_rows: usize, memory: Reservation) -> Self {
        let rows = runs.iter().map(|run| run.rows).sum();
        SortedEdges { source: Source::Runs(runs), payload, batch_rows, rows, drained: false, _memory: memory }
    }

    /// Returns the number of edges.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether the edges are in temporary files.
    pub fn is_spilled(&self) -> bool {
        matches!(self.source, Source::Runs(_))
    }

    /// Returns all edges in order.
    ///
    /// # Errors
    /// Same as [`EdgeStream::next_batch`].
    pub fn stream(&self) -> Result<EdgeStream<'_>> {
        self.stream_part((0, None))
    }

    /// Returns the edges whose aligned end is in `from..to`, in order.
    ///
    /// # Errors
    /// Same as [`EdgeStream::next_batch`].
    pub fn range(&self, aligned: std::ops::Range<u64>) -> Result<EdgeStream<'_>> {
        self.stream_part((aligned.start, Some(aligned.end.max(aligned.start))))
    }

    /// At most `parts` streams of about the same size that make up the whole, one after another: those that have an aligned end in common
    /// are in one of them.
    ///
    /// # Errors
    /// As [`EdgeStream::next_batch`].
    pub fn streams(&self, parts: usize) -> Result<Vec<EdgeStream<'_>>> {
        self.parts(parts).into_iter().map(|part| self.stream_part(part)).collect()
    }

    /// Bounds of at most `parts` parts of about the same size that make up the whole; the last one has no end.
    pub(crate) fn parts(&self, parts: usize) -> Vec<(u64, Option<u64>)> {
        let splits = self.splits(parts, 1);
        let starts = std::iter::once(0).chain(splits.iter().copied());
        starts.enumerate().map(|(at, start)| (start, splits.get(at).copied())).collect()
    }

    /// Returns the edges whose aligned end is in a part.
    pub(crate) fn stream_part(&self, part: (u64, Option<u64>)) -> Result<EdgeStream<'_>> {
        if self.drained {
            return Err(Error::usage("these edges were already drained"));
        }
        self.open(part, false)
    }

    /// Returns the edges of all `parts`, which must not overlap, for the last time: temporary files shrink while they are read.
    pub(crate) fn drain(&mut self, parts: &[(u64, Option<u64>)]) -> Result<Vec<EdgeStream<'_>>> {
        if std::mem::replace(&mut self.drained, true) {
            return Err(Error::usage("these edges were already drained"));
        }
        parts.iter().map(|part| self.open(*part, true)).collect()
    }

    fn open(&self, (from, to): (u64, Option<u64>), last: bool) -> Result<EdgeStream<'_>> {
        let place = match &self.source {
            Source::Memory(sorted) => Place::Memory(sorted, sorted.lower_bound(from)),
            Source::Runs(runs) => Place::Runs(Merge::new(runs, &self.payload, from, last)?),
        };
        Ok(EdgeStream { place, payload: &self.payload, batch_rows: self.batch_rows, to })
    }

    /// Returns aligned ends, multiples of `step`, that divide the edges into at most `parts` parts of about the same size: one
    /// below the first, one between each two, and one from the last on. For reading on several threads.
    pub fn splits(&self, parts: usize, step: u64) -> Vec<u64> {
        let step = step.max(1);
        let targets = (1..parts.max(1) as u64).map(|part| self.rows / parts as u64 * part);
        let mut splits: Vec<u64> = match &self.source {
            Source::Memory(sorted) => targets.filter_map(|row| sorted.aligned(usize::try_from(row).ok()?)).collect(),
            Source::Runs(runs) => {
                let mut blocks: Vec<_> = runs.iter().flat_map(|run| &run.blocks).collect();
                blocks.sort_by_key(|block| block.last);
                let mut sum = 0;
                let ends: Vec<(u64, u64)> = blocks
                    .iter()
                    .map(|block| {
                        sum += block.rows as u64;
                        (sum, block.last)
                    })
                    .collect();
                targets.filter_map(|row| ends.get(ends.partition_point(|end| end.0 < row)).map(|end| end.1)).collect()
            }
        };
        splits.iter_mut().for_each(|split| *split -= *split % step);
        splits.dedup();
        splits.retain(|split| *split > 0);
        splits
    }
}

enum Place<'a> {
    Memory(&'a SortedRows, usize),
    Runs(Merge<'a>),
}

/// Edges in sorted order, in batches.
pub struct EdgeStream<'a> {
    place: Place<'a>,
    payload: &'a Payload,
    batch_rows: usize,
    to: Option<u64>,
}

impl EdgeStream<'_> {
    /// Returns the next batch, with as many rows as set in the options, or the remaining ones.
    ///
    /// # Errors
    /// [`Kind::Io`](isomorph_error::Kind::Io) or [`Kind::Malformed`](isomorph_error::Kind::Malformed) if a temporary
    /// file cannot be read; [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if a text column of one batch
    /// exceeds 2 GiB.
    pub fn next_batch(&mut self) -> Result<Option<SortedBatch>> {
        self.read(self.to)
    }

    /// Returns the next batch of edges with an aligned end below `end`; `None` if none is left. This allows a stream to be read
    /// part by part: all batches below the first bound, then all below the second.
    ///
    /// # Errors
    /// Same as [`EdgeStream::next_batch`].
    pub fn next_below(&mut self, end: u64) -> Result<Option<SortedBatch>> {
        self.read(Some(self.to.map_or(end, |to| to.min(end))))
    }

    fn read(&mut self, below: Option<u64>) -> Result<Option<SortedBatch>> {
        let rows = match &mut self.place {
            Place::Memory(sorted, at) => {
                let end = below.map_or(sorted.len(), |below| sorted.lower_bound(below)).max(*at);
                let start = *at;
                *at = end.min(start.saturating_add(self.batch_rows));
                sorted.read(start..*at, false)?
            }
            Place::Runs(merge) => merge.next(self.batch_rows, below)?,
        };
        let Rows { aligned, other, payload, .. } = rows;
        if aligned.is_empty() {
            return Ok(None);
        }
        let payload = self.payload.give_back(&payload, aligned.len())?;
        Ok(Some(SortedBatch { aligned: aligned.into(), other: other.into(), payload }))
    }
}

impl Iterator for EdgeStream<'_> {
    type Item = Result<SortedBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
