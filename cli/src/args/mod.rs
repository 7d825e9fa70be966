//! The arguments of the command line. Their doc comments are the help texts and the man pages.

mod algorithms;
pub mod bench;
#[cfg(feature = "cluster")]
pub mod cluster;
mod compare;
#[cfg(feature = "cypher")]
pub mod cypher;
mod duration;
mod epoch;
mod explained;
mod extend;
mod flags;
mod formats;
mod help;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod hints;
mod lake;
mod look_up;
#[cfg(test)]
mod manners;
mod read;
pub mod sample;
mod select;
pub mod serve;
mod shell;
mod sidecar;
mod size;
pub mod sparql;
mod sql;
mod write;

use std::any::TypeId;

use clap::builder::styling::Styles;
use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use isomorph::convert::{Clash, Format, Hyperedges, Registry};

pub use algorithms::{AnswerArgs, ComponentsArgs, PathsArgs, RankArgs, StatsArgs, WalkArgs};
pub use bench::BenchCommand;
pub use compare::{DiffArgs, DigestArgs};
pub use epoch::or_environment as epoch_or_environment;
#[cfg(feature = "query")]
pub use explained::Explained;
pub use extend::ExtendArgs;
pub use flags::Flags;
pub use formats::{foreign, names, of as arguments_of};
pub use lake::{
    LakeApplyArgs, LakeChangeArgs, LakeCommand, LakeCompactArgs, LakeDropArgs, LakeEditArgs, LakeGraphsArgs,
    LakeInitArgs, LakeLoadArgs, LakeLogArgs, LakeVacuumArgs,
};
pub use look_up::{MatchArgs, NeighborsArgs};
pub use read::{OpenArgs, ResourceArgs, file_place, read_place, snapshot_of, whole_store, written_place};
pub use select::SelectArgs;
pub use serve::ServeCommand;
#[cfg(feature = "query")]
pub use shell::Language;
pub use shell::ShellArgs;
pub use sidecar::{RebindArgs, ShowArgs, SidecarArgs, SidecarCommand};
pub use sparql::{LakeUpdateArgs, SparqlArgs};
pub use sql::SqlArgs;
#[cfg(feature = "query")]
pub use sql::is_name;
pub use write::TargetArgs;

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "isomorph",
    version,
    about = "Read, convert, validate and query graphs in many formats",
    after_help = help::AFTER,
    help_template = help::ISOMORPH,
    styles = Styles::plain(),
    max_term_width = 100,
    infer_long_args = false
)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON document instead of text (docs/cli-json.md)
    #[arg(long, global = true, display_order = 100)]
    pub json: bool,
    /// Show every finding and every part, not only the first
    #[arg(short, long, global = true, display_order = 101)]
    pub verbose: bool,
    /// When to use colour; auto respects NO_COLOR and TERM=dumb
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 102)]
    pub color: ColorChoice,
}

/// Returns the command; `formats` are the accepted values of format arguments.
pub fn command(formats: &Registry) -> clap::Command {
    naming(Cli::command(), formats)
}

