//! What a job may use.

use isomorph_error::Result;

use crate::{Budget, Scratch};

/// What limits a job.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Threads.
    pub threads: usize,
    /// Memory.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Scratch,
}

impl Resources {
    /// All cores, a quarter of the memory, the system's directory for temporary files.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn of_this_machine() -> Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Resources { threads, budget: Budget::of_this_machine(), scratch: Scratch::new(None)? })
    }
}
