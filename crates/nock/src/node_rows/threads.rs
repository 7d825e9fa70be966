//! Runs work on several threads of its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind, Result};

/// Calls `work` for every number below `count` on `threads` threads, and returns the results in the order of the numbers.
///
/// # Errors
/// Returns the error of the lowest number, for any number of threads: numbers are started in order, and those that were
/// started are completed.
pub(crate) fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done = Mutex::new(Vec::with_capacity(count));
    let run = || {
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let result = work(number);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    let threads = threads.clamp(1, count.max(1));
    let whole = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        run();
        // All threads are joined, even if one fails.
        others.into_iter().map(std::thread::ScopedJoinHandle::join).filter(Result::is_err).count() == 0
    });
    if !whole {
        return Err(Error::new(Kind::Malformed, "a reader thread panicked").hint("please report this internal error"));
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_counts() {
        for threads in [0, 1, 2, 7] {
            let squares = side_by_side(100, threads, |number| Ok(number * number)).unwrap();
            assert_eq!(squares, (0..100).map(|number| number * number).collect::<Vec<_>>());
            assert!(side_by_side(0, threads, Ok).unwrap().is_empty());
            let failing = |number| match number {
                5 | 6 | 50 => Err(Error::malformed(format!("number {number}"))),
                other => Ok(other),
            };
            assert_eq!(side_by_side(100, threads, failing).unwrap_err().message(), "number 5");
        }
    }
}