/// Replaces the values of all format arguments in `command` and its subcommands with the ids of these formats.
fn naming(command: clap::Command, formats: &Registry) -> clap::Command {
    let named = |argument: clap::Arg| match argument.get_value_parser().type_id() == TypeId::of::<Format>() {
        true => argument.value_parser(write::format_parser(formats)),
        false => argument,
    };
    command.mut_args(named).mut_subcommands(|inner| naming(inner, formats))
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show format, types, counts, sizes, layout and first problems
    Info(InfoArgs),
    /// Convert to another format or layout, and verify the output
    #[command(help_template = help::CONVERT)]
    Convert(Box<ConvertArgs>),
    /// Check every rule of the format on all data
    Validate(ValidateArgs),
    /// Compare two graphs across formats, and list differences
    Diff(DiffArgs),
    /// Print the digests of content, order and schema
    Digest(DigestArgs),
    /// Print every element as one line of JSON
    Dump(DumpArgs),
    /// List a node's neighbours without loading the graph
    #[command(help_template = help::NEIGHBORS)]
    Neighbors(NeighborsArgs),
    /// Show counts, degrees, components and columns of a graph
    #[command(help_template = help::STATS)]
    Stats(Box<StatsArgs>),
    /// Find shortest paths between two nodes
    #[command(help_template = help::PATHS)]
    Paths(Box<PathsArgs>),
    /// List nodes by their PageRank
    #[command(help_template = help::RANK)]
    Rank(Box<RankArgs>),
    /// List the connected components of a graph
    #[command(help_template = help::COMPONENTS)]
    Components(Box<ComponentsArgs>),
    /// Find triples by patterns in a graph of any format
    #[command(help_template = help::MATCH)]
    Match(MatchArgs),
    /// Query the tables of graphs and files with SQL
    #[command(help_template = help::SQL)]
    Sql(Box<SqlArgs>),
    /// Query a graph of any format with SPARQL
    #[command(help_template = help::SPARQL)]
    Sparql(Box<SparqlArgs>),
    /// Query a graph of any format with openCypher
    #[cfg(feature = "cypher")]
    #[command(help_template = help::CYPHER)]
    Cypher(Box<cypher::CypherArgs>),
    /// Open a graph and answer queries one after another
    #[command(help_template = help::SHELL)]
    Shell(ShellArgs),
    /// Draw samples of nodes, edges, neighbours, walks and features
    #[command(help_template = help::SAMPLE)]
    Sample(Box<sample::SampleArgs>),
    /// Serve a graph to trainers over the network
    #[command(subcommand, help_template = help::SERVE)]
    Serve(ServeCommand),
    /// Serve queries on several machines
    #[cfg(feature = "cluster")]
    #[command(subcommand, help_template = help::CLUSTER)]
    Cluster(cluster::ClusterCommand),
    /// Measure servers
    #[command(subcommand, help_template = help::BENCH)]
    Bench(BenchCommand),
    /// Add properties, edges and more without rewriting the graph
    #[command(help_template = help::EXTEND)]
    Extend(ExtendArgs),
    /// Change a GraphLake store by transactions, and maintain it
    #[command(subcommand, help_template = help::LAKE)]
    Lake(LakeCommand),
    /// Make a mapping file, which says which graph tables are
    #[command(subcommand)]
    Import(ImportCommand),
    /// Show, rebind or drop the sidecar of a graph
    #[command(subcommand, visible_alias = "carry")]
    Sidecar(SidecarCommand),
    /// Explain a rule by its id, or list all rules
    Explain(ExplainArgs),
    /// List the formats and what isomorph can do with them
    Formats,
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page of isomorph or of a command
    Man(ManArgs),
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    /// Only the first N selected nodes of each type [default: all]
    #[arg(long, value_name = "N", help_heading = "Selecting")]
    pub limit: Option<u64>,
    /// Print a drawing of the node types and edge types instead: dot, mermaid, svg [default: no drawing]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["dot", "mermaid", "svg"], conflicts_with = "json")]
    pub schema: Option<String>,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `convert`.
#[derive(Debug, Clone, Args)]
pub struct ConvertArgs {
    /// The graph to convert: a file, a directory or a URL; - is standard input
    pub source: String,
    /// Where the output goes; it must not exist, unless --replace is given; - is standard output, for text formats
    pub destination: String,
    /// With --union: further graphs, and last where the output goes
    #[arg(value_name = "MORE", requires = "union")]
    pub more: Vec<String>,
    /// Convert the union of all graphs but the last argument, which is where the output goes. Nodes of a type with the
    /// same key are one node
    #[arg(long)]
    pub union: bool,
    /// What to do if a node has other labels or properties in another graph of a union: fail, or keep the node of the
    /// first graph [default: error]
    #[arg(long, value_name = "HOW", value_parser = write::clash_parser(), default_value = "error", hide_default_value = true, requires = "union")]
    pub on_clash: Clash,
    /// Show the plan and write nothing
    #[arg(long)]
    pub plan: bool,
    /// Write no sidecar; list what is lost
    #[arg(long)]
    pub lossy: bool,
    /// How to write hyperedges in a format without them: as nodes with edges to their members; as edges from head to
    /// tail or between each two members; or not at all. The last two imply --lossy [default: reify]
    #[arg(long, value_name = "HOW", value_parser = write::hyperedges_parser(), default_value = "reify", hide_default_value = true)]
    pub hyperedges: Hyperedges,
    /// Replace an existing destination, in one step
    #[arg(long)]
    pub replace: bool,
    /// Do not verify the output by reading it back
    #[arg(long)]
    pub no_verify: bool,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    /// Only the first N selected nodes of each type [default: all]
    #[arg(long, value_name = "N", help_heading = "Selecting")]
    pub limit: Option<u64>,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// What to do with tables.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Print the mapping file of tables, to be edited
    Init(ImportInitArgs),
}

/// Arguments of `import init`.
#[derive(Debug, Args)]
pub struct ImportInitArgs {
    /// A directory of tables that a convention explains, or a mapping file
    pub path: String,
}

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `dump`.
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// Stop after N lines [default: all]
    #[arg(long, value_name = "N")]
    pub limit: Option<std::num::NonZeroU64>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Id of a rule, or the beginning of several ids: GAR-OFFSET-END, NOCK-
    pub id: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command, for example lake load; without one, the page of isomorph itself
    pub command: Vec<String>,
}

