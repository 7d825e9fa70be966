//! Ctrl-C while a conversion runs.
//!
//! A conversion that is interrupted is unwound: every destructor runs, so that what was begun is removed. The way out is
//! the report of progress, which every stage makes again and again: it is the one call from inside all of them. A second
//! Ctrl-C ends the process at once; the next conversion to the same place removes what is left then. Commands that only
//! read leave nothing behind and keep the system's own answer.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph::{Error, Kind, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// What an interruption leaves: one line.
const OUTCOME: &str = "interrupted: what was begun is removed, nothing was written; the same command starts over";

/// What unwinds through an interrupted conversion.
struct Interrupted;

/// Told of by signals.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens to the signals that ask a process to end.
    ///
    /// # Errors
    /// When the system does not let us listen.
    pub fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let exit = i32::from(Kind::Cancelled.exit_code());
        for signal in [SIGINT, SIGTERM] {
            // In this order the first signal sets the flag and only the second finds it set.
            signal_hook::flag::register_conditional_shutdown(signal, exit, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Interrupt(flag))
    }

    /// Whether a signal came.
    fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Leaves the work that [`Interrupt::guard`] runs, if a signal came.
    pub fn check(&self) {
        if self.came() {
            // Not a panic: no message, only the way out.
            resume_unwind(Box::new(Interrupted));
        }
    }

    /// Runs `work`, which [`Interrupt::check`] may leave.
    ///
    /// # Errors
    /// Those of `work`; [`Kind::Cancelled`] when it was interrupted.
    pub fn guard<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let cancelled = || Err(Error::new(Kind::Cancelled, OUTCOME));
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(done)) => Ok(done),
            // A thread that was left breaks down for those who wait for it.
            Ok(Err(_)) if self.came() => cancelled(),
            Ok(Err(error)) => Err(error),
            Err(_) if self.came() => cancelled(),
            Err(panic) => resume_unwind(panic),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    #[test]
    fn what_is_interrupted_is_unwound() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.guard(|| Ok(7)).unwrap(), 7);
        let dropped = AtomicBool::new(false);
        struct Cleans<'a>(&'a AtomicBool);
        impl Drop for Cleans<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        interrupt.0.store(true, Ordering::Relaxed);
        let error = interrupt.guard(|| -> Result<()> {
            let _cleans = Cleans(&dropped);
            interrupt.check();
            panic!("not reached");
        });
        assert_eq!(error.unwrap_err().kind(), Kind::Cancelled);
        assert!(dropped.load(Ordering::Relaxed));
    }
}
