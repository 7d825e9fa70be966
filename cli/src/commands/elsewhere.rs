//! Queries that a cluster answers.

use isomorph::{Error, Result};
use isomorph_cluster::Cluster;

use crate::args::OpenArgs;
use crate::args::cluster::ClusterArgs;

/// The cluster that answers, if one was named.
///
/// # Errors
/// If the graph is opened in a way that executors cannot repeat.
pub fn cluster(args: &ClusterArgs, open: &OpenArgs) -> Result<Option<Cluster>> {
    let Some(scheduler) = &args.cluster else { return Ok(None) };
    if let Some(flag) = open.changing() {
        return Err(refused(flag));
    }
    Cluster::at(scheduler, usize::from(args.partitions.get())).map(Some)
}

/// The error of a flag that does not travel.
pub fn refused(flag: &str) -> Error {
    Error::unsupported(format!("{flag} does not travel to a cluster"))
        .hint("ask without --cluster; or convert the graph first")
}
