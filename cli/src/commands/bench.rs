//! `bench`: how fast a server answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use isomorph::{Error, Result};
use isomorph_server::load::{self, ClientTls, Endpoint, Load, Measured, Recording};
use serde::Serialize;

use super::Answer;
use crate::args::bench::{BenchCommand, BenchServeArgs};
use crate::console::Console;
use crate::render::of;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    url: &'a str,
    connections: u32,
    requests: u64,
    seconds: f64,
    requests_per_second: f64,
    latency: Latency,
    bytes_sent: u64,
    bytes_received: u64,
    refused: &'a BTreeMap<&'static str, u64>,
    lost: u64,
}

/// In milliseconds.
#[derive(Debug, Serialize)]
struct Latency {
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

/// Sends requests to a server, and shows how long it took to answer them. The answer is no if a request was refused or lost.
///
/// # Errors
/// When a file cannot be read, or the server cannot be reached.
pub fn run(command: &BenchCommand, console: &Console) -> Result<Answer> {
    let BenchCommand::Serve(args) = command;
    let tls = ClientTls { authorities: args.tls_ca.clone(), identity: args.tls_cert.clone().zip(args.tls_key.clone()) };
    let token = args.token_file.as_deref().map(first_line).transpose()?;
    let recorded = |path: &std::path::PathBuf| {
        let place = path.display().to_string();
        let text = std::fs::read(path).map_err(|error| Error::from(error).at(place.as_str()))?;
        Recording::parse(&text).map_err(|error| error.at(place.as_str()))
    };
    let load = Load {
        endpoint: Endpoint::parse(&args.url, &tls, token.as_deref())?,
        recording: args.recording.as_ref().map(recorded).transpose()?,
        connections: args.connections.get() as usize,
        duration: Duration::from_secs(args.seconds.get().into()),
        requests: args.requests.map(Into::into),
    };
    let measured = load::run(&load)?;
    show(args, &measured, console)?;
    Ok(Answer::yes_if(measured.is_clean()))
}

/// The token in a file: its first line that is neither blank nor a comment.
fn first_line(path: &Path) -> Result<String> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Error::from(error).at(place.as_str()))?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().ok_or_else(|| Error::malformed("the file has no token").at(place.as_str()))?;
    Ok(first.to_owned())
}

fn show(args: &BenchServeArgs, measured: &Measured, console: &Console) -> Result<()> {
    let seconds = measured.took.as_secs_f64();
    let rate = if seconds > 0.0 { measured.requests as f64 / seconds } else { 0.0 };
    let milliseconds = |share: f64| measured.percentile(share).as_secs_f64() * 1000.0;
    let (sent, received) = measured.bytes;
    let document = Document {
        url: &args.url,
        connections: args.connections.get(),
        requests: measured.requests,
        seconds,
        requests_per_second: rate,
        latency: Latency {
            p50: milliseconds(0.5),
            p90: milliseconds(0.9),
            p99: milliseconds(0.99),
            max: milliseconds(1.0),
        },
        bytes_sent: sent,
        bytes_received: received,
        refused: &measured.refused,
        lost: measured.lost,
    };
    let mut screen = console.screen();
    let connections = of(args.connections.get().into(), "connection");
    screen.line("server", &format!("{} · {connections}", args.url));
    screen.line("requests", &format!("{} in {seconds:.1} s · {rate:.0} /s", measured.requests));
    let Latency { p50, p90, p99, max } = &document.latency;
    screen.line("latency", &format!("p50 {p50:.2} ms · p90 {p90:.2} ms · p99 {p99:.2} ms · max {max:.2} ms"));
    screen.line("bytes", &format!("{sent} sent · {received} received"));
    if !measured.is_clean() {
        let refused = measured.refused.iter().map(|(code, count)| format!("{count} {code}"));
        let lost = (measured.lost > 0).then(|| format!("{} without a reply", measured.lost));
        screen.line("failed", &refused.chain(lost).collect::<Vec<_>>().join(", "));
    }
    console.show(&screen)?;
    console.document(&document)
}
