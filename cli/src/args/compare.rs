//! Arguments of `diff` and `digest`.

use clap::Args;
use isomorph::convert::{Format, Registry, SidecarUse};
use isomorph::formats::rdf;

use super::{OpenArgs, ResourceArgs, SelectArgs, read, write};

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
