//! Queries that a cluster answers.

use std::time::{Duration, Instant};

use isomorph::{Error, Kind, Result};
use isomorph_cluster::Cluster;

use crate::args::OpenArgs;
use crate::args::cluster::ClusterArgs;
use crate::interrupt::Interrupt;

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

/// Whether to wait any longer: until the user interrupts the query, or its time is over.
pub fn patience(interrupt: Interrupt, timeout: Option<Duration>) -> impl FnMut() -> Result<()> {
    let started = Instant::now();
    move || {
        interrupt.check()?;
        match timeout {
            Some(longest) if started.elapsed() >= longest => {
                Err(Error::new(Kind::Cancelled, format!("no answer after {} s", longest.as_secs_f64()))
                    .hint("--timeout 10m"))
            }
            _ => Ok(()),
        }
    }
}
