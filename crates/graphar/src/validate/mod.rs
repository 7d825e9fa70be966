//! Validation: every rule, everything read, going on behind findings wherever that makes sense.

mod chunks;
mod edges;
mod hashes;
mod offsets;
mod vertices;

use isomorph_error::{Error, Findings, Kind, Place, Result};

use crate::{GraphAr, rules};

impl GraphAr {
    /// Checks every rule, those that were checked while opening included.
    ///
    /// # Errors
    /// When the storage fails; what is wrong with the data is a finding.
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

/// Makes a finding of an error in the data; any other error stays one.
///
/// # Errors
/// `error`, when it is not about the data.
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

/// The value of `result`, or a finding.
///
/// # Errors
/// As [`find`].
fn or_find<T>(findings: &mut Findings, result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => find(findings, error).map(|()| None),
    }
}
