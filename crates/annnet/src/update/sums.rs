//! The checksums of a graph whose files change.

use std::collections::BTreeMap;

use isomorph_error::{Error, Place, Result};

use crate::checksum;
use crate::layout::file;
use crate::members::Members;

/// SHA-256 of each file by its name, as it will be after the change.
#[derive(Debug)]
pub(super) struct Sums(BTreeMap<String, String>);

impl Sums {
    /// Reads the checksums that the manifest covers; `None` if it states none.
    ///
    /// # Errors
    /// Returns an error if it states a checksum of another kind, which would be wrong after the change.
    pub fn of(members: &Members, stated: Option<&str>) -> Result<Option<Self>> {
        let Some(stated) = stated else { return Ok(None) };
        let listed = checksum::listed(members, stated)?.ok_or_else(|| {
            Error::unsupported("the checksum in the manifest cannot be updated")
                .at(Place::file(file::MANIFEST).in_field("checksum"))
                .hint("isomorph convert PATH NEW    writes a graph that can be changed")
        })?;
        Ok(Some(Sums(listed)))
    }

    /// Records a file that was written.
    pub fn put(&mut self, name: &str, hash: String) {
        if checksum::is_listed(name) {
            self.0.insert(name.to_owned(), hash);
        }
    }

    /// Records that a file was renamed.
    pub fn rename(&mut self, name: &str, to: String) {
        if let Some(hash) = self.0.remove(name) {
            self.0.insert(to, hash);
        }
    }

    /// Records that a file, or a directory with its contents, was removed.
    pub fn remove(&mut self, path: &str) {
        self.0.retain(|name, _| name.strip_prefix(path).is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/')));
    }

    /// Returns the list, and the value for the manifest.
    pub fn finish(&self) -> (String, String) {
        let list = checksum::list(&self.0);
        let stated = checksum::of_list(&list);
        (list, stated)
    }
}
