//! Compares the offsets of an ordered list with its edges while they are read.
//!
//! Offset `v` of a part is the row of its first edge whose aligned end is not below vertex `v`. The edges are in order,
//! so two edges are examined for each vertex, not every edge. Each chunk of a part compares the offsets that point
//! into it; those of vertices without edges between two chunks are compared when both chunks have been read.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_buffer::ScalarBuffer;
use isomorph_error::{Error, Place, Result, Rule};
use isomorph_model::{Part, part};
use isomorph_tables::{Batches, Selection, TableReader};

use super::EdgeScan;
use super::ends::as_index;
use crate::layout::chunk_rows;
use crate::rules;
use crate::table::{OFFSET, offset_values, open_offsets};

/// Number of offsets that are read at once.
const BATCH_ROWS: usize = 16_384;

/// The offset file of one part, opened once for all chunks of the part.
#[derive(Default)]
pub(crate) struct PartOffsets(Mutex<Option<TableReader>>);

impl PartOffsets {
    /// Returns the opened file. If its encoding states the number of rows, the number is checked.
    fn reader(&self, scan: &EdgeScan<'_>, part: u64) -> Result<TableReader> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = &*opened {
            return Ok(reader.clone());
        }
        let path = scan.list.layout.offset(part);
        let reader = open_offsets(&scan.table.root, &path, scan.list.encoding)?;
        if let Some(rows) = reader.row_count() {
            check_rows(scan, part, &path, rows)?;
        }
        Ok(opened.insert(reader).clone())
    }
}

/// Returns the number of vertices in part `part`.
fn vertices(scan: &EdgeScan<'_>, part: u64) -> u64 {
    let all = if scan.list.kind.by_source() { scan.vertices.0 } else { scan.vertices.1 };
    chunk_rows(all, scan.list.part_size, part)
}

fn check_rows(scan: &EdgeScan<'_>, part: u64, path: &str, rows: u64) -> Result<()> {
    let own = vertices(scan, part);
    if rows == own + 1 || rows == scan.list.part_size.saturating_add(1) {
        return Ok(());
    }
    let message = format!("found {rows} offsets for {own} vertices");
    Err(Error::broken(&rules::OFFSET_ROWS, message).at(Place::file(path).row(rows.min(own + 1))))
}

/// The offsets of a part, from some vertex on.
pub(crate) struct OffsetCheck<'a> {
    scan: Arc<EdgeScan<'a>>,
    part: u64,
    path: String,
    batches: Batches,
    /// Offsets that were read, from that of `vertex` on.
    values: ScalarBuffer<i64>,
    /// The current vertex, counted within the part.
    vertex: u64,
    /// Number of offsets before that of `vertex` that are still to be skipped.
    skip: u64,
    last: i64,
}

impl<'a> OffsetCheck<'a> {
    /// Starts at vertex `vertex` of part `part`.
    ///
    /// # Errors
    /// As [`open_offsets`], and [`rules::OFFSET_ROWS`].
    pub fn new(scan: &Arc<EdgeScan<'a>>, part: u64, vertex: u64, offsets: &PartOffsets) -> Result<Self> {
        let path = scan.list.layout.offset(part);
        let reader = offsets.reader(scan, part)?;
        let selection = Selection::all().columns([OFFSET]).batch_rows(BATCH_ROWS);
        let (selection, skip) = match reader.row_count() {
            Some(rows) if vertex > 0 => (selection.rows(std::iter::once(vertex.min(rows)..rows)), 0),
            Some(_) => (selection, 0),
            None => (selection, vertex),
        };
        let batches = reader.batches(&selection).map_err(|error| error.at(Place::file(&path)))?;
        let scan = Arc::clone(scan);
        Ok(OffsetCheck { scan, part, path, batches, values: ScalarBuffer::default(), vertex, skip, last: 0 })
    }

    fn failed<T>(&self, rule: &'static Rule, message: String) -> Result<T> {
        Err(Error::broken(rule, message).at(Place::file(&self.path).row(self.vertex).in_field(OFFSET)))
    }

    /// Reads more offsets if none are buffered; returns whether any are.
    fn fill(&mut self) -> Result<bool> {
        while self.values.is_empty() {
            let Some(batch) = self.batches.next() else { return Ok(false) };
            let batch = batch.map_err(|error| error.at(Place::file(&self.path)))?;
            self.values = offset_values(batch.column(0), &self.path)?;
            let passed = usize::try_from(self.skip).unwrap_or(usize::MAX).min(self.values.len());
            self.skip -= passed as u64;
            self.take(passed);
        }
        Ok(true)
    }

    /// Skips buffered offsets.
    fn take(&mut self, count: usize) {
        self.values = self.values.slice(count, self.values.len() - count);
    }

