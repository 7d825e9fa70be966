//! Arguments of `sample`.

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
    /// A file, a directory or a URL. A DeepGNN binary is sampled in place; any other graph is read once
    pub path: String,
    /// What to draw.
    #[command(subcommand)]
    pub what: What,
}

/// The subcommands of `sample`.
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

/// How elements of the whole graph are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Elements {
    /// By weight, with replacement
    Weighted,
    /// All with equal probability, with replacement
    Uniform,
    /// All with equal probability, without replacement
    WithoutReplacement,
}

/// How neighbours are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Near {
    /// By edge weight, with replacement
    Weighted,
    /// All edges with equal probability, with replacement
    Uniform,
    /// All edges with equal probability, without replacement
    WithoutReplacement,
    /// The heaviest edges
    Top,
    /// The most recently created edges
    Last,
    /// Nodes, by personalised PageRank
    Pagerank,
    /// All edges
    All,
}

/// How groups are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Groups {
    /// Not at all
    Skip,
    /// As nodes with edges to their members
    Reify,
}

/// Arguments of `sample PATH nodes` and `sample PATH edges`.
#[derive(Debug, Args)]
pub struct ElementsArgs {
    /// Number of elements to draw
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN.saturating_add(9))]
    pub count: NonZeroUsize,
    /// How to draw them
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
    /// Keys of the nodes
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// Number of neighbours of each node [default: 10; with `--strategy all` all]
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroUsize>,
    /// How to draw them
    #[arg(long, value_enum, value_name = "HOW", default_value = "weighted")]
    pub strategy: Near,
    /// Only edges of these types, by name or number [default: all]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub types: Option<Vec<String>>,
    /// Only edges that exist at this time: a date or a time, 2024-05-01 or 2024-05-01T12:00:00Z (UTC unless stated); or
    /// a number, if times are numbers or all time columns have the same unit, since 1970 [default: any]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = str::parse::<Moment>)]
    pub timestamp: Option<Moment>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of `sample PATH walk`.
#[derive(Debug, Args)]
pub struct WalkArgs {
    /// Keys of the nodes at which walks begin
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// Number of steps
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub length: u16,
    /// p of node2vec: larger values make returning less likely
    #[arg(short, value_name = "P", default_value_t = 1.0)]
    pub p: f64,
    /// q of node2vec: larger values keep walks closer to where they came from
    #[arg(short, value_name = "Q", default_value_t = 1.0)]
    pub q: f64,
    /// Only edges of these types, by name or number [default: all]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub types: Option<Vec<String>>,
    /// Only edges that exist at this time: a date or a time, 2024-05-01 or 2024-05-01T12:00:00Z (UTC unless stated); or
    /// a number, if times are numbers or all time columns have the same unit, since 1970 [default: any]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = str::parse::<Moment>)]
    pub timestamp: Option<Moment>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of `sample PATH features`.
#[derive(Debug, Args)]
pub struct FeaturesArgs {
    /// Keys of the nodes
    #[arg(required_unless_present = "edges")]
    pub nodes: Vec<String>,
    /// An edge instead of nodes: source, target and type; may be given several times [default: none]
    #[arg(long = "edge", value_names = ["SOURCE", "TARGET", "TYPE"], num_args = 3, action = ArgAction::Append, conflicts_with = "nodes",
        allow_hyphen_values = true)]
    pub edges: Vec<String>,
    /// Features by id, or properties by name: name, 0:float32:128 for 128 numbers, 1:sparse-int64. Without N, all
    /// numbers. A binary does not store types: state them here, or they come from its sidecar. A member of a property
    /// bag with the name of a column is bag.NAME
    #[arg(long, value_name = "ID[:TYPE[:N]],…", value_delimiter = ',', required = true, value_parser = str::parse::<Feature>)]
    pub features: Vec<Feature>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of all subcommands of `sample`.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// The seed; equal seeds give equal results
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub seed: i64,
    /// Random generator. `stable` gives the same result for any number of threads. `deepgnn` gives the result of
    /// DeepGNN's own engine, for binaries only, where that result depends on the seed alone. That engine skips the next
    /// edges of a node if a type in `--types` is between others and the node has no edge of it. One edge that the
    /// engine loses is drawn here: the last edge of a partition, if its node has no edge of a lower requested type
    #[arg(long, value_name = "GENERATOR", default_value = "stable", value_parser = generator)]
    pub generator: Generator,
    /// Write the result to this file in Arrow format instead of printing it [default: none]
    #[arg(long, value_name = "FILE")]
    pub arrow: Option<String>,
    /// Copy the files of the graph to temporary files instead of mapping them, because other processes may change them
    #[arg(long)]
    pub copy: bool,
    /// Do not use `_isomorph/node_ids`, an index of unordered nodes that is otherwise written next to a large binary
    #[arg(long)]
    pub no_index: bool,
    /// How to read hyperedges: as edges between their members (expand); as nodes with edges to their members (reify);
    /// not at all (skip) [default: reject a graph that has any]
    #[arg(long, value_name = "HOW", value_parser = hyperedges_parser())]
    pub hyperedges: Option<Hyperedges>,
    /// How to read groups, such as the slices and layers of annnet
    #[arg(long, value_enum, value_name = "HOW", default_value = "skip")]
    pub groups: Groups,
    /// Type of the nodes: with `nodes`, of those that are drawn; otherwise needed if several types contain the keys
    /// [default: all types; the one that contains them]
    #[arg(long = "type", value_name = "TYPE")]
    pub node_type: Option<String>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl What {
    /// Returns the arguments of all subcommands.
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
        other => Err(Error::usage(format!("{other:?} is not a generator")).hint("stable, deepgnn")),
    }
}
