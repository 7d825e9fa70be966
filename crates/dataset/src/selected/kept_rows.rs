//! Which rows of a table are kept.

use std::collections::BinaryHeap;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_buffer::BooleanBuffer;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Ends, NodeBatch, Part, Progress, Request, Tables};
use isomorph_storage::parallel::{Ahead, in_order};
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::row_set::{Bits, RowSet};
use super::test::{Test, asked_for_test};
use super::{Sample, Selection};
use crate::dataset::Dataset;
use crate::table::TableKind;

/// Batches of one part that may wait for their consumer.
const AHEAD: usize = 4;

/// The rows of a table that are kept.
pub(super) struct Kept {
    /// Their numbers in the whole table.
    pub rows: RowSet,
    /// Nodes that are kept only because edges refer to them, by rank.
    pub bare: Option<Bits>,
    /// Key → rank.
    pub keys: Option<KeyRows>,
}

impl Kept {
    /// The rank of each end: [`ABSENT`] for one that is left out.
    ///
    /// # Errors
    /// If keys are of a type that cannot be looked up.
    pub fn ranks(&self, ends: &Ends) -> Result<Vec<u64>> {
        match ends {
            Ends::Rows(rows) => Ok(rows.values().iter().map(|row| self.rows.rank(*row).unwrap_or(ABSENT)).collect()),
            Ends::Keys(keys) => {
                let own = self.keys.as_ref().ok_or_else(|| Error::usage("ends are keys, but rows were announced"))?;
                let mut ranks = Vec::new();
                own.translate(keys.as_ref(), &mut ranks)?;
                Ok(ranks)
            }
        }
    }

    /// Whether the element of this rank was selected itself.
    pub fn is_chosen(&self, rank: u64) -> bool {
        rank != ABSENT && self.bare.as_ref().is_none_or(|bare| !bare.has(rank))
    }
}

/// Reads `parts`, and passes the results of `prepare` on in order.
pub(super) fn read<T: Send>(
    parts: Vec<Box<dyn Part + '_>>,
    threads: usize,
    stage: &str,
    progress: &dyn Progress,
    prepare: impl Fn(Batch) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    progress.begin(stage, parts.iter().map(|part| part.rows()).sum());
    let piece = |mut part: Box<dyn Part + '_>, give: &mut dyn FnMut(T) -> Result<()>| {
        part.read(&mut |batch| {
            progress.advance(batch.rows() as u64)?;
            give(prepare(batch)?)
        })
    };
    let done = in_order(parts, threads, Ahead { pieces: AHEAD, parts: threads }, piece, take);
    progress.end();
    done
}

/// Reads nodes, edges and other tables to determine which of their rows are kept.
pub(super) struct Reader<'a> {
    pub dataset: &'a Dataset,
    pub progress: &'a dyn Progress,
}

/// Nodes of a batch that pass.
struct Passing {
    numbers: Vec<u64>,
    keys: Option<ArrayRef>,
    hashes: Vec<u64>,
}

