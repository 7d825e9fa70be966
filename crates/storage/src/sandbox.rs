//! Checks of relative names from manifests.

use std::path::Path;

use isomorph_error::{Error, Place, Result, Rule, Severity};

use crate::disk::{Disk, NodeKind};
use crate::limits;

/// Broken by a relative name that leaves its root or could be interpreted as leaving it.
pub static PATH_ESCAPE: Rule = Rule {
    id: "STO-PATH-ESCAPE",
    severity: Severity::Error,
    says: "a file name in a dataset must stay below the dataset's directory",
    remedy: "correct the name in the manifest, or pass the right directory with --root",
};

/// Checks that a relative name is clearly below its root.
///
/// It refuses empty names, names of more than 1,024 bytes, absolute names, `.`, `..` and empty components, backslashes,
/// drive letters, NUL and other control characters, and percent-encoded dots, slashes, backslashes and NUL (if another
/// program decodes a name once more, it must not become one of the others).
///
/// # Errors
/// [`PATH_ESCAPE`].
pub fn check(relative: &str) -> Result<()> {
    let refuse = |why: &str| {
        let shown: String = relative.chars().take(80).collect();
        Err(Error::broken(&PATH_ESCAPE, why.to_owned()).at(Place::file(shown)))
    };
    if relative.is_empty() {
        return refuse("the name is empty");
    }
    if relative.len() > limits::PATH_BYTES {
        return refuse("the name is longer than 1,024 bytes");
    }
    if relative.chars().any(char::is_control) {
        return refuse("the name contains a control character");
    }
    if relative.contains('\\') {
        return refuse("the name contains a backslash");
    }
    if relative.starts_with('/') {
        return refuse("the name is absolute");
    }
    let bytes = relative.as_bytes();
    if bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return refuse("the name starts with a drive letter");
    }
    let lower = relative.to_ascii_lowercase();
    if ["%2e", "%2f", "%5c", "%00"].iter().any(|escape| lower.contains(escape)) {
        return refuse("the name contains a percent-encoded dot, slash, backslash or NUL");
    }
    for component in relative.split('/') {
        match component {
            "" => return refuse("the name has an empty component"),
            "." => return refuse("the name has a component `.`"),
            ".." => return refuse("the name leaves its directory through `..`"),
            long if long.len() > limits::NAME_BYTES => return refuse("a component is longer than 255 bytes"),
            _ => {}
        }
    }
    Ok(())
}

/// Checks that `directory` in `base`, which leads to the output file `relative`, is not a link to another location.
///
/// # Errors
/// [`PATH_ESCAPE`]; errors of the disk.
pub(crate) fn check_directory(disk: &dyn Disk, base: &Path, directory: &Path, relative: &str) -> Result<()> {
    let at = || Place::file(relative);
    let node = disk.node(directory).map_err(|error| Error::from(error).at(at()))?;
    if node.is_none_or(|node| node.kind != NodeKind::Other) {
        return Ok(());
    }
    let real = |path: &Path| disk.canonical(path).map_err(|error| Error::from(error).at(at()));
    if real(directory)?.starts_with(real(base)?) {
        return Ok(());
    }
    Err(Error::broken(&PATH_ESCAPE, "the name leaves its directory through a link").at(at()))
}
