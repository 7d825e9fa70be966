//! Claiming a version and publishing it; finishing what a crashed writer left between the two.

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

/// What became of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// The version of the snapshot that it made.
    pub version: i64,
    /// The id of that snapshot.
    pub id: String,
    /// Its time, milliseconds since 1970.
    pub timestamp: i64,
    /// Triples that were written, each in every graph that it went to, as the log counts them. Some of them may have been there before.
    pub inserted: u64,
    /// Beside these, triples that are quoted, for the graph that keeps them.
    pub quoted: u64,
    /// Those of them that were there before; nothing where finding out would have cost more than writing them.
    pub again: Option<u64>,
    /// Triples that were there and are deleted.
    pub deleted: u64,
    /// Triples that were to be deleted and were not there.
    pub missing: u64,
    /// New files of triples.
    pub files: u64,
    /// Their sizes together, bytes.
    pub bytes: u64,
    /// How often others were faster, so that it began again on top of what they had done.
    pub lost: u32,
}

/// What became of an attempt to make a version.
pub(crate) enum Attempt {
    /// It is there for everybody.
    Done(SnapshotEntry),
    /// Somebody else made it.
    Lost,
}

/// Whether a claimed snapshot is listed.
enum Listed {
    Yes,
    /// There are later ones already: the version was claimed too late, on top of what is no longer current.
    Superseded,
}

impl Lake {
    /// Makes the snapshot that differs from `base` by `changes`, whose files are durable: `additions`, which stay as soon as
    /// the snapshot may be there.
    ///
    /// # Errors
    /// When it cannot be written, or another writer's claim is broken.
    pub(crate) fn make(&self, base: &Base, additions: &Additions, changes: Changes) -> Result<Attempt> {
        let entry = base.next(self.now())?;
        let name = file_of(&entry.id);
        let text = compose(base, &entry, changes)?;
        // Whatever goes wrong from here on, the snapshot may be found, and published, by somebody else.
        additions.keep(true);
        let ours = self.shared.create(&name, text.clone())?
            // A store whose answer was lost is asked again by its client, and finds what it has just put.
            || self.shared.read(&name, json::LIMIT)?.is_some_and(|found| found == text);
        if !ours {
            additions.keep(false);
            self.finish_other(base, &entry)?;
            return Ok(Attempt::Lost);
        }
        match self.publish(&entry)? {
            Listed::Yes => Ok(Attempt::Done(entry)),
            Listed::Superseded => match self.shared.read(&name, json::LIMIT)? {
                // It was published by somebody else, became old and was removed since: it counts.
                None => Ok(Attempt::Done(entry)),
                Some(_) => {
                    self.shared.remove(&name)?;
                    additions.keep(false);
                    Ok(Attempt::Lost)
                }
            },
        }
    }

    /// Publishes the version of `entry`, which somebody else has claimed, unless that was done already.
    pub(super) fn finish_other(&self, base: &Base, entry: &SnapshotEntry) -> Result<()> {
        let name = file_of(&entry.id);
        // Whoever claimed it too late has taken it back.
        let Some(bytes) = self.shared.read(&name, json::LIMIT)? else { return Ok(()) };
        let broken = |message: String| {
            Error::broken(&rules::STORE_ENTRY, message)
                .of_kind(Kind::Incomplete)
                .at(Place::file(name.clone()))
                .hint("if no other writer is at work, move that file away and run again")
        };
        let parsed = json::parse(&bytes).and_then(|members| Snapshot::of(members, &name, &mut Findings::keeping(0)));
        let other =
            parsed.map_err(|error| broken(format!("another writer's snapshot is broken: {}", error.message())))?;
        if (other.version, other.id.as_str()) != (entry.version, entry.id.as_str()) {
            return Err(broken(format!("the file says {} of version {}", other.id, other.version)));
        }
        let before: HashSet<String> = base.paths()?;
        for file in other.graphs.iter().flat_map(|graph| graph.files()).map(|(_, file)| file) {
            if !before.contains(&file.path) {
                let path = path::resolve(&file.path, &base.store.location)?;
                let there = self.root.try_file(&path)?.is_some_and(|blob| blob.size() == file.size);
                if !there {
                    return Err(broken(format!("another writer's snapshot names {path}, which is not there")));
                }
            }
        }
        // The other may have been stopped before its name was durable.
        self.shared.sync_directory("snapshots")?;
        let entry = SnapshotEntry { id: other.id, version: other.version, timestamp: other.timestamp };
        self.publish(&entry).map(drop)
    }

    /// Lists a claimed snapshot, if nobody did.
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

    /// The time that a new snapshot gets, milliseconds since 1970, if it is later than that of the one before.
    fn now(&self) -> i64 {
        let time = self.writing.time.unwrap_or_else(SystemTime::now);
        // A clock that stands before 1970, or further on than numbers go, tells nothing: then the last snapshot's time counts.
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

/// The list of snapshots, as it is: what others wrote into it stays.
pub(crate) fn snapshots_of(store: &mut serde_json::Map<String, Value>) -> Result<&mut Vec<Value>> {
    let missing = || Error::broken(&rules::SCHEMA, "snapshots is missing or no list").at(Place::file(STORE));
    store.get_mut("snapshots").and_then(Value::as_array_mut).ok_or_else(missing)
}

/// The version of an entry, a number or, in foreign stores, decimal text.
pub(crate) fn version_of(entry: &Value) -> Option<i64> {
    let version = entry.get("version")?;
    version.as_i64().or_else(|| version.as_str()?.parse().ok())
}
