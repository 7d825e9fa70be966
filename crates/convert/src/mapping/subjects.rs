//! Collects the data of subjects by sorting, on all threads.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Part, Progress, Request, Source, Tables};
use isomorph_storage::{Budget, Resources, Scratch};
use isomorph_tables::sort::{EdgeSorter, EdgeStream, SortOptions, SortedBatch, SortedEdges};
use xxhash_rust::xxh3::xxh3_128;

use crate::arrow_limits::halves;
use crate::mapping::arrays::{finished, malformed};
use crate::parallel::Pass;
use crate::read_once::ReadOnce;

/// Rows that are passed to the sort at once.
const TOGETHER: usize = 1 << 15;

/// Number of mentioned subjects that a thread remembers: a power of two.
const REMEMBERED: usize = 1 << 16;

/// Stands in for the number of a predicate in rows that only mention a subject, or state a class. No graph has this
/// many predicates.
const MENTIONED: u32 = u32::MAX;
const CLASS: u32 = u32::MAX - 1;

/// The content of a row about a subject.
pub(super) enum Said<'s> {
    /// The subject exists.
    Mentioned,
    /// A class of the subject.
    Class(&'s str),
    /// A value of the predicate with this number, as text.
    Value(u32, &'s str),
}

/// Subjects of a source, which are sorted on first use.
#[derive(Default)]
pub(super) struct Sorted(ReadOnce<Subjects>);

impl From<Subjects> for Sorted {
    fn from(subjects: Subjects) -> Self {
        Sorted(subjects.into())
    }
}

impl Sorted {
    /// The subjects. On first use they are read; `see` handles ends of triples. Triples themselves are not requested:
    /// their consumer reads them.
    ///
    /// # Errors
    /// As [`Subjects::collect`].
    pub fn get(
        &self,
        source: &dyn Source,
        (budget, threads): (&Budget, usize),
        progress: &dyn Progress,
        see: impl Fn(&mut Rows<'_>, Batch) -> Result<()> + Sync,
    ) -> Result<&Subjects> {
        self.0.get(|| {
            let resources = Resources { threads, budget: budget.clone(), scratch: Scratch::new(None)? };
            let mut parts = source.scan(&Request::of(Tables::EdgeEnds(0)))?;
            parts.extend(source.scan(&Request::of(Tables::Rest))?);
            let see = |(): &mut (), rows: &mut Rows<'_>, batch| see(rows, batch);
            Subjects::collect(parts, &resources, progress, || (), see).map(|(subjects, _)| subjects)
        })
    }
}

/// Sorted rows about subjects; the rows of a subject are adjacent, in the order of the source.
pub(super) struct Subjects {
    sorted: SortedEdges,
}

impl Subjects {
    /// Reads `parts` on all threads. `see` adds rows to those of its thread, and can keep a state; these states are
    /// returned. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// Returns the errors of the parts and of `see`; also if there is no space for temporary files.
    pub fn collect<'a, W: Send>(
        parts: Vec<Box<dyn Part + 'a>>,
        resources: &Resources,
        progress: &dyn Progress,
        new: impl Fn() -> W + Sync,
        see: impl Fn(&mut W, &mut Rows<'_>, Batch) -> Result<()> + Sync,
    ) -> Result<(Subjects, Vec<W>)> {
        let sorter = SubjectSorter::new(resources, resources.budget.available() / 2)?;
        let pass = Pass::new(parts, "resources", resources.threads, progress);
        let read = pass.fold(
            || (sorter.rows(), new()),
            |(rows, state), part, batch| {
                rows.of_part(part);
                see(state, rows, batch)
            },
        )?;
        let mut states = Vec::new();
        for (mut rows, state) in read {
            rows.flush()?;
            states.push(state);
        }
        Ok((sorter.finish()?, states))
    }

    /// All rows, in this number of streams; the rows of a subject are in one of them.
    ///
    /// # Errors
    /// If temporary files cannot be read.
    pub fn streams(&self, parts: usize) -> Result<Vec<EdgeStream<'_>>> {
        self.sorted.streams(parts)
    }
}

/// Sorts rows by subject.
pub(super) struct SubjectSorter(EdgeSorter);

impl SubjectSorter {
    /// Creates an empty sorter that uses `memory` bytes of the budget and temporary files.
    ///
    /// # Errors
    /// If almost nothing of the budget is left.
    pub fn new(resources: &Resources, memory: u64) -> Result<Self> {
        let Resources { threads, budget, scratch } = resources;
        let options = SortOptions::new(budget, scratch).payload(schema()).memory(memory).threads(*threads);
        EdgeSorter::new(options).map(SubjectSorter)
    }

    /// Creates a collector of rows for one thread. It must be flushed at the end.
    pub fn rows(&self) -> Rows<'_> {
        Rows {
            sorter: &self.0,
            hashes: Default::default(),
            sequence: Vec::new(),
            subjects: StringBuilder::new(),
            predicates: Vec::new(),
            values: StringBuilder::new(),
            mentioned: Vec::new(),
            part: (0, 0),
        }
    }

    /// Finishes after all rows were added and flushed.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn finish(self) -> Result<Subjects> {
        Ok(Subjects { sorted: self.0.finish()? })
    }
}

