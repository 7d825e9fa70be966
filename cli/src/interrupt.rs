//! Ctrl-C while a conversion runs.
//!
//! An interrupted conversion ends with an error, like a failed one, and removes its partial output. It learns of the
//! interruption through its progress reports, which all stages make regularly. A second Ctrl-C ends the process at
//! once; the next conversion to the same destination then removes what is left. Commands that only read leave nothing
//! behind and keep the system's default behaviour.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "query")]
use std::time::{Duration, Instant};

use isomorph::{Error, Kind, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Printed after an interruption.
const OUTCOME: &str =
    "interrupted: no output was written, partial output was removed; run the same command to start again";

/// Set by signals.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to listen for the signals that ask a process to end.
    ///
    /// # Errors
    /// Returns an error if the system does not allow it.
    pub fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let exit = i32::from(Kind::Cancelled.exit_code());
        for signal in [SIGINT, SIGTERM] {
            // In this order, the first signal sets the flag, and only the second one finds it set.
            signal_hook::flag::register_conditional_shutdown(signal, exit, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Interrupt(flag))
    }

    /// Starts to listen for Ctrl-C alone, which ends a query and not the process. If the query does not end, a second one ends the process.
    ///
    /// # Errors
    /// Returns an error if the system does not allow it.
    #[cfg(feature = "query")]
    pub fn of_queries() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let exit = i32::from(Kind::Cancelled.exit_code());
        signal_hook::flag::register_conditional_shutdown(SIGINT, exit, Arc::clone(&flag))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&flag))?;
        Ok(Interrupt(flag))
    }

    /// Forgets the signal that ended a query, before the next one.
    #[cfg(feature = "query")]
    pub fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Returns whether a signal was received.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Checks whether the work may continue.
    ///
    /// # Errors
    /// Returns [`Kind::Cancelled`] if a signal was received.
    pub fn check(&self) -> Result<()> {
        if self.came() { Err(Error::new(Kind::Cancelled, OUTCOME)) } else { Ok(()) }
    }

    /// Checks whether a query may continue, which ends after `timeout` too.
    #[cfg(feature = "query")]
    pub fn within(&self, timeout: Option<Duration>) -> impl FnMut() -> Result<()> + use<> {
        let (interrupt, started) = (self.clone(), Instant::now());
        move || {
            interrupt.check()?;
            match timeout {
                Some(longest) if started.elapsed() >= longest => {
                    Err(Error::new(Kind::Cancelled, format!("no answer after {} s", longest.as_secs_f64()))
                        .hint("--timeout 10m"))
                }
                _ => Ok(()),
            }
        }
    }

    /// Returns the result of work that calls [`Interrupt::check`].
    ///
    /// # Errors
    /// The errors of the work; [`Kind::Cancelled`] if it was interrupted, whichever thread failed first.
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
        let broken = || Err::<(), _>(Error::malformed("a thread failed"));
        interrupt.check().unwrap();
        assert_eq!(interrupt.outcome(broken()).unwrap_err().kind(), Kind::Malformed);
        interrupt.0.store(true, Ordering::Relaxed);
        assert_eq!(interrupt.check().unwrap_err().kind(), Kind::Cancelled);
        assert_eq!(interrupt.outcome(broken()).unwrap_err().kind(), Kind::Cancelled);
        // Work that ended before the signal was checked is done.
        assert_eq!(interrupt.outcome(Ok(7)).unwrap(), 7);
    }
}
