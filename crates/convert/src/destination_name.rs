//! Checks of the destination's name: published output is opened by its name, without a flag.

use std::path::{Component, Path, PathBuf};

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Location, Root};

use crate::driver::Format;
use crate::open::{Opened, home_of};
use crate::options::WriteOptions;
use crate::registry::Registry;
use crate::sidecar;

/// Rejects a name from which readers would not recognise a text, or recognise another kind; and a name of GraphAr's
/// information files, whatever is written.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`], with a suitable name.
pub fn check_name(to: Format, write: &WriteOptions, destination: &Location, formats: &Registry) -> Result<()> {
    let name = destination.file_name();
    let lower = name.to_ascii_lowercase();
    if let Some(stem) = [".yml", ".yaml"].iter().find_map(|ending| lower.strip_suffix(ending)) {
        let path = destination.to_string();
        let path = path.trim_end_matches('/');
        let stem = path.get(..path.len() - (lower.len() - stem.len())).unwrap_or(path);
        return Err(Error::usage("names with this extension are reserved for information files of GraphAr")
            .at(destination.to_string())
            .hint(to.suggested_name(stem, write)));
    }
    let Some((what, ending)) = to.missing_extension(write, name, formats) else { return Ok(()) };
    Err(Error::usage(format!("{what} is recognised by its name, which must end in .{ending}"))
        .at(destination.to_string())
        .hint(format!("{}.{ending}", destination.to_string().trim_end_matches('/'))))
}

/// Rejects replacing a directory if it is unknown what would be lost: one that is neither empty nor a graph.
///
/// # Errors
/// Returns [`Kind::AlreadyExists`]; also if it cannot be read.
pub fn check_replaced(destination: &Location, formats: &Registry) -> Result<()> {
    if !destination.scheme().has_listing() {
        return Ok(());
    }
    let Ok(root) = Root::open(destination) else { return Ok(()) };
    let entries = root.list_dir("")?;
    let Some(first) = entries.first() else { return Ok(()) };
    if root.try_file(&format!("{}/{}", sidecar::FOLDER, sidecar::DOCUMENT))?.is_some() {
        return Ok(());
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    for format in formats.detection_order() {
        if format.owns_directory(destination, &names)? {
            return Ok(());
        }
    }
    let more = match entries.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Error::new(
        Kind::AlreadyExists,
        format!("the directory is not a graph, and {}{more} in it would be removed", first.name),
    )
    .at(destination.to_string())
    .hint("choose another destination")
    .hint(format!("rm -r {destination}    remove it first")))
}

/// Rejects a destination inside the input, or around it: the output would be part of the input, or replace it.
///
/// # Errors
/// Returns [`Kind::Usage`].
pub fn check_apart(opened: &Opened, destination: &Location) -> Result<()> {
    if !opened.location.as_path().is_some_and(Path::exists) {
        return Ok(());
    }
    let formats = &opened.options.formats;
    let (home, directory) = home_of(&opened.location, opened.format);
    let (Some(source), Some(place)) = (home.as_path().map(resolved), destination.as_path().map(resolved)) else {
        return Ok(());
    };
    let refused = |what: &str| {
        Err(Error::usage(format!("the destination {what} {}, which is the input", source.display()))
            .at(destination.to_string())
            .hint("choose another destination"))
    };
    if place == source {
        // It is replaced after it was read. A directory that is not recognised as a graph would not be, and must not be
        // removed.
        return if directory && check_replaced(destination, formats).is_err() { refused("is") } else { Ok(()) };
    }
    if source.starts_with(&place) {
        return refused("contains");
    }
    let Ok(inside) = place.strip_prefix(&source) else { return Ok(()) };
    // Next to the information file of GraphAr there can be other files and graphs; anything else here is part of this
    // graph.
    let named = opened.location.as_path().is_some_and(|path| resolved(path) != source);
    let is_description = inside.extension().is_some_and(|ending| ending == "yml" || ending == "yaml");
    let is_own = |place: &Path| place.is_dir() && check_replaced(destination, formats).is_err();
    let beside = inside.components().count() == 1 && !is_description && !is_own(&place);
    if directory && !(named && (beside || !place.exists())) { refused("is inside") } else { Ok(()) }
}

/// The path without links and `.` or `..`, also if it does not exist yet.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in whole.ancestors() {
        let Ok(mut found) = above.canonicalize() else { continue };
        for part in whole.strip_prefix(above).into_iter().flat_map(Path::components) {
            match part {
                Component::ParentDir => drop(found.pop()),
                part => found.push(part),
            }
        }
        return found;
    }
    whole
}