fn schema() -> SchemaRef {
    let columns =
        [("subject", DataType::Utf8, false), ("predicate", DataType::UInt32, false), ("value", DataType::Utf8, true)];
    let fields = columns.map(|(name, data_type, nullable)| Field::new(name, data_type, nullable));
    Arc::new(Schema::new(fields.to_vec()))
}

/// Rows that one thread has collected.
pub(super) struct Rows<'s> {
    sorter: &'s EdgeSorter,
    hashes: (Vec<u64>, Vec<u64>),
    sequence: Vec<u64>,
    subjects: StringBuilder,
    predicates: Vec<u32>,
    values: StringBuilder,
    /// Hashes of mentioned subjects, each in the slot given by its last bits.
    mentioned: Vec<u128>,
    /// The part that is being read, and the number of its rows so far.
    part: (usize, u64),
}

impl Rows<'_> {
    fn of_part(&mut self, part: usize) {
        if self.part.0 != part {
            self.part = (part, 0);
        }
    }

    /// Adds a row. A subject that was mentioned recently is not added again.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn push(&mut self, subject: &str, said: Said<'_>) -> Result<()> {
        let hash = xxh3_128(subject.as_bytes());
        let (first, second) = halves(hash);
        let (predicate, value) = match said {
            Said::Mentioned => {
                if self.mentioned.is_empty() {
                    self.mentioned = vec![0; REMEMBERED];
                }
                #[expect(clippy::cast_possible_truncation, reason = "the last bits choose a slot")]
                let slot = self.mentioned.get_mut(second as usize & (REMEMBERED - 1));
                if let Some(slot) = slot
                    && std::mem::replace(slot, hash) == hash
                {
                    return Ok(());
                }
                (MENTIONED, None)
            }
            Said::Class(class) => (CLASS, Some(class)),
            Said::Value(predicate, value) => (predicate, Some(value)),
        };
        self.hashes.0.push(first);
        self.hashes.1.push(second);
        self.sequence.push((self.part.0 as u64) << 36 | self.part.1);
        self.part.1 += 1;
        self.subjects.append_value(subject);
        self.predicates.push(predicate);
        self.values.append_option(value);
        if self.sequence.len() >= TOGETHER { self.flush() } else { Ok(()) }
    }

    /// Passes the collected rows to the sort.
    ///
    /// # Errors
    /// As [`Rows::push`].
    pub fn flush(&mut self) -> Result<()> {
        let next = Vec::with_capacity(self.predicates.len());
        let predicates = UInt32Array::from(std::mem::replace(&mut self.predicates, next));
        let (subjects, values) = (finished(&mut self.subjects), finished(&mut self.values));
        let payload = RecordBatch::try_new(schema(), vec![Arc::new(subjects), Arc::new(predicates), Arc::new(values)]);
        let payload = payload.map_err(malformed)?;
        self.sorter.push(&self.hashes.0, &self.hashes.1, Some(&payload), self.sequence.as_slice())?;
        self.hashes.0.clear();
        self.hashes.1.clear();
        self.sequence.clear();
        Ok(())
    }
}

/// The rows of a sorted batch: subjects, and the content of each row.
///
/// # Errors
/// If a temporary file was changed.
pub(super) fn rows(batch: &SortedBatch) -> Result<impl Iterator<Item = (&str, Said<'_>)>> {
    let column = |at: usize| batch.payload.columns().get(at);
    let texts = |at: usize| -> Option<&StringArray> { column(at)?.as_string_opt::<i32>() };
    let predicates = column(1).and_then(|column| column.as_primitive_opt::<UInt32Type>());
    let (Some(subjects), Some(predicates), Some(values)) = (texts(0), predicates, texts(2)) else {
        return Err(Error::malformed("a temporary file lacks a column"));
    };
    Ok((0..subjects.len()).map(move |row| {
        let said = match predicates.value(row) {
            MENTIONED => Said::Mentioned,
            CLASS => Said::Class(values.value(row)),
            predicate => Said::Value(predicate, values.value(row)),
        };
        (subjects.value(row), said)
    }))
}
