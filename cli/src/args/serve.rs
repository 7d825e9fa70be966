//! What `serve` serves, and whom.

use std::num::{NonZeroU16, NonZeroU32};

use clap::{Args, Subcommand};
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
    /// A file, a directory or a URL. A binary of DeepGNN is served where it lies, another graph is read once
    pub path: String,
    /// Where to listen: an address and a port, 0 for any port that is free
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50051")]
    pub address: String,
    /// Listen at an address that other machines reach: there is no token and no TLS yet, everybody can read the graph
    #[arg(long)]
    pub insecure: bool,
    /// Partitions of a binary, by number; the files of others need not be there [default: all]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub partitions: Option<Vec<u32>>,
    /// What draws: `deepgnn` gives the answers of DeepGNN's own server, of binaries alone; `stable` takes less time
    /// [default: deepgnn for a binary, stable for any other graph]
    #[arg(long, value_name = "GENERATOR", value_parser = generator)]
    pub generator: Option<Generator>,
    /// Copy the files of the graph to temporary ones instead of mapping them: for files that others change meanwhile
    #[arg(long)]
    pub copy: bool,
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
    #[command(flatten)]
    pub caps: CapArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
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
    /// Seconds that a request may take [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<NonZeroU16>,
}
