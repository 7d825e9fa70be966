//! The arguments of the command line. Their doc comments are the help texts and the man pages.

mod algorithms;
pub mod bench;
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "cypher")]
pub mod cypher;
mod duration;
mod epoch;
mod flags;
mod formats;
mod help;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod hints;
mod lake;
#[cfg(test)]
mod manners;
mod read;
pub mod sample;
mod select;
pub mod serve;
mod shell;
mod size;
pub mod sparql;
mod sql;
mod write;

use std::any::TypeId;
use std::num::NonZeroUsize;

use clap::builder::styling::Styles;
use clap::{ArgAction, Args, ColorChoice, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use isomorph::convert::{Clash, Format, Hyperedges, Registry, SidecarUse};
use isomorph::formats::annnet::update::AttributeTable;
use isomorph::formats::graphar::info::{AdjListType, FileType};
use isomorph::formats::{graphlake, rdf};
use isomorph::tables::Compression;

pub use algorithms::{AnswerArgs, ComponentsArgs, PathsArgs, RankArgs, StatsArgs, WalkArgs};
pub use bench::BenchCommand;
pub use epoch::or_environment as epoch_or_environment;
pub use flags::Flags;
pub use formats::{foreign, names, of as arguments_of};
pub use lake::{
    LakeApplyArgs, LakeChangeArgs, LakeCommand, LakeCompactArgs, LakeDropArgs, LakeEditArgs, LakeGraphsArgs,
    LakeInitArgs, LakeLoadArgs, LakeLogArgs, LakeVacuumArgs,
};
pub use read::{OpenArgs, ResourceArgs, file_place, read_place, snapshot_of, whole_store, written_place};
pub use select::SelectArgs;
pub use serve::ServeCommand;
#[cfg(feature = "query")]
pub use shell::Language;
pub use shell::ShellArgs;
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

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The first graph
    pub left: String,
    /// The second graph, in any format
    pub right: String,
    /// Stop at the N-th difference [default: list 10, count all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Count a different order or schema as a difference
    #[arg(long)]
    pub exact: bool,
    /// Compare both as this format stores them, without what only a sidecar can hold [default: in full]
    #[arg(long = "as", value_name = "FORMAT", value_parser = write::format_parser(&Registry::standard()))]
    pub seen_as: Option<Format>,
    /// RDF, GraphLake: canonicalise the labels of blank nodes first (RDFC-1.0), so that they make no difference
    #[arg(long)]
    pub rdfc: bool,
    /// GraphAr: identify nodes by row number, not by their primary property [default: the primary property]
    #[arg(long, value_name = "row", value_parser = ["row"])]
    pub key: Option<String>,
    /// GraphLake: namespace of a short prefix in a store that isomorph did not write [default: the store's own]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = read::namespace)]
    pub namespaces: Vec<(String, String)>,
    /// Format of standard input [default: by content]
    #[arg(long, value_name = "FORMAT", value_parser = write::format_parser(&Registry::standard()))]
    pub from: Option<Format>,
    /// RDF: syntax of standard input [default: by content]
    #[arg(long, value_name = "SYNTAX", value_parser = read::syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// RDF: base IRI, for texts that do not state one [default: none]
    #[arg(long, value_name = "IRI", value_parser = read::base)]
    pub base: Option<String>,
    /// If opening finds errors, warn and continue; otherwise as in `convert --lenient`
    #[arg(long)]
    pub lenient: bool,
    /// How to use the sidecar: completely, and fail if it is stale (auto); only names and types (schema); not at all
    /// (ignore)
    #[arg(long, visible_alias = "carry", value_name = "USE", default_value = "auto", value_parser = read::sidecar_parser())]
    pub sidecar: SidecarUse,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `digest`.
#[derive(Debug, Args)]
pub struct DigestArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// RDF, GraphLake: canonicalise the labels of blank nodes first (RDFC-1.0), so that they make no difference
    #[arg(long)]
    pub rdfc: bool,
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

/// Arguments of `neighbors`.
#[derive(Debug, Args)]
pub struct NeighborsArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// Key of the node; in RDF an IRI, also as <IRI> or prefix:name, or _:label
    #[arg(required_unless_present_any = ["id", "row"], conflicts_with_all = ["id", "row"])]
    pub node: Option<String>,
    /// Key of the node, if it begins with a dash [default: NODE]
    #[arg(long, value_name = "KEY", conflicts_with = "row", allow_hyphen_values = true)]
    pub id: Option<String>,
    /// Row number of the node in its type, from 0, instead of a key [default: by key]
    #[arg(long, value_name = "N")]
    pub row: Option<u64>,
    /// Type of the node; required if the graph has several node types [default: the only one]
    #[arg(long = "type", value_name = "TYPE")]
    pub node_type: Option<String>,
    /// Only edges of this relation [default: all]
    #[arg(long, value_name = "RELATION")]
    pub edge: Option<String>,
    /// Edges from the node, and undirected edges, which NOCK does not have; this is the default
    #[arg(long, action = ArgAction::SetTrue, conflicts_with_all = ["incoming", "both"])]
    pub out: bool,
    /// Edges to the node, and undirected edges
    #[arg(long = "in", action = ArgAction::SetTrue, conflicts_with = "both")]
    pub incoming: bool,
    /// Edges from and to the node, and undirected edges
    #[arg(long)]
    pub both: bool,
    /// Number of neighbours to show
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN.saturating_add(99))]
    pub limit: NonZeroUsize,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub select: SelectArgs,
}