impl Reader<'_> {
    pub fn threads(&self) -> usize {
        self.dataset.resources().threads
    }

    /// A builder of look-ups from keys to ranks; `several` is the number of such look-ups.
    pub fn keys(&self, several: usize) -> KeyRowsBuilder {
        let resources = self.dataset.resources();
        let options = LookupOptions::new(&resources.budget, &resources.scratch);
        let memory = resources.budget.limit() / 2 / several.max(1) as u64;
        KeyRowsBuilder::new(options.memory(memory).threads(resources.threads))
    }

    /// The nodes of a type that are kept: those that pass, of these a sample, and of these the first. `with_keys` is
    /// the number of look-ups by key, if this one is to be built here.
    ///
    /// # Errors
    /// If nodes cannot be read, or their keys do not fit into the budget.
    pub fn nodes(
        &self,
        ty: usize,
        test: Option<&Test>,
        selection: &Selection,
        with_keys: Option<usize>,
    ) -> Result<Kept> {
        let graph = self.dataset.source().graph();
        let is_ordered = graph.nodes.get(ty).is_some_and(|ty| ty.ordered);
        let mut request = Request::of(if test.is_some() { Tables::Nodes(ty) } else { Tables::NodeKeys(ty) });
        // For other types, rows that are left out are not counted.
        if let Some(test) = test
            && let Some(narrowing) = asked_for_test(self.dataset, TableKind::Nodes(ty), test, is_ordered)?
        {
            request = request.narrowed(narrowing);
        }
        let sample = selection.sample;
        let prepare = |batch: Batch| -> Result<Passing> {
            let mask = match test {
                Some(test) => test.passing(&batch)?,
                None => BooleanBuffer::new_set(batch.rows()),
            };
            let Batch::Nodes(nodes) = batch else { return Err(Error::usage("expected nodes")) };
            let numbers: Vec<u64> = mask.set_indices().map(|at| number(&nodes, at)).collect();
            let rows = super::batches::Rows::new(mask);
            let keys = nodes.keys.as_ref().map(|keys| rows.of(keys)).transpose()?;
            let hashes = match sample {
                None => Vec::new(),
                Some(sample) => hashes(keys.as_ref(), &numbers, sample.seed)?,
            };
            Ok(Passing { numbers, keys: keys.filter(|_| with_keys.is_some()), hashes })
        };
        let mut bits = Bits::default();
        let mut keys = with_keys.filter(|_| sample.is_none()).map(|several| self.keys(several));
        let mut drawn = sample.map(Drawn::new);
        let mut left = selection.limit.unwrap_or(u64::MAX);
        let take = |mut passing: Passing| -> Result<()> {
            if let Some(drawn) = &mut drawn {
                passing.hashes.iter().zip(&passing.numbers).for_each(|(hash, row)| drawn.offer(*hash, *row));
                return Ok(());
            }
            let more = (passing.numbers.len() as u64).min(left);
            left -= more;
            passing.numbers.truncate(isomorph_error::index(more));
            passing.numbers.iter().for_each(|row| bits.add(*row));
            if let (Some(builder), Some(keys)) = (&mut keys, &passing.keys) {
                builder.push(keys.slice(0, passing.numbers.len()).as_ref())?;
            }
            if left == 0 { Err(Error::new(Kind::Cancelled, "no more nodes are wanted")) } else { Ok(()) }
        };
        let parts = self.dataset.source().scan(&request)?;
        let done = if selection.limit == Some(0) {
            Ok(())
        } else {
            read(parts, self.threads(), "selection", self.progress, prepare, take)
        };
        match done {
            // Ending because no more is needed is not a failure.
            Err(error) if left == 0 && error.kind() == Kind::Cancelled => {}
            done => done?,
        }
        if let Some(drawn) = drawn {
            let most = isomorph_error::index(selection.limit.unwrap_or(u64::MAX));
            drawn.rows().into_iter().take(most).for_each(|row| bits.add(row));
        }
        let rows = RowSet::from(bits);
        let keys = match (keys, with_keys) {
            (Some(keys), _) => Some(in_memory(keys)?),
            (None, Some(several)) => Some(self.keys_of(ty, Some(&rows), several)?),
            (None, None) => None,
        };
        Ok(Kept { rows, bare: None, keys })
    }

    /// Key → rank for the nodes in `rows`, or for all nodes.
    ///
    /// # Errors
    /// If keys cannot be read, or do not fit into the budget.
    pub fn keys_of(&self, ty: usize, rows: Option<&RowSet>, several: usize) -> Result<KeyRows> {
        let mut builder = self.keys(several);
        let prepare = |batch: Batch| -> Result<Option<ArrayRef>> {
            let Batch::Nodes(nodes) = batch else { return Err(Error::usage("expected nodes")) };
            let Some(keys) = &nodes.keys else { return Ok(None) };
            let Some(rows) = rows else { return Ok(Some(keys.clone())) };
            let stays = |at| rows.rank(number(&nodes, at)).is_some();
            super::batches::Rows::new((0..nodes.rows).map(stays).collect()).of(keys).map(Some)
        };
        let take = |keys: Option<ArrayRef>| keys.map_or(Ok(()), |keys| builder.push(keys.as_ref()));
        let parts = self.dataset.source().scan(&Request::of(Tables::NodeKeys(ty)))?;
        read(parts, self.threads(), "keys", self.progress, prepare, take)?;
        in_memory(builder)
    }
}

/// The row number in its table of a row of a batch.
pub(super) fn number(nodes: &NodeBatch, at: usize) -> u64 {
    let stated = nodes.numbers.as_ref().and_then(|numbers: &UInt64Array| numbers.values().get(at).copied());
    stated.unwrap_or(nodes.start + at as u64)
}

/// The look-up, if it fits into the budget.
///
/// # Errors
/// Returns [`Kind::TooLarge`] if it does not.
pub(super) fn in_memory(keys: KeyRowsBuilder) -> Result<KeyRows> {
    match keys.finish()? {
        Lookup::Memory(keys) => Ok(keys),
        Lookup::Spilled(_) => {
            let message = "the keys of the selected nodes do not fit into the memory budget";
            Err(Error::new(Kind::TooLarge, message).hint("--memory SIZE    raise the budget"))
        }
    }
}

/// A hash of each key, or of each row number if there are no keys.
fn hashes(keys: Option<&ArrayRef>, numbers: &[u64], seed: u64) -> Result<Vec<u64>> {
    let Some(keys) = keys else {
        return Ok(numbers.iter().map(|row| xxh3_64_with_seed(&row.to_le_bytes(), seed)).collect());
    };
    let options = FormatOptions::default();
    let texts = ArrayFormatter::try_new(keys.as_ref(), &options);
    let texts = texts.map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    let mut text = String::new();
    let hash = |row| {
        text.clear();
        let written = std::fmt::write(&mut text, format_args!("{}", texts.value(row)));
        written.map_err(|_| Error::malformed("a key cannot be written as text"))?;
        Ok(xxh3_64_with_seed(text.as_bytes(), seed))
    };
    (0..keys.len()).map(hash).collect()
}

/// The rows with the smallest hashes.
struct Drawn {
    most: u64,
    heap: BinaryHeap<(u64, u64)>,
}

impl Drawn {
    fn new(sample: Sample) -> Self {
        Drawn { most: sample.rows, heap: BinaryHeap::new() }
    }

    fn offer(&mut self, hash: u64, row: u64) {
        if (self.heap.len() as u64) < self.most {
            self.heap.push((hash, row));
        } else if let Some(mut largest) = self.heap.peek_mut()
            && (hash, row) < *largest
        {
            *largest = (hash, row);
        }
    }

    /// The rows, in ascending order.
    fn rows(self) -> Vec<u64> {
        let mut rows: Vec<u64> = self.heap.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }
}
