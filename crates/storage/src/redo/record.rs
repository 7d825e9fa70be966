//! The redo record, as it is stored on disk.

use std::collections::BTreeSet;

use isomorph_error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::leftover::AsideName;
use crate::sandbox;

/// A step; names are relative to the directory of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// `with` replaces `to`. If a directory is in the way, it is moved to `old` first.
    Replace {
        with: String,
        to: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old: Option<String>,
    },
    /// The file `to` becomes the directory `with`, in which it is called `first`.
    Nest { with: String, to: String, first: String },
    /// `path` is removed.
    Remove { path: String },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    isomorph_redo: u32,
    steps: Vec<Step>,
    /// BLAKE3 of the steps as JSON.
    check: String,
}

const VERSION: u32 = 1;

/// Encodes the record.
pub(super) fn written(steps: &[Step]) -> Result<Vec<u8>> {
    let internal = |error: serde_json::Error| Error::usage("the change cannot be recorded").caused_by(error);
    let record = Record { isomorph_redo: VERSION, steps: steps.to_vec(), check: check(steps)? };
    let mut bytes = serde_json::to_vec_pretty(&record).map_err(internal)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn check(steps: &[Step]) -> Result<String> {
    let json = serde_json::to_vec(steps).map_err(|error| Error::malformed("unreadable record").caused_by(error))?;
    Ok(blake3::hash(&json).to_hex().to_string())
}

/// The names that a record may contain. Records come with the data and are not trusted either.
#[derive(Debug, Clone)]
pub(super) enum Scope {
    /// One file or directory and its companion; the replacements are in our directory next to them.
    Beside { targets: BTreeSet<String>, aside: AsideName },
    /// Everything in a dataset except the redo files; the replacements are below this prefix.
    Within { prefix: &'static str, aside: AsideName },
}

impl Scope {
    fn allows(&self, step: &Step) -> bool {
        match step {
            Step::Replace { with, to, old } => {
                self.is_aside(with) && self.is_target(to) && old.as_ref().is_none_or(|old| self.is_aside(old))
            }
            Step::Nest { with, to, first } => {
                let is_name = sandbox::check(first).is_ok() && !first.contains('/');
                self.is_aside(with) && self.is_target(to) && is_name
            }
            Step::Remove { path } => self.is_target(path),
        }
    }

    fn is_aside(&self, name: &str) -> bool {
        let (inner, aside) = match self {
            Scope::Beside { aside, .. } => (Some(name), aside),
            Scope::Within { prefix, aside } => (name.strip_prefix(prefix), aside),
        };
        let directory = inner.and_then(|inner| inner.split_once('/')).map(|(directory, _)| directory);
        sandbox::check(name).is_ok() && directory.is_some_and(|directory| aside.matches(directory))
    }

    fn is_target(&self, name: &str) -> bool {
        match self {
            Scope::Beside { targets, .. } => targets.contains(name),
            Scope::Within { prefix, .. } => {
                sandbox::check(name).is_ok() && !name.starts_with(&format!("{prefix}redo")) && !prefix.starts_with(name)
            }
        }
    }
}

/// Decodes the steps of a record.
pub(super) fn read(bytes: &[u8], scope: &Scope) -> Result<Vec<Step>> {
    let unreadable = || Error::malformed("the record of an interrupted change is damaged");
    let record: Record = serde_json::from_slice(bytes).map_err(|error| unreadable().caused_by(error))?;
    if record.isomorph_redo != VERSION {
        return Err(Error::unsupported("the record of an interrupted change was written by a newer version"));
    }
    if check(&record.steps)? != record.check {
        return Err(unreadable());
    }
    if record.steps.iter().all(|step| scope.allows(step)) {
        Ok(record.steps)
    } else {
        Err(Error::broken(&sandbox::PATH_ESCAPE, "the record of a change names files that it may not touch"))
    }
}
