//! Events that an operator should know of. This crate prints nothing: a sink does.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Maximum number of events about requests and connections in a second: clients must not be able to fill a disk.
const PER_SECOND: u64 = 100;

/// How serious an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Part of the normal course of things.
    Info,
    /// Something was refused or failed; the server continues.
    Warning,
}

/// Something that happened.
#[derive(Debug)]
pub struct Event<'a> {
    /// How serious it is.
    pub level: Level,
    /// What it is, in words that do not change: `request_refused`.
    pub name: &'static str,
    /// A sentence for people.
    pub message: &'a str,
    /// Details. Values may come from clients.
    pub fields: &'a [(&'static str, String)],
}

/// Delivers events to a sink.
#[derive(Clone)]
pub struct Log(Arc<Inner>);

struct Inner {
    sink: Box<dyn Fn(&Event<'_>) + Send + Sync>,
    start: Instant,
    /// The second of the last limited event, and the number of those in it.
    second: AtomicU64,
    events: AtomicU64,
    suppressed: AtomicU64,
}

impl Log {
    /// Creates a log that delivers to `sink`, which must not block for long.
    pub fn new(sink: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Log {
        let zero = || AtomicU64::new(0);
        Log(Arc::new(Inner {
            sink: Box::new(sink),
            start: Instant::now(),
            second: zero(),
            events: zero(),
            suppressed: zero(),
        }))
    }

    /// Creates a log that delivers nothing.
    pub fn none() -> Log {
        Log::new(|_| ())
    }

    pub(crate) fn info(&self, name: &'static str, message: &str, fields: &[(&'static str, String)]) {
        (self.0.sink)(&Event { level: Level::Info, name, message, fields });
    }

    pub(crate) fn warn(&self, name: &'static str, message: &str, fields: &[(&'static str, String)]) {
        (self.0.sink)(&Event { level: Level::Warning, name, message, fields });
    }

    /// Delivers an event that clients can cause as often as they like: only so many in a second.
    pub(crate) fn limited(
        &self,
        name: &'static str,
        message: &str,
        fields: impl FnOnce() -> Vec<(&'static str, String)>,
    ) {
        let inner = &*self.0;
        let second = inner.start.elapsed().as_secs();
        if inner.second.swap(second, Ordering::Relaxed) != second {
            inner.events.store(0, Ordering::Relaxed);
            let suppressed = inner.suppressed.swap(0, Ordering::Relaxed);
            if suppressed > 0 {
                let message = "too many events in a second: some were not reported";
                self.warn("events_suppressed", message, &[field("events", suppressed)]);
            }
        }
        if inner.events.fetch_add(1, Ordering::Relaxed) < PER_SECOND {
            self.warn(name, message, &fields());
        } else {
            inner.suppressed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns a field of an event.
pub(crate) fn field(name: &'static str, value: impl Display) -> (&'static str, String) {
    (name, value.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn clients_cannot_cause_any_number_of_events() {
        let seen = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&seen);
        let log = Log::new(move |_| *counted.lock().unwrap() += 1);
        for _ in 0..100_000 {
            log.limited("request_refused", "no", Vec::new);
        }
        // The loop may last for some seconds on a busy machine.
        let (seen, seconds) = (*seen.lock().unwrap(), log.0.start.elapsed().as_secs() + 1);
        assert!(seen >= PER_SECOND && seen <= seconds * (PER_SECOND + 1), "{seen} in {seconds} s");
        log.info("stopped", "", &[]);
    }
}
