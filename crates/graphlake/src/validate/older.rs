//! Files of snapshots that are not opened: checks that they exist and have the stated size (V3). They are not read.

use std::collections::{BTreeMap, HashMap};

use isomorph_error::{Findings, Kind, Place, Result};
use isomorph_storage::Entry;

use crate::path;
use crate::read::GraphLake;
use crate::rules;

/// Sizes and versions, of the first snapshot that lists each, by name.
#[derive(Default)]
pub(super) struct Older(BTreeMap<String, (u64, i64)>);

impl Older {
    pub(super) fn note(&mut self, name: &str, size: u64, version: i64) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), (size, version));
        }
    }

    /// Checks those that the opened snapshot does not have. `listed` are files that are known to exist.
    pub(super) fn check(mut self, lake: &GraphLake, listed: &[Entry], findings: &mut Findings) -> Result<()> {
        for (_, file) in lake.snapshot.graphs.iter().flat_map(|graph| graph.files()) {
            if let Ok(name) = path::resolve(&file.path, &lake.store.location) {
                self.0.remove(&name);
            }
        }
        let listed: HashMap<&str, u64> = listed.iter().map(|entry| (entry.name.as_str(), entry.size)).collect();
        for (name, (stated, version)) in self.0 {
            let size = match listed.get(name.as_str()) {
                Some(size) => Ok(*size),
                // Files may be in any directory.
                None => lake.root.file(&name).map(|blob| blob.size()),
            };
            let message = match size {
                Ok(size) if size == stated => continue,
                Ok(size) => format!("the file has {size} bytes, but its metadata states {stated} (version {version})"),
                Err(error) if error.kind() == Kind::NotFound => {
                    format!("the file is missing (version {version})")
                }
                Err(error) if error.kind() == Kind::Io => return Err(error),
                Err(error) => format!("{} (version {version})", error.message()),
            };
            findings.push(&rules::FILE, message, Place::file(name));
        }
        Ok(())
    }
}
