//! Work on several threads with results in order.
//!
//! Plain scoped threads, not a pool: a pool's thread that waits for its children may start somebody else's task, and
//! that task may push into the very sorter whose lock the thread holds.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind, Result};

/// Applies `work` to every task on at most `threads` threads; the results are in the order of the tasks.
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

/// How far work may be ahead of what takes its pieces.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    /// Pieces of one part that may wait for those before them; one at least.
    pub pieces: usize,
    /// Parts that may be under way or done behind the one whose pieces are taken.
    pub parts: usize,
}

/// Reads parts on at most `threads` threads, which give pieces of them, and hands the pieces over on the calling thread, in the order
/// of the parts. Parts are begun in their order, so that the one that is taken from is always under way.
///
/// # Errors
/// The first error, in the order of the parts, of `read` or of `take`; then no part is begun any more, and `give` fails.
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
    // A part is claimed and its channel announced in one step, so that channels come in the order of the parts.
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
            let gone = |_| Error::new(Kind::Cancelled, "nobody waits for this any more");
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
        // After an error readers that wait for room find the channels closed and stop.
        drop(opened);
        result
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Part n has n modulo 7 pieces; one may fail instead of giving its last.
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
    fn results_are_in_the_order_of_the_tasks() {
        for threads in [0, 1, 2, 7] {
            let squares = map(threads, (0..100u64).collect(), |n| n * n);
            assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<u64>>());
        }
    }
}
