//! Arguments of `cypher`.

use clap::{Args, ValueEnum};

use super::{OpenArgs, ResourceArgs};

/// Arguments of `cypher`.
#[derive(Debug, Args)]
pub struct CypherArgs {
    /// A file, a directory or a URL; - is standard input
    pub path: String,
    /// The query; - is standard input
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub query: Option<String>,
    /// File with the query [default: QUERY]
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<String>,
    /// Value of $NAME, as JSON; what is not JSON is a text [default: none]
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// Form of the output [default: table; json with --json]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Form>,
    /// New file for the output [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Longest time, in seconds [default: no limit]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// How the graph is opened.
    #[command(flatten)]
    pub open: OpenArgs,
    /// Memory and threads.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Aligned columns, for people.
    Table,
    /// RFC 4180; nodes, relationships, paths, lists and maps as JSON.
    Csv,
    /// One array of objects.
    Json,
    /// One object in each line.
    Jsonl,
}
