//! `store.json`: the only file of a store that changes.

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::{Budget, Location, Root};
use serde_json::{Map, Value};

use crate::json::{self, Object};
use crate::options::shown_time;
use crate::{At, Tolerance, rules};

/// Name of the file.
pub(crate) const STORE: &str = "store.json";

/// How often the file is read again if it was replaced in the meantime.
const ATTEMPTS: u32 = 100;

/// Returns the versions of a store except the one that `at` selects, ascending. Validation reads only the data of that
/// one.
///
/// # Errors
/// Returns an error if there is no store, its list cannot be read, or it does not have the selected snapshot.
pub fn other_versions(location: &Location, at: &At, budget: &Budget) -> Result<Vec<i64>> {
    let root = Root::open(location)?;
    let store = Store::read(&root, Tolerance::Lenient, budget, &mut Findings::keeping(0))?;
    let opened = store.find(at)?.map(|entry| entry.version);
    Ok(store.snapshots.iter().map(|entry| entry.version).filter(|version| Some(*version) != opened).collect())
}

/// The list of snapshots.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    /// The version of the format.
    pub format_version: String,
    /// The location of the store when it was written; stores may be moved.
    pub location: String,
    /// Snapshots, ascending by version.
    pub snapshots: Vec<SnapshotEntry>,
    /// Members that other writers have added.
    pub extra: Map<String, Value>,
}

/// A snapshot, as `store.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotEntry {
    /// Its id: the name of its file without `.json`.
    pub id: String,
    /// Its version, at least 1.
    pub version: i64,
    /// When it was made, in milliseconds since 1970.
    pub timestamp: i64,
}

impl Store {
    /// Reads the list.
    pub(crate) fn read(root: &Root, tolerance: Tolerance, budget: &Budget, findings: &mut Findings) -> Result<Store> {
        for _ in 0..ATTEMPTS {
            match json::read(&root.file(STORE)?, budget) {
                // An object was replaced between two requests: the next attempt reads it whole.
                Err(error) if error.kind() == Kind::Conflict => {}
                members => return Store::of(members?, tolerance, findings),
            }
        }
        Err(Error::new(Kind::Conflict, "the file was changed by other writers during every attempt to read it")
            .at(Place::file(STORE)))
    }

    pub(crate) fn of(members: Map<String, Value>, tolerance: Tolerance, findings: &mut Findings) -> Result<Store> {
        let mut object = Object::new(members, STORE, findings);
        let format_version = object.text_if("format_version").unwrap_or_default();
        let known = format_version == "0.1" || format_version.starts_with("0.1.");
        if !known && tolerance != Tolerance::Lenient {
            return Err(Error::broken(&rules::FORMAT_VERSION, format!("format_version is {format_version:?}"))
                .at(object.place("format_version"))
                .hint("--lenient    reads it as version 0.1"));
        }
        let location = object.text_if("location").unwrap_or_default();
        let mut snapshots = Vec::new();
        for (at, item) in object.array("snapshots")?.into_iter().enumerate() {
            let mut entry = object.inner(&format!("snapshots[{at}]"), item)?;
            snapshots.push(SnapshotEntry {
                id: entry.text("id")?,
                version: entry.integer_or_text("version")?,
                timestamp: entry.integer_or_text("timestamp")?,
            });
        }
        let extra = object.rest();
        snapshots.sort_by_key(|entry| entry.version);
        let same = snapshots.windows(2).find(|pair| pair[0].version == pair[1].version);
        if let Some(pair) = same {
            let message = format!("{} and {} both have version {}", pair[0].id, pair[1].id, pair[0].version);
            return Err(Error::broken(&rules::SEQUENCE, message).at(Place::file(STORE)));
        }
        Ok(Store { format_version, location, snapshots, extra })
    }

    /// Returns the selected snapshot, or `None` if the store has no snapshots and the current one is requested.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if the snapshot does not exist; the hint lists those that exist.
    pub fn find(&self, at: &At) -> Result<Option<&SnapshotEntry>> {
        let found = match at {
            At::Current => return Ok(self.snapshots.last()),
            At::Version(version) => self.snapshots.iter().find(|entry| entry.version == *version),
            At::Id(id) => self.snapshots.iter().find(|entry| entry.id == *id),
            // Of two snapshots with the same time, the greater version counts.
            At::Time(time) => self.snapshots.iter().rev().find(|entry| entry.timestamp <= *time),
        };
        let wanted = || match at {
            At::Current => "any snapshot".to_owned(),
            At::Version(version) => format!("version {version}"),
            At::Id(id) => format!("the snapshot {id:?}"),
            At::Time(time) => format!("a snapshot at or before {}", shown_time(*time)),
        };
        found.map(Some).ok_or_else(|| {
            let there = match (self.snapshots.first(), self.snapshots.last()) {
                (Some(first), Some(last)) => format!(
                    "versions {} to {} ({}), times {} to {}",
                    first.version,
                    last.version,
                    self.snapshots.len(),
                    shown_time(first.timestamp),
                    shown_time(last.timestamp)
                ),
                _ => "no snapshot".to_owned(),
            };
            Error::new(Kind::NotFound, format!("the store does not have {}", wanted()))
                .at(Place::file(STORE))
                .hint(format!("it has {there}"))
        })
    }
}
