//! Runs work on several threads and returns results in order.
//!
//! It uses scoped threads, not a pool: a pool thread that waits for its children may start an unrelated task, and
//! that task may push into the same sorter whose lock the thread holds.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use isomorph_error::{Error, Kind, Result};

/// Applies `work` to every task on at most `threads` threads and returns the results in the order of the tasks.
pub fn map<T: Send, R: Send>(threads: usize, tasks: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = threads.min(tasks.len());
    if threads <= 1 {
        return tasks.into_iter().map(work).collect();
    }
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    let queue = Mutex::new(tasks.into_iter().zip(results.iter_mut()));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((task, result)) = next() {
                    *result = Some(work(task));
                }
            });
        }
    });
    drop(queue);
    results.into_iter().flatten().collect()
}

/// How far producers may be ahead of the consumer.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    /// The number of pieces of one part that may wait for earlier ones; at least one.
    pub pieces: usize,
    /// The number of parts after the current one that may be in progress or finished.
    pub parts: usize,
}

/// Reads parts on at most `threads` threads, each of which produces pieces, and passes the pieces to `take` on the calling
/// thread, in the order of the parts. Parts are started in order, so that the one that is consumed is always in progress.
///
/// # Errors
/// The first error of `read` or `take`, in the order of the parts. After that, no further part is started, and `give` fails.
pub fn in_order<P: Send, T: Send>(
    parts: Vec<P>,
    threads: usize,
    ahead: Ahead,
    read: impl Fn(P, &mut dyn FnMut(T) -> Result<()>) -> Result<()> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let threads = threads.min(parts.len());
    if threads <= 1 {
        return parts.into_iter().try_for_each(|part| read(part, &mut take));
    }
    let (queue, opened) = sync_channel::<Receiver<Result<T>>>(ahead.parts.min(parts.len()));
    let left = Mutex::new((parts.into_iter(), Some(queue)));
    // A part is claimed and its channel announced in one step, so that channels arrive in the order of the parts.
    let claim = || {
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(part) = left.0.next() else {
            left.1 = None;
            return None;
        };
        let (send, receive) = sync_channel(ahead.pieces.max(1));
        left.1.as_ref()?.send(receive).ok()?;
        Some((part, send))
    };
    let work = || {
        while let Some((part, send)) = claim() {
            let gone = |_| Error::new(Kind::Cancelled, "the reader was closed");
            let done = read(part, &mut |piece| send.send(Ok(piece)).map_err(gone));
            if let Err(error) = done
                && send.send(Err(error)).is_err()
            {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
        let result = opened.iter().try_for_each(|pieces| pieces.iter().try_for_each(|piece| take(piece?)));
        // After an error, readers that wait for a free slot find the channels closed and stop.
        drop(opened);
        result
    })
}

/// An iterator over the pieces that a producer creates on its own thread, a limited number of pieces ahead. Dropping it
/// ends the thread.
pub struct Pulled<T> {
    pieces: Option<Receiver<Result<T>>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Pulled<T> {
    /// Starts `give` on a thread; at most `ahead` of its pieces wait until they are taken.
    ///
    /// # Errors
    /// [`Kind::Io`] if no thread can be started.
    pub fn new(
        ahead: usize,
        give: impl FnOnce(&mut dyn FnMut(T) -> Result<()>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let (send, pieces) = sync_channel(ahead);
        let work = move || {
            let gone = |_| Error::new(Kind::Cancelled, "the reader was closed");
            if let Err(error) = give(&mut |piece| send.send(Ok(piece)).map_err(gone)) {
                // If the receiver is gone, nobody needs the error.
                let _ = send.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new().spawn(work)?;
        Ok(Pulled { pieces: Some(pieces), thread: Some(thread) })
    }
}

impl<T> Iterator for Pulled<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        if let Ok(piece) = self.pieces.as_ref()?.recv() {
            return Some(piece);
        }
        self.pieces = None;
        match self.thread.take()?.join() {
            Ok(()) => None,
            Err(_) => Some(Err(Error::new(Kind::Malformed, "internal error: a reading thread panicked")
                .hint("report this input: it is a bug"))),
        }
    }
}

impl<T> Drop for Pulled<T> {
    fn drop(&mut self) {
        // The thread ends when it sends the next piece, because the channel is closed.
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            // Its result does not matter any more.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Part n has n modulo 7 pieces; one part may fail instead of producing its last piece.
    fn read(part: u64, fails: Option<u64>, give: &mut dyn FnMut((u64, u64)) -> Result<()>) -> Result<()> {
        (0..part % 7).try_for_each(|piece| give((part, piece)))?;
        if fails == Some(part) { Err(Error::malformed(format!("part {part}"))) } else { Ok(()) }
    }

    #[test]
    fn pieces_come_in_the_order_of_the_parts() {
        let expected: Vec<(u64, u64)> =
            (0..50).flat_map(|part| (0..part % 7).map(move |piece| (part, piece))).collect();
        for threads in [1, 2, 5] {
            for ahead in [(0, 0), (1, 2), (4, 100)].map(|(pieces, parts)| Ahead { pieces, parts }) {
                let mut seen = Vec::new();
                let take = |piece| {
                    seen.push(piece);
                    Ok(())
                };
                in_order((0..50).collect(), threads, ahead, |part, give| read(part, None, give), take).unwrap();
                assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn the_first_error_is_told_and_what_was_before_it_is_taken() {
        for threads in [1, 2, 5] {
            let ahead = Ahead { pieces: 1, parts: threads };
            let mut seen = 0;
            let take = |_| {
                seen += 1;
                Ok(())
            };
            let failed = in_order((0..50).collect(), threads, ahead, |part, give| read(part, Some(9), give), take);
            assert_eq!(failed.unwrap_err().message(), "part 9");
            assert_eq!(seen, (0..=9u64).map(|part| part % 7).sum::<u64>());
            let enough = |piece| if piece == (4, 2) { Err(Error::usage("enough")) } else { Ok(()) };
            let stopped = in_order((0..50).collect(), threads, ahead, |part, give| read(part, None, give), enough);
            assert_eq!(stopped.unwrap_err().message(), "enough");
        }
    }

    #[test]
    fn what_is_given_can_be_pulled_and_ended() {
        let numbers = |end: u64| {
            move |give: &mut dyn FnMut(u64) -> Result<()>| {
                (0..end).try_for_each(&mut *give)?;
                if end == 7 { Err(Error::malformed("seven")) } else { Ok(()) }
            }
        };
        let all: Result<Vec<u64>> = Pulled::new(2, numbers(100)).unwrap().collect();
        assert_eq!(all.unwrap(), (0..100).collect::<Vec<u64>>());
        let mut broken: Vec<Result<u64>> = Pulled::new(0, numbers(7)).unwrap().collect();
        assert_eq!(broken.pop().unwrap().unwrap_err().message(), "seven");
        assert_eq!(broken.len(), 7);
        // Without the limit this would never end.
        let mut endless = Pulled::new(1, numbers(u64::MAX)).unwrap();
        assert_eq!(endless.nth(3).unwrap().unwrap(), 3);
        drop(endless);
        let parser = |_: &mut dyn FnMut(u64) -> Result<()>| Err::<(), _>("of a parser").map(Ok).unwrap();
        let panics = Pulled::new(1, parser);
        assert!(panics.unwrap().next().unwrap().is_err());
    }

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        for threads in [0, 1, 2, 7] {
            let squares = map(threads, (0..100u64).collect(), |n| n * n);
            assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<u64>>());
        }
    }
}
