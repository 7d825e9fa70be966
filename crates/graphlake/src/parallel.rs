//! Work on several threads with results in order.

use std::sync::{Mutex, PoisonError};

/// Applies `work` to every task on at most `threads` threads; the results are in the order of the tasks.
pub(crate) fn map<T: Send, R: Send>(threads: usize, tasks: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
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
