//! Detection of repeated ids.

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use super::ids::{self, IdMap};
use crate::layout::column;
use crate::rules;
use crate::table::Table;

/// Maximum number of repeated ids that are reported; more of them add no information.
const NAMED: usize = 64;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 15;

/// The hashes of all ids, or of pairs of ids, for sorting: 16 bytes each, in temporary files if they exceed the memory.
pub(crate) struct Hashes(EdgeSorter);

impl Hashes {
    /// Creates an empty collection.
    ///
    /// # Errors
    /// Returns an error if almost no memory is left in the budget.
    pub fn new(budget: &Budget, scratch: &Scratch) -> Result<Self> {
        EdgeSorter::new(SortOptions::new(budget, scratch).memory(budget.limit() / 8)).map(Hashes)
    }

    /// Adds the hashes of further ids, in any order. Several threads may call it.
    ///
    /// # Errors
    /// Returns an error if spilling fails.
    pub fn add(&self, hashes: impl Iterator<Item = u128>) -> Result<()> {
        let (high, low): (Vec<u64>, Vec<u64>) = hashes.map(|hash| ((hash >> 64) as u64, hash as u64)).unzip();
        self.0.push(&high, &low, None, 0)
    }

    /// Returns some of the hashes that occur more than once, each with a slot for its first row.
    ///
    /// # Errors
    /// Returns an error if the spilled data cannot be read.
    pub fn repeated(self) -> Result<IdMap<Option<u64>>> {
        let (mut repeated, mut before) = (IdMap::default(), None);
        let sorted = self.0.finish()?;
        for batch in sorted.stream()? {
            let batch = batch?;
            for (high, low) in batch.aligned.values().iter().zip(batch.other.values()) {
                let hash = (u128::from(*high) << 64) | u128::from(*low);
                if before.replace(hash) == Some(hash) {
                    repeated.insert(hash, None);
                    if repeated.len() == NAMED {
                        return Ok(repeated);
                    }
                }
            }
        }
        Ok(repeated)
    }
}

/// Adds a finding for each row of `table` whose id occurs in an earlier row.
///
/// # Errors
/// Returns an error if the table cannot be read again.
pub(super) fn edges(hashes: Hashes, table: &Table, findings: &mut Findings) -> Result<()> {
    let mut first_rows = hashes.repeated()?;
    if first_rows.is_empty() {
        return Ok(());
    }
    let mut start = 0;
    for cells in table.batches(&[column::EDGE_ID], 0..table.rows(), BATCH_ROWS)? {
        let own = cells?.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        for row in 0..own.len() {
            let at = start + row as u64;
            if let Some(first) = before(&mut first_rows, ids::hash(own.value(row)), at) {
                let message = format!("id {:?} is repeated: row {first} has it as well", own.value(row));
                findings.push(&rules::EDGE_ID, message, Place::file(&table.name).row(at).in_field(column::EDGE_ID));
            }
        }
        start += own.len() as u64;
    }
    Ok(())
}

/// Returns the first row of a repeated hash, for each further row.
pub(crate) fn before(first_rows: &mut IdMap<Option<u64>>, hash: u128, row: u64) -> Option<u64> {
    let first = first_rows.get_mut(&hash)?;
    let before = *first;
    first.get_or_insert(row);
    before
}
