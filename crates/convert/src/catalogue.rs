//! The graphs in a directory that is not a graph itself.

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{COMPANION_SUFFIX, Location, Root};

use crate::registry::Format;

/// Most entries of a directory that are looked at.
const ENTRIES: usize = 10_000;

/// Graphs that an error lists.
const LISTED: usize = 12;

/// The graphs directly in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Each graph, sorted by name.
    pub graphs: Vec<Listed>,
    /// Number of entries that were not looked at, because the directory has too many.
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

/// The graphs directly in the directory `location`; none for a file. Sidecars and names that begin with `.` or `_` are skipped.
///
/// # Errors
/// When the directory or an entry cannot be read.
pub fn catalogue(location: &Location) -> Result<Catalogue> {
    let mut found = Catalogue::default();
    if !location.scheme().has_listing() {
        return Ok(found);
    }
    let root = match Root::open(location) {
        Ok(root) => root,
        Err(error) if matches!(error.kind(), Kind::Usage | Kind::NotFound) => return Ok(found),
        Err(error) => return Err(error),
    };
    let mut entries = root.list_dir("")?;
    entries.retain(|entry| !entry.name.starts_with(['.', '_']) && !entry.name.ends_with(COMPANION_SUFFIX));
    found.skipped = entries.len().saturating_sub(ENTRIES);
    for entry in entries.iter().take(ENTRIES) {
        let location = location.join(&entry.name)?;
        for format in Format::ALL {
            let is_format = match format.detect(&location) {
                // Files come and go while a directory is looked at.
                Err(error) if error.kind() == Kind::NotFound => false,
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

/// The error for a directory that holds graphs and is none itself.
pub(crate) fn not_one_graph(location: &Location, catalogue: &Catalogue) -> Error {
    let count = match catalogue.graphs.len() {
        1 => "1 graph".to_owned(),
        count => format!("{count} graphs"),
    };
    let error =
        Error::unsupported(format!("this directory is not a graph itself; it holds {count}")).at(location.to_string());
    let listed = catalogue.graphs.iter().take(LISTED);
    let error = listed.fold(error, |error, graph| error.hint(format!("{}    {}", graph.location, graph.format)));
    if catalogue.graphs.len() > LISTED { error.hint("isomorph info PATH    lists them all") } else { error }
}
