//! Columns decoded while names are compared, kept for the first scan that follows: nothing is decoded twice as long
//! as there is enough memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow_schema::{ArrowError, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation};

use crate::columns::Column;
use crate::rows::Rows;

/// Divisor of the budget that may be used: the memory is held until the first scan is done.
const SHARE: u64 = 4;

/// The kept columns of all pieces.
#[derive(Debug)]
pub(crate) struct Kept {
    pieces: Vec<Mutex<Option<KeptPiece>>>,
    budget: Budget,
    used: AtomicU64,
}

/// The kept columns of one piece: all of its rows, in order.
#[derive(Debug)]
pub(crate) struct KeptPiece {
    batches: VecDeque<RecordBatch>,
    /// Buffers behind the views, by address: pages that batches share count once.
    pages: Vec<usize>,
    reservation: Reservation,
}

impl Kept {
    /// Creates an empty cache for `pieces` pieces.
    pub fn new(pieces: usize, budget: &Budget) -> Self {
        let pieces = std::iter::repeat_with(Mutex::default).take(pieces).collect();
        Kept { pieces, budget: budget.clone(), used: AtomicU64::new(0) }
    }

    /// Starts a piece, if memory is available.
    pub fn begin(&self) -> Option<KeptPiece> {
        let reservation = self.budget.try_reserve(0)?;
        Some(KeptPiece { batches: VecDeque::new(), pages: Vec::new(), reservation })
    }

    /// Adds rows to a piece, or discards the piece if there is not enough memory.
    ///
    /// # Errors
    /// Never fails if all columns have the same length.
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

    /// Stores a complete piece.
    pub fn put(&self, number: usize, piece: Option<KeptPiece>) {
        if let Some(slot) = self.pieces.get(number) {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = piece;
        }
    }

    /// Takes a piece out of the cache.
    pub fn take(&self, number: usize) -> Option<KeptPiece> {
        self.pieces.get(number)?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the normalised columns of `rows` by name.
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
    Error::malformed(format!("the columns of the rows do not match: {error}"))
}

impl KeptPiece {
    /// Returns the bytes that these columns need in addition to what is kept already.
    fn growth(&mut self, columns: &[(Column, ArrayRef)]) -> u64 {
        let mut bytes = 0;
        for (_, array) in columns {
            let Some(texts) = array.as_any().downcast_ref::<StringViewArray>() else {
                bytes += array.get_buffer_memory_size();
                continue;
            };
            // Decoders reserve memory for a full batch, however few rows there are.
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

    /// Returns whether `column` is kept.
    pub fn has(&self, column: Column) -> bool {
        self.batches.front().is_some_and(|batch| batch.column_by_name(column.name()).is_some())
    }

    /// Returns the next rows, for scans that need no other columns.
    pub fn next(&mut self) -> Option<RecordBatch> {
        self.batches.pop_front()
    }

    /// Joins the next rows of `rest`, which has other columns, with the kept ones, as many as both have. The remaining rows stay in `rest`.
    ///
    /// # Errors
    /// Returns an error if the file has more rows now than before.
    pub fn beside(&mut self, rest: &mut RecordBatch) -> Result<RecordBatch> {
        let longer = || Error::malformed("the file has more rows than before: it changes while it is read");
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
