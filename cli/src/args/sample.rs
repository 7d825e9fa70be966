//! What `sample` draws.

use std::num::NonZeroUsize;

use clap::{ArgAction, Args, Subcommand, ValueEnum};
use isomorph::Error;
use isomorph::convert::Hyperedges;
use isomorph::sampling::Generator;
use isomorph::sampling::answers::{Feature, Moment};

use super::write::hyperedges_parser;
use super::{OpenArgs, ResourceArgs};

/// Arguments of `sample`.
#[derive(Debug, Args)]
#[command(subcommand_help_heading = "What to draw", subcommand_value_name = "WHAT")]
pub struct SampleArgs {
    /// A file, a directory or a URL. A binary of DeepGNN is sampled where it lies, another graph is read once
    pub path: String,
    /// What is drawn.
    #[command(subcommand)]
    pub what: What,
}

/// What is drawn.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Draw nodes of the whole graph
    Nodes(ElementsArgs),
    /// Draw edges of the whole graph
    Edges(ElementsArgs),
    /// Draw neighbours of nodes
    Neighbors(NearArgs),
    /// Draw random walks from nodes
    Walk(WalkArgs),
    /// Read features of nodes or edges
    Features(FeaturesArgs),
}

/// How elements of the whole graph are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Elements {
    /// By weight, with replacement
    Weighted,
    /// Each as likely as the others, with replacement
    Uniform,
    /// Each as likely as the others, none twice
    WithoutReplacement,
}

/// How neighbours are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Near {
    /// By the weights of edges, with replacement
    Weighted,
    /// Each edge as likely as the others, with replacement
    Uniform,
    /// Each edge as likely as the others, none twice
    WithoutReplacement,
    /// The heaviest edges
    Top,
    /// The edges that were created last
    Last,
    /// Nodes by personalised PageRank
    Pagerank,
    /// All of them
    All,
}

/// What groups are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Groups {
    /// Nothing
    Skip,
    /// Nodes with edges to their members
    Reify,
}

/// Arguments of `sample PATH nodes` and `sample PATH edges`.
#[derive(Debug, Args)]
pub struct ElementsArgs {
    /// How many
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN.saturating_add(9))]
    pub count: NonZeroUsize,
    /// How they are chosen
    #[arg(long, value_enum, value_name = "HOW", default_value = "weighted")]
    pub strategy: Elements,
    /// Only these types, by name or number [default: all]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub types: Option<Vec<String>>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of `sample PATH neighbors`.
#[derive(Debug, Args)]
pub struct NearArgs {
    /// The nodes
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// How many for each node [default: 10; with `--strategy all` every one]
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroUsize>,
    /// How they are chosen
    #[arg(long, value_enum, value_name = "HOW", default_value = "weighted")]
    pub strategy: Near,
    /// Only edges of these types, by name or number [default: all]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub types: Option<Vec<String>>,
    /// Only edges that are there at this time: a date or a time, 2024-05-01 or 2024-05-01T12:00:00Z (UTC unless it says
    /// otherwise); a number where times are numbers, or all columns of times have one unit, which it counts from 1970 on
    /// [default: any]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = str::parse::<Moment>)]
    pub timestamp: Option<Moment>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of `sample PATH walk`.
#[derive(Debug, Args)]
pub struct WalkArgs {
    /// Where walks begin
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// Number of steps
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub length: u16,
    /// p of node2vec: a larger one makes going back less likely
    #[arg(short, value_name = "P", default_value_t = 1.0)]
    pub p: f64,
    /// q of node2vec: a larger one keeps walks near where they came from
    #[arg(short, value_name = "Q", default_value_t = 1.0)]
    pub q: f64,
    /// Only edges of these types, by name or number [default: all]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub types: Option<Vec<String>>,
    /// Only edges that are there at this time: a date or a time, 2024-05-01 or 2024-05-01T12:00:00Z (UTC unless it says
    /// otherwise); a number where times are numbers, or all columns of times have one unit, which it counts from 1970 on
    /// [default: any]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = str::parse::<Moment>)]
    pub timestamp: Option<Moment>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of `sample PATH features`.
#[derive(Debug, Args)]
pub struct FeaturesArgs {
    /// The nodes
    #[arg(required_unless_present = "edges")]
    pub nodes: Vec<String>,
    /// An edge instead of nodes, by its ends and its type; may be given several times [default: none]
    #[arg(long = "edge", value_names = ["SOURCE", "TARGET", "TYPE"], num_args = 3, action = ArgAction::Append, conflicts_with = "nodes",
        allow_hyphen_values = true)]
    pub edges: Vec<String>,
    /// Features, or properties by name: name, 0:float32:128 for 128 numbers, 1:sparse-int64. Without N all numbers that
    /// there are. A binary does not store types: they are named here, or travel with it. A member of a bag of properties
    /// whose name a column has is bag.NAME
    #[arg(long, value_name = "ID[:TYPE[:N]],…", value_delimiter = ',', required = true, value_parser = str::parse::<Feature>)]
    pub features: Vec<Feature>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What all of them take.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// The seed: one seed gives one answer
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub seed: i64,
    /// What draws: `stable` gives one answer for any number of threads, `deepgnn` that of DeepGNN's own engine, where it
    /// gives one answer for each seed, of binaries alone. This engine passes over the next edges of a node where
    /// `--types` names a type that the node has none of, between others. One edge that it loses is drawn all the same:
    /// the last edge of a partition, where its node has no edge of a lower type that is asked for too
    #[arg(long, value_name = "GENERATOR", default_value = "stable", value_parser = generator)]
    pub generator: Generator,
    /// Write the answer to this file, as Arrow, instead of showing it [default: none]
    #[arg(long, value_name = "FILE")]
    pub arrow: Option<String>,
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
    /// Type of the nodes: with `nodes` of those that are drawn, else where several types have such keys [default: all types; the one that has them]
    #[arg(long = "type", value_name = "TYPE")]
    pub node_type: Option<String>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl What {
    /// What all of them take.
    pub fn common(&self) -> &CommonArgs {
        match self {
            What::Nodes(args) | What::Edges(args) => &args.common,
            What::Neighbors(args) => &args.common,
            What::Walk(args) => &args.common,
            What::Features(args) => &args.common,
        }
    }
}

pub(super) fn generator(text: &str) -> Result<Generator, Error> {
    match text {
        "stable" => Ok(Generator::Stable),
        "deepgnn" => Ok(Generator::Compat),
        other => Err(Error::usage(format!("{other:?} is no generator")).hint("stable, deepgnn")),
    }
}
