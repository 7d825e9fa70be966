//! The nodes of an edge list: every distinct end, in the order of its first occurrence.
//!
//! Names are sorted to find equal ones, then the distinct names are sorted by position. Both sorts keep within the
//! budget and use temporary files beyond it. The position of a name is twice the byte offset of its line, plus one for
//! the target.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, NodeBatch, Part, part};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};
use xxhash_rust::xxh3::xxh3_64;

use crate::grammar::{End, Item};
use crate::line::integer;
use crate::pieces::Piece;

/// Number of rows passed on at a time.
const ROWS: usize = 1 << 14;

fn schema(integers: bool) -> Arc<Schema> {
    match integers {
        true => Arc::new(Schema::empty()),
        false => Arc::new(Schema::new(vec![Field::new("name", DataType::Utf8, false)])),
    }
}

fn sorter(integers: bool, (budget, scratch): (&Budget, &Scratch)) -> Result<EdgeSorter> {
    let options = SortOptions::new(budget, scratch).payload(schema(integers)).memory(budget.available() / 4);
    EdgeSorter::new(options.distinct())
}

/// Wraps a column of names as the payload of a sort.
fn payload(names: StringArray) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = vec![Arc::new(names)];
    RecordBatch::try_new(schema(false), columns).map_err(|error| Error::malformed(error.to_string()))
}

/// Collects names from several threads.
pub(crate) struct Collector {
    integers: bool,
    sorter: EdgeSorter,
}

impl Collector {
    /// Creates a collector for integers, or for names of any kind.
    ///
    /// # Errors
    /// Returns an error if the budget is almost exhausted.
    pub fn new(integers: bool, budget: &Budget, scratch: &Scratch) -> Result<Collector> {
        Ok(Collector { integers, sorter: sorter(integers, (budget, scratch))? })
    }

    /// Returns a collector for the names of one piece.
    pub fn of_piece<'c>(&'c self, piece: &Piece) -> Own<'c> {
        Own { collector: self, offset: piece.offset, integers: HashMap::new(), names: HashMap::new() }
    }

    /// Returns the nodes.
    ///
    /// # Errors
    /// Returns an error if temporary files cannot be written or read.
    pub fn finish(self, budget: &Budget, scratch: &Scratch) -> Result<Nodes> {
        let sorted = self.sorter.finish()?;
        let placed = sorter(self.integers, (budget, scratch))?;
        // Names with the same hash as the last one, because a batch can end anywhere.
        let (mut hash, mut alike): (Option<u64>, Vec<String>) = (None, Vec::new());
        for batch in sorted.stream()? {
            let batch = batch?;
            let (mut at, mut ids, mut rows) = (Vec::new(), Vec::new(), Vec::new());
            let names = (!self.integers).then(|| batch.payload.column(0).as_string::<i32>().clone());
            for row in 0..batch.aligned.len() {
                let own = batch.aligned.value(row);
                if hash != Some(own) {
                    hash = Some(own);
                    alike.clear();
                } else if names.as_ref().is_none_or(|names| alike.iter().any(|other| other == names.value(row))) {
                    continue;
                }
                alike.extend(names.as_ref().map(|names| names.value(row).to_owned()));
                at.push(batch.other.value(row));
                ids.push(own);
                rows.push(row);
            }
            match &names {
                None => placed.push(&at, &ids, None, 0)?,
                Some(names) => {
                    let names: StringArray = rows.iter().map(|row| Some(names.value(*row))).collect();
                    placed.push(&at, &ids, Some(&payload(names)?), 0)?;
                }
            }
        }
        drop(sorted);
        Ok(Nodes { integers: self.integers, sorted: placed.finish()? })
    }
}

/// The names of one piece, each at its first position.
pub(crate) struct Own<'c> {
    collector: &'c Collector,
    offset: u64,
    integers: HashMap<i64, u64>,
    names: HashMap<String, u64>,
}

impl Own<'_> {
    /// Adds the ends of an edge whose line begins at this byte of the piece.
    pub fn see(&mut self, at: usize, source: &str, target: &str) {
        let at = 2 * (self.offset + at as u64);
        self.add(at, source);
        self.add(at + 1, target);
    }

    /// Adds the names in an item that is stated at this byte of the piece.
    pub fn name(&mut self, at: usize, item: &Item<'_, '_>) {
        let at = 2 * (self.offset + at as u64);
        let ends = match item {
            Item::Node(end, _) => [Some(*end), None],
            Item::Edge(source, target, ..) => [Some(*source), Some(*target)],
            Item::Odd(..) => [None, None],
        };
        for (end, at) in ends.into_iter().zip([at, at + 1]) {
            if let Some(End::Name(name)) = end {
                self.add(at, name);
            }
        }
    }

    fn add(&mut self, at: u64, name: &str) {
        if !self.collector.integers {
            if !self.names.contains_key(name) {
                self.names.insert(name.to_owned(), at);
            }
        } else if let Some(id) = integer(name) {
            self.integers.entry(id).or_insert(at);
        }
    }

    /// Passes the names on.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn push(self) -> Result<()> {
        let sorter = &self.collector.sorter;
        if self.collector.integers {
            let (ids, at): (Vec<u64>, Vec<u64>) =
                self.integers.iter().map(|(id, at)| (id.cast_unsigned(), *at)).unzip();
            return sorter.push(&ids, &at, None, 0);
        }
        let names: Vec<(String, u64)> = self.names.into_iter().collect();
        for some in names.chunks(ROWS) {
            let hashes: Vec<u64> = some.iter().map(|(name, _)| xxh3_64(name.as_bytes())).collect();
            let at: Vec<u64> = some.iter().map(|(_, at)| *at).collect();
            let names: StringArray = some.iter().map(|(name, _)| Some(name.as_str())).collect();
            sorter.push(&hashes, &at, Some(&payload(names)?), 0)?;
        }
        Ok(())
    }
}

/// The nodes, in the order of their first occurrence.
pub(crate) struct Nodes {
    integers: bool,
    sorted: SortedEdges,
}

impl Nodes {
    /// Returns their number.
    pub fn rows(&self) -> u64 {
        self.sorted.rows()
    }

    /// Returns all of them, as one part.
    pub fn part(&self, at_once: usize) -> Box<dyn Part + '_> {
        let mut start = 0;
        part::stepped(
            Some(self.rows()),
            || self.sorted.stream(),
            move |stream, take| {
                let Some(batch) = stream.next_batch()? else { return Ok(false) };
                let keys: ArrayRef = match self.integers {
                    true => {
                        Arc::new(batch.other.values().iter().map(|id| Some(id.cast_signed())).collect::<Int64Array>())
                    }
                    false => Arc::clone(batch.payload.column(0)),
                };
                for from in (0..keys.len()).step_by(at_once.max(1)) {
                    let rows = at_once.min(keys.len() - from);
                    let keys = Some(keys.slice(from, rows));
                    let node =
                        NodeBatch { ty: 0, start, numbers: None, rows, keys, labels: None, properties: Vec::new() };
                    start += rows as u64;
                    take(Batch::Nodes(node))?;
                }
                Ok(true)
            },
        )
    }
}
