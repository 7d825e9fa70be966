//! Looking up the edges of an entity.

use isomorph_error::Result;
use isomorph_storage::Budget;
use serde_json::Value;

use super::memo::{Kept, Numbers};
use super::stamp::{BUILT_FROM, FACTS, attributes, built_from};
use super::{CSC, CSR, hash_of};
use crate::layout::Words;
use crate::members::Members;
use crate::zarr::broken;

/// The side of an edge that an entity is on, as in `side`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Source = 0,
    Target = 1,
    Head = 2,
    Tail = 3,
    Member = 4,
}

/// Both views of a graph, if they match it.
pub(crate) struct Cache {
    starts: Numbers,
    columns: Numbers,
    sides: Numbers,
    hashes: Numbers,
    id_rows: Numbers,
    /// The row of each column in the edge table.
    rows: Numbers,
    kept: Kept,
    budget: Budget,
    facts: Value,
}

/// Maximum number of chunks to search in either direction from the estimated position of a hash.
const MOST_STEPS: u32 = 16;
/// Maximum number of layers in which one id is placed.
const MOST_LAYERS: usize = 1 << 16;
/// Bytes that an entry takes while it is examined.
const ENTRY_BYTES: u64 = 32;

impl Cache {
    /// Opens the views; returns `None` if there are none, or if they were built from other files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or an array is malformed.
    pub fn open(members: &Members, words: &Words, version: Option<&str>, budget: &Budget) -> Result<Option<Cache>> {
        let (Some(mut csr), Some(mut csc)) = (attributes(members, CSR)?, attributes(members, CSC)?) else {
            return Ok(None);
        };
        let stamp = Some(built_from(members, words, version)?);
        if csr.remove(BUILT_FROM) != stamp || csc.remove(BUILT_FROM) != stamp {
            return Ok(None);
        }
        let mut at = 0;
        let mut open = |group: &str, name: &str| {
            at += 1;
            Numbers::open(members, group, name, at)
        };
        let cache = Cache {
            starts: open(CSR, "indptr")?,
            columns: open(CSR, "indices")?,
            sides: open(CSR, "side")?,
            hashes: open(CSR, "id_hash")?,
            id_rows: open(CSR, "id_row")?,
            rows: open(CSC, "row")?,
            kept: Kept::within(budget)?,
            budget: budget.clone(),
            facts: csr.remove(FACTS).unwrap_or_default(),
        };
        if cache.sides.len() != cache.columns.len() || cache.id_rows.len() != cache.hashes.len() {
            return Err(broken(CSR, "the arrays differ in length"));
        }
        Ok(Some(cache))
    }

    /// Returns whether the row of an edge contains everything about it: the edge has two ends and no coefficients,
    /// states their layers, and its attributes are in the same row of their table.
    pub fn is_direct(&self) -> bool {
        self.facts.get("direct").and_then(Value::as_bool) == Some(true)
    }

    /// Returns whether there is a node with this id, or with another id of the same hash.
    ///
    /// # Errors
    /// Returns an error if an array cannot be read.
    pub fn knows(&self, id: &str) -> Result<bool> {
        let mut rows = Vec::new();
        self.entities_of(id, &mut rows)?;
        Ok(!rows.is_empty())
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> Option<u64> {
        self.facts.get("nodes").and_then(Value::as_u64)
    }

    /// Returns the rows of the edge table in which an entity is on one of these sides, in any layer, in ascending order
    /// without repetition. Ids with equal hashes are not distinguished: the caller compares the ends of the edges.
    ///
    /// # Errors
    /// Returns an error if an array cannot be read or is malformed.
    pub fn edges_of(&self, id: &str, wanted: &[Side]) -> Result<Vec<u64>> {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        let (mut bounds, mut own, mut sides) = (Vec::new(), Vec::new(), Vec::new());
        let mut held = self.budget.reserve(0)?;
        self.entities_of(id, &mut rows)?;
        let number = |number: i64| u64::try_from(number).map_err(|_| broken(CSR, "a number is negative"));
        for row in rows {
            let row = number(row)?;
            bounds.clear();
            self.starts.read(row..row + 2, &self.kept, &mut bounds)?;
            let [from, to] = bounds[..] else { continue };
            let range = number(from)?..number(to)?;
            // The length that an array claims is not trusted.
            if range.end > self.columns.len() {
                return Err(broken(CSR, "indptr points past the last entry"));
            }
            held.grow(range.end.saturating_sub(range.start).saturating_mul(ENTRY_BYTES))?;
            own.clear();
            sides.clear();
            self.columns.read(range.clone(), &self.kept, &mut own)?;
            self.sides.read(range, &self.kept, &mut sides)?;
            let is_wanted = |side: i64| wanted.iter().any(|wanted| *wanted as i64 == side);
            columns.extend(own.iter().zip(&sides).filter(|(_, side)| is_wanted(**side)).map(|(column, _)| *column));
        }
        let mut found = Vec::with_capacity(columns.len());
        for column in columns {
            let column = number(column)?;
            self.rows.read(column..column + 1, &self.kept, &mut found)?;
        }
        let mut found = found.into_iter().map(number).collect::<Result<Vec<u64>>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Appends the rows of an entity in all layers.
    fn entities_of(&self, id: &str, out: &mut Vec<i64>) -> Result<()> {
        let (hash, count) = (hash_of(id), self.hashes.len());
        if count == 0 {
            return Ok(());
        }
        // Hashes are uniformly distributed, so that the position of a hash can be estimated.
        let share = (i128::from(hash) - i128::from(i64::MIN)) as u128;
        let at = ((share * u128::from(count)) >> 64) as u64;
        let (mut start, mut chunk) = self.hashes.chunk_of(at, &self.kept)?;
        let mut steps = 0;
        let mut step = || {
            steps += 1;
            if steps > MOST_STEPS {
                Err(broken(CSR, "the hashes of ids are not uniformly distributed"))
            } else {
                Ok(())
            }
        };
        while start > 0 && chunk.first().is_none_or(|first| *first >= hash) {
            step()?;
            (start, chunk) = self.hashes.chunk_of(start - 1, &self.kept)?;
        }
        while start + (chunk.len() as u64) < count && chunk.last().is_some_and(|last| *last < hash) {
            step()?;
            (start, chunk) = self.hashes.chunk_of(start + chunk.len() as u64, &self.kept)?;
        }
        self.rows_from(start + chunk.partition_point(|own| *own < hash) as u64, hash, out)
    }

    /// Appends the rows of a hash, if it begins at this position.
    fn rows_from(&self, mut at: u64, hash: i64, out: &mut Vec<i64>) -> Result<()> {
        let mut own = Vec::with_capacity(1);
        while at < self.hashes.len() {
            own.clear();
            self.hashes.read(at..at + 1, &self.kept, &mut own)?;
            if own.first() != Some(&hash) {
                break;
            }
            if out.len() >= MOST_LAYERS {
                return Err(broken(CSR, "an id has too many entities"));
            }
            self.id_rows.read(at..at + 1, &self.kept, out)?;
            at += 1;
        }
        Ok(())
    }
}
