//! Arguments of `cypher`.

use std::time::Duration;

use clap::Args;

#[cfg(feature = "cluster")]
use super::cluster::ClusterArgs;
use super::duration::duration;
use super::explained::ExplainedArgs;
use super::{AnswerArgs, OpenArgs, ResourceArgs};

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
    #[command(flatten)]
    pub explained: ExplainedArgs,
    /// Stop the query after this time: 500ms, 10s, 5m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub answer: AnswerArgs,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How the graph is opened.
    #[command(flatten)]
    pub open: OpenArgs,
    /// Memory and threads.
    #[command(flatten)]
    pub resources: ResourceArgs,
}
