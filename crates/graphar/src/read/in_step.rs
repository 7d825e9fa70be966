//! Reads several files with the same rows in step.

use arrow_array::RecordBatch;
use isomorph_error::{Error, Place, Result};
use isomorph_tables::Batches;

use crate::rules;
use crate::table::inexact;

/// One of the files.
struct Stream {
    path: String,
    batches: Batches,
    current: Option<RecordBatch>,
    /// Number of rows of `current` that were returned.
    taken: usize,
    /// Number of rows returned from all batches.
    seen: u64,
}

/// Files with the same rows. Returns slices of equal length, one for each file, and checks that all have the expected
/// number of rows.
pub(crate) struct Steps {
    streams: Vec<Stream>,
    expected: u64,
    done: u64,
    batch_rows: usize,
}

impl Steps {
    /// Creates a reader for files that must have `expected` rows each; slices have at most `batch_rows` rows.
    pub fn new(expected: u64, batch_rows: usize) -> Self {
        Steps { streams: Vec::new(), expected, done: 0, batch_rows: batch_rows.max(1) }
    }

    /// Adds a file.
    pub fn push(&mut self, path: &str, batches: Batches) {
        self.streams.push(Stream { path: path.to_owned(), batches, current: None, taken: 0, seen: 0 });
    }

    /// Returns the next rows: the row of the first, their number, and one batch for each file. Without files, only the numbers.
    ///
    /// # Errors
    /// Returns [`rules::COUNT_ROWS`] if a file has too few or too many rows, or an error of reading.
    pub fn next(&mut self) -> Result<Option<(u64, usize, Vec<RecordBatch>)>> {
        let left = self.expected - self.done;
        let mut rows = usize::try_from(left).unwrap_or(usize::MAX).min(self.batch_rows);
        for stream in &mut self.streams {
            let available = stream.available(self.expected)?;
            if (available == 0) != (left == 0) {
                return Err(stream.wrong_rows(self.expected));
            }
            rows = rows.min(available);
        }
        if rows == 0 {
            return Ok(None);
        }
        let start = self.done;
        self.done += rows as u64;
        Ok(Some((start, rows, self.streams.iter_mut().filter_map(|stream| stream.take(rows)).collect())))
    }
}

impl Stream {
    /// Returns the number of buffered rows; 0 only at the end.
    fn available(&mut self, expected: u64) -> Result<usize> {
        loop {
            match &self.current {
                Some(batch) if batch.num_rows() > self.taken => return Ok(batch.num_rows() - self.taken),
                _ => {}
            }
            self.taken = 0;
            self.current =
                self.batches.next().transpose().map_err(|error| inexact(error).at(Place::file(&self.path)))?;
            match &self.current {
                None => return Ok(0),
                Some(batch) if batch.num_rows() as u64 + self.seen > expected => return Err(self.too_long(expected)),
                Some(_) => {}
            }
        }
    }

    fn take(&mut self, rows: usize) -> Option<RecordBatch> {
        let slice = self.current.as_ref()?.slice(self.taken, rows);
        self.taken += rows;
        self.seen += rows as u64;
        Some(slice)
    }

    fn too_long(&self, expected: u64) -> Error {
        Error::broken(&rules::COUNT_ROWS, format!("found more than the {expected} rows that the counts require"))
            .at(Place::file(&self.path).row(expected))
    }

    fn wrong_rows(&self, expected: u64) -> Error {
        let message = format!("found {} rows, but the counts require {expected}", self.seen);
        Error::broken(&rules::COUNT_ROWS, message).at(Place::file(&self.path).row(self.seen))
    }
}
