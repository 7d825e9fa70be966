//! Checking every rule of the format, row by row.

use isomorph_error::{Findings, Result};

use crate::Annnet;

/// Adds everything that is broken to `findings`.
///
/// # Errors
/// When a file cannot be read on.
pub(crate) fn validate(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    findings.merge(annnet.noticed.clone());
    Ok(())
}
