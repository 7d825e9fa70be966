//! Times of work that is done repeatedly.

use std::time::{Duration, Instant};

use isomorph_error::{Error, Result};

/// The times and the last result of one contestant.
pub(crate) struct Measured<A> {
    times: Vec<Duration>,
    processor: f64,
    answer: Option<A>,
}

impl<A> Measured<A> {
    pub(crate) fn new() -> Self {
        Measured { times: Vec::new(), processor: 0.0, answer: None }
    }

    /// Runs the work once.
    pub(crate) fn run(&mut self, work: impl FnOnce() -> Result<A>) -> Result<()> {
        let (start, processor) = (Instant::now(), processor_seconds());
        let answer = work()?;
        self.times.push(start.elapsed());
        self.processor += processor_seconds() - processor;
        self.answer = Some(answer);
        Ok(())
    }

    /// Returns the median, in seconds.
    pub(crate) fn seconds(&mut self) -> f64 {
        median(&mut self.times).as_secs_f64()
    }

    /// Returns the processor time of one run, of all threads, in seconds: comparable on a busy machine, too.
    pub(crate) fn processor(&self) -> f64 {
        self.processor / self.times.len().max(1) as f64
    }

    pub(crate) fn answer(self) -> Result<A> {
        self.answer.ok_or_else(|| Error::usage("nothing was measured: at least one run is needed"))
    }
}

/// Returns the processor time of this process, in seconds; 0 if the system does not report it. Linux counts hundredths.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program is in brackets and may contain any characters.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let times = behind.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Returns the median; zero if there are no times.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Wraps an error of a library.
pub(crate) fn failed(error: impl std::error::Error) -> Error {
    Error::malformed(error.to_string())
}
