//! Ctrl-C while a conversion runs.
//!
//! A conversion that is interrupted ends with an error, like one that fails: what was begun is removed. It learns of the
//! interruption from the report of progress, which every stage makes again and again. A second Ctrl-C ends the process at
//! once; the next conversion to the same place removes what is left then. Commands that only read leave nothing behind
//! and keep the system's own answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph::{Error, Kind, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// What an interruption leaves: one line.
const OUTCOME: &str = "interrupted: what was begun is removed, nothing was written; the same command starts over";

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

    /// Whether the work may go on.
    ///
    /// # Errors
    /// [`Kind::Cancelled`] when a signal came.
    pub fn check(&self) -> Result<()> {
        if self.came() { Err(Error::new(Kind::Cancelled, OUTCOME)) } else { Ok(()) }
    }

    /// What became of work that looks at [`Interrupt::check`].
    ///
    /// # Errors
    /// Those of the work; [`Kind::Cancelled`] when it was interrupted, whichever of its threads ended first.
    pub fn outcome<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.or_else(|error| self.check().and(Err(error)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn errors_of_interrupted_work_are_the_interruption() {
        let interrupt = Interrupt::default();
        let broken = || Err::<(), _>(Error::malformed("a thread gave up"));
        interrupt.check().unwrap();
        assert_eq!(interrupt.outcome(broken()).unwrap_err().kind(), Kind::Malformed);
        interrupt.0.store(true, Ordering::Relaxed);
        assert_eq!(interrupt.check().unwrap_err().kind(), Kind::Cancelled);
        assert_eq!(interrupt.outcome(broken()).unwrap_err().kind(), Kind::Cancelled);
        // What was done before anybody looked is done.
        assert_eq!(interrupt.outcome(Ok(7)).unwrap(), 7);
    }
}
