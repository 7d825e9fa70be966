//! Runs a scan: its parts on all threads, in any order or in their order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Part, Progress};
use isomorph_storage::parallel::Ahead;

/// The parts of a scan.
pub type Parts<'a> = Vec<Box<dyn Part + 'a>>;

/// Batches of one part that may wait for their consumer.
const AHEAD: usize = 4;

/// Reads every part, in any order, on `threads` threads. Each thread folds its batches into its own state; `step` also
/// gets the number of the part.
///
/// # Errors
/// Returns the first error of a part or of `step`.
pub fn fold<S: Send>(
    parts: Parts<'_>,
    threads: usize,
    new: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize, Batch) -> Result<()> + Sync,
) -> Result<Vec<S>> {
    let threads = threads.clamp(1, parts.len().max(1));
    let parts = Mutex::new(parts.into_iter().enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let failed = AtomicBool::new(false);
    let work = || -> Result<S> {
        let mut state = new();
        while !failed.load(Ordering::Relaxed) {
            let Some((number, mut part)) = next() else { break };
            let read = part.read(&mut |batch| step(&mut state, number, batch));
            if read.is_err() {
                failed.store(true, Ordering::Relaxed);
                read?;
            }
        }
        Ok(state)
    };
    if threads == 1 {
        return Ok(vec![work()?]);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err(broken_thread()))).collect()
    })
}

/// A pass over the parts of a scan that is a stage of progress. The rows of a batch count before it is taken.
pub(crate) struct Pass<'a> {
    parts: Parts<'a>,
    stage: &'a str,
    threads: usize,
    progress: &'a dyn Progress,
}

impl<'a> Pass<'a> {
    /// A pass over `parts` on `threads` threads.
    pub fn new(parts: Parts<'a>, stage: &'a str, threads: usize, progress: &'a dyn Progress) -> Self {
        Pass { parts, stage, threads, progress }
    }

    /// As [`fold`].
    ///
    /// # Errors
    /// As [`fold`]; also if the user cancels.
    pub fn fold<S: Send>(
        self,
        new: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, usize, Batch) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let progress = self.begun();
        let folded = fold(self.parts, self.threads, new, |state, part, batch| {
            progress.advance(batch.rows() as u64)?;
            step(state, part, batch)
        });
        progress.end();
        folded
    }

    /// Takes the batches in the order of the parts.
    ///
    /// # Errors
    /// As [`in_order`]; also if the user cancels.
    pub fn in_order(self, mut take: impl FnMut(Batch) -> Result<()>) -> Result<()> {
        let progress = self.begun();
        let read = in_order(self.parts, self.threads, Ok, |batch| {
            progress.advance(batch.rows() as u64)?;
            take(batch)
        });
        progress.end();
        read
    }

    fn begun(&self) -> &'a dyn Progress {
        self.progress.begin(self.stage, self.parts.iter().map(|part| part.rows()).sum());
        self.progress
    }
}

/// Processes every item on a separate thread, step by step, until `step` returns that it is done.
///
/// # Errors
/// Returns the first error of `step`, in the order of the items; it stops the others.
pub fn drive<T: Send>(items: Vec<T>, step: impl Fn(&mut T) -> Result<bool> + Sync) -> Result<()> {
    let failed = AtomicBool::new(false);
    let work = |mut item: T| -> Result<()> {
        while !failed.load(Ordering::Relaxed) {
            match step(&mut item) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    };
    if items.len() <= 1 {
        return items.into_iter().try_for_each(work);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = items.into_iter().map(|item| scope.spawn(|| work(item))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| Err(broken_thread())))
    })
}

/// Reads every part on `threads` threads and passes the batches on in the order of the parts.
///
/// `prepare` runs on the reading threads, `take` on the calling one.
///
/// # Errors
/// Returns the first error, in the order of the parts, of a part, of `prepare` or of `take`.
pub fn in_order<T: Send>(
    parts: Parts<'_>,
    threads: usize,
    prepare: impl Fn(Batch) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    pieces_in_order(parts, threads, AHEAD, |mut part, give| part.read(&mut |batch| give(prepare(batch)?)), take)
}

/// The same for anything that is read in pieces; up to `ahead` pieces of one item may wait for the items before it. As
/// many items as there are threads may wait behind those that are being read.
///
/// # Errors
/// Returns the first error, in the order of the items, of `read` or of `take`.
pub fn pieces_in_order<I: Send, T: Send>(
    items: Vec<I>,
    threads: usize,
    ahead: usize,
    read: impl Fn(I, &mut dyn FnMut(T) -> Result<()>) -> Result<()> + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let ahead = Ahead { pieces: ahead, parts: threads };
    isomorph_storage::parallel::in_order(items, threads, ahead, read, take)
}

fn broken_thread() -> Error {
    Error::new(Kind::Malformed, "a reading thread panicked").hint("internal error: please report this with the input")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use isomorph_model::NodeBatch;

    /// This number of batches, one of which may be an error.
    fn numbers(part: u64, batches: usize, fails: Option<usize>) -> Box<dyn Part> {
        let batch = move |at: usize| {
            if fails == Some(at) {
                return Err(Error::malformed(format!("part {part}")));
            }
            let start = part * 1000 + at as u64;
            Ok(Batch::Nodes(NodeBatch { properties: vec![], ..NodeBatch::of(0, start, 1) }))
        };
        isomorph_model::part::of(None, (0..batches).map(batch))
    }

    fn start(batch: Batch) -> u64 {
        match batch {
            Batch::Nodes(nodes) => nodes.start,
            _ => u64::MAX,
        }
    }

    fn parts(fail: Option<(u64, usize)>) -> Parts<'static> {
        (0..40u64)
            .map(|n| {
                let fail = fail.filter(|fail| fail.0 == n).map(|fail| fail.1);
                numbers(n, (n as usize * 7) % 23, fail)
            })
            .collect()
    }

    #[test]
    fn batches_come_in_the_order_of_the_parts() {
        let mut expected = Vec::new();
        in_order(
            parts(None),
            1,
            |batch| Ok(start(batch)),
            |n| {
                expected.push(n);
                Ok(())
            },
        )
        .unwrap();
        for threads in [2, 3, 8] {
            let mut seen = Vec::new();
            in_order(
                parts(None),
                threads,
                |batch| Ok(start(batch)),
                |n| {
                    seen.push(n);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(seen, expected);
            let sums = fold(
                parts(None),
                threads,
                || 0,
                |sum, _, batch| {
                    *sum += start(batch);
                    Ok(())
                },
            );
            assert_eq!(sums.unwrap().iter().sum::<u64>(), expected.iter().sum::<u64>());
        }
    }

    #[test]
    fn errors_of_readers_and_takers_end_the_scan() {
        for threads in [1, 2, 5] {
            let parts = || parts(Some((9, 3)));
            let error = in_order(parts(), threads, |batch| Ok(start(batch)), |_| Ok(())).unwrap_err();
            assert_eq!(error.message(), "part 9");
            assert!(fold(parts(), threads, || (), |(), _, _| Ok(())).is_err());
            let mut left = 5;
            let error = in_order(
                parts(),
                threads,
                |batch| Ok(start(batch)),
                |_| {
                    left -= 1;
                    if left == 0 { Err(Error::usage("enough")) } else { Ok(()) }
                },
            );
            assert_eq!(error.unwrap_err().message(), "enough");
        }
    }
}
