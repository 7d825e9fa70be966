//! Writes the files of all partitions, on all threads.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;

use isomorph_error::{Error, Result};
use isomorph_storage::{ScratchFile, parallel};

use super::create::{VERSION, WriteOptions};
use super::dictionary::Dictionary;
use super::encode::Row;
use super::files::{FileWriter, NewFiles, Partition};
use super::pairs::Pairs;
use super::run::Run;
use super::uuid;
use crate::read::Order;
use crate::snapshot::DataFile;
use crate::term;

/// Triples that are written between two reports.
const REPORTED: u64 = 1 << 14;

/// Triples whose terms are looked up at once.
const BATCH: usize = 128;

/// Bytes of two partitions that are compared at once.
const COMPARED: usize = 64 << 10;

/// The id of a graph.
pub(super) fn graph_id(name: &str) -> String {
    uuid::of(&["graph", name])
}

/// The id of a predicate, in every graph.
pub(super) fn predicate_id(predicate: &str) -> String {
    uuid::of(&["predicate", predicate])
}

/// The input from which files are written.
pub(super) struct Parts<'a> {
    pub(super) place: &'a dyn NewFiles,
    pub(super) options: &'a WriteOptions,
    pub(super) files: &'a [(ScratchFile, Vec<Run>)],
    pub(super) dictionary: &'a Dictionary,
    pub(super) file_bytes: u64,
}

/// A partition: its number in runs, its graph and predicate, and their ids.
pub(super) struct Part<'a> {
    pub(super) number: u32,
    pub(super) graph: &'a str,
    pub(super) predicate: &'a str,
    pub(super) graph_id: String,
    pub(super) predicate_id: String,
}

/// The files of a partition, by subject and by object.
pub(crate) type Written = [Vec<DataFile>; 2];

