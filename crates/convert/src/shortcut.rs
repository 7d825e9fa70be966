//! Conversions that do not need batches of the model.

use std::time::Instant;

use isomorph_error::Result;
use isomorph_storage::Location;

use crate::conversion::{Certificate, Job};
use crate::options::ConvertOptions;
use crate::plan::Plan;
use crate::progress::Progress;

/// A conversion between two formats that share an encoding.
pub trait Shortcut {
    /// The plan.
    ///
    /// # Errors
    /// If the output is not specified, or something would be lost.
    fn plan(&self, destination: &Location, options: &ConvertOptions, started: Instant) -> Result<Plan>;

    /// Converts, verifies and publishes.
    ///
    /// # Errors
    /// If the input cannot be read, the output cannot be written, or verification fails. No output is published then.
    fn build(&self, job: &Job<'_>, progress: &dyn Progress) -> Result<Certificate>;
}
