//! Arguments of `neighbors` and `match`.

use std::num::NonZeroUsize;

use clap::{ArgAction, Args};
use isomorph::formats::graphlake;

use super::{OpenArgs, ResourceArgs, SelectArgs};

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
