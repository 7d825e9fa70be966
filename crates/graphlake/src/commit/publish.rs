//! Claims and publishes versions, and completes the commit of a writer that stopped between the two.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::Additions;
use serde_json::{Value, json};

use super::Lake;
use super::base::Base;
use super::change::{Changes, compose};
use crate::snapshot::file_of;
use crate::store::{STORE, SnapshotEntry};
use crate::{Snapshot, json, path, rules};

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// The version of the new snapshot.
    pub version: i64,
    /// The id of that snapshot.
    pub id: String,
    /// Its time, in milliseconds since 1970.
    pub timestamp: i64,
    /// Triples that were written, counted in each graph, as the log counts them. Some of them may have existed before.
    pub inserted: u64,
    /// Quoted triples that were written in addition.
    pub quoted: u64,
    /// Written triples that existed before; `None` if looking them up would have cost more than writing them.
    pub again: Option<u64>,
    /// Triples that existed and were deleted.
    pub deleted: u64,
    /// Triples to be deleted that did not exist.
    pub missing: u64,
    /// New files of triples.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// How often another writer was faster, so that the commit was repeated on top of its changes.
    pub lost: u32,
}

/// The result of an attempt to make a version.
pub(crate) enum Attempt {
    /// It is visible to all readers.
    Done(SnapshotEntry),
    /// Another writer made it.
    Lost,
}

/// Whether a claimed snapshot is listed.
enum Listed {
    Yes,
    /// Later versions are listed already: the version was claimed too late, on top of a state that is not current.
    Superseded,
}

impl Lake {
    /// Makes the snapshot that differs from `base` by `changes`, whose files are durable: `additions`, which must not
    /// be removed once the snapshot may exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or another writer's claim is broken.
    pub(crate) fn make(&self, base: &Base, additions: &Additions, changes: Changes) -> Result<Attempt> {
        let entry = base.next(self.now())?;
        let name = file_of(&entry.id);
        let text = compose(base, &entry, changes)?;
        // Whatever fails from here on, the snapshot may be found, and published, by another writer.
        additions.keep(true);
        let ours = self.shared.create(&name, text.clone())?
            // If the answer of an object store was lost, its client repeats the request, and finds the object that it
            // has just put.
            || self.shared.read(&name, json::LIMIT)?.is_some_and(|found| found == text);
        if !ours {
            additions.keep(false);
            self.finish_other(base, &entry)?;
            return Ok(Attempt::Lost);
        }
        match self.publish(&entry)? {
            Listed::Yes => Ok(Attempt::Done(entry)),
            Listed::Superseded => match self.shared.read(&name, json::LIMIT)? {
                // It was published by another writer, expired and was removed since: it counts as made.
                None => Ok(Attempt::Done(entry)),
                Some(_) => {
                    self.shared.remove(&name)?;
                    additions.keep(false);
                    Ok(Attempt::Lost)
                }
            },
        }
    }

    /// Publishes the version of `entry`, which another writer has claimed, unless that was done already.
    pub(super) fn finish_other(&self, base: &Base, entry: &SnapshotEntry) -> Result<()> {
        let name = file_of(&entry.id);
        // The writer that claimed it too late has removed it.
        let Some(bytes) = self.shared.read(&name, json::LIMIT)? else { return Ok(()) };
        let broken = |message: String| {
            Error::broken(&rules::STORE_ENTRY, message)
                .of_kind(Kind::Incomplete)
                .at(Place::file(name.clone()))
                .hint("if no other writer is running, move that file away and run again")
        };
        let parsed = json::parse(&bytes).and_then(|members| Snapshot::of(members, &name, &mut Findings::keeping(0)));
        let other =
            parsed.map_err(|error| broken(format!("another writer's snapshot is broken: {}", error.message())))?;
        if (other.version, other.id.as_str()) != (entry.version, entry.id.as_str()) {
            return Err(broken(format!("the file contains {} of version {}", other.id, other.version)));
        }
        let before: HashSet<String> = base.paths()?;
        for file in other.graphs.iter().flat_map(|graph| graph.files()).map(|(_, file)| file) {
            if !before.contains(&file.path) {
                let path = path::resolve(&file.path, &base.store.location)?;
                let there = self.root.try_file(&path)?.is_some_and(|blob| blob.size() == file.size);
                if !there {
                    return Err(broken(format!("another writer's snapshot lists {path}, which does not exist")));
                }
            }
        }
        // The other writer may have been stopped before the name was durable.
        self.shared.sync_directory("snapshots")?;
        let entry = SnapshotEntry { id: other.id, version: other.version, timestamp: other.timestamp };
        self.publish(&entry).map(drop)
    }

    /// Lists a claimed snapshot, if no writer did.
    fn publish(&self, entry: &SnapshotEntry) -> Result<Listed> {
        let mut listed = Listed::Yes;
        self.shared.update(STORE, json::LIMIT, &mut |before| {
            let mut store = json::parse(before).map_err(|error| error.at(Place::file(STORE)))?;
            let snapshots = snapshots_of(&mut store)?;
            let same = snapshots.iter().any(|one| version_of(one) == Some(entry.version) && one["id"] == entry.id);
            if same {
                listed = Listed::Yes;
                return Ok(None);
            }
            if snapshots.iter().filter_map(version_of).any(|version| version >= entry.version) {
                listed = Listed::Superseded;
                return Ok(None);
            }
            listed = Listed::Yes;
            snapshots.push(json!({ "id": entry.id, "version": entry.version, "timestamp": entry.timestamp }));
            Ok(Some(Value::Object(store).to_string().into_bytes()))
        })?;
        Ok(listed)
    }

    /// The time of a new snapshot, in milliseconds since 1970, if it is later than that of the previous one.
    fn now(&self) -> i64 {
        let time = self.writing.time.unwrap_or_else(SystemTime::now);
        // A clock before 1970, or out of range, is ignored: then the last snapshot's time counts.
        time.duration_since(UNIX_EPOCH).ok().and_then(|span| i64::try_from(span.as_millis()).ok()).unwrap_or_default()
    }
}

impl Base {
    /// Names of all files.
    fn paths(&self) -> Result<HashSet<String>> {
        let mut paths = HashSet::new();
        for name in self.snapshot.names() {
            let Some(graph) = self.snapshot.graph(name)? else { continue };
            for file in graph.lists.iter().flatten() {
                paths.insert(self.snapshot.file(file)?.path);
            }
        }
        Ok(paths)
    }
}

/// The list of snapshots as it is: members that other writers added are kept.
pub(crate) fn snapshots_of(store: &mut serde_json::Map<String, Value>) -> Result<&mut Vec<Value>> {
    let missing = || Error::broken(&rules::SCHEMA, "snapshots is missing or not a list").at(Place::file(STORE));
    store.get_mut("snapshots").and_then(Value::as_array_mut).ok_or_else(missing)
}

/// The version of an entry: a number or, in foreign stores, decimal text.
pub(crate) fn version_of(entry: &Value) -> Option<i64> {
    let version = entry.get("version")?;
    version.as_i64().or_else(|| version.as_str()?.parse().ok())
}
