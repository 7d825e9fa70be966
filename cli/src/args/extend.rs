//! Arguments of `extend`.

use clap::Args;
use isomorph::formats::annnet::update::AttributeTable;
use isomorph::formats::graphar::info::{AdjListType, FileType};
use isomorph::tables::Compression;

use super::{ResourceArgs, epoch, read, write};

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
