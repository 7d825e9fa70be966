//! Parts of a scan, from which batches are pulled.

use std::collections::VecDeque;

use isomorph_error::{Error, Result};

use crate::{Batch, EdgeBatch};

/// An independent part of a scan: an iterator of its batches. It reads only when the next batch is requested;
/// dropping it ends the reading. After an error, the iterator ends.
pub trait Part: Iterator<Item = Result<Batch>> + Send {
    /// The number of rows, if known before reading; for progress only.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// Passes all remaining batches to `take`.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read or violates its format, and errors of `take`.
    fn read(&mut self, take: Take<'_>) -> Result<()> {
        while let Some(batch) = self.next() {
            take(batch?).map_err(|error| self.explain(error))?;
        }
        Ok(())
    }

    /// Adds what only the reader knows, the position in the input, to an error that the consumer of the last batch found in it.
    fn explain(&self, error: Error) -> Error {
        error
    }
}

impl std::fmt::Debug for dyn Part + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("rows", &self.rows()).finish_non_exhaustive()
    }
}

/// A consumer of batches.
pub type Take<'t> = &'t mut dyn FnMut(Batch) -> Result<()>;

/// A part that consists of an iterator of batches and a number of rows.
struct Batches<I> {
    rows: Option<u64>,
    /// `None` after the end or an error.
    batches: Option<I>,
}

impl<I: Iterator<Item = Result<Batch>>> Iterator for Batches<I> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.batches.as_mut()?.next();
        if !matches!(next, Some(Ok(_))) {
            self.batches = None;
        }
        next
    }
}

impl<I: Iterator<Item = Result<Batch>> + Send> Part for Batches<I> {
    fn rows(&self) -> Option<u64> {
        self.rows
    }
}

/// Creates a part from `batches`, with `rows` rows if that is known.
pub fn of<'a>(rows: Option<u64>, batches: impl Iterator<Item = Result<Batch>> + Send + 'a) -> Box<dyn Part + 'a> {
    Box::new(Batches { rows, batches: Some(batches) })
}

/// Creates a part from edges in memory.
pub fn edges<'a>(batches: Vec<EdgeBatch>) -> Box<dyn Part + 'a> {
    let rows = batches.iter().map(|batch| batch.rows as u64).sum();
    of(Some(rows), batches.into_iter().filter(|batch| batch.rows > 0).map(|batch| Ok(Batch::Edges(batch))))
}

/// Returns the remaining edges of a part.
///
/// # Errors
/// Returns an error if the input cannot be read or violates its format.
pub fn edge_batches(part: Box<dyn Part + '_>) -> Result<Vec<EdgeBatch>> {
    let edges = |batch| match batch {
        Ok(Batch::Edges(edges)) => Some(Ok(edges)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    };
    part.filter_map(edges).collect()
}

/// Reads all parts to check them.
///
/// # Errors
/// Returns the first error.
pub fn read_all(parts: Vec<Box<dyn Part + '_>>) -> Result<()> {
    parts.into_iter().flatten().try_for_each(|batch| batch.map(|_| ()))
}

/// Chains the batches of all `parts`. The first part is opened immediately, so that its number of rows
/// is available before reading.
///
/// # Errors
/// Returns an error if the first part cannot be opened.
pub fn chained<'a>(
    mut parts: impl Iterator<Item = Result<Box<dyn Part + 'a>>> + Send + 'a,
) -> Result<Box<dyn Part + 'a>> {
    let mut current = parts.next().transpose()?;
    let mut next = move || -> Result<Option<Batch>> {
        while let Some(part) = &mut current {
            match part.next() {
                Some(batch) => return batch.map(Some),
                None => current = parts.next().transpose()?,
            }
        }
        Ok(None)
    };
    Ok(of(None, std::iter::from_fn(move || next().transpose())))
}

/// Creates a part that is opened with `open` when its first batch is requested. `next` returns a batch, or `None` at the end.
pub fn opened<'a, S: Send + 'a>(
    rows: Option<u64>,
    open: impl FnOnce() -> Result<S> + Send + 'a,
    next: impl FnMut(&mut S) -> Result<Option<Batch>> + Send + 'a,
) -> Box<dyn Part + 'a> {
    Box::new(Batches { rows, batches: Some(Opened { state: State::Closed(open), next }) })
}

struct Opened<O, S, N> {
    state: State<O, S>,
    next: N,
}

enum State<O, S> {
    Closed(O),
    Open(S),
    Done,
}

impl<S, O: FnOnce() -> Result<S>, N: FnMut(&mut S) -> Result<Option<Batch>>> Iterator for Opened<O, S, N> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut state = match std::mem::replace(&mut self.state, State::Done) {
            State::Closed(open) => match open() {
                Ok(state) => state,
                Err(error) => return Some(Err(error)),
            },
            State::Open(state) => state,
            State::Done => return None,
        };
        let next = (self.next)(&mut state).transpose()?;
        if next.is_ok() {
            self.state = State::Open(state);
        }
        Some(next)
    }
}

