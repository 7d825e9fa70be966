//! What `serve` serves, and whom.

use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use isomorph::convert::Hyperedges;
use isomorph::sampling::Generator;

use super::sample::{Groups, generator};
use super::write::hyperedges_parser;
use super::{OpenArgs, ResourceArgs, size};

/// What protocol is spoken.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Serve a graph to trainers of DeepGNN, over gRPC
    Deepgnn(Box<ServeArgs>),
}

/// Arguments of `serve deepgnn`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// A file, a directory or a URL. A binary of DeepGNN is mapped, any other graph is read once. Several paths: directories with the
    /// partitions of one binary; the first one has the metadata
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Where to listen: an address and a port, 0 for any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50051")]
    pub address: String,
    /// Partitions of a binary, by number; the files of others need not be there [default: all]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub partitions: Option<Vec<u32>>,
    /// What draws: `deepgnn` gives the answers of DeepGNN's own server for the same seeds, of binaries alone, except for uniform nodes and
    /// edges, which DeepGNN itself does not repeat; `stable` takes less time
    /// [default: deepgnn for a binary, stable for any other graph]
    #[arg(long, value_name = "GENERATOR", value_parser = generator)]
    pub generator: Option<Generator>,
    /// Copy the files of the graph to temporary ones instead of mapping them: for files that others change meanwhile
    #[arg(long)]
    pub copy: bool,
    /// Keep a graph that is not a binary in this directory once it is read, and map it from there as long as no byte of its files changes
    /// [default: read it at each start]
    #[arg(long, value_name = "DIRECTORY")]
    pub cache: Option<PathBuf>,
    /// Leave `_isomorph/node_ids` alone. It says where nodes in no order are, and is written beside a binary that has many
    #[arg(long)]
    pub no_index: bool,
    /// What hyperedges are: edges between their members; nodes with edges to their members; nothing [default: refuse
    /// a graph that has some]
    #[arg(long, value_name = "HOW", value_parser = hyperedges_parser())]
    pub hyperedges: Option<Hyperedges>,
    /// What groups are, as the slices and layers of annnet: nodes with edges to their members; nothing
    #[arg(long, value_enum, value_name = "HOW", default_value = "skip")]
    pub groups: Groups,
    /// How events are reported on standard error: one line each, as text or as JSON, or not at all [default: text; json with
    /// --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub log: Option<LogFormat>,
    #[command(flatten)]
    pub access: AccessArgs,
    #[command(flatten)]
    pub caps: CapArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// How events are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line of text.
    Text,
    /// A JSON document on one line.
    Json,
    /// Nothing.
    Off,
}

/// Who may connect. Files are read again when they change, within two seconds.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Access")]
pub struct AccessArgs {
    /// Answer only requests with one of the tokens in this file, one on each line: authorization: Bearer TOKEN [default: answer
    /// all]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// TLS: the certificate of the server and intermediate ones, in PEM [default: connections are not encrypted]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// TLS: the private key of the certificate, in PEM [default: none]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// TLS: answer only clients with a certificate from these authorities, in PEM [default: clients need no certificate]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_client_ca: Option<PathBuf>,
    /// Allow addresses that other machines reach without TLS, or without a token or client certificates
    #[arg(long)]
    pub insecure: bool,
    /// Where to answer GET /metrics (Prometheus), /livez and /readyz; an address that other machines reach has the same TLS and tokens
    /// [default: nowhere]
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<String>,
}

/// What a client may ask for.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct CapArgs {
    /// Bytes of a request [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub max_message: Option<u64>,
    /// Bytes of a reply [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub max_reply: Option<u64>,
    /// Nodes or edges of a request [default: 1000000]
    #[arg(long, value_name = "N")]
    pub max_batch: Option<NonZeroU32>,
    /// Neighbours of each node that are drawn [default: 65536]
    #[arg(long, value_name = "N")]
    pub max_count: Option<NonZeroU32>,
    /// Edges of all nodes of a request together [default: 1073741824]
    #[arg(long, value_name = "N")]
    pub max_edges: Option<u64>,
    /// Connections at a time; others wait [default: 1024]
    #[arg(long, value_name = "N")]
    pub max_connections: Option<NonZeroU32>,
    /// Connections at a time from one IP address; further ones are closed [default: 512]
    #[arg(long, value_name = "N")]
    pub max_client_connections: Option<NonZeroU32>,
    /// Seconds after which a client that reads less than 1 MiB of its replies is disconnected [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub max_stall: Option<NonZeroU16>,
    /// Seconds that a request may take; a client may ask for less [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<NonZeroU16>,
}
