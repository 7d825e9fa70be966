//! Distinct values in the order of their first occurrence.
//!
//! Values are sorted to find equal ones, then the distinct ones are sorted by position. Both sorts keep within the budget and use temporary
//! files beyond it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Scratch};
use xxhash_rust::xxh3::xxh3_64;

use crate::sort::{EdgeSorter, EdgeStream, SortOptions, SortedEdges};

/// Number of values passed on at a time.
const ROWS: usize = 1 << 14;

fn schema(integers: bool) -> Arc<Schema> {
    match integers {
        true => Arc::new(Schema::empty()),
        false => Arc::new(Schema::new(vec![Field::new("name", DataType::Utf8, false)])),
    }
}

fn sorter(integers: bool, budget: &Budget, scratch: &Scratch) -> Result<EdgeSorter> {
    let options = SortOptions::new(budget, scratch).payload(schema(integers)).memory(budget.available() / 4);
    EdgeSorter::new(options.distinct())
}

/// Wraps a column of texts as the payload of a sort.
fn payload(texts: StringArray) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = vec![Arc::new(texts)];
    RecordBatch::try_new(schema(false), columns).map_err(|error| Error::malformed(error.to_string()))
}

/// Collects values from several threads.
pub struct DistinctBuilder {
    integers: bool,
    sorter: EdgeSorter,
    budget: Budget,
    scratch: Scratch,
}

impl DistinctBuilder {
    /// Creates a builder for integers of 64 bits, or for texts.
    ///
    /// # Errors
    /// If the budget is almost exhausted.
    pub fn new(integers: bool, budget: &Budget, scratch: &Scratch) -> Result<DistinctBuilder> {
        let sorter = sorter(integers, budget, scratch)?;
        Ok(DistinctBuilder { integers, sorter, budget: budget.clone(), scratch: scratch.clone() })
    }

    /// Whether it collects integers.
    pub fn has_integers(&self) -> bool {
        self.integers
    }

    /// Returns a collector of the values of one piece.
    pub fn piece(&self) -> DistinctPiece<'_> {
        DistinctPiece { builder: self, integers: HashMap::new(), texts: HashMap::new() }
    }

    /// Returns the values.
    ///
    /// # Errors
    /// If temporary files cannot be written or read.
    pub fn finish(self) -> Result<Distinct> {
        let sorted = self.sorter.finish()?;
        let placed = sorter(self.integers, &self.budget, &self.scratch)?;
        // Texts with the same hash as the last one, because a batch can end anywhere.
        let (mut hash, mut alike): (Option<u64>, Vec<String>) = (None, Vec::new());
        for batch in sorted.stream()? {
            let batch = batch?;
            let (mut at, mut ids, mut rows) = (Vec::new(), Vec::new(), Vec::new());
            let texts = (!self.integers).then(|| batch.payload.column(0).as_string::<i32>().clone());
            for row in 0..batch.aligned.len() {
                let own = batch.aligned.value(row);
                if hash != Some(own) {
                    hash = Some(own);
                    alike.clear();
                } else if texts.as_ref().is_none_or(|texts| alike.iter().any(|other| other == texts.value(row))) {
                    continue;
                }
                alike.extend(texts.as_ref().map(|texts| texts.value(row).to_owned()));
                at.push(batch.other.value(row));
                ids.push(own);
                rows.push(row);
            }
            match &texts {
                None => placed.push(&at, &ids, None, 0)?,
                Some(texts) => {
                    let texts: StringArray = rows.iter().map(|row| Some(texts.value(*row))).collect();
                    placed.push(&at, &ids, Some(&payload(texts)?), 0)?;
                }
            }
        }
        drop(sorted);
        Ok(Distinct { integers: self.integers, sorted: placed.finish()? })
    }
}

/// The values of one piece, each at its first position.
pub struct DistinctPiece<'b> {
    builder: &'b DistinctBuilder,
    integers: HashMap<u64, u64>,
    texts: HashMap<String, u64>,
}

impl DistinctPiece<'_> {
    /// Whether integers are collected.
    pub fn has_integers(&self) -> bool {
        self.builder.integers
    }

    /// Adds an integer at a position, as its 64 bits. Positions of one piece ascend.
    pub fn integer(&mut self, at: u64, bits: u64) {
        self.integers.entry(bits).or_insert(at);
    }

    /// Adds a text at a position.
    pub fn text(&mut self, at: u64, text: &str) {
        if !self.texts.contains_key(text) {
            self.texts.insert(text.to_owned(), at);
        }
    }

    /// Returns the number of values that wait.
    pub fn waiting(&self) -> usize {
        self.integers.len() + self.texts.len()
    }

    /// Passes on the values that wait.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub fn push(&mut self) -> Result<()> {
        let sorter = &self.builder.sorter;
        if self.builder.integers {
            let (ids, at): (Vec<u64>, Vec<u64>) = self.integers.drain().unzip();
            return sorter.push(&ids, &at, None, 0);
        }
        let texts: Vec<(String, u64)> = self.texts.drain().collect();
        for some in texts.chunks(ROWS) {
            let hashes: Vec<u64> = some.iter().map(|(text, _)| xxh3_64(text.as_bytes())).collect();
            let at: Vec<u64> = some.iter().map(|(_, at)| *at).collect();
            let texts: StringArray = some.iter().map(|(text, _)| Some(text.as_str())).collect();
            sorter.push(&hashes, &at, Some(&payload(texts)?), 0)?;
        }
        Ok(())
    }
}

/// Distinct values, in the order of their first occurrence.
pub struct Distinct {
    integers: bool,
    sorted: SortedEdges,
}

impl Distinct {
    /// Returns their number.
    pub fn rows(&self) -> u64 {
        self.sorted.rows()
    }

    /// Reads them.
    ///
    /// # Errors
    /// If temporary files cannot be read.
    pub fn stream(&self) -> Result<DistinctStream<'_>> {
        Ok(DistinctStream { integers: self.integers, stream: self.sorted.stream()? })
    }
}

/// Some distinct values.
pub enum DistinctValues {
    /// Integers, as their 64 bits.
    Integers(Vec<u64>),
    /// Texts, of the type `Utf8`.
    Texts(ArrayRef),
}

/// Distinct values while they are read.
pub struct DistinctStream<'d> {
    integers: bool,
    stream: EdgeStream<'d>,
}

impl DistinctStream<'_> {
    /// Returns the next values.
    ///
    /// # Errors
    /// If temporary files cannot be read.
    pub fn next_values(&mut self) -> Result<Option<DistinctValues>> {
        let Some(batch) = self.stream.next_batch()? else { return Ok(None) };
        Ok(Some(match self.integers {
            true => DistinctValues::Integers(batch.other.values().to_vec()),
            false => DistinctValues::Texts(Arc::clone(batch.payload.column(0))),
        }))
    }
}