/// Arguments of `match`.
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// The graph: a file, a directory or a URL. Nodes and edges are the triples that `convert` would write to N-Quads.
    /// A GraphLake store is searched by look-ups, any other graph by a pass
    pub path: String,
    /// Subject, predicate, object and optionally graph: <IRI>, _:label, "text"@en, 42, prefix:name as in Turtle, or the
    /// 64 digits of a quoted triple's id; ?name or _ matches anything, default is the default graph. For the graph,
    /// ?name matches named graphs only, as GRAPH ?name in SPARQL; _ also matches the default graph. Several patterns,
    /// each one argument, are joined by the names that they share
    #[arg(required_unless_present = "id", num_args = 1.., value_name = "PATTERN")]
    pub pattern: Vec<String>,
    /// Find the triple with this id instead of a pattern, once for each graph that contains it. A triple that is only
    /// quoted is marked `only quoted`, with --nquads as a comment. 64 hexadecimal digits, as printed by --ids; may be
    /// given several times [default: none]
    #[arg(long, value_name = "ID", conflicts_with_all = ["pattern", "graph", "estimate"])]
    pub id: Vec<graphlake::TripleId>,
    /// Print the ids of triples: the SHA-256 of the N-Triples line, in which a triple term is written as
    /// <urn:triple:sha256:ID>
    #[arg(long, conflicts_with_all = ["count", "estimate"])]
    pub ids: bool,
    /// Graph for patterns that name none: <IRI>, prefix:name, ?name for any named graph, _ for any graph, or default
    /// [default: any]
    #[arg(long, value_name = "GRAPH")]
    pub graph: Option<String>,
    /// Stop after N triples or solutions [default: 100, with --nquads all]
    #[arg(long, value_name = "N")]
    pub limit: Option<std::num::NonZeroU64>,
    /// Print N-Quads instead of a table
    #[arg(long)]
    pub nquads: bool,
    /// Print only the number of results
    #[arg(long, conflicts_with_all = ["nquads", "limit"])]
    pub count: bool,
    /// Print the order of the patterns and the estimated number of results, without reading any triples; of graphs that
    /// are not stores, print what must be read
    #[arg(long, conflicts_with_all = ["nquads", "limit", "count"])]
    pub estimate: bool,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `extend`.
#[derive(Debug, Args)]
#[command(override_usage = "isomorph extend [OPTIONS] <PATH>")]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub struct ExtendArgs {
    /// A GraphAr graph (its directory or its graph file), or an annnet graph of annnet 0.4 or layout 1.1
    pub path: String,
    /// Types of columns whose file does not state them: score:double. With --table, only these columns are added;
    /// otherwise all are [default: all, with the types in the file]
    #[arg(long, value_name = "NAME[:TYPE],…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    #[command(flatten)]
    pub graphar: ExtendGraphArArgs,
    #[command(flatten)]
    pub annnet: ExtendAnnnetArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments for GraphAr graphs.
