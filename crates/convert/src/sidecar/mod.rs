//! What travels beside the data: what the target cannot say, bound to the files it belongs to.
//!
//! One small JSON document, `_isomorph/carry.json` inside a directory, `<name>.isomorph/carry.json` beside a file. The
//! format's own readers never look there; whoever moves the data without it has an ordinary graph of that format.

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

pub use bind::{rebind, remove, told, verify, verify_as};
pub(crate) use unread::{reread, says_more};

/// Name of the folder inside a directory.
pub const FOLDER: &str = "_isomorph";

/// Name of the document.
pub const DOCUMENT: &str = "carry.json";

/// Version of the document.
pub const VERSION: u32 = 1;

/// Version of a document of which [`Carry::alternate`] is true: who knows only [`VERSION`] would take rows for those of other nodes.
pub const VERSION_ALTERNATE: u32 = 2;

/// The data was changed after the sidecar was written.
pub static CARRY_STALE: Rule = Rule {
    id: "CARRY-STALE",
    severity: Severity::Error,
    says: "what travels beside the data belongs to exactly these files",
    remedy: "isomorph sidecar rebind PATH    if the graph is still the same",
};

/// The data has what the sidecar does not read.
pub static CARRY_UNREAD: Rule = Rule {
    id: "CARRY-UNREAD",
    severity: Severity::Error,
    says: "the data says nothing that its sidecar does not read",
    remedy: "use --sidecar ignore, to read the data without its sidecar",
};

/// The data holds another graph than its sidecar states.
pub static CARRY_OTHER: Rule = Rule {
    id: "CARRY-OTHER",
    severity: Severity::Error,
    says: "a sidecar is bound to files that hold the graph it was written for",
    remedy: "isomorph sidecar drop PATH    keep the data as what it is",
};

/// Only a part of what the data says is shown, because its sidecar does not read the rest.
pub static CARRY_IN_PART: Rule = Rule {
    id: "CARRY-IN-PART",
    severity: Severity::Warning,
    says: "what is read by the names and types of a sidecar is all that the data says",
    remedy: "isomorph digest PATH --sidecar schema    looks at all of it and names what the sidecar does not read",
};

/// What travels beside the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sidecar {
    /// [`VERSION`] or [`VERSION_ALTERNATE`].
    pub version: u32,
    /// Version of isomorph that wrote it.
    pub written_by: String,
    /// Format of the graph that is carried, by its id.
    pub of: String,
    /// Format of the data beside it, by its id.
    pub format: String,
    /// The way from the carried graph to the data.
    pub mapping: Mapping,
    /// Digests of the carried graph; nothing where it was not asked for to know them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
    /// The files of the data, and of what is too large for this document and lies beside it.
    pub files: Vec<Bound>,
    /// Whether nodes of several types lie otherwise than one type behind the other, because somebody has moved them: their keys are read
    /// when the data is opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternate: bool,
    /// Whether its names and types are used, whatever the files are that it is bound to.
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
    /// BLAKE3 of its last 64 KiB, hexadecimal: looked at whenever the data is opened.
    pub tail: String,
    /// BLAKE3 of all of it, hexadecimal.
    pub blake3: String,
}

impl Bound {
    /// The binding of a file that was just written.
    pub fn new(name: impl Into<String>, digest: &FileDigest) -> Self {
        Bound { name: name.into(), size: digest.size, tail: hex(&digest.tail), blake3: hex(&digest.blake3) }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where the sidecar of the data at `location` is, as a location of the document.
///
/// # Errors
/// When the name cannot have a companion.
pub fn location_of(location: &Location, directory: bool) -> Result<Location> {
    if directory {
        return location.join(FOLDER)?.join(DOCUMENT);
    }
    if location.parent().is_none() {
        return Err(Error::usage("a file without a directory").at(location.to_string()));
    }
    location.companion().join(DOCUMENT)
}

impl Sidecar {
    /// The document.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::unsupported(format!("this cannot be carried: {error}")))?;
        text.push('\n');
        Ok(text)
    }

    /// Reads the sidecar of the data at `location`, if there is one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
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
        let sidecar: Sidecar = serde_json::from_slice(&bytes).map_err(|error| {
            Error::malformed(format!("the sidecar cannot be read: {error}"))
                .at(Place::file(place.to_string()).line(error.line() as u64))
                .hint("--sidecar ignore    read the data without it")
        })?;
        if formats.find(&sidecar.of).is_none() {
            return Err(Error::unsupported(format!(
                "the sidecar is of a graph in {:?}, a format that is not known",
                sidecar.of
            ))
            .at(place.to_string())
            .hint("--sidecar ignore    read the data without it"));
        }
        if ![VERSION, VERSION_ALTERNATE].contains(&sidecar.version) {
            return Err(Error::unsupported(format!("a sidecar of version {}", sidecar.version)).at(place.to_string()));
        }
        Ok(Some(sidecar))
    }

    /// Compares names, sizes and tails with the files as they are; reads no file whole. Says what differs.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn differences(&self, location: &Location, directory: bool) -> Result<Vec<String>> {
        let mut differences = Vec::new();
        for bound in &self.files {
            let place = if directory { location.join(&bound.name)? } else { location.clone() };
            let blob = match Blob::open(&place) {
                Ok(blob) => blob,
                Err(error) if error.kind() == Kind::NotFound => {
                    differences.push(format!("{} is gone", bound.name));
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
                differences.push(format!("{} has other bytes", bound.name));
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

    /// The error that a stale carry is.
    pub fn stale(location: &Location, differences: &[String]) -> Error {
        let more = differences.len().saturating_sub(1);
        let first = differences.first().map(String::as_str).unwrap_or_default();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        Error::new(Kind::StaleSidecar, format!("the data was changed after its sidecar was written: {first}{more}"))
            .rule(&CARRY_STALE)
            .at(location.to_string())
            .hint("--sidecar schema    use its names and types, and nothing else of it")
            .hint("--sidecar ignore    read the data as what it is")
    }
}
