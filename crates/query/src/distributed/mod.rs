//! Plans whose scans run in other processes: what a scheduler divides and executors run, for `crates/cluster`. No process but the first one opens a graph to
//! plan; which tables there are, and what a question means, is decided there.

mod functions;
mod message;
mod plan;
mod scan;

pub use functions::{function_of_text, function_to_text, session_state};
pub use plan::{DistributedPlan, Tables};
pub use scan::{OpenTable, TableRows, TableScan, TableScanExec};

/// An error of the engine as one of isomorph.
pub fn error_of_engine(error: datafusion::common::DataFusionError) -> isomorph::Error {
    crate::errors::of_engine(error)
}
