//! Ways from one place to another that need no batches of the model.

use std::time::Instant;

use isomorph_error::Result;
use isomorph_storage::{Location, Resources};

use crate::conversion::Certificate;
use crate::options::ConvertOptions;
use crate::plan::Plan;
use crate::progress::Progress;

/// A way that a source and a target have in common.
pub trait Shortcut {
    /// The plan of going it.
    ///
    /// # Errors
    /// When the target is not known, or something would be lost.
    fn plan(&self, destination: &Location, options: &ConvertOptions, started: Instant) -> Result<Plan>;

    /// Goes it, and publishes the result with the proof.
    ///
    /// # Errors
    /// When the source cannot be read, the result cannot be written, or what is read back is another graph: then nothing is
    /// published.
    fn build(
        &self,
        plan: &Plan,
        destination: &Location,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Certificate>;
}