    /// Checks the offset of the first vertex of a chunk, whose edges begin at row `row` of the part or, in a chunk that is
    /// not the first, before it.
    ///
    /// # Errors
    /// Returns [`rules::OFFSET_FIRST`], [`rules::OFFSET_DEGREE`], [`rules::OFFSET_ROWS`], or an error of reading.
    pub fn begin(&mut self, row: u64) -> Result<()> {
        let first = if self.fill()? { self.values.first().copied() } else { None };
        match first {
            None => self.failed(&rules::OFFSET_ROWS, "the offset is missing".to_owned()),
            Some(offset) if row == 0 && offset != 0 => {
                self.failed(&rules::OFFSET_FIRST, format!("the first offset is {offset}, expected 0"))
            }
            Some(offset) if u64::try_from(offset).map_or(true, |offset| offset > row) => {
                self.failed(&rules::OFFSET_DEGREE, format!("offset is {offset}, but the edges start at {row}"))
            }
            // The previous chunk has compared it.
            Some(offset) if row > 0 => {
                self.take(1);
                (self.vertex, self.last) = (self.vertex + 1, offset);
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Compares the offsets of the edges with these aligned ends, which begin at row `row` of the part and
    /// are in order; `before` is the preceding end in the chunk.
    ///
    /// # Errors
    /// Returns [`rules::OFFSET_FALLS`], [`rules::OFFSET_DEGREE`], or an error of reading.
    pub fn compare(&mut self, aligned: &[i64], row: u64, before: Option<i64>) -> Result<()> {
        let low = self.scan.first_vertex(self.part);
        let (begin, end) = (as_index(row), as_index(row.saturating_add(aligned.len() as u64)));
        while self.fill()? {
            let mut passed = 0;
            let mut vertex = as_index(low.saturating_add(self.vertex));
            let mut wrong = None;
            for offset in self.values.iter().copied().take_while(|offset| *offset < end) {
                let at = usize::try_from(offset - begin).ok().filter(|_| offset >= self.last);
                let fits = at.is_some_and(|at| {
                    let previous = if at == 0 { before } else { aligned.get(at - 1).copied() };
                    aligned.get(at).is_some_and(|end| *end >= vertex) && previous.is_none_or(|end| end < vertex)
                });
                if !fits {
                    wrong = Some((offset, vertex));
                    break;
                }
                self.last = offset;
                (passed, vertex) = (passed + 1, vertex.saturating_add(1));
            }
            self.vertex += passed as u64;
            self.take(passed);
            match wrong {
                Some((offset, _)) if offset < self.last => {
                    return self.failed(&rules::OFFSET_FALLS, format!("offset {offset} follows {}", self.last));
                }
                Some((offset, vertex)) => return self.differs(offset, aligned, row, vertex),
                None if self.values.is_empty() => {}
                None => break,
            }
        }
        // Whichever vertex comes next, its edges are not among these.
        let vertex = as_index(low.saturating_add(self.vertex));
        match (self.values.first(), aligned.last()) {
            (Some(offset), Some(last)) if *last >= vertex => self.differs(*offset, aligned, row, vertex),
            (None, Some(last)) if *last >= vertex => {
                self.failed(&rules::OFFSET_ROWS, "the offset is missing".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn differs(&self, offset: i64, aligned: &[i64], row: u64, vertex: i64) -> Result<()> {
        let at = aligned.partition_point(|end| *end < vertex);
        let row = row + at as u64;
        let message = match at == aligned.len() {
            true => format!("offset is {offset}, but this vertex's edges start after {}", row.saturating_sub(1)),
            false => format!("offset is {offset}, but the edges start at {row}"),
        };
        self.failed(&rules::OFFSET_DEGREE, message)
    }

    /// Checks the offsets after the last edge of a part with `edges` edges: all of them equal this number, and their number
    /// is correct.
    ///
    /// # Errors
    /// Returns [`rules::OFFSET_FALLS`], [`rules::OFFSET_END`], [`rules::OFFSET_ROWS`], or an error of reading.
    pub fn finish(mut self, edges: u64) -> Result<()> {
        let last = as_index(edges);
        while self.fill()? {
            let other = self.values.iter().position(|offset| *offset != last);
            if let Some(at) = other {
                let offset = self.values[at];
                self.vertex += at as u64;
                return if offset < last {
                    self.failed(&rules::OFFSET_FALLS, format!("offset {offset} follows {edges}"))
                } else {
                    self.failed(&rules::OFFSET_END, format!("offset is {offset}, but the part has {edges} edges"))
                };
            }
            self.vertex += self.values.len() as u64;
            self.values = ScalarBuffer::default();
        }
        check_rows(&self.scan, self.part, &self.path, self.vertex)
    }

    /// Checks the offsets of the vertices up to `last`, which have no edges: all must be `row`.
    ///
    /// # Errors
    /// Returns [`rules::OFFSET_DEGREE`], [`rules::OFFSET_ROWS`], or an error of reading.
    pub fn gap(mut self, last: u64, row: u64) -> Result<()> {
        let wanted = as_index(row);
        while self.vertex <= last {
            if !self.fill()? {
                return self.failed(&rules::OFFSET_ROWS, "the offset is missing".to_owned());
            }
            let left = usize::try_from(last - self.vertex + 1).unwrap_or(usize::MAX).min(self.values.len());
            if let Some(at) = self.values.iter().take(left).position(|offset| *offset != wanted) {
                let message = format!("offset is {}, but this vertex's edges start at {row}", self.values[at]);
                self.vertex += at as u64;
                return self.failed(&rules::OFFSET_DEGREE, message);
            }
            self.vertex += left as u64;
            self.take(left);
        }
        Ok(())
    }
}

/// Returns a part of an ordered list without edges: only its offsets are read.
pub(crate) fn empty_part<'a>(scan: Arc<EdgeScan<'a>>, number: u64) -> Box<dyn Part + 'a> {
    let check = move || {
        let check = || {
            let mut offsets = OffsetCheck::new(&scan, number, 0, &PartOffsets::default())?;
            offsets.begin(0)?;
            offsets.finish(0)
        };
        check().map_err(|error| scan.explained(error))
    };
    part::opened(Some(0), check, |()| Ok(None))
}
