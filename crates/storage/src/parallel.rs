//! Work on several threads with results in order.
//!
//! Plain scoped threads, not a pool: a pool's thread that waits for its children may start somebody else's task, and
//! that task may push into the very sorter whose lock the thread holds.

use std::sync::{Mutex, PoisonError};

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

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        for threads in [0, 1, 2, 7] {
            let squares = map(threads, (0..100u64).collect(), |n| n * n);
            assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<u64>>());
        }
    }
}
