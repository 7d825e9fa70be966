//! Arguments of `sidecar`.

use clap::{Args, Subcommand};

use super::ResourceArgs;

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