impl Command {
    /// Returns the path that remedies call `PATH`.
    pub fn path(&self) -> Option<&str> {
        match self {
            Command::Info(InfoArgs { path, .. })
            | Command::Validate(ValidateArgs { path, .. })
            | Command::Digest(DigestArgs { path, .. })
            | Command::Dump(DumpArgs { path, .. })
            | Command::Neighbors(NeighborsArgs { path, .. })
            | Command::Match(MatchArgs { path, .. })
            | Command::Import(ImportCommand::Init(ImportInitArgs { path }))
            | Command::Sidecar(
                SidecarCommand::Show(ShowArgs { path, .. })
                | SidecarCommand::Drop(SidecarArgs { path })
                | SidecarCommand::Rebind(RebindArgs { path, .. }),
            ) => Some(path),
            Command::Shell(args) => Some(&args.path),
            Command::Stats(args) => Some(&args.path),
            Command::Paths(args) => Some(&args.path),
            Command::Rank(args) => Some(&args.path),
            Command::Components(args) => Some(&args.path),
            Command::Convert(args) => Some(&args.source),
            Command::Extend(args) => Some(&args.path),
            #[cfg(feature = "cypher")]
            Command::Cypher(args) => Some(&args.path),
            Command::Sample(args) => Some(&args.path),
            Command::Sparql(args) => Some(&args.path),
            Command::Serve(ServeCommand::Deepgnn(args)) => args.paths.first().map(String::as_str),
            Command::Lake(command) => Some(command.path()),
            _ => None,
        }
    }

    /// Returns the line that states the outcome after an error, for commands that write.
    pub fn outcome(&self) -> Option<&'static str> {
        match self {
            Command::Convert(args) if !args.plan => Some("no output was written"),
            Command::Sql(args) if args.answer.output.is_some() => Some("no output was written"),
            Command::Stats(args) if args.html.is_some() => Some("no output was written"),
            Command::Paths(args) if args.answer.output.is_some() => Some("no output was written"),
            Command::Rank(args) if args.answer.output.is_some() => Some("no output was written"),
            Command::Components(args) if args.answer.output.is_some() => Some("no output was written"),
            #[cfg(feature = "cypher")]
            Command::Cypher(args) if args.answer.output.is_some() => Some("no output was written"),
            Command::Lake(command) => command.outcome(),
            Command::Sparql(args) => args.output.is_some().then_some("no output was written"),
            Command::Extend(_) | Command::Sidecar(SidecarCommand::Rebind(_)) => Some("no changes were made"),
            _ => None,
        }
    }
}