/// Creates a part that is opened with `open` and read in steps. Each step produces any number of batches and returns
/// whether another step follows. The batches of a step wait in memory, so a step should be a block or a batch of the input.
pub fn stepped<'a, S: Send + 'a>(
    rows: Option<u64>,
    open: impl FnOnce() -> Result<S> + Send + 'a,
    mut step: impl FnMut(&mut S, Take<'_>) -> Result<bool> + Send + 'a,
) -> Box<dyn Part + 'a> {
    let open = || open().map(|state| (state, VecDeque::new(), true));
    opened(rows, open, move |(state, waiting, more)| {
        while waiting.is_empty() && *more {
            *more = step(state, &mut |batch| {
                waiting.push_back(batch);
                Ok(())
            })?;
        }
        Ok(waiting.pop_front())
    })
}

/// Creates a part whose batches are those of `inner` as seen through a view: `show` passes on each batch as one, as
/// several, or not at all.
pub fn shown<'a>(
    inner: Box<dyn Part + 'a>,
    show: impl FnMut(Batch, Take<'_>) -> Result<()> + Send + 'a,
) -> Box<dyn Part + 'a> {
    Box::new(Shown { inner, show, waiting: VecDeque::new(), is_done: false })
}

struct Shown<'a, F> {
    inner: Box<dyn Part + 'a>,
    show: F,
    waiting: VecDeque<Batch>,
    is_done: bool,
}

impl<F: FnMut(Batch, Take<'_>) -> Result<()> + Send> Iterator for Shown<'_, F> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.waiting.is_empty() && !self.is_done {
            let Some(batch) = self.inner.next() else {
                self.is_done = true;
                break;
            };
            let waiting = &mut self.waiting;
            let mut wait = |batch| {
                waiting.push_back(batch);
                Ok(())
            };
            let shown = match batch {
                Ok(batch) => (self.show)(batch, &mut wait).map_err(|error| self.inner.explain(error)),
                Err(error) => Err(error),
            };
            if let Err(error) = shown {
                self.is_done = true;
                self.waiting.clear();
                return Some(Err(error));
            }
        }
        self.waiting.pop_front().map(Ok)
    }
}

impl<F: FnMut(Batch, Take<'_>) -> Result<()> + Send> Part for Shown<'_, F> {
    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }

    fn explain(&self, error: Error) -> Error {
        self.inner.explain(error)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::NodeBatch;

    fn batch(start: u64) -> Batch {
        Batch::Nodes(NodeBatch { ty: 0, start, numbers: None, rows: 1, keys: None, labels: None, properties: vec![] })
    }

    fn starts(part: Box<dyn Part + '_>) -> Vec<Result<u64>> {
        let start = |batch| match batch {
            Batch::Nodes(nodes) => nodes.start,
            _ => u64::MAX,
        };
        part.map(|batch| batch.map(start)).collect()
    }

    #[test]
    fn steps_may_give_none_or_many() {
        let step = |at: &mut u64, take: Take<'_>| {
            (0..*at % 3).try_for_each(|near| take(batch(10 * *at + near)))?;
            *at += 1;
            Ok(*at < 6)
        };
        let found: Result<Vec<u64>> = starts(stepped(None, || Ok(0), step)).into_iter().collect();
        assert_eq!(found.unwrap(), [10, 20, 21, 40, 50, 51]);
    }

    #[test]
    fn nothing_is_read_before_it_is_asked_for_and_nothing_behind_an_error() {
        let (mut opened, mut read) = (0, 0);
        let step = |at: &mut u64, take: Take<'_>| {
            read += 1;
            *at += 1;
            if *at == 3 {
                return Err(Error::malformed("the third"));
            }
            take(batch(*at)).map(|()| true)
        };
        let open = || {
            opened += 1;
            Ok(0)
        };
        let mut part = stepped(Some(7), open, step);
        assert_eq!(part.rows(), Some(7));
        assert!(part.next().unwrap().is_ok());
        drop(part);
        assert_eq!((opened, read), (1, 1));
        let step = |at: &mut u64, take: Take<'_>| {
            *at += 1;
            if *at == 3 { Err(Error::malformed("the third")) } else { take(batch(*at)).map(|()| true) }
        };
        let found = starts(stepped(None, || Ok(0), step));
        assert_eq!(found.len(), 3);
        assert_eq!(found[2].as_ref().unwrap_err().message(), "the third");
        let broken = [Ok(batch(1)), Err(Error::malformed("the second")), Ok(batch(3))];
        assert_eq!(starts(of(None, broken.into_iter())).len(), 2);
        let closed: Box<dyn Part> =
            super::opened(None, || Err(Error::malformed("shut")), |(): &mut ()| Ok(Some(batch(0))));
        assert_eq!(starts(closed).len(), 1);
    }
}
