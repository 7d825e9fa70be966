//! Work that takes longer than a microsecond: without the interpreter's lock, with progress, and until Ctrl-C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use isomorph::convert::Progress;
use isomorph::dataset::Cancel;
use isomorph::{Error, Kind, Result};
use pyo3::prelude::*;

use crate::errors::{panicked, raised};

/// Time between two looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(10);

/// Time that reading gets to end after it was cancelled, before Ctrl-C is raised all the same: together less than people notice. Its thread
/// ends by itself at its next look.
const GRACE: Duration = Duration::from_millis(30);

/// The stack of a working thread, in bytes: as much as the main thread of a program usually has.
const STACK: usize = 8 << 20;

/// What happens to work that does not end soon after it was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It only reads: its thread is left alone, and its result is dropped.
    Abandoned,
    /// It writes: the caller waits until everything unfinished is removed.
    Awaited,
}

/// What working threads tell: progress; and are told: that the work is cancelled.
#[derive(Default)]
pub(crate) struct Watch {
    /// Cancels scans.
    pub(crate) cancel: Cancel,
    stage: Mutex<(String, Option<u64>)>,
    rows: AtomicU64,
    /// Wakes the caller, so that it tells of a stage however short it is.
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Watch {
    /// Fails if the work is cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancel.is_cancelled() {
            true => Err(Error::new(Kind::Cancelled, "interrupted")),
            false => Ok(()),
        }
    }

    fn now(&self) -> (String, u64, Option<u64>) {
        let (name, total) = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (name, self.rows.load(Ordering::Relaxed), total)
    }
}

impl Progress for Watch {
    fn begin(&self, stage: &str, total: Option<u64>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = (stage.to_owned(), total);
        self.rows.store(0, Ordering::Relaxed);
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    fn advance(&self, rows: u64) -> Result<()> {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.check()
    }

    fn end(&self) {}
}

/// A span of time that Python gave in seconds.
///
/// # Errors
/// Returns a usage error for one that is not positive, or too long.
pub(crate) fn seconds(seconds: f64) -> Result<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| Error::usage(format!("timeout is a number of seconds above 0, found {seconds}")))
}

/// The result of a thread, or what it panicked with.
type Outcome<T> = std::result::Result<Result<T>, Box<dyn Any + Send>>;

/// Runs `work` on a thread of its own and waits for it without the interpreter's lock. Meanwhile, `progress` is called when a stage
/// begins and about a hundred times a second, with the name of the stage, the rows so far, and their total if it is known.
///
/// # Errors
/// The error of the work; what a signal handler or `progress` raised, which cancels the work.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    ending: Ending,
    work: impl FnOnce(&Watch) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let own = Arc::clone(&watch);
    let (send, receive) = channel();
    if progress.is_some() {
        let stages = send.clone();
        // Nobody set it before.
        let _ = watch.wake.set(Box::new(move || drop(stages.send(None))));
    }
    let thread = std::thread::Builder::new().name("isomorph".to_owned()).stack_size(STACK);
    let started = thread.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&own)));
        // The result is dropped if nobody waits for it.
        let _ = send.send(Some(done));
    });
    started.map_err(|error| raised(py, &error.into()))?;
    wait(py, &Mutex::new(receive), &watch, progress, ending)
}

fn wait<T: Send>(
    py: Python<'_>,
    receive: &Mutex<Receiver<Option<Outcome<T>>>>,
    watch: &Watch,
    progress: Option<&Bound<'_, PyAny>>,
    ending: Ending,
) -> PyResult<T> {
    let mut failed: Option<(PyErr, Instant)> = None;
    loop {
        let next = py.detach(|| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
        let done = match next {
            Ok(Some(Ok(done))) => done.map_err(|error| raised(py, &error)),
            Ok(Some(Err(_))) | Err(RecvTimeoutError::Disconnected) => Err(raised(py, &panicked())),
            Ok(None) | Err(RecvTimeoutError::Timeout) => {
                match &failed {
                    None => {
                        let told = py.check_signals().and_then(|()| match progress {
                            // Nothing is told before the first stage begins.
                            Some(progress) if !watch.now().0.is_empty() => progress.call1(watch.now()).map(|_| ()),
                            _ => Ok(()),
                        });
                        if let Err(error) = told {
                            watch.cancel.cancel();
                            failed = Some((error, Instant::now()));
                        }
                    }
                    Some((_, since)) if ending == Ending::Abandoned && since.elapsed() > GRACE => {
                        return failed.map_or_else(|| Err(raised(py, &panicked())), |(error, _)| Err(error));
                    }
                    Some(_) => {}
                }
                continue;
            }
        };
        return match failed {
            Some((error, _)) => Err(error),
            None => done,
        };
    }
}
