//! Columns that the pass over the names has decoded, kept for the first scan behind it: nothing is decoded twice as long
//! as there is memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow_schema::{ArrowError, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation};

use crate::columns::Column;
use crate::rows::Rows;

/// The share of the budget that may be taken: it is held until the first scan has passed.
const SHARE: u64 = 4;

/// What is kept of all pieces.
#[derive(Debug)]
pub(crate) struct Kept {
    pieces: Vec<Mutex<Option<KeptPiece>>>,
    budget: Budget,
    used: AtomicU64,
}

/// What is kept of one piece: all of its rows, in order.
#[derive(Debug)]
pub(crate) struct KeptPiece {
    batches: VecDeque<RecordBatch>,
    /// Buffers behind the views, by address: pages that batches share count once.
    pages: Vec<usize>,
    reservation: Reservation,
}

impl Kept {
    /// Nothing of `pieces` pieces yet.
    pub fn new(pieces: usize, budget: &Budget) -> Self {
        let pieces = std::iter::repeat_with(Mutex::default).take(pieces).collect();
        Kept { pieces, budget: budget.clone(), used: AtomicU64::new(0) }
    }

    /// A piece to be kept, if there is any memory.
    pub fn begin(&self) -> Option<KeptPiece> {
        let reservation = self.budget.try_reserve(0)?;
        Some(KeptPiece { batches: VecDeque::new(), pages: Vec::new(), reservation })
    }

    /// Adds rows to a piece. It is given up when there is no memory for them.
    ///
    /// # Errors
    /// None that rows of one length can cause.
    pub fn add(&self, piece: &mut Option<KeptPiece>, rows: &Rows) -> Result<()> {
        let Some(begun) = piece else { return Ok(()) };
        let columns = columns(rows);
        let bytes = begun.growth(&columns);
        let most = self.budget.limit() / SHARE;
        let fits = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes <= most;
        if fits && begun.reservation.try_grow(bytes) {
            begun.batches.push_back(batch(columns)?);
        } else {
            self.used.fetch_sub(begun.reservation.bytes() + bytes, Ordering::Relaxed);
            *piece = None;
        }
        Ok(())
    }

    /// Puts a whole piece away.
    pub fn put(&self, number: usize, piece: Option<KeptPiece>) {
        if let Some(slot) = self.pieces.get(number) {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = piece;
        }
    }

    /// Hands a piece out, once.
    pub fn take(&self, number: usize) -> Option<KeptPiece> {
        self.pieces.get(number)?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The columns of `rows` by their names, in the form that they have been brought to.
fn columns(rows: &Rows) -> Vec<(Column, ArrayRef)> {
    let mut columns: Vec<(Column, ArrayRef)> =
        vec![(Column::SrcName, Arc::new(rows.names.clone())), (Column::EdgeId, rows.edge_ids.column())];
    if let Some(names) = &rows.dsts {
        columns.push((Column::DstName, Arc::new(names.clone())));
    }
    columns
}

fn batch(columns: Vec<(Column, ArrayRef)>) -> Result<RecordBatch> {
    let field = |(column, array): &(Column, ArrayRef)| Field::new(column.name(), array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
        .map_err(|error| broken(&error))
}

fn broken(error: &ArrowError) -> Error {
    Error::malformed(format!("the columns of the rows do not fit together: {error}"))
}

impl KeptPiece {
    /// Bytes that these columns take beyond what is kept already.
    fn growth(&mut self, columns: &[(Column, ArrayRef)]) -> u64 {
        let mut bytes = 0;
        for (_, array) in columns {
            let Some(texts) = array.as_any().downcast_ref::<StringViewArray>() else {
                bytes += array.get_buffer_memory_size();
                continue;
            };
            // Decoders reserve for a whole batch, however few rows there are.
            bytes += texts.views().inner().capacity();
            for page in texts.data_buffers() {
                let address = page.data_ptr().as_ptr() as usize;
                if !self.pages.contains(&address) {
                    self.pages.push(address);
                    bytes += page.capacity();
                }
            }
        }
        bytes as u64
    }

    /// Whether `column` is kept.
    pub fn has(&self, column: Column) -> bool {
        self.batches.front().is_some_and(|batch| batch.column_by_name(column.name()).is_some())
    }

    /// The next rows, for scans that need no further columns.
    pub fn next(&mut self) -> Option<RecordBatch> {
        self.batches.pop_front()
    }

    /// The next rows of `rest`, which are other columns, with the kept ones, as far as both reach. What follows stays in `rest`.
    ///
    /// # Errors
    /// When there are more rows now than there were.
    pub fn beside(&mut self, rest: &mut RecordBatch) -> Result<RecordBatch> {
        let longer = || Error::malformed("the file has more rows than a moment ago: it changes while it is read");
        let kept = self.batches.pop_front().ok_or_else(longer)?;
        let rows = kept.num_rows().min(rest.num_rows());
        if rows < kept.num_rows() {
            self.batches.push_front(kept.slice(rows, kept.num_rows() - rows));
        }
        let (kept, now) = (kept.slice(0, rows), rest.slice(0, rows));
        *rest = rest.slice(rows, rest.num_rows() - rows);
        let fields = kept.schema_ref().fields().iter().chain(now.schema_ref().fields()).cloned();
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let columns = kept.columns().iter().chain(now.columns()).cloned().collect();
        RecordBatch::try_new(Arc::new(schema), columns).map_err(|error| broken(&error))
    }
}
