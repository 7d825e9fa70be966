//! The resources that a job may use.

use isomorph_error::Result;

use crate::{Budget, Scratch};

/// The limits of a job.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Number of threads.
    pub threads: usize,
    /// Memory budget.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Scratch,
}

impl Resources {
    /// All cores, a quarter of the memory, and the system's directory for temporary files.
    ///
    /// # Errors
    /// Returns an error if that directory does not exist.
    pub fn of_this_machine() -> Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Resources { threads, budget: Budget::of_this_machine(), scratch: Scratch::new(None)? })
    }
}
