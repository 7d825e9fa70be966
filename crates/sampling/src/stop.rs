//! Ends the work of a request early: when nobody waits for it, when its time is over, or when it is more than expected.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use isomorph_error::{Error, Kind, Result};

/// Units of work between two looks at the flag and the clock. A unit is a node that is looked up, an edge that is looked at, a draw, or 64
/// bytes of a feature: between 2 and 200 ns, so that work ends within a millisecond.
pub(crate) const CHUNK: u64 = 4096;

/// Why work ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// [`Stop::stop`] was called.
    Asked,
    /// The deadline has passed.
    Late,
    /// It is more work than was allowed.
    TooMuch,
}

/// Ends work early. Clones share one state, which never goes back: work that has been stopped once fails at its next look, with
/// [`Kind::Cancelled`]. The default never stops anything, and costs nothing.
#[derive(Debug, Clone, Default)]
pub struct Stop(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    /// 0, or why it was stopped.
    why: AtomicU8,
    deadline: Option<Instant>,
    most: u64,
    done: AtomicU64,
}

impl Stop {
    /// Creates a value that stops work when [`Stop::stop`] is called, after `deadline`, or when more than `most` units of work are done.
    pub fn new(deadline: Option<Instant>, most: u64) -> Stop {
        Stop(Some(Arc::new(State { why: AtomicU8::new(0), deadline, most, done: AtomicU64::new(0) })))
    }

    /// Stops the work. It ends within 4096 units of work: nodes, edges and draws.
    pub fn stop(&self) {
        if let Some(state) = &self.0 {
            state.set(Why::Asked);
        }
    }

    /// Returns why the work was stopped, if it was.
    pub fn why(&self) -> Option<Why> {
        self.0.as_ref().and_then(|state| state.look())
    }

    /// Returns the units of work that were counted, in steps of thousands.
    pub fn done(&self) -> u64 {
        self.0.as_ref().map_or(0, |state| state.done.load(Ordering::Relaxed))
    }

    /// Looks at the flag and the clock.
    ///
    /// # Errors
    /// Returns [`Kind::Cancelled`] if the work was stopped.
    pub fn check(&self) -> Result<()> {
        self.why().map_or(Ok(()), |why| Err(ended(why)))
    }

    /// Returns whether the work was stopped, for loops that cannot fail: their callers look again.
    pub(crate) fn is_stopped(&self) -> bool {
        self.why().is_some()
    }

    /// Returns a counter of work for one loop.
    pub fn beat(&self) -> Beat<'_> {
        Beat { stop: self, left: if self.0.is_some() { CHUNK } else { u64::MAX } }
    }
}

impl State {
    fn set(&self, why: Why) {
        let number = match why {
            Why::Asked => 1,
            Why::Late => 2,
            Why::TooMuch => 3,
        };
        // The first reason counts.
        let _ = self.why.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn look(&self) -> Option<Why> {
        if self.why.load(Ordering::Relaxed) == 0 {
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.set(Why::Late);
            } else if self.done.load(Ordering::Relaxed) > self.most {
                self.set(Why::TooMuch);
            }
        }
        match self.why.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Why::Asked),
            2 => Some(Why::Late),
            _ => Some(Why::TooMuch),
        }
    }
}

#[cold]
fn ended(why: Why) -> Error {
    let message = match why {
        Why::Asked => "the work was stopped: nobody waits for its result",
        Why::Late => "the work was stopped: its time is over",
        Why::TooMuch => "the work was stopped: it is more than is allowed",
    };
    Error::new(Kind::Cancelled, message)
}

/// Counts the work of one loop, and looks at its [`Stop`] every few thousand units.
#[derive(Debug)]
pub struct Beat<'a> {
    stop: &'a Stop,
    left: u64,
}

impl Beat<'_> {
    /// Counts units of work.
    ///
    /// # Errors
    /// Returns [`Kind::Cancelled`] if the work was stopped.
    #[inline]
    pub fn add(&mut self, units: u64) -> Result<()> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.look(units),
        }
    }

    #[cold]
    fn look(&mut self, units: u64) -> Result<()> {
        let Some(state) = &self.stop.0 else {
            self.left = u64::MAX;
            return Ok(());
        };
        state.done.fetch_add((CHUNK - self.left).saturating_add(units), Ordering::Relaxed);
        self.left = CHUNK;
        self.stop.check()
    }
}

impl Drop for Beat<'_> {
    fn drop(&mut self) {
        if let Some(state) = &self.stop.0 {
            state.done.fetch_add(CHUNK - self.left, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    /// Counts until the work is stopped, and returns how far it came.
    fn count(stop: &Stop, units: u64, most: u64) -> (u64, Result<()>) {
        let (mut beat, mut done) = (stop.beat(), 0);
        while done < most {
            done += units;
            if let Err(error) = beat.add(units) {
                return (done, Err(error));
            }
        }
        (done, Ok(()))
    }

    #[test]
    fn work_ends_within_a_chunk() {
        for units in [1, 7, 4095, 4096, 4097, 100_000] {
            let stop = Stop::new(None, 50_000);
            let (done, ended) = count(&stop, units, 1 << 40);
            assert_eq!(ended.unwrap_err().kind(), Kind::Cancelled);
            assert_eq!(stop.why(), Some(Why::TooMuch));
            assert!(done <= 50_000 + CHUNK + units, "{units}: {done}");
            assert_eq!(stop.done(), done, "{units}");
            // It stays stopped.
            assert!(count(&stop, units, 1 << 40).0 <= CHUNK + units);
            let asked = Stop::new(None, u64::MAX);
            asked.stop();
            assert!(count(&asked, units, 1 << 40).0 <= CHUNK + units);
            assert_eq!(asked.why(), Some(Why::Asked));
        }
        let late = Stop::new(Some(Instant::now()), u64::MAX);
        assert_eq!((late.check().unwrap_err().kind(), late.why()), (Kind::Cancelled, Some(Why::Late)));
        let later = Stop::new(Some(Instant::now() + Duration::from_secs(3600)), u64::MAX);
        assert!(count(&later, 5, 1_000_000).1.is_ok());
        assert_eq!(later.done(), 1_000_000);
    }

    #[test]
    fn the_default_never_stops() {
        let never = Stop::default();
        never.stop();
        assert!(never.why().is_none() && count(&never, 1 << 20, 1 << 40).1.is_ok());
        assert!(count(&never, u64::MAX, 1).1.is_ok());
    }
}