#[derive(Debug, Args)]
#[command(next_help_heading = "GraphAr")]
pub struct ExtendGraphArArgs {
    /// The type to extend: person, or for an adjacency list knows or person_knows_person [default: none]
    #[arg(long = "type", value_name = "TYPE")]
    pub ty: Option<String>,
    /// Add the columns of this table to the nodes: Parquet, ORC, CSV or JSON lines [default: none]
    #[arg(long, value_name = "FILE", group = "what", requires = "ty", conflicts_with = "adj_list")]
    pub table: Option<String>,
    /// The column that identifies the node: by key, or by row number if it is named _graphArVertexIndex [default: the
    /// column named like the key]
    #[arg(long, value_name = "COLUMN", requires = "table")]
    pub by: Option<String>,
    /// Encoding of the new chunks: parquet, orc, csv or json [default: parquet]
    #[arg(long, value_name = "TYPE", requires = "table", value_parser = write::file_type_parser())]
    pub file_type: Option<FileType>,
    /// Compression of Parquet and ORC: none, snappy, zstd, lz4, gzip or brotli, with a level as in zstd:3 [default: zstd:1]
    #[arg(long, value_name = "CODEC", requires = "table", value_parser = write::compression)]
    pub compression: Option<Compression>,
    /// Add this ordering of the edges [default: none]
    #[arg(long, value_name = "LIST", group = "what", requires = "ty", value_parser = read::list_parser())]
    pub adj_list: Option<AdjListType>,
}

/// Arguments for annnet graphs.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "annnet")]
pub struct ExtendAnnnetArgs {
    /// Add the vertices of this table: id, layer, slices; other columns are attributes [default: none]
    #[arg(long, value_name = "FILE", group = "what", conflicts_with_all = ["table", "adj_list"])]
    pub vertices: Option<String>,
    /// Add the edges of this table: id, source and target, or members, or head and tail; weight, directed, slices and
    /// more (see the annnet page); other columns are attributes [default: none]
    #[arg(long, value_name = "FILE", group = "what", conflicts_with_all = ["table", "adj_list"])]
    pub edges: Option<String>,
    /// Replace one attribute table: nodes, edges, slices, edge-slices or layers [default: none]
    #[arg(long, value_name = "KIND=FILE", group = "what", conflicts_with_all = ["table", "adj_list", "vertices", "edges"],
        value_parser = write::attribute_table)]
    pub attributes: Option<(AttributeTable, String)>,
    /// Create a slice with the members in this table, or replace its members: a node or an edge in each row, and the
    /// edge's weight; edges that stay keep their attributes in the slice [default: none]
    #[arg(long, value_name = "NAME=FILE", group = "what", conflicts_with_all = ["table", "adj_list", "vertices", "edges"],
        value_parser = write::named_file)]
    pub slice: Option<(String, String)>,
    /// Add an entry to the history: a JSON object, or text, which becomes a note [default: none]
    #[arg(long, value_name = "JSON|TEXT", group = "what", conflicts_with_all = ["table", "adj_list"])]
    pub history: Option<String>,
    /// Create the look-up views cache/csr.zarr and cache/csc.zarr, or rebuild them, after all other changes
    #[arg(long, group = "what", conflicts_with_all = ["table", "adj_list"])]
    pub cache: bool,
    /// Time of the history entry [default: SOURCE_DATE_EPOCH, or the clock]
    #[arg(long, value_name = "SECONDS|RFC3339", requires = "history", value_parser = epoch::parse)]
    pub epoch: Option<std::time::SystemTime>,
}

/// The subcommands of `sidecar`.
#[derive(Debug, Subcommand)]
pub enum SidecarCommand {
    /// Show the sidecar, and whether it matches the data
    Show(ShowArgs),
    /// Bind the sidecar to rewritten data of the same graph
    Rebind(RebindArgs),
    /// Remove the sidecar, and leave the data unchanged
    Drop(SidecarArgs),
}

/// Arguments of `sidecar show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The data: a file or a directory
    pub path: String,
    /// Compare every byte of the data with what was written, not only the names, sizes and ends of files
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `sidecar drop`.
#[derive(Debug, Args)]
pub struct SidecarArgs {
    /// The data: a file or a directory
    pub path: String,
}

/// Arguments of `sidecar rebind`.
#[derive(Debug, Args)]
pub struct RebindArgs {
    /// The data: a file or a directory
    pub path: String,
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
            Command::Sql(args) if args.output.is_some() => Some("no output was written"),
            Command::Stats(args) if args.html.is_some() => Some("no output was written"),
            Command::Paths(args) if args.answer.output.is_some() => Some("no output was written"),
            Command::Rank(args) if args.answer.output.is_some() => Some("no output was written"),
            Command::Components(args) if args.answer.output.is_some() => Some("no output was written"),
            #[cfg(feature = "cypher")]
            Command::Cypher(args) if args.output.is_some() => Some("no output was written"),
            Command::Lake(command) => command.outcome(),
            Command::Sparql(args) => args.output.is_some().then_some("no output was written"),
            Command::Extend(_) | Command::Sidecar(SidecarCommand::Rebind(_)) => Some("no changes were made"),
            _ => None,
        }
    }
}
