//! The sidecar: what the target format cannot store, bound to the files that it belongs to.
//!
//! One small JSON document: `_isomorph/carry.json` inside a directory, `<name>.isomorph/carry.json` next to a file.
//! Other readers of the format ignore it; data that is moved without it is an ordinary graph of that format.

mod bind;
mod precheck;
mod unread;
pub(crate) mod verify;

use isomorph_error::{Error, Kind, Place, Result, Rule, Severity};
use isomorph_storage::{Blob, FileDigest, FileHasher, Location, Root, Scheme, TAIL_BYTES, limits};
use serde::{Deserialize, Serialize};

use crate::digests::Digests;
use crate::mapping::Mapping;
use crate::registry::Registry;

pub(crate) use bind::other_bytes;
pub use bind::{rebind, remove, told, verify, verify_as};
pub(crate) use unread::{reread, says_more};

/// Name of the folder inside a directory.
pub const FOLDER: &str = "_isomorph";

/// Name of the document.
pub const DOCUMENT: &str = "carry.json";

/// Version of the document.
pub const VERSION: u32 = 1;

/// Version of a document with [`Sidecar::alternate`]: readers that know only [`VERSION`] would assign rows to the wrong
/// nodes.
pub const VERSION_ALTERNATE: u32 = 2;

/// The data was changed after the sidecar was written.
pub static CARRY_STALE: Rule = Rule {
    id: "CARRY-STALE",
    severity: Severity::Error,
    says: "a sidecar belongs to exactly the files that it was written for",
    remedy: "isomorph sidecar rebind PATH    if the graph is still the same",
};

/// A table of the sidecar is not as it was written.
pub static CARRY_TABLE: Rule = Rule {
    id: "CARRY-TABLE",
    severity: Severity::Error,
    says: "the tables of a sidecar are as they were written",
    remedy: "convert the original graph again, or take the folder of the sidecar from a copy",
};

/// The data contains something that the sidecar does not read.
pub static CARRY_UNREAD: Rule = Rule {
    id: "CARRY-UNREAD",
    severity: Severity::Error,
    says: "data with a sidecar contains nothing that the sidecar does not read",
    remedy: "use --sidecar ignore to read the data without its sidecar",
};

/// The data holds another graph than its sidecar states.
pub static CARRY_OTHER: Rule = Rule {
    id: "CARRY-OTHER",
    severity: Severity::Error,
    says: "a sidecar is bound to files that hold the graph it was written for",
    remedy: "isomorph sidecar drop PATH    remove the sidecar; the data is then an ordinary graph of its format",
};

/// Only a part of the data is shown, because its sidecar does not read the rest.
pub static CARRY_IN_PART: Rule = Rule {
    id: "CARRY-IN-PART",
    severity: Severity::Warning,
    says: "data that is read by the names and types of a sidecar contains nothing else",
    remedy: "isomorph digest PATH --sidecar schema    reads all data and lists what the sidecar does not read",
};

/// The sidecar of a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sidecar {
    /// [`VERSION`] or [`VERSION_ALTERNATE`].
    pub version: u32,
    /// Version of isomorph that wrote it.
    pub written_by: String,
    /// The format of the graph that it describes, by its id.
    pub of: String,
    /// The format of the data next to it, by its id.
    pub format: String,
    /// The mapping from the described graph to the data.
    pub mapping: Mapping,
    /// Digests of the described graph; `None` if they were not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
    /// The files of the data, and further files of the sidecar that are too large for this document.
    pub files: Vec<Bound>,
    /// Whether nodes of several types are not stored type after type, because rows were moved: then their keys are read
    /// when the data is opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternate: bool,
    /// Whether only names and types are used, even if the files have changed.
    #[serde(skip)]
    pub schema_only: bool,
}

/// A file that a sidecar belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Name, relative to the directory; for a single file its own name.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// BLAKE3 of its last 64 KiB, hexadecimal: compared whenever the data is opened.
    pub tail: String,
    /// BLAKE3 of all of it, hexadecimal.
    pub blake3: String,
}

