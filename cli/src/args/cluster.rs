//! Arguments of `cluster`, and of queries to one.

use std::num::NonZeroU16;

use clap::{Args, Subcommand};

use super::ResourceArgs;

/// What a process of a cluster does.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Give the work of queries to executors
    Scheduler(SchedulerArgs),
    /// Read graphs and do the work of queries
    Executor(ExecutorArgs),
}

/// Arguments of `cluster scheduler`.
#[derive(Debug, Args)]
pub struct SchedulerArgs {
    /// Where to listen: an address and a port, 0 for any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub bind: String,
    /// Allow addresses that other machines reach. Nothing is encrypted, and everybody who connects can read what executors open
    #[arg(long)]
    pub insecure: bool,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `cluster executor`.
#[derive(Debug, Args)]
pub struct ExecutorArgs {
    /// The scheduler, which is started first
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub scheduler: String,
    /// Where other executors and clients fetch results: an address and a port, 0 for any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub bind: String,
    /// The name or address by which others reach it [default: the address that the scheduler sees]
    #[arg(long, value_name = "HOST")]
    pub advertise: Option<String>,
    /// Open graphs in this directory or below this URL, and no others; may be given several times
    #[arg(long, value_name = "DIR|URL", required = true)]
    pub allow: Vec<String>,
    /// Allow addresses that other machines reach. Nothing is encrypted, and everybody who connects can read its results
    #[arg(long)]
    pub insecure: bool,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Who answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArgs {
    /// Let the cluster of this scheduler answer. Every machine sees the graphs at the same path [default: this process answers]
    #[arg(long, value_name = "HOST:PORT")]
    pub cluster: Option<String>,
    /// Into how many parts the cluster divides joins and groups of SQL, and the first pattern of openCypher: at least as many as all executors have threads
    #[arg(long, value_name = "N", default_value = "16", requires = "cluster")]
    pub partitions: NonZeroU16,
}
