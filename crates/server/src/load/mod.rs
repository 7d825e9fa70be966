//! Sends requests to a server, and measures it.

mod client;
mod recording;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use isomorph_error::{Error, Result};

pub use client::{Answered, Client, ClientTls, Endpoint, framed};
pub use recording::{Prepared, Recording};

use crate::metrics::Metrics;

/// How long a request may take.
const LONGEST: Duration = Duration::from_secs(60);

/// How long a client waits before it connects again.
const PAUSE: Duration = Duration::from_millis(50);

/// Maximum number of connections of a measurement. Their buffers take at most 1 GiB together.
pub const MOST_CONNECTIONS: usize = 16_384;

/// Files that a process has open besides its connections.
const OTHER_FILES: u64 = 64;

/// How a server is measured.
#[derive(Clone)]
pub struct Load {
    /// The server.
    pub endpoint: Endpoint,
    /// What is sent, again and again in this order; `None`: the work of a trainer, for the graph that is served.
    pub recording: Option<Recording>,
    /// Number of connections; each sends a request when the previous one is answered.
    pub connections: usize,
    /// When to stop.
    pub duration: Duration,
    /// Maximum number of requests.
    pub requests: Option<u64>,
}

/// What was measured.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Number of requests that were answered, with any status.
    pub requests: u64,
    /// From the first request to the last reply.
    pub took: Duration,
    /// The time of each answered request in microseconds, ascending.
    latencies: Vec<u32>,
    /// Bytes of messages that were sent, and received.
    pub bytes: (u64, u64),
    /// Number of replies with each status other than success, by name.
    pub refused: BTreeMap<&'static str, u64>,
    /// Number of requests without a reply: the connection ended, or the reply took too long.
    pub lost: u64,
}

impl Measured {
    /// Returns the time within which this share of the requests was answered.
    pub fn percentile(&self, share: f64) -> Duration {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the list")]
        let at = (share.clamp(0.0, 1.0) * self.latencies.len() as f64).ceil() as usize;
        let micros = self.latencies.get(at.saturating_sub(1)).copied().unwrap_or(0);
        Duration::from_micros(micros.into())
    }

    /// Returns whether every request was answered with success.
    pub fn is_clean(&self) -> bool {
        self.lost == 0 && self.refused.is_empty()
    }

    fn add(&mut self, other: Measured) {
        self.requests += other.requests;
        self.latencies.extend(other.latencies);
        self.bytes = (self.bytes.0 + other.bytes.0, self.bytes.1 + other.bytes.1);
        for (code, count) in other.refused {
            *self.refused.entry(code).or_default() += count;
        }
        self.lost += other.lost;
    }
}

/// Sends requests, and measures how long they take.
///
/// # Errors
/// Returns an error if the server cannot be reached at first, if it refuses to create samplers, or if there are more connections than
/// [`MOST_CONNECTIONS`] or than this process may have open.
pub fn run(load: &Load) -> Result<Measured> {
    possible(load.connections, open_files())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(load))
}

/// Checks that a process that may have `files` open files can have so many connections.
///
/// # Errors
/// Returns an error with a hint if not.
fn possible(connections: usize, files: Option<u64>) -> Result<()> {
    if connections > MOST_CONNECTIONS {
        let message = format!("{connections} connections; at most {MOST_CONNECTIONS} are measured at a time");
        return Err(Error::usage(message).hint(format!("--connections {MOST_CONNECTIONS}")));
    }
    let needed = connections as u64 + OTHER_FILES;
    match files.filter(|files| *files < needed) {
        None => Ok(()),
        Some(files) => {
            let message = format!("{connections} connections need {needed} open files; this process may open {files}");
            let fewer = files.saturating_sub(OTHER_FILES).max(1);
            Err(Error::usage(message)
                .hint(format!("ulimit -n {needed}    raise the limit, in the shell before"))
                .hint(format!("--connections {fewer}    as many as the limit allows")))
        }
    }
}

