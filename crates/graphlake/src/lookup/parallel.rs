//! Solutions computed on all cores, and returned in order.

use std::sync::Arc;

use isomorph_error::{Result, index};
use isomorph_model::faces::{InGraph, Object, Pattern, Quad};
use isomorph_storage::parallel::{self, Ahead};
use isomorph_storage::{Budget, Reservation};

use super::question::Question;
use super::solutions::{Found, LEAST, Solutions, TEXT};
use super::terms::Bindings;
use crate::read::GraphLake;

/// Batches of one part that may wait for those before them: about as many as the smallest part has.
const WAITING: u64 = 16;

/// Minimum number of parts for each thread, if they are large enough: the last ones should not occupy one thread alone
/// for long.
const PARTS: u64 = 8;

/// Maximum number of parts: each is known before the first is started.
const MOST_PARTS: u64 = 1 << 14;

/// Receives parts of the result.
type Give<'g, T> = &'g mut dyn FnMut(T) -> Result<()>;

impl GraphLake {
    /// Passes the answers to a question for a batch of bindings to `take`, in the order of [`Solutions`], and reads
    /// files on this many threads. Batches without a solution are omitted.
    ///
    /// # Errors
    /// As [`Solutions::next_batch`], or if `take` returns an error; then nothing more is started.
    pub fn ask(
        &self,
        question: &Question<'_>,
        bindings: Arc<Bindings>,
        threads: usize,
        take: &mut dyn FnMut(Found) -> Result<()>,
    ) -> Result<()> {
        self.ask_as(question, bindings, threads, |found, give| give(found), take)
    }

    /// The same with the output of `make` for each batch, in parts of at most a mebibyte, on the threads that read:
    /// callers that convert solutions to text or to their own rows do so on all cores.
    ///
    /// # Errors
    /// As [`GraphLake::ask`], and errors of `make`.
    pub fn ask_as<T: Send>(
        &self,
        question: &Question<'_>,
        bindings: Arc<Bindings>,
        threads: usize,
        make: impl Fn(Found, Give<'_, T>) -> Result<()> + Sync,
        take: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let parts = Solutions::new(self, question, bindings)?.for_threads(threads)?;
        let (ahead, _held) = ahead(&self.options.budget, threads, parts.len())?;
        let read = |mut part: Solutions<&GraphLake>, give: Give<'_, T>| {
            while let Some(found) = part.next_batch()? {
                if !found.rows.is_empty() {
                    make(found, give)?;
                }
            }
            Ok(())
        };
        parallel::in_order(parts, threads, ahead, read, take)
    }

    /// Counts the rows that [`GraphLake::ask`] would return, with files read on this many threads and nothing copied.
    /// If all triples of a predicate are wanted and their number is known, nothing is read.
    ///
    /// # Errors
    /// As [`Solutions::next_batch`].
    pub fn ask_count(&self, question: &Question<'_>, bindings: Arc<Bindings>, threads: usize) -> Result<u64> {
        let (solutions, known) = Solutions::counting(self, question, bindings)?;
        let parts = solutions.for_threads(threads)?;
        let read = count(parts, threads, Solutions::next_batch, |found| found.rows.len() as u64)?;
        Ok(known.saturating_add(read))
    }

    /// As [`GraphLake::matching`], with files read on this many threads; but the graph of quoted triples is only
    /// included if it is named.
    ///
    /// # Errors
    /// As [`GraphLake::matching`].
    pub fn matching_on(
        &self,
        threads: usize,
        pattern: &Pattern<'_>,
        take: &mut dyn FnMut(Quad<'_>) -> Result<()>,
    ) -> Result<()> {
        self.ask(&Question::from(pattern), Arc::new(Bindings::unit()), threads, &mut |found| {
            (0..found.rows.len()).try_for_each(|row| take(found.quad(row, pattern)))
        })
    }

    /// Counts the triples of a pattern for which `counts` is true, with files read on this many threads; the graph of
    /// quoted triples is only included if it is named.
    ///
    /// # Errors
    /// As [`GraphLake::matching`].
    pub fn matching_count(
        &self,
        threads: usize,
        pattern: &Pattern<'_>,
        counts: impl Fn(&Quad<'_>) -> bool + Sync,
    ) -> Result<u64> {
        let parts = Solutions::new(self, &Question::from(pattern), Arc::new(Bindings::unit()))?.for_threads(threads)?;
        count(parts, threads, Solutions::next_batch, |found| {
            (0..found.rows.len()).filter(|row| counts(&found.quad(*row, pattern))).count() as u64
        })
    }
}

impl<L: std::ops::Deref<Target = GraphLake> + Clone> Solutions<L> {
    /// The parts for this many threads: small ones, which wait in memory if they are done before their turn.
    ///
    /// # Errors
    /// As [`Solutions::divide`].
    pub(super) fn for_threads(self, threads: usize) -> Result<Vec<Self>> {
        if threads <= 1 {
            return Ok(vec![self]);
        }
        let least = (threads as u64).saturating_mul(PARTS);
        let parts = (self.all() / LEAST).clamp(least, MOST_PARTS.max(least));
        self.divide(index(parts))
    }
}

/// How many batches this many threads may be ahead, with at most a quarter of the remaining memory; and this memory.
pub(super) fn ahead(budget: &Budget, threads: usize, parts: usize) -> Result<(Ahead, Reservation)> {
    // One part is consumed, the others wait.
    let at_once = if threads.min(parts) <= 1 { 0 } else { threads as u64 + 1 };
    let room = budget.available() / 4;
    let pieces = (room / TEXT / at_once.max(1)).clamp(1, WAITING);
    let held = budget.reserve((pieces * at_once).saturating_mul(TEXT).min(room))?;
    Ok((Ahead { pieces: pieces as usize, parts: threads }, held))
}

/// The sum of `rows` over all batches of all parts.
pub(super) fn count<P: Send, B>(
    parts: Vec<P>,
    threads: usize,
    next: impl Fn(&mut P) -> Result<Option<B>> + Sync,
    rows: impl Fn(&B) -> u64 + Sync,
) -> Result<u64> {
    let of_part = |mut part: P| -> Result<u64> {
        let mut count = 0;
        while let Some(batch) = next(&mut part)? {
            count += rows(&batch);
        }
        Ok(count)
    };
    let mut all = 0;
    each_in_order(parts, threads, of_part, |count| {
        all += count;
        Ok(())
    })?;
    Ok(all)
}

impl Found {
    /// Converts a row of the answers for a pattern to a quad.
    pub fn quad<'a>(&'a self, row: usize, pattern: &Pattern<'a>) -> Quad<'a> {
        let graph = match pattern.graph {
            InGraph::Named(name) => name,
            InGraph::Default => "",
            InGraph::Any => self.graphs.text(row),
        };
        Quad {
            subject: pattern.subject.unwrap_or_else(|| self.subjects.text(row)),
            predicate: pattern.predicate.unwrap_or_else(|| self.predicates.text(row)),
            object: pattern.object.or_else(|| self.objects.get(row)).unwrap_or(Object::Term("")),
            graph: Some(graph).filter(|graph| !graph.is_empty()),
        }
    }
}

/// Runs tasks on this many threads and returns their results in order; the results are small, so that no thread waits.
pub(crate) fn each_in_order<P: Send, B: Send>(
    tasks: Vec<P>,
    threads: usize,
    work: impl Fn(P) -> Result<B> + Sync,
    take: impl FnMut(B) -> Result<()>,
) -> Result<()> {
    let ahead = Ahead { pieces: 1, parts: tasks.len() };
    parallel::in_order(tasks, threads, ahead, |task, give| give(work(task)?), take)
}
