//! Divides batches among threads.

use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_storage::pool;

/// Minimum time in nanoseconds of a batch that is divided. An estimate of several times the cost of waking a thread
/// and waiting for it; like the times of elements that callers state, it was not measured on an idle machine.
const WORTH: u64 = 200_000;

/// Minimum time of a piece in nanoseconds.
const LEAST: u64 = 20_000;

/// Average number of pieces for each worker: a thread that wakes late, or is interrupted, gets fewer.
const PIECES: usize = 4;

/// Returns the number of elements in a piece of a batch of `count` elements, each of which takes about `nanoseconds`; `None`
/// if a single worker is faster.
pub(crate) fn pieces(count: usize, nanoseconds: u64, workers: usize) -> Option<usize> {
    let divided = workers > 1 && count > 1 && (count as u64).saturating_mul(nanoseconds) >= WORTH;
    let least = usize::try_from(LEAST / nanoseconds.max(1)).unwrap_or(usize::MAX).max(1);
    divided.then(|| count.div_ceil(workers.saturating_mul(PIECES)).max(least))
}

/// Lets workers take pieces until none are left. The calling thread uses the first worker; the others get threads of the
/// pool. The error of the earliest piece is returned, so that the reported error does not depend on the
/// number of threads: pieces are taken in order.
pub(crate) fn divide<W, P, N, F>(workers: &mut [W], next: N, work: F) -> Result<()>
where
    W: Send,
    N: FnMut() -> Option<P> + Send,
    F: Fn(&mut W, P) -> Result<()> + Sync,
{
    let queue = Mutex::new(Queue { next, taken: 0, failed: None });
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let turn = |worker: &mut W| {
        loop {
            // A separate statement: the lock must not be held during the work.
            let taken = lock().take();
            let Some((number, piece)) = taken else { return };
            if let Err(error) = work(worker, piece) {
                lock().fail(number, error);
            }
        }
    };
    match workers {
        [] => return Ok(()),
        [only] => turn(only),
        [mine, others @ ..] => {
            let turn = &turn;
            pool::run(|| {
                rayon::in_place_scope(|scope| {
                    others.iter_mut().for_each(|worker| scope.spawn(move |_| turn(worker)));
                    turn(mine);
                });
            });
        }
    }
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    queue.failed.map_or(Ok(()), |(_, error)| Err(error))
}

struct Queue<N> {
    next: N,
    taken: usize,
    failed: Option<(usize, Error)>,
}

impl<P, N: FnMut() -> Option<P>> Queue<N> {
    fn take(&mut self) -> Option<(usize, P)> {
        if self.failed.is_some() {
            return None;
        }
        let piece = (self.next)()?;
        self.taken += 1;
        Some((self.taken, piece))
    }

    fn fail(&mut self, number: usize, error: Error) {
        if self.failed.as_ref().is_none_or(|(other, _)| number < *other) {
            self.failed = Some((number, error));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_takes_long_is_divided() {
        assert_eq!(pieces(1024, 140, 2), None);
        assert_eq!(pieces(4096, 140, 1), None);
        assert_eq!(pieces(4096, 140, 2), Some(512));
        assert_eq!(pieces(2, 100_000, 2), Some(1));
        assert_eq!(pieces(1, u64::MAX, 8), None);
        assert!(pieces(1 << 20, 1, 64).is_some_and(|size| size == 20_000));
    }

    #[test]
    fn every_piece_is_worked_on_once_and_the_earliest_error_is_told() {
        for threads in [1, 2, 5] {
            let mut sums = vec![0u64; threads];
            let mut left = 0..100u64;
            divide(
                &mut sums,
                || left.next(),
                |sum, piece| {
                    *sum += piece;
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(sums.iter().sum::<u64>(), 4950);
            let mut left = 0..100u64;
            let work =
                |_: &mut u64, piece: u64| if piece % 7 == 5 { Err(Error::usage(piece.to_string())) } else { Ok(()) };
            let error = divide(&mut sums, || left.next(), work).unwrap_err();
            assert!(error.to_string().contains('5') && !error.to_string().contains("12"), "{error}");
        }
    }
}
