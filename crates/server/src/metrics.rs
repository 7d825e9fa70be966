//! Counters of a server, and their text for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tonic::Code;

use crate::engine::Engine;

/// The calls that are counted by name; any other path is `other`.
const CALLS: [&str; 16] = [
    "/snark.GraphEngine/GetMetadata",
    "/snark.GraphEngine/GetNodeTypes",
    "/snark.GraphEngine/GetNodeFeatures",
    "/snark.GraphEngine/GetEdgeFeatures",
    "/snark.GraphEngine/GetNodeSparseFeatures",
    "/snark.GraphEngine/GetEdgeSparseFeatures",
    "/snark.GraphEngine/GetNodeStringFeatures",
    "/snark.GraphEngine/GetEdgeStringFeatures",
    "/snark.GraphEngine/GetNeighbors",
    "/snark.GraphEngine/GetNeighborCounts",
    "/snark.GraphEngine/GetLastNCreatedNeighbors",
    "/snark.GraphEngine/WeightedSampleNeighbors",
    "/snark.GraphEngine/UniformSampleNeighbors",
    "/snark.GraphSampler/Create",
    "/snark.GraphSampler/Sample",
    "/grpc.health.v1.Health/Check",
];

/// The names of gRPC's statuses, by number.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Upper bounds of the buckets of latencies, in microseconds.
const BUCKETS: [u64; 14] =
    [100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000, 30_000_000];

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The graph is being opened.
    Opening,
    /// Requests are answered.
    Ready,
    /// Running requests end, and no others are accepted.
    Stopping,
}

/// What became of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Accepted,
    /// The client has too many connections.
    Refused,
    /// The handshake of TLS failed.
    TlsFailed,
    /// What was sent is not HTTP/2.
    OtherProtocol,
    /// Nothing was sent.
    Silent,
    /// Replies were not read.
    Stalled,
}

const OUTCOMES: [&str; 6] = ["accepted", "refused", "tls_failed", "other_protocol", "silent", "stalled"];

#[derive(Default)]
struct Call {
    codes: [AtomicU64; CODES.len()],
    buckets: [AtomicU64; BUCKETS.len()],
    nanoseconds: AtomicU64,
}

/// Counters of a server.
#[derive(Default)]
pub struct Metrics {
    calls: [Call; CALLS.len() + 1],
    received: AtomicU64,
    sent: AtomicU64,
    running: AtomicI64,
    connected: AtomicI64,
    outcomes: [AtomicU64; OUTCOMES.len()],
    /// Units of work that requests took, and requests whose work was ended early.
    work: AtomicU64,
    stopped: AtomicU64,
    /// Times that files of tokens and certificates were replaced, by valid ones and by others.
    reloads: [AtomicU64; 2],
    phase: AtomicU8,
    engine: OnceLock<Arc<Engine>>,
}

impl Metrics {
    /// Creates counters at zero, of a server that is [`Phase::Opening`].
    pub fn new() -> Arc<Metrics> {
        Arc::default()
    }

