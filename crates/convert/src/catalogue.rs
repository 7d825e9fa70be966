//! The graphs in a directory that is not a graph itself.

use std::collections::BTreeMap;

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{COMPANION_SUFFIX, Location, Root};

use crate::driver::Format;
use crate::registry::Registry;

/// Maximum number of directory entries that are examined.
const ENTRIES: usize = 10_000;

/// Maximum number of graphs that an error lists.
const LISTED: usize = 12;

/// The graphs directly in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Each graph, sorted by name.
    pub graphs: Vec<Listed>,
    /// Number of entries that were not examined, because the directory has too many.
    pub skipped: usize,
}

/// A graph in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub location: Location,
    /// Its format.
    pub format: Format,
}

/// The graphs directly in the directory `location`; empty for a file. Sidecars and names that start with `.` or `_` are
/// skipped.
///
/// # Errors
/// If the directory or an entry cannot be read.
pub fn catalogue(location: &Location, formats: &Registry) -> Result<Catalogue> {
    let mut found = Catalogue::default();
    if !location.scheme().has_listing() {
        return Ok(found);
    }
    let root = match Root::open(location) {
        Ok(root) => root,
        Err(error) if matches!(error.kind(), Kind::Usage | Kind::NotFound) => return Ok(found),
        Err(error) => return Err(error),
    };
    let mut names: BTreeMap<String, bool> = root.list_dir("")?.into_iter().map(|entry| (entry.name, false)).collect();
    for name in links(location)? {
        names.entry(name).or_insert(true);
    }
    names.retain(|name, _| !name.starts_with(['.', '_']) && !name.ends_with(COMPANION_SUFFIX));
    found.skipped = names.len().saturating_sub(ENTRIES);
    for (name, leads_away) in names.iter().take(ENTRIES) {
        let location = location.join(name)?;
        for format in formats.detection_order() {
            let is_format = match format.detect(&location) {
                // Files may appear and disappear in the meantime.
                Err(error) if error.kind() == Kind::NotFound => false,
                // The target of a link may have nothing to do with the directory.
                Err(_) if *leads_away => false,
                is_format => is_format?,
            };
            if is_format {
                found.graphs.push(Listed { location, format });
                break;
            }
        }
    }
    Ok(found)
}

/// Links in a local directory: they may lead to directories, and out of the directory, and the directory's own list
/// omits these.
fn links(location: &Location) -> Result<Vec<String>> {
    let Some(path) = location.as_path() else { return Ok(Vec::new()) };
    let mut links = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| Error::from(error).at(location.to_string()))? {
        let entry = entry.map_err(|error| Error::from(error).at(location.to_string()))?;
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link && entry.path().exists() {
            links.extend(entry.file_name().into_string());
        }
    }
    Ok(links)
}

/// The error for a directory that contains graphs and is not a graph itself.
pub(crate) fn not_one_graph(location: &Location, catalogue: &Catalogue) -> Error {
    let count = match catalogue.graphs.len() {
        1 => "1 graph".to_owned(),
        count => format!("{count} graphs"),
    };
    let error =
        Error::unsupported(format!("this directory is not a graph itself; it holds {count}")).at(location.to_string());
    let listed = catalogue.graphs.iter().take(LISTED);
    let error = listed.fold(error, |error, graph| error.hint(format!("{}    {}", graph.location, graph.format)));
    if catalogue.graphs.len() > LISTED { error.hint("isomorph info PATH    list them all") } else { error }
}
