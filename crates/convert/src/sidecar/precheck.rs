//! Checks before all of a graph is read through its sidecar, for results that must be reliable.
//!
//! Opening compares names, sizes and the ends of files, because a look-up should read little. An operation that reads
//! everything can also compare every byte with its hash: this finds values that were edited in place without a change
//! of size, which the sidecar may not read.

use isomorph_error::{Findings, Kind, Place, Result};

use super::bind::other_bytes;
use super::{CARRY_IN_PART, Sidecar, reread, says_more};
use crate::open::{Opened, home_of};
use crate::progress::Progress;
use isomorph_storage::Resources;

impl Opened {
    /// Checks that the data is still what the sidecar was written for, before all of it is read: every byte; or, if
    /// only names and types of the sidecar are used, that it reads everything that the data contains. With `lenient`,
    /// what it does not read is a finding.
    ///
    /// # Errors
    /// Returns [`CARRY_STALE`](super::CARRY_STALE), [`CARRY_UNREAD`](super::CARRY_UNREAD), and errors of reading.
    pub fn check_whole(&self, lenient: bool, resources: &Resources, progress: &dyn Progress) -> Result<Findings> {
        let mut findings = Findings::default();
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| sidecar.schema_only) else {
            return self.check_bytes(resources, progress).map(|()| findings);
        };
        let unread = reread(self, sidecar, resources, progress)?.unread;
        if !unread.is_empty() && !lenient {
            return Err(says_more(&self.location, &unread).hint("--lenient    continue without it"));
        }
        for what in unread {
            findings.push(&CARRY_IN_PART, what, self.location.to_string());
        }
        Ok(findings)
    }

    /// Compares every byte of the data with the hashes of the sidecar, unless only its names and types are used.
    ///
    /// # Errors
    /// Returns [`CARRY_STALE`](super::CARRY_STALE) if one differs; and errors of reading.
    pub fn check_bytes(&self, resources: &Resources, progress: &dyn Progress) -> Result<()> {
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| !sidecar.schema_only) else { return Ok(()) };
        let (home, directory) = home_of(&self.location, self.format);
        let differences = other_bytes(sidecar, &home, directory, resources.threads, progress)?;
        if differences.is_empty() { Ok(()) } else { Err(Sidecar::stale(&home, &differences)) }
    }

    /// A finding that only names and types of the sidecar are used, for data that was changed or is another version: a
    /// look-up does not show what the sidecar does not read, which only reading everything would find.
    ///
    /// # Errors
    /// If the ends of files cannot be read.
    pub fn cautions(&self) -> Result<Findings> {
        let mut findings = Findings::default();
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| sidecar.schema_only) else { return Ok(findings) };
        let (home, directory) = home_of(&self.location, self.format);
        let why = match sidecar.differences(&home, directory)?.first() {
            Some(first) => format!("the data was changed after its sidecar was written: {first}"),
            None if self.format.may_differ_from_sidecar(self.native.as_ref(), &self.options) => {
                "the sidecar was written for the newest version of the data, read with default options".to_owned()
            }
            None => return Ok(findings),
        };
        let what = format!("{why}; what the sidecar does not read is not shown");
        findings.push(&CARRY_IN_PART, what, self.location.to_string());
        Ok(findings)
    }

    /// Adds findings about the sidecar, if there is one: every byte is compared.
    ///
    /// # Errors
    /// If the sidecar or the data cannot be read.
    pub fn validate_sidecar(&self, findings: &mut Findings) -> Result<()> {
        match super::verify_as(&self.location, self.format, &self.options.formats) {
            Ok((_, differences)) => {
                for difference in differences {
                    findings.push(&super::CARRY_STALE, difference, Place::default());
                }
                Ok(())
            }
            Err(error) if error.kind() == Kind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}
