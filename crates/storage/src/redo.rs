//! Changes several files together where one rename is not enough.
//!
//! All steps are written durably to a record before the first one is performed. From then on the change is committed:
//! the next process that opens the location performs the missing steps. Repeating a step has no effect.

mod change;
mod journal;
mod record;

use std::io;
use std::path::Path;

use isomorph_error::{Error, Kind, Result};

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
    // The redo record is stored next to the link's target.
    let target = match disk.node(path) {
        Ok(Some(Node { kind: NodeKind::Other, .. })) => disk.canonical(path).unwrap_or_else(|_| path.to_owned()),
        _ => path.to_owned(),
    };
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    Journal::beside(&disk, parent_of(&target), &name).recover().map_err(|error| as_asked(error, location))
}

/// Finishes an interrupted change inside the local directory at `location`, if there is one.
pub(crate) fn recover_within(location: &Location) -> Result<bool> {
    let recovered = location.as_path().map_or(Ok(false), |path| Journal::within(&location.disk(), path).recover());
    recovered.map_err(|error| as_asked(error, location))
}

/// Reports a permission error with the location that the user gave: who cannot read a directory does not know of the
/// records in it.
fn as_asked(error: Error, location: &Location) -> Error {
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
    if error.kind() != Kind::Io || cause.is_none_or(|cause| cause.kind() != io::ErrorKind::PermissionDenied) {
        return error;
    }
    Error::new(Kind::Io, error.message())
        .caused_by(io::Error::from(io::ErrorKind::PermissionDenied))
        .at(location.to_string())
}

/// Returns `path` relative to `base`, with `/` between components.
pub(crate) fn below(base: &Path, path: &Path) -> Result<String> {
    let unnamed = || Error::usage("cannot replace a destination whose name is not UTF-8 in one step");
    let relative = path.strip_prefix(base).or_else(|_| path.strip_prefix("./")).unwrap_or(path);
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    Ok(names.ok_or_else(unnamed)?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_names_what_was_asked_for() {
        let location = Location::from_path(Path::new("/closed/graph.parq"));
        let denied = || Error::from(io::Error::from(io::ErrorKind::PermissionDenied)).at("/closed/.graph.parq.redo");
        assert_eq!(as_asked(denied(), &location).place().file.as_deref(), Some("/closed/graph.parq"));
        let damaged = Error::malformed("the record is damaged").at("/open/.graph.parq.redo");
        assert_eq!(as_asked(damaged, &location).place().file.as_deref(), Some("/open/.graph.parq.redo"));
    }
}
