//! Validation: checks every rule against all data, and continues after a finding where that makes sense.

mod chunks;
mod edges;
mod hashes;
mod offsets;
mod vertices;

use isomorph_error::{Error, Findings, Kind, Place, Result};

use crate::{GraphAr, rules};

impl GraphAr {
    /// Checks every rule, including those that were checked while opening.
    ///
    /// # Errors
    /// Returns an error if the storage fails; problems of the data are findings.
    pub(crate) fn check(&self, findings: &mut Findings) -> Result<()> {
        findings.merge(self.findings.clone());
        for table in &self.vertices {
            vertices::check(table, findings)?;
        }
        for table in &self.edges {
            let vertices = |ty: usize| self.vertices.get(ty).and_then(|table| table.count);
            edges::check(table, (vertices(table.shown.source), vertices(table.shown.target)), findings)?;
        }
        Ok(())
    }
}

/// Turns an error in the data into a finding; returns any other error.
///
/// # Errors
/// Returns `error` if it is not about the data.
fn find(findings: &mut Findings, error: Error) -> Result<()> {
    match error.kind() {
        Kind::Malformed | Kind::Incomplete | Kind::Unsupported | Kind::TooLarge | Kind::NotFound | Kind::Usage => {
            let message = error.message().to_owned();
            let place: Place = error.place().clone();
            match error.broken_rule() {
                Some(rule) => findings.push(rule, message, place),
                None => findings.push(&rules::FILE_UNREADABLE, message, place),
            }
            Ok(())
        }
        _ => Err(error),
    }
}

/// Returns the value of `result`, or `None` after adding a finding.
///
/// # Errors
/// As [`find`].
fn or_find<T>(findings: &mut Findings, result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => find(findings, error).map(|()| None),
    }
}