impl Bound {
    /// Binds a file that was just written.
    pub fn new(name: impl Into<String>, digest: &FileDigest) -> Self {
        Bound { name: name.into(), size: digest.size, tail: hex(&digest.tail), blake3: hex(&digest.blake3) }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The location of the sidecar document of the data at `location`.
///
/// # Errors
/// If the name cannot have a companion.
pub fn location_of(location: &Location, directory: bool) -> Result<Location> {
    if directory {
        return location.join(FOLDER)?.join(DOCUMENT);
    }
    if location.parent().is_none() {
        return Err(Error::usage("a file without a directory").at(location.to_string()));
    }
    location.companion().join(DOCUMENT)
}

impl Bound {
    /// The location of the file, where `home` is that of the data.
    ///
    /// # Errors
    /// If its name leads out of there.
    pub(super) fn location(&self, home: &Location, directory: bool) -> Result<Location> {
        match self.name.strip_prefix(FOLDER).and_then(|name| name.strip_prefix('/')) {
            _ if directory => home.join(&self.name),
            Some(name) => home.companion().join(name),
            None => Ok(home.clone()),
        }
    }
}

impl Sidecar {
    /// Serializes the document.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::unsupported(format!("the sidecar cannot be written: {error}")))?;
        text.push('\n');
        Ok(text)
    }

    /// Reads the sidecar of the data at `location`, if it has one.
    ///
    /// # Errors
    /// If it exists and cannot be read.
    pub fn read(location: &Location, directory: bool, formats: &Registry) -> Result<Option<Sidecar>> {
        if location.scheme() == Scheme::Stream {
            return Ok(None);
        }
        let place = location_of(location, directory)?;
        let blob = match Blob::open(&place) {
            Ok(blob) => blob,
            Err(error) if error.kind() == Kind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let bytes = blob.read_all(limits::MANIFEST_BYTES)?;
        let mut sidecar: Sidecar = serde_json::from_slice(&bytes).map_err(|error| {
            Error::malformed(format!("the sidecar cannot be read: {error}"))
                .at(Place::file(place.to_string()).line(error.line() as u64))
                .hint("--sidecar ignore    read the data without it")
        })?;
        if formats.find(&sidecar.of).is_none() {
            return Err(Error::unsupported(format!(
                "the sidecar describes a graph of the unknown format {:?}",
                sidecar.of
            ))
            .at(place.to_string())
            .hint("--sidecar ignore    read the data without it"));
        }
        if ![VERSION, VERSION_ALTERNATE].contains(&sidecar.version) {
            return Err(Error::unsupported(format!("sidecar version {} is not supported", sidecar.version))
                .at(place.to_string()));
        }
        if let Some(folder) = place.parent() {
            sidecar.mapping = sidecar.mapping.in_folder(folder);
        }
        Ok(Some(sidecar))
    }

    /// Compares names, sizes and tails with the current files, without reading whole files. Returns the differences.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn differences(&self, location: &Location, directory: bool) -> Result<Vec<String>> {
        let mut differences = Vec::new();
        for bound in &self.files {
            let place = bound.location(location, directory)?;
            let blob = match Blob::open(&place) {
                Ok(blob) => blob,
                Err(error) if error.kind() == Kind::NotFound => {
                    differences.push(format!("{} does not exist", bound.name));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if blob.size() != bound.size {
                differences.push(format!("{} has {} bytes, not {}", bound.name, blob.size(), bound.size));
                continue;
            }
            let tail = blob.read(blob.size().saturating_sub(TAIL_BYTES as u64)..blob.size())?;
            let mut hasher = FileHasher::new();
            hasher.update(&tail);
            if hex(&hasher.finish().blake3) != bound.tail {
                differences.push(format!("{} has different bytes", bound.name));
            }
        }
        if directory {
            let bound: std::collections::HashSet<&str> = self.files.iter().map(|bound| bound.name.as_str()).collect();
            let inside = format!("{FOLDER}/");
            for entry in Root::open(location)?.list("")? {
                if !bound.contains(entry.name.as_str()) && !entry.name.starts_with(&inside) {
                    differences.push(format!("{} is new", entry.name));
                }
            }
        }
        Ok(differences)
    }

    /// The error for a stale sidecar.
    pub fn stale(location: &Location, differences: &[String]) -> Error {
        let more = differences.len().saturating_sub(1);
        let first = differences.first().map(String::as_str).unwrap_or_default();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        if first.starts_with(&format!("{FOLDER}/")) {
            return Error::new(Kind::StaleSidecar, format!("a table of the sidecar is damaged: {first}{more}"))
                .rule(&CARRY_TABLE)
                .at(location.to_string())
                .hint("--sidecar ignore    read the data as an ordinary graph of its format, without what the table holds");
        }
        Error::new(Kind::StaleSidecar, format!("the data was changed after its sidecar was written: {first}{more}"))
            .rule(&CARRY_STALE)
            .at(location.to_string())
            .hint("--sidecar schema    use only its names and types")
            .hint("--sidecar ignore    read the data as an ordinary graph of its format")
    }
}