/// Returns how many files this process may have open, if the system says it (Linux).
fn open_files() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    // `unlimited` is no number.
    line.split_whitespace().next()?.parse().ok()
}

async fn measure(load: &Load) -> Result<Measured> {
    let client = Client::connect(&load.endpoint).await?;
    let prepared = match &load.recording {
        Some(recording) => recording.prepare(&client).await?,
        None => recording::of_a_trainer(&client).await?,
    };
    drop(client);
    let shared = Arc::new(Shared {
        prepared,
        endpoint: load.endpoint.clone(),
        connections: load.connections,
        next: AtomicU64::new(0),
        most: load.requests.unwrap_or(u64::MAX),
        end: Instant::now() + load.duration,
    });
    let start = Instant::now();
    let tasks: Vec<_> = (0..load.connections.max(1)).map(|_| tokio::spawn(connection(Arc::clone(&shared)))).collect();
    let mut measured = Measured::default();
    for task in tasks {
        measured.add(task.await.map_err(|error| Error::usage(format!("a client ended: {error}")))?);
    }
    measured.took = start.elapsed();
    measured.latencies.sort_unstable();
    Ok(measured)
}

/// What all connections share.
struct Shared {
    prepared: Vec<Prepared>,
    endpoint: Endpoint,
    connections: usize,
    /// The number of the next request.
    next: AtomicU64,
    most: u64,
    end: Instant,
}

impl Shared {
    /// Returns the next request, unless it is time to stop.
    fn next(&self) -> Option<&Prepared> {
        if Instant::now() >= self.end {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.most {
            return None;
        }
        let at = usize::try_from(number % self.prepared.len().max(1) as u64).unwrap_or(0);
        self.prepared.get(at)
    }
}

/// Sends requests over one connection, which is made anew when it ends.
async fn connection(shared: Arc<Shared>) -> Measured {
    let mut measured = Measured::default();
    let mut client = None;
    while let Some(request) = shared.next() {
        let connected = match client.take() {
            Some(connected) => connected,
            None => match Client::one_of(shared.connections, &shared.endpoint).await {
                Ok(connected) => connected,
                Err(_) => {
                    measured.lost += 1;
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            },
        };
        let start = Instant::now();
        let call = connected.measure(&request.path, request.bytes.clone());
        let Ok(Ok((code, received))) = tokio::time::timeout(LONGEST, call).await else {
            measured.lost += 1;
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        measured.latencies.push(u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX));
        measured.requests += 1;
        measured.bytes.0 += request.bytes.len() as u64;
        measured.bytes.1 += received;
        if code != tonic::Code::Ok {
            *measured.refused.entry(Metrics::code(code)).or_default() += 1;
        }
        client = Some(connected);
    }
    measured
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        let measured = Measured { latencies: (1..=200).collect(), ..Measured::default() };
        for (share, micros) in [(0.0, 1), (0.5, 100), (0.99, 198), (1.0, 200), (7.0, 200)] {
            assert_eq!(measured.percentile(share), Duration::from_micros(micros), "{share}");
        }
        assert_eq!(Measured::default().percentile(0.5), Duration::ZERO);
    }

    #[test]
    fn connections_are_bounded_by_the_limit_of_open_files_and_ours() {
        assert!(possible(64, None).is_ok() && possible(64, Some(128)).is_ok() && possible(16_384, None).is_ok());
        let error = possible(1000, Some(1024)).unwrap_err();
        assert!(error.to_string().contains("1000 connections need 1064 open files"), "{error}");
        assert_eq!(error.hints().nth(1).unwrap(), "--connections 960    as many as the limit allows");
        let error = possible(100_000, Some(1 << 20)).unwrap_err();
        assert!(error.to_string().contains("at most 16384"), "{error}");
        if cfg!(target_os = "linux") {
            assert!(open_files().is_none_or(|files| files > 0));
        }
    }
}
