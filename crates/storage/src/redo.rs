//! Several files that change together, in a place where one rename is not enough.
//!
//! What is to be done is written down as a record, durably, before the first step. From then on the change is made:
//! whoever opens the place next repeats the steps that are missing. Repeating a step that was done does nothing.

mod change;
mod journal;
mod record;

use std::path::Path;

use isomorph_error::{Error, Result};

use crate::Location;
use crate::disk::{Node, NodeKind};
use crate::platform::parent_of;
pub use change::{Changed, Redo};
pub(crate) use journal::Journal;
pub(crate) use record::Step;

/// Finishes an interrupted replacement of the local file or directory at `location`, if there is one.
pub(crate) fn recover_beside(location: &Location) -> Result<bool> {
    let Some(path) = location.as_path().filter(|_| !location.file_name().is_empty()) else { return Ok(false) };
    let disk = location.disk();
    // A record is beside what a link points to.
    let target = match disk.node(path) {
        Ok(Some(Node { kind: NodeKind::Other, .. })) => disk.canonical(path).unwrap_or_else(|_| path.to_owned()),
        _ => path.to_owned(),
    };
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    Journal::beside(&disk, parent_of(&target), &name).recover()
}

/// Finishes an interrupted change inside the local directory at `location`, if there is one.
pub(crate) fn recover_within(location: &Location) -> Result<bool> {
    location.as_path().map_or(Ok(false), |path| Journal::within(&location.disk(), path).recover())
}

/// The name of `path` relative to `base`, with `/` between components.
pub(crate) fn below(base: &Path, path: &Path) -> Result<String> {
    let unnamed = || Error::usage("a destination whose name is not UTF-8 cannot be replaced in one step");
    let relative = path.strip_prefix(base).or_else(|_| path.strip_prefix("./")).unwrap_or(path);
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    Ok(names.ok_or_else(unnamed)?.join("/"))
}
