//! Which graph a scan reads, so that another process finds the same one.

use isomorph::convert::{OpenOptions, Registry, SidecarUse, home_of};
use isomorph::formats::flat::PlainTable;
use isomorph::formats::graphlake::{self, At, GraphLake};
use isomorph::storage::{Blob, FileHasher, Resources, Root, Scheme};
use isomorph::{Error, Graph, Kind, Location, Result};
use isomorph_query::distributed::Tables;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// A graph or a table file that every machine of a cluster sees: its place, its format, and which state of it. No credentials: each machine has its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// An absolute path, or a URL.
    place: String,
    /// The id of the format; nothing for a table file.
    format: Option<String>,
    /// The version of the snapshot, of a lake.
    version: Option<i64>,
    /// What tells this state of the files from others: the id of the snapshot, or a digest of their names, sizes and times.
    state: String,
}

impl Place {
    /// The place of a graph that was opened with default options, apart from format, memory and the snapshot of a lake.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a graph that other processes cannot open in the same way.
    pub fn of_graph(graph: &Graph) -> Result<Self> {
        let opened = graph.opened();
        let place = shared(&opened.location)?;
        if opened.options.sidecar != SidecarUse::default() || opened.options.unsound || opened.is_part {
            return Err(Error::unsupported("how this graph was opened does not travel to a cluster")
                .at(place)
                .hint("open it without --sidecar and --lenient"));
        }
        let lake = opened.native.as_any().and_then(|any| any.downcast_ref::<GraphLake>());
        let (version, state) = match lake.map(GraphLake::snapshot) {
            Some(snapshot) if snapshot.version > 0 => (Some(snapshot.version), snapshot.id.clone()),
            _ => (None, state(&opened.location, Some(opened.format))?),
        };
        Ok(Place { place, format: Some(opened.format.id().to_owned()), version, state })
    }

    /// The place of a table file.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for standard input; and if the file cannot be read.
    pub fn of_file(location: &Location) -> Result<Self> {
        let place = shared(location)?;
        Ok(Place { place, format: None, version: None, state: state(location, None)? })
    }

    /// The path or URL.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether its state never changes: a snapshot of a lake.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.version.is_some()
    }

    /// Opens its tables, with this much memory.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if the files are not in the state that they had; and as [`Graph::open`].
    pub(crate) fn open(&self, resources: &Resources) -> Result<Tables> {
        let location = Location::parse(&self.place)?;
        let Some(id) = &self.format else {
            self.check(&location, None)?;
            return Ok(Tables::of_file(PlainTable::open(&location)?));
        };
        let formats = Registry::standard();
        let format = formats.all().iter().find(|format| format.id() == id).copied();
        let format =
            format.ok_or_else(|| Error::unsupported(format!("this executor does not know the format {id}")))?;
        let mut options = OpenOptions { from: Some(format), formats, ..OpenOptions::default() };
        if let Some(version) = self.version {
            options.get_mut::<graphlake::OpenOptions>().at = At::Version(version);
        }
        let graph = Graph::open(&location, &options, resources.clone())?;
        match self.version {
            Some(_) => {
                let lake = graph.opened().native.as_any().and_then(|any| any.downcast_ref::<GraphLake>());
                if lake.is_none_or(|lake| lake.snapshot().id != self.state) {
                    return Err(self.changed());
                }
            }
            None => self.check(&location, Some(format))?,
        }
        Ok(Tables::of_graph(Arc::new(graph)))
    }

    fn check(&self, location: &Location, format: Option<isomorph::convert::Format>) -> Result<()> {
        if state(location, format)? == self.state { Ok(()) } else { Err(self.changed()) }
    }

    fn changed(&self) -> Error {
        Error::new(Kind::Conflict, "the files are not those from which the plan was made")
            .at(self.place.clone())
            .hint("ask again; if it fails again, the machines do not see the same files")
    }
}

/// The place as every machine names it.
fn shared(location: &Location) -> Result<String> {
    if location.scheme() == Scheme::Stream {
        return Err(Error::unsupported("standard input does not travel to a cluster")
            .hint("save it as a file that every machine sees"));
    }
    let Some(path) = location.as_path() else { return Ok(location.to_string()) };
    let whole = std::fs::canonicalize(path).map_err(|error| Error::from(error).at(location.to_string()))?;
    let text = whole.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| Error::unsupported("a path that is no UTF-8 does not travel").at(location.to_string()))
}

/// A digest of names, sizes and times of the files of a graph. In an object store, of names and sizes: a listing has no more.
fn state(location: &Location, format: Option<isomorph::convert::Format>) -> Result<String> {
    let mut hasher = FileHasher::new();
    let (home, is_directory) = match format {
        Some(format) => home_of(location, format),
        None => (location.clone(), false),
    };
    if is_directory && home.scheme().has_listing() {
        let root = Root::open(&home)?;
        let mut entries: Vec<_> = root.list("")?.into_iter().filter(|entry| !entry.is_dir).collect();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        for entry in entries {
            let path = home.as_path().map(|path| path.join(&entry.name));
            let changed = path.and_then(|path| std::fs::metadata(path).and_then(|file| file.modified()).ok());
            add(&mut hasher, &entry.name, entry.size, changed);
        }
    } else {
        for place in [location.clone(), home.companion()] {
            match Blob::open(&place) {
                Ok(blob) => {
                    let opened = blob.opened_as();
                    add(&mut hasher, "", opened.size, opened.modified);
                    hasher.update(opened.etag.as_deref().unwrap_or_default().as_bytes());
                }
                // A directory of such a format has no listing, and its files are checked when they are read.
                Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Usage) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(hasher.finish().blake3.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn add(hasher: &mut FileHasher, name: &str, size: u64, changed: Option<std::time::SystemTime>) {
    let time = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos());
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    hasher.update(&size.to_le_bytes());
    hasher.update(&time.to_le_bytes());
}