impl Parts<'_> {
    /// Writes partitions in both orders.
    pub(super) fn write(&self, partitions: &[Part<'_>], advance: &dyn Fn(u64) -> Result<()>) -> Result<Vec<Written>> {
        let twins = self.twins(partitions)?;
        let mut is_twin = vec![false; partitions.len()];
        for twin in twins.iter().flatten() {
            is_twin.get_mut(*twin).into_iter().for_each(|is_twin| *is_twin = true);
        }
        let first = (0..).zip(is_twin).filter(|(_, is_twin)| !is_twin).map(|(at, _)| at);
        let tasks: Vec<_> = first.flat_map(|at| [Order::Subject, Order::Object].map(|order| (at, order))).collect();
        let twin = |at: usize| twins.get(at).copied().flatten().and_then(|twin| partitions.get(twin));
        let (twin, tasks_of) = (&twin, tasks.clone());
        let stopped = AtomicBool::new(false);
        let (report, reports) = mpsc::channel::<u64>();
        let (done, answer) = std::thread::scope(|scope| {
            let stopped = &stopped;
            let working = scope.spawn(move || {
                parallel::map(self.options.threads, tasks, |(at, order)| {
                    let Some(part) = partitions.get(at) else { return Err(None) };
                    let files = self.part((part, twin(at)), order, stopped, &report.clone());
                    if files.is_err() {
                        stopped.store(true, Relaxed);
                    }
                    files
                })
            });
            // Progress is reported on the thread that started this.
            let mut answer = Ok(());
            for rows in reports {
                if answer.is_ok() {
                    answer = advance(rows);
                    stopped.fetch_or(answer.is_err(), Relaxed);
                }
            }
            (working.join(), answer)
        });
        answer?;
        let done = done.map_err(|_| Error::malformed("a thread that writes files ended early"))?;
        let mut failed = None;
        let mut files = Vec::with_capacity(done.len());
        for result in done {
            match result {
                Ok(written) => files.push(written),
                // The first error with a reason; the other threads were told to stop.
                Err(Some(error)) => failed = failed.or(Some(error)),
                Err(None) => {}
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let mut written: Vec<Written> = partitions.iter().map(|_| Written::default()).collect();
        for ((at, order), [own, of_twin]) in tasks_of.into_iter().zip(files) {
            for (at, files) in [(Some(at), own), (twins.get(at).copied().flatten(), of_twin)] {
                if let Some(written) = at.and_then(|at| written.get_mut(at)) {
                    written[usize::from(order == Order::Object)] = files;
                }
            }
        }
        Ok(written)
    }

    /// For each partition the one that has the same triples as quoted triples, if any: their files are written
    /// together.
    fn twins(&self, partitions: &[Part<'_>]) -> Result<Vec<Option<usize>>> {
        // The default graph comes first, and predicates are in order.
        let own = partitions.partition_point(|part| part.graph == term::DEFAULT_GRAPH);
        let own = partitions.get(..own).unwrap_or_default();
        let mut twins = vec![None; partitions.len()];
        for (twin, quoted) in partitions.iter().enumerate().filter(|(_, part)| part.graph == term::QUOTED_GRAPH) {
            if let Ok(at) = own.binary_search_by(|part| part.predicate.cmp(quoted.predicate))
                && let Some(own) = own.get(at)
                && self.are_equal(own.number, quoted.number)?
                && let Some(slot) = twins.get_mut(at)
            {
                *slot = Some(twin);
            }
        }
        Ok(twins)
    }

    /// Whether two partitions have the same triples in each run. If the triples are equal, but spread over runs
    /// differently, they are written separately.
    fn are_equal(&self, one: u32, other: u32) -> Result<bool> {
        for (file, run) in self.files.iter().flat_map(|(file, runs)| runs.iter().map(move |run| (file, run))) {
            let [one, other] = [one, other].map(|number| {
                let at = run.partitions.binary_search_by_key(&number, |found| found.partition);
                at.ok().and_then(|at| run.partitions.get(at))
            });
            let (one, other) = match (one, other) {
                (Some(one), Some(other)) if one.count == other.count => (one, other),
                (None, None) => continue,
                _ => return Ok(false),
            };
            let end = 8 * one.count;
            for from in (0..end).step_by(COMPARED) {
                let length = (end - from).min(COMPARED as u64);
                let bytes = |at: u64| file.read_at(at + from..at + from + length);
                if bytes(one.at)? != bytes(other.at)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn partition<'p>(&self, part: &'p Part<'_>) -> Partition<'p> {
        Partition {
            graph: part.graph,
            graph_id: &part.graph_id,
            predicate: part.predicate,
            predicate_id: &part.predicate_id,
            version: VERSION,
            file_bytes: self.file_bytes,
            id_filters: self.options.id_filters,
        }
    }

    /// Writes one partition in one order, and its twin. The error is `None` if another thread has failed.
    #[expect(clippy::cast_possible_truncation, reason = "a pair is two numbers of 32 bits")]
    fn part(
        &self,
        (part, twin): (&Part<'_>, Option<&Part<'_>>),
        order: Order,
        stopped: &AtomicBool,
        report: &mpsc::Sender<u64>,
    ) -> std::result::Result<[Vec<DataFile>; 2], Option<Error>> {
        let (own, twin) = (self.partition(part), twin.map(|twin| self.partition(twin)));
        let writer = FileWriter::new(self.place, &own, order, &self.options.budget)?;
        let mut writer = writer.with_twin(twin.as_ref());
        let memory = self.options.budget.limit() / 16;
        let mut pairs = Pairs::new(self.files, self.dictionary, part.number, order, memory)?;
        let mut unsaid = 0;
        let mut before: Option<(u32, super::dictionary::Term<'_>)> = None;
        let (mut batch, mut places) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        loop {
            batch.clear();
            while batch.len() < BATCH
                && let Some(pair) = pairs.next()?
            {
                batch.push(pair);
            }
            if batch.is_empty() {
                break;
            }
            places.clear();
            places.extend(batch.iter().map(|pair| *pair as u32));
            places.extend(batch.chunk_by(|one, other| one >> 32 == other >> 32).map(|same| (same[0] >> 32) as u32));
            std::hint::black_box(self.dictionary.touch(&places));
            for pair in &batch {
                let (high, low) = ((pair >> 32) as u32, *pair as u32);
                // Triples that share their first term are adjacent.
                let first = match before {
                    Some((place, term)) if place == high => term,
                    _ => self.dictionary.term(high)?,
                };
                before = Some((high, first));
                let other = self.dictionary.term(low)?;
                let (subject, object) = if order == Order::Subject { (first, other) } else { (other, first) };
                writer.push(Row { subject: subject.text, object: object.text, datatype: object.datatype })?;
                unsaid += 1;
                if unsaid == REPORTED {
                    if stopped.load(Relaxed) {
                        return Err(None);
                    }
                    self.tell(order, unsaid, report);
                    unsaid = 0;
                }
            }
        }
        self.tell(order, unsaid, report);
        Ok(writer.finish_both()?)
    }

    /// Reports each triple once, though it is written twice.
    fn tell(&self, order: Order, rows: u64, report: &mpsc::Sender<u64>) {
        if order == Order::Subject {
            // The receiver is gone only if the work has ended.
            let _ = report.send(rows);
        }
    }
}
