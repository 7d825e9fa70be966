//! Arguments of `stats`, `paths`, `rank` and `components`.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use clap::Args;
use isomorph::Result;
use isomorph::convert::Hyperedges;

#[cfg(feature = "cluster")]
use super::cluster::ClusterArgs;
use super::{OpenArgs, ResourceArgs, SelectArgs, write};
use crate::answer::AnswerFormat;

/// Which edges are walked.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Walking")]
pub struct WalkArgs {
    /// Only edges of these relations; may be given several times [default: all]
    #[arg(long, value_name = "RELATION")]
    pub edge: Vec<String>,
    /// Walk hyperedges as edges between their members (expand) or as nodes with edges to their members (reify), or not at
    /// all (skip), and tell their number [default: skip]
    #[arg(long, value_name = "HOW", value_parser = write::hyperedges_parser())]
    pub hyperedges: Option<Hyperedges>,
}

impl WalkArgs {
    /// The relations, if not all edges are walked.
    pub fn relations(&self) -> Option<BTreeSet<String>> {
        (!self.edge.is_empty()).then(|| self.edge.iter().cloned().collect())
    }
}

/// Where an answer goes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Answer")]
pub struct AnswerArgs {
    /// Form of the answer [default: by the name of the output file; else json with --json, else table]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<AnswerFormat>,
    /// Write the answer to this file, which must not exist, in one step [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Replace an existing output file
    #[arg(long, requires = "output")]
    pub replace: bool,
}

impl AnswerArgs {
    /// The form of the answer.
    ///
    /// # Errors
    /// As [`AnswerFormat::of`].
    pub fn form(&self, json: bool) -> Result<AnswerFormat> {
        AnswerFormat::of(self.format, self.output.as_deref(), json)
    }
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// Write a page with plots to this file, which must not exist [default: text on standard output]
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Replace an existing page
    #[arg(long, requires = "html")]
    pub replace: bool,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub walk: WalkArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `paths`.
#[derive(Debug, Args)]
pub struct PathsArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// Key of the first node; in RDF an IRI, also as <IRI> or prefix:name, or _:label
    #[arg(id = "first", value_name = "FROM", allow_hyphen_values = true)]
    pub from: String,
    /// Key of the last node
    #[arg(id = "last", value_name = "TO", allow_hyphen_values = true)]
    pub to: String,
    /// Type of both nodes; required if nodes of several types have the key [default: any]
    #[arg(long = "type", value_name = "TYPE")]
    pub node_type: Option<String>,
    /// Type of the last node [default: that of --type]
    #[arg(long, value_name = "TYPE")]
    pub to_type: Option<String>,
    /// List all shortest paths, not only one
    #[arg(long)]
    pub all: bool,
    /// Number of paths to list; all are counted
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN.saturating_add(99), requires = "all")]
    pub limit: NonZeroUsize,
    /// Only paths with at most N edges [default: any]
    #[arg(long, value_name = "N", conflicts_with = "weight")]
    pub max_hops: Option<u32>,
    /// Find paths with the smallest sum of this column, which holds numbers of 0 or more [default: the fewest edges]
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// Walk directed edges from both ends, as --undirected does
    #[arg(long)]
    pub both: bool,
    #[command(flatten)]
    pub walk: WalkArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `rank`.
#[derive(Debug, Args)]
pub struct RankArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// Probability of following an edge instead of jumping to any node
    #[arg(long, value_name = "P", default_value_t = 0.85)]
    pub damping: f64,
    /// The most iterations
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub iterations: u32,
    /// Stop when the ranks of all nodes together change by less than this; 0 makes all iterations
    #[arg(long, value_name = "CHANGE", default_value_t = 1e-9)]
    pub tolerance: f64,
    /// Only the N nodes with the greatest ranks [default: 20 in a table, else all]
    #[arg(long, value_name = "N")]
    pub top: Option<u64>,
    #[command(flatten)]
    pub walk: WalkArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `components`.
#[derive(Debug, Args)]
pub struct ComponentsArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// List every node with its component, instead of the components with their sizes
    #[arg(long)]
    pub each: bool,
    /// Only the N largest components, or the first N nodes [default: 20 components in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    #[command(flatten)]
    pub walk: WalkArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}
