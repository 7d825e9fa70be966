//! Partitions of a scan, which own what they read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take_record_batch;
use isomorph_error::{Error, Result};
use isomorph_model::Filter;
use isomorph_model::{Part, Request, Source};
use self_cell::self_cell;

use crate::cancel::Cancel;
use crate::rows::{Rows, is_of};
use crate::stream::BatchStream;
use crate::table::TableKind;
use crate::wanted_keys::{Answers, Asked};

/// The parts of a scan; `None` for one that has ended.
type Parts<'a> = Vec<Mutex<Option<Box<dyn Part + 'a>>>>;

self_cell!(
    /// A graph and the parts of a scan of it.
    struct Held {
        owner: Arc<dyn Source>,
        #[not_covariant]
        dependent: Parts,
    }
);

/// What the partitions of a scan share.
pub(crate) struct Shared {
    /// The kind of model batches that are read.
    pub kind: TableKind,
    /// All columns that are read: first those that are returned, then those that filter and look-up need.
    pub rows: Rows,
    /// The columns that are returned; in a look-up, the question comes first.
    pub given: SchemaRef,
    pub filter: Option<Filter>,
    /// The position of the column that is looked up, and the keys.
    pub asked: Option<(usize, Asked)>,
    /// Rows that may still be returned.
    pub left: AtomicU64,
    /// The maximum number of rows in a batch.
    pub batch_rows: usize,
    pub cancel: Cancel,
}

/// A part of a scan: its record batches, in order. A batch is read when it is requested; dropping the partition ends
/// reading. After an error, the iterator is at its end.
pub struct Partition {
    held: Arc<Held>,
    at: usize,
    rows: Option<u64>,
    shared: Arc<Shared>,
    /// Rows that were read and not yet returned.
    waiting: Option<Waiting>,
    is_done: bool,
}

/// Rows that pass, some of which were returned.
struct Waiting {
    batch: RecordBatch,
    /// In a look-up: which of them are requested, and by which question.
    answers: Option<Answers>,
    /// Number of rows that were returned.
    given: usize,
}

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partition").field("at", &self.at).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The partitions of a scan of `source`.
///
/// # Errors
/// If the source cannot serve the request, or metadata cannot be read.
pub(crate) fn partitions(source: Arc<dyn Source>, request: &Request, shared: Shared) -> Result<Vec<Partition>> {
    let held = Held::try_new(source, |source| -> Result<Parts<'_>> {
        Ok(source.scan(request)?.into_iter().map(|part| Mutex::new(Some(part))).collect())
    })?;
    let (held, shared) = (Arc::new(held), Arc::new(shared));
    let rows = held.with_dependent(|_, parts| {
        let rows = |part: &Mutex<Option<Box<dyn Part + '_>>>| {
            part.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|part| part.rows())
        };
        parts.iter().map(rows).collect::<Vec<_>>()
    });
    let partition = |(at, rows)| Partition {
        held: Arc::clone(&held),
        at,
        rows,
        shared: Arc::clone(&shared),
        waiting: None,
        is_done: false,
    };
    Ok(rows.into_iter().enumerate().map(partition).collect())
}

impl Partition {
    /// Number of rows before the filter, if known without reading; of all tables that are read together with this one.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// The columns of its batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.shared.given
    }

    /// Converts to an asynchronous stream, for engines and servers.
    pub fn into_stream(self) -> BatchStream {
        BatchStream::new(self)
    }

    /// Ends reading.
    fn close(&self) {
        self.held.with_dependent(|_, parts| {
            if let Some(part) = parts.get(self.at) {
                *part.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        });
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let shared = &self.shared;
        while shared.left.load(Ordering::Relaxed) > 0 {
            shared.cancel.check()?;
            if let Some(waiting) = &mut self.waiting {
                let batch = shared.next(waiting)?;
                let granted = granted(&shared.left, batch.num_rows() as u64);
                if granted > 0 {
                    return Ok(Some(batch.slice(0, isomorph_error::index(granted))));
                }
                self.waiting = None;
            }
            let next = self.held.with_dependent(|_, parts| {
                let mut part = parts.get(self.at)?.lock().unwrap_or_else(PoisonError::into_inner);
                part.as_mut()?.next()
            });
            let Some(batch) = next.transpose()? else { return Ok(None) };
            if !is_of(shared.kind, &batch) {
                continue;
            }
            self.waiting = Some(shared.passing(shared.rows.of(&batch)?)?);
        }
        Ok(None)
    }
}

impl Shared {
    /// The rows that pass.
    fn passing(&self, mut batch: RecordBatch) -> Result<Waiting> {
        if let Some(filter) = &self.filter {
            let passing = filter.passing(&batch)?;
            if passing.count_set_bits() < batch.num_rows() {
                batch = filter_record_batch(&batch, &BooleanArray::from(passing)).map_err(broken)?;
            }
        }
        let answers = self.asked.as_ref().map(|(at, asked)| asked.answers(batch.column(*at))).transpose()?;
        Ok(Waiting { batch, answers, given: 0 })
    }

    /// The next of them, without the columns that were not requested; an empty batch at the end.
    fn next(&self, waiting: &mut Waiting) -> Result<RecordBatch> {
        let mut columns = Vec::new();
        let batch = match (&self.asked, &mut waiting.answers) {
            (Some((_, asked)), Some(answers)) => {
                let (rows, questions) = asked.next(answers, self.batch_rows);
                columns.push(Arc::new(questions) as ArrayRef);
                take_record_batch(&waiting.batch, &rows).map_err(broken)?
            }
            _ => {
                let rows = self.batch_rows.min(waiting.batch.num_rows() - waiting.given);
                waiting.given += rows;
                waiting.batch.slice(waiting.given - rows, rows)
            }
        };
        let (rows, given) = (batch.num_rows(), self.given.fields().len() - columns.len());
        columns.extend(batch.columns().iter().take(given).map(Arc::clone));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.given), columns, &options).map_err(broken)
    }
}

fn broken(error: arrow_schema::ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}

/// Takes up to `wanted` from what is left.
fn granted(left: &AtomicU64, wanted: u64) -> u64 {
    let take = |left: u64| Some(left - left.min(wanted));
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_or(0, |before| before.min(wanted))
}

impl Iterator for Partition {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.read();
        if !matches!(next, Ok(Some(_))) {
            self.is_done = true;
            self.close();
        }
        next.transpose()
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        self.close();
    }
}

/// The batches of all partitions of a scan, one partition after another.
#[derive(Debug)]
pub struct Batches {
    schema: SchemaRef,
    partitions: std::vec::IntoIter<Partition>,
    current: Option<Partition>,
}

impl Batches {
    pub(crate) fn new(schema: SchemaRef, partitions: Vec<Partition>) -> Self {
        Batches { schema, partitions: partitions.into_iter(), current: None }
    }

    /// The columns of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.current.as_mut().and_then(Iterator::next) {
                Some(Ok(batch)) => return Some(Ok(batch)),
                Some(Err(error)) => {
                    (self.current, self.partitions) = (None, Vec::new().into_iter());
                    return Some(Err(error));
                }
                None => self.current = Some(self.partitions.next()?),
            }
        }
    }
}