    /// Returns the state of the server.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Opening,
            1 => Phase::Ready,
            _ => Phase::Stopping,
        }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Sets the engine whose memory and samplers are shown; only the first one counts.
    pub(crate) fn watch(&self, engine: &Arc<Engine>) {
        let _ = self.engine.set(Arc::clone(engine));
    }

    /// Counts a request that begins, and returns the number of its call.
    pub(crate) fn begin(&self, path: &str) -> usize {
        self.running.fetch_add(1, Ordering::Relaxed);
        CALLS.iter().position(|call| *call == path).unwrap_or(CALLS.len())
    }

    /// Returns the name of a call.
    pub(crate) fn name(call: usize) -> &'static str {
        CALLS.get(call).map_or("other", |path| path.trim_start_matches('/'))
    }

    /// Returns the name of a status.
    pub(crate) fn code(code: Code) -> &'static str {
        CODES.get(code as usize).copied().unwrap_or("UNKNOWN")
    }

    /// Counts the end of a request that [`Metrics::begin`] counted.
    pub(crate) fn end(&self, call: usize, code: Code, took: Duration) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        let Some(call) = self.calls.get(call) else { return };
        let count = |counter: Option<&AtomicU64>| counter.map(|counter| counter.fetch_add(1, Ordering::Relaxed));
        count(call.codes.get(code as usize));
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        count(BUCKETS.iter().position(|bound| micros <= *bound).and_then(|at| call.buckets.get(at)));
        call.nanoseconds.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn add_received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn worked(&self, units: u64) {
        self.work.fetch_add(units, Ordering::Relaxed);
    }

    pub(crate) fn stopped(&self) {
        self.stopped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connected(&self, more: i64) {
        self.connected.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn outcome(&self, outcome: Outcome) {
        if let Some(counter) = self.outcomes.get(outcome as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn reloaded(&self, valid: bool) {
        if let Some(counter) = self.reloads.get(usize::from(!valid)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the metrics in Prometheus' text format, version 0.0.4.
    pub fn text(&self) -> String {
        let mut text = Text(String::with_capacity(1 << 13));
        text.family("isomorph_build_info", "gauge", "The version of the server.");
        text.line("isomorph_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        let ready = u8::from(self.phase() == Phase::Ready);
        text.single("isomorph_ready", "gauge", "Whether requests are answered.", ready);
        self.requests(&mut text);
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let help = "Bytes of the messages of requests.";
        text.single("isomorph_request_bytes_total", "counter", help, load(&self.received));
        text.single("isomorph_reply_bytes_total", "counter", "Bytes of the messages of replies.", load(&self.sent));
        let running = self.running.load(Ordering::Relaxed);
        text.single("isomorph_requests_running", "gauge", "Requests that are not answered yet.", running);
        let help = "Nodes that were looked up, edges that were looked at, and draws.";
        text.single("isomorph_work_total", "counter", help, load(&self.work));
        let help = "Long requests whose work was ended early: the client was gone, or the time was over.";
        text.single("isomorph_requests_stopped_total", "counter", help, load(&self.stopped));
        let connected = self.connected.load(Ordering::Relaxed);
        text.single("isomorph_connections", "gauge", "Open connections.", connected);
        text.family("isomorph_connections_total", "counter", "Connections by what became of them.");
        for (name, counter) in OUTCOMES.iter().zip(&self.outcomes) {
            text.line("isomorph_connections_total", &[("outcome", name)], load(counter));
        }
        let name = "isomorph_access_reloads_total";
        text.family(name, "counter", "Times that tokens or certificates were replaced.");
        for (outcome, counter) in ["used", "refused"].iter().zip(&self.reloads) {
            text.line(name, &[("outcome", outcome)], load(counter));
        }
        if let Some(engine) = self.engine.get() {
            of_engine(engine, &mut text);
        }
        text.0
    }

    fn requests(&self, text: &mut Text) {
        let calls = || (0..).map(Metrics::name).zip(&self.calls);
        text.family("isomorph_requests_total", "counter", "Requests by call and gRPC status.");
        for (name, call) in calls() {
            for (code, counter) in CODES.iter().zip(&call.codes) {
                let count = counter.load(Ordering::Relaxed);
                if count > 0 {
                    text.line("isomorph_requests_total", &[("call", name), ("code", code)], count);
                }
            }
        }
        let help = "Time from a request's headers to its reply, by call; sending the reply is not included.";
        text.family("isomorph_request_seconds", "histogram", help);
        for (name, call) in calls() {
            let total: u64 = call.codes.iter().map(|counter| counter.load(Ordering::Relaxed)).sum();
            if total == 0 {
                continue;
            }
            let mut below = 0;
            for (bound, counter) in BUCKETS.iter().zip(&call.buckets) {
                below += counter.load(Ordering::Relaxed);
                let bound = Duration::from_micros(*bound).as_secs_f64().to_string();
                text.line("isomorph_request_seconds_bucket", &[("call", name), ("le", &bound)], below);
            }
            text.line("isomorph_request_seconds_bucket", &[("call", name), ("le", "+Inf")], total.max(below));
            let seconds = Duration::from_nanos(call.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
            text.line("isomorph_request_seconds_sum", &[("call", name)], seconds);
            text.line("isomorph_request_seconds_count", &[("call", name)], total.max(below));
        }
    }
}

fn of_engine(engine: &Engine, text: &mut Text) {
    let (kept, remembered) = engine.sampler_counts();
    text.family(
        "isomorph_samplers",
        "gauge",
        "Samplers that are kept for reuse, and sets of types that are remembered.",
    );
    text.line("isomorph_samplers", &[("state", "kept")], kept);
    text.line("isomorph_samplers", &[("state", "remembered")], remembered);
    let budget = engine.budget();
    let help = "Memory reserved for tables, requests and replies.";
    text.single("isomorph_memory_reserved_bytes", "gauge", help, budget.used());
    text.single("isomorph_memory_budget_bytes", "gauge", "The limit of this memory.", budget.limit());
    let summary = engine.summary();
    text.single("isomorph_graph_nodes", "gauge", "Nodes of the graph.", summary.nodes);
    text.single("isomorph_graph_edges", "gauge", "Edges of the graph.", summary.edges);
}

/// A text in Prometheus' format. Values of labels are ours and need no escapes.
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{text}\"", if at == 0 { '{' } else { ',' });
        }
        self.0.push_str(if labels.is_empty() { "" } else { "}" });
        let _ = writeln!(self.0, " {value}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, kind, help);
        self.line(name, &[], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_call_and_status() {
        let metrics = Metrics::default();
        for (path, code, micros) in [
            (CALLS[1], Code::Ok, 90),
            (CALLS[1], Code::Ok, 400),
            (CALLS[1], Code::InvalidArgument, 90_000_000),
            ("/some/path", Code::Unimplemented, 1),
        ] {
            let call = metrics.begin(path);
            metrics.end(call, code, Duration::from_micros(micros));
        }
        let text = metrics.text();
        for line in [
            "isomorph_requests_total{call=\"snark.GraphEngine/GetNodeTypes\",code=\"OK\"} 2\n",
            "isomorph_requests_total{call=\"snark.GraphEngine/GetNodeTypes\",code=\"INVALID_ARGUMENT\"} 1\n",
            "isomorph_requests_total{call=\"other\",code=\"UNIMPLEMENTED\"} 1\n",
            "isomorph_request_seconds_bucket{call=\"snark.GraphEngine/GetNodeTypes\",le=\"0.0001\"} 1\n",
            "isomorph_request_seconds_bucket{call=\"snark.GraphEngine/GetNodeTypes\",le=\"0.0005\"} 2\n",
            "isomorph_request_seconds_bucket{call=\"snark.GraphEngine/GetNodeTypes\",le=\"30\"} 2\n",
            "isomorph_request_seconds_bucket{call=\"snark.GraphEngine/GetNodeTypes\",le=\"+Inf\"} 3\n",
            "isomorph_request_seconds_count{call=\"snark.GraphEngine/GetNodeTypes\"} 3\n",
            "isomorph_request_seconds_sum{call=\"snark.GraphEngine/GetNodeTypes\"} 90.00049\n",
            "isomorph_requests_running 0\n",
            "isomorph_ready 0\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
