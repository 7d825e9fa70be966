//! Row → 128-bit hash.

use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Budget, Scratch};

use super::bytes::{BytesBuilder, Frozen};

/// The size of a hash, bytes.
const WIDTH: usize = size_of::<u128>();

/// Collects one hash per row. Several threads may write concurrently.
pub struct HashesBuilder(Mutex<BytesBuilder>);

impl HashesBuilder {
    /// Creates an empty collection. The hashes stay in memory as long as they take at most `memory` bytes of the budget (16
    /// each); after that they are written to a temporary file, which is mapped.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        HashesBuilder(Mutex::new(BytesBuilder::new(budget, scratch, memory)))
    }

    /// Appends the hashes of the next rows.
    ///
    /// # Errors
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn push(&self, hashes: &[u128]) -> Result<()> {
        let bytes = to_bytes(hashes);
        let mut builder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        builder.push(&bytes)
    }

    /// Writes the hashes of the rows from `row` on. Rows that are never written have the hash 0.
    ///
    /// # Errors
    /// Same as [`HashesBuilder::push`]; [`Kind::TooLarge`] for a row beyond the largest possible file.
    pub fn write(&self, row: u64, hashes: &[u128]) -> Result<()> {
        let offset = row
            .checked_mul(WIDTH as u64)
            .filter(|offset| *offset < 1 << 62)
            .ok_or_else(|| Error::new(Kind::TooLarge, "too many rows").at(Place::default().row(row)))?;
        let bytes = to_bytes(hashes);
        let mut builder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        builder.write(offset, &bytes)
    }

    /// Returns the hashes for reading.
    ///
    /// # Errors
    /// Same as [`HashesBuilder::push`].
    pub fn finish(self) -> Result<Hashes> {
        Ok(Hashes(self.0.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?))
    }
}

fn to_bytes(hashes: &[u128]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

/// One hash per row.
pub struct Hashes(Frozen);

impl Hashes {
    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.0.count::<WIDTH>()
    }

    /// Returns the hash of a row, if it exists.
    #[inline]
    pub fn get(&self, row: u64) -> Option<u128> {
        self.0.get(row).map(u128::from_le_bytes)
    }

    /// Appends the hashes of some rows to `found`.
    ///
    /// # Errors
    /// [`Kind::Malformed`](isomorph_error::Kind::Malformed) for a row that does not exist, with its position in `rows`.
    pub fn gather(&self, rows: &[u64], found: &mut Vec<u128>) -> Result<()> {
        found.reserve(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let hash = self.get(*row).ok_or_else(|| {
                let message = format!("row {row} does not exist, there are {} rows", self.rows());
                Error::malformed(message).at(Place::default().row(at as u64))
            })?;
            found.push(hash);
        }
        Ok(())
    }
}
