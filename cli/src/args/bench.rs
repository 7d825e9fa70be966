//! What `bench` measures, and how.

use std::num::{NonZeroU16, NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What is measured.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure a DeepGNN server: requests per second and latencies
    Serve(Box<BenchServeArgs>),
}

/// Arguments of `bench serve`.
#[derive(Debug, Args)]
pub struct BenchServeArgs {
    /// The server, of isomorph or of DeepGNN: http://HOST:PORT, https://HOST:PORT or HOST:PORT
    pub url: String,
    /// Recorded requests: a JSON file {calls: [{service, method, request_hex, reply_hex}]}. Samplers are created once; all other calls are
    /// sent again and again, in this order [default: samples, neighbours, types and features of random nodes of the graph]
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// Number of connections, at most 16384 and the limit of open files; each sends a request when the previous one is answered
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN)]
    pub connections: NonZeroU32,
    /// Seconds until it stops
    #[arg(long, value_name = "SECONDS", default_value_t = NonZeroU16::MIN.saturating_add(9))]
    pub seconds: NonZeroU16,
    /// Number of requests after which it stops [default: only --seconds counts]
    #[arg(long, value_name = "N")]
    pub requests: Option<NonZeroU64>,
    /// A file whose first line is the token to send [default: none]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// https: the authorities that the server's certificate comes from, in PEM [default: none]
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// https: a certificate for servers that require one, in PEM [default: none]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// https: the private key of the certificate, in PEM [default: none]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}
