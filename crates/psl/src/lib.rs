//! PSL, probabilistic soft logic: predicates with truth in files of tabs, and the data file that names them.
//!
//! See the README of the crate.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod data;
mod layout;
mod repeated;
pub mod rules;
mod source;
mod write;

use isomorph_error::{Kind, Result};
use isomorph_model::Graph;
use isomorph_storage::{Budget, Location, Root};

pub use capability::{CAPABILITY, CONSTANT, holds, stored, unheld};
pub use source::Predicates;
pub use write::{PredicatesWriter, WriteOptions};

/// The name of the data file that is written.
pub const DATA: &str = "graph.data";

/// The extension of data files.
const EXTENSION: &str = ".data";

/// How a program's data is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The graph that was written, if a sidecar knows it.
    pub shown: Option<Graph>,
    /// Memory for the names of constants.
    pub budget: Option<Budget>,
}

/// The directory of a data file, and its name: `location` is the file, or a directory with one.
///
/// # Errors
/// If the location cannot be read.
pub(crate) fn find(location: &Location) -> Result<Option<(Root, String)>> {
    let name = location.file_name().to_owned();
    let is_directory = location.as_path().is_none_or(std::path::Path::is_dir);
    if name.ends_with(EXTENSION) && !is_directory {
        let Some(directory) = location.parent() else { return Ok(None) };
        return Ok(Some((Root::open(&directory)?, name)));
    }
    if !location.scheme().has_listing() {
        return Ok(None);
    }
    let root = match Root::open(location) {
        Ok(root) => root,
        Err(error) if error.kind() == Kind::Usage => return Ok(None),
        Err(error) => return Err(error),
    };
    let files = root.list_dir("")?;
    let mut found = files.into_iter().filter(|file| !file.is_dir && file.name.ends_with(EXTENSION));
    let first = found.next().map(|file| file.name);
    Ok(match (first, found.next()) {
        (Some(name), None) => Some((root, name)),
        _ => None,
    })
}

/// Whether there is a data file of PSL at `location`.
///
/// # Errors
/// If the location cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    let Some((root, name)) = find(location)? else { return Ok(false) };
    let bytes = match root.read(&name, isomorph_storage::limits::MANIFEST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), Kind::TooLarge) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(std::str::from_utf8(&bytes).is_ok_and(data::begins))
}

/// Whether all files of a directory belong to the data of one program. `names` lists the directory.
///
/// # Errors
/// If the data file cannot be read.
pub fn owns(directory: &Location, names: &[&str]) -> Result<bool> {
    let Some((root, name)) = find(directory)? else { return Ok(false) };
    let bytes = root.read(&name, isomorph_storage::limits::MANIFEST_BYTES)?;
    let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(false) };
    let Ok(data) = data::parse(text, &name) else { return Ok(false) };
    let files: Vec<&str> = data.files.iter().map(|file| file.name.as_str()).collect();
    Ok(names.iter().all(|own| *own == name || files.contains(own)))
}
