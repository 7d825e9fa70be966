//! Times of work that is done several times.

use std::time::{Duration, Instant};

use isomorph_error::{Error, Result};

/// Times and the last answer of one contestant.
pub(crate) struct Measured<A> {
    times: Vec<Duration>,
    answer: Option<A>,
}

impl<A> Measured<A> {
    pub(crate) fn new() -> Self {
        Measured { times: Vec::new(), answer: None }
    }

    /// Does the work once.
    pub(crate) fn run(&mut self, work: impl FnOnce() -> Result<A>) -> Result<()> {
        let start = Instant::now();
        let answer = work()?;
        self.times.push(start.elapsed());
        self.answer = Some(answer);
        Ok(())
    }

    /// The median, in seconds.
    pub(crate) fn seconds(&mut self) -> f64 {
        median(&mut self.times).as_secs_f64()
    }

    pub(crate) fn answer(self) -> Result<A> {
        self.answer.ok_or_else(|| Error::usage("nothing was measured: at least one run is needed"))
    }
}

/// The median; zero of nothing.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// An error of the libraries below.
pub(crate) fn failed(error: impl std::error::Error) -> Error {
    Error::malformed(error.to_string())
}
