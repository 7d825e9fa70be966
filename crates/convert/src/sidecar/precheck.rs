//! What is looked at before all of a graph is read through its sidecar, where an answer is to be relied on.
//!
//! Opening compares names, sizes and the ends of files, because a look-up is to read little. Who reads everything anyway can hold every byte
//! against its hash as well: a value that was edited in place, without a byte more or less, is nothing that the sidecar need read.

use isomorph_error::{Findings, Kind, Place, Result};

use super::bind::other_bytes;
use super::{CARRY_IN_PART, Sidecar, reread, says_more};
use crate::open::{Opened, home_of};
use crate::progress::Progress;
use isomorph_storage::Resources;

impl Opened {
    /// Makes sure that the data still is what the sidecar was made for, before all of it is read: every byte, or, where only names and types
    /// of the sidecar are used, that it reads all that the data says. With `lenient` what it does not read is a finding.
    ///
    /// # Errors
    /// [`CARRY_STALE`](super::CARRY_STALE), [`CARRY_UNREAD`](super::CARRY_UNREAD), or when the data cannot be read.
    pub fn check_whole(&self, lenient: bool, resources: &Resources, progress: &dyn Progress) -> Result<Findings> {
        let mut findings = Findings::default();
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| sidecar.schema_only) else {
            return self.check_bytes(resources, progress).map(|()| findings);
        };
        let unread = reread(self, sidecar, resources, progress)?.unread;
        if !unread.is_empty() && !lenient {
            return Err(says_more(&self.location, &unread).hint("--lenient    go on without it"));
        }
        for what in unread {
            findings.push(&CARRY_IN_PART, what, self.location.to_string());
        }
        Ok(findings)
    }

    /// Compares every byte of the data with the hashes of a sidecar that is used as a whole.
    ///
    /// # Errors
    /// [`CARRY_STALE`](super::CARRY_STALE) where one differs; when the data cannot be read.
    pub fn check_bytes(&self, resources: &Resources, progress: &dyn Progress) -> Result<()> {
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| !sidecar.schema_only) else { return Ok(()) };
        let (home, directory) = home_of(&self.location, self.format);
        let differences = other_bytes(sidecar, &home, directory, resources.threads, progress)?;
        if differences.is_empty() { Ok(()) } else { Err(Sidecar::stale(&home, &differences)) }
    }

    /// That only names and types of the sidecar are used, of data that was changed since or is another version of it: who asks for a part of
    /// it is not told what the sidecar does not read, which only a look at everything finds.
    ///
    /// # Errors
    /// When the ends of files cannot be read.
    pub fn cautions(&self) -> Result<Findings> {
        let mut findings = Findings::default();
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| sidecar.schema_only) else { return Ok(findings) };
        let (home, directory) = home_of(&self.location, self.format);
        let why = match sidecar.differences(&home, directory)?.first() {
            Some(first) => format!("the data was changed after its sidecar was written: {first}"),
            None if self.format.may_differ_from_sidecar(self.native.as_ref(), &self.options) => {
                "the sidecar was written for the newest version of the data, read as it is".to_owned()
            }
            None => return Ok(findings),
        };
        let what = format!("{why}; what the sidecar does not read is not shown");
        findings.push(&CARRY_IN_PART, what, self.location.to_string());
        Ok(findings)
    }

    /// Adds what is wrong with what travels beside the data, if something does: every byte is compared.
    ///
    /// # Errors
    /// When it, or the data, cannot be read.
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
