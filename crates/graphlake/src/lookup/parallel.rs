//! Solutions on all cores, handed over in their order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Result;
use isomorph_model::faces::{Object, Quad};

use super::pattern::{InGraph, Pattern};
use super::question::Question;
use super::solutions::{Found, Solutions};
use super::terms::Bindings;
use crate::read::GraphLake;

/// Batches of one part that may wait until those before them were taken.
const WAITING: usize = 4;

/// Parts for each thread: the last ones should not keep one thread alone for long.
pub(super) const PARTS: usize = 8;

impl GraphLake {
    /// Hands over the answers to a question for a batch of bindings, in the order of [`Solutions`], with files read on so many
    /// threads. Batches without a solution are left out.
    ///
    /// # Errors
    /// As [`Solutions::next_batch`], or when `take` returns an error; then no more is read than was begun.
    pub fn ask(
        &self,
        question: &Question<'_>,
        bindings: Arc<Bindings>,
        threads: usize,
        take: &mut dyn FnMut(Found) -> Result<()>,
    ) -> Result<()> {
        let solutions = Solutions::new(self, question, bindings)?;
        let parts = if threads > 1 { solutions.divide(threads * PARTS)? } else { vec![solutions] };
        let mut give = |found: Found| if found.rows.is_empty() { Ok(()) } else { take(found) };
        in_order(parts, threads, Solutions::next_batch, &mut give)
    }
}

impl GraphLake {
    /// How many rows [`GraphLake::ask`] would hand over, with files read on so many threads; nothing of them is copied. Of a predicate
    /// that is wanted whole nothing is read where it is known how many of its triples live.
    ///
    /// # Errors
    /// As [`Solutions::next_batch`].
    pub fn ask_count(&self, question: &Question<'_>, bindings: Arc<Bindings>, threads: usize) -> Result<u64> {
        let (solutions, mut count) = Solutions::counting(self, question, bindings)?;
        let parts = if threads > 1 { solutions.divide(threads * PARTS)? } else { vec![solutions] };
        in_order(parts, threads, Solutions::next_batch, &mut |found| {
            count += found.rows.len() as u64;
            Ok(())
        })?;
        Ok(count)
    }

    /// As [`GraphLake::matching`], with files read on so many threads; but not from the graph that keeps quoted triples, unless it
    /// is named.
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
}

impl Found {
    /// A row of the answers to the question of a pattern, as a quad.
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

/// Takes parts forward by `next` on so many threads, and hands over what they give, one part after another.
pub(crate) fn in_order<P: Send, B: Send>(
    mut parts: Vec<P>,
    threads: usize,
    next: impl Fn(&mut P) -> Result<Option<B>> + Sync,
    take: &mut dyn FnMut(B) -> Result<()>,
) -> Result<()> {
    if let [only] = parts.as_mut_slice() {
        while let Some(found) = next(only)? {
            take(found)?;
        }
        return Ok(());
    }
    let (senders, receivers): (Vec<SyncSender<_>>, Vec<Receiver<_>>) =
        parts.iter().map(|_| sync_channel(WAITING)).unzip();
    let threads = threads.min(parts.len());
    // Parts are begun in their order, so that the one that is taken from is always under way.
    let work = Mutex::new(parts.into_iter().zip(senders));
    let begin = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((mut part, sender)) = begin() {
                    while let Some(step) = next(&mut part).transpose() {
                        let failed = step.is_err();
                        if sender.send(step).is_err() || failed {
                            break;
                        }
                    }
                }
            });
        }
        let mut receivers = receivers.into_iter();
        let done = receivers.try_for_each(|batches| batches.into_iter().try_for_each(|found| take(found?)));
        // After an error nothing more is begun, and a thread that finds nobody to send to stops.
        while done.is_err() && begin().is_some() {}
        drop(receivers);
        done
    })
}
