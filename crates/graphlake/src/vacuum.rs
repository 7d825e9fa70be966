//! Vacuum: removes old snapshots, then the files that no snapshot needs.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use isomorph_error::{Error, Findings, Result};
use isomorph_storage::{Entry, Scratch, Workplace};
use serde_json::Value;

use crate::commit::{Lake, snapshots_of, version_of};
use crate::snapshot::{Snapshot, file_of};
use crate::store::{STORE, SnapshotEntry, Store};
use crate::validate::metadata;
use crate::{Resume, json, path, rules};

/// What may be removed.
#[derive(Debug, Clone, Copy)]
pub struct VacuumOptions {
    /// This many of the newest snapshots are kept, at least one.
    pub keep_last: usize,
    /// Snapshots that are younger are kept; `None`: only `keep_last` counts.
    pub keep_for: Option<Duration>,
    /// Files that no snapshot lists are kept while they are younger: a writer may be about to list them. The same holds
    /// for the work of a load.
    pub grace: Duration,
    /// List what would be removed, and remove nothing.
    pub dry_run: bool,
}

impl Default for VacuumOptions {
    /// Only files of interrupted writers that are at least a day old, as a dry run.
    fn default() -> Self {
        VacuumOptions { keep_last: usize::MAX, keep_for: None, grace: Duration::from_secs(24 * 3600), dry_run: true }
    }
}

/// What was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vacuumed {
    /// Versions of snapshots.
    pub snapshots: Vec<i64>,
    /// Names of files, including those of snapshots.
    pub files: Vec<String>,
    /// Their total size in bytes.
    pub bytes: u64,
    /// Number of files that no snapshot lists and that are too young.
    pub young: u64,
    /// The work of a stopped load that could be resumed, and that no process uses.
    pub load: Option<LeftLoad>,
}

/// The work of a stopped load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftLoad {
    /// Its directory: next to a store on a disk; for a store in an object store, among the temporary files of this
    /// machine.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it is younger than the grace period, and is kept because it may be resumed.
    pub young: bool,
}

impl Lake {
    /// Removes old snapshots, files that no snapshot lists, and the work of a stopped load. Files that a kept snapshot
    /// needs are never removed: if a kept snapshot cannot be read, nothing is removed.
    ///
    /// # Errors
    /// Returns an error if something cannot be read or removed.
    pub fn vacuum(&self, options: &VacuumOptions) -> Result<Vacuumed> {
        let budget = &self.opening.budget;
        let now = self.writing.time.unwrap_or_else(SystemTime::now);
        // Files are listed before anything is read: later files belong to later snapshots, and are younger than any
        // grace period.
        let listed = self.root.list("graphs")?;
        let claims = self.root.list("snapshots")?;
        let store = Store::read(&self.root, self.opening.tolerance, budget, &mut Findings::keeping(0))?;
        let (stay, go) = divided(&store.snapshots, options, now);
        let mut needed = HashSet::new();
        let current = store.snapshots.last().map_or(0, |entry| entry.version);
        let mut note = |snapshot: Snapshot| -> Result<()> {
            names_all(&snapshot)?;
            for file in snapshot.graphs.iter().flat_map(|graph| graph.files()).map(|(_, file)| file) {
                needed.insert(path::resolve(&file.path, &store.location)?);
                if let Some(Value::String(index)) = file.extra.get("index_path") {
                    needed.insert(path::resolve(index, &store.location)?);
                }
            }
            Ok(())
        };
        stay.iter().try_for_each(|entry| note(Snapshot::listed(&self.root, entry, budget)?))?;
        let names: HashSet<String> = stay.iter().map(|entry| file_of(&entry.id)).collect();
        let gone: HashSet<String> = go.iter().map(|entry| file_of(&entry.id)).collect();
        let mut vacuumed =
            Vacuumed { snapshots: go.iter().map(|entry| entry.version).collect(), ..Vacuumed::default() };
        let mut unnamed = Vec::new();
        for entry in &claims {
            if names.contains(&entry.name) {
                continue;
            }
            if gone.contains(&entry.name) {
                vacuumed.bytes += entry.size;
                vacuumed.files.push(entry.name.clone());
                continue;
            }
            match claimed(&entry.name) {
                // Claimed, but not published yet: another writer will publish it.
                Some(version) if version > current => {
                    let id = format!("snapshot{version}");
                    note(Snapshot::read(&self.root, &id, budget, &mut Findings::keeping(0))?)?;
                }
                _ => unnamed.push(entry),
            }
        }
        // A draft of the list, of a writer that was stopped before it replaced the list.
        let beside = self.root.list_dir("")?;
        let is_draft = |entry: &&Entry| {
            let unique = entry.name.strip_prefix('.').and_then(|name| name.strip_prefix(STORE)?.strip_suffix(".tmp"));
            !entry.is_dir && unique.is_some_and(|unique| unique.starts_with('.'))
        };
        unnamed.extend(beside.iter().filter(is_draft));
        // An index file belongs to the file that it is named after.
        let is_needed =
            |name: &str| needed.contains(name) || name.strip_suffix(".glx").is_some_and(|file| needed.contains(file));
        unnamed.extend(listed.iter().filter(|entry| !is_needed(&entry.name)));
        for entry in unnamed {
            let age = self.age(&entry.name, now)?;
            if age.is_none_or(|age| age < options.grace) {
                vacuumed.young += 1;
                continue;
            }
            vacuumed.bytes += entry.size;
            vacuumed.files.push(entry.name.clone());
        }
        if !options.dry_run {
            self.expire(&vacuumed.snapshots)?;
            // Snapshots first: a snapshot that still exists must not list a removed file.
            vacuumed.files.sort_by_key(|name| !name.starts_with("snapshots/"));
            vacuumed.files.iter().try_for_each(|name| self.shared.remove(name))?;
        }
        vacuumed.load = self.left_load(options, now)?;
        Ok(vacuumed)
    }

    /// Removes the work of a load that can be resumed, if no process uses it and it is old.
    fn left_load(&self, options: &VacuumOptions, now: SystemTime) -> Result<Option<LeftLoad>> {
        let scratch = self.writing.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let Some(left) = Workplace::left(self.root.location(), Resume::PURPOSE, &scratch)? else { return Ok(None) };
        let (bytes, changed) = left.extent()?;
        // If the time of a change is in the future, the age is unknown, and the work is kept.
        let age = changed.and_then(|changed| now.duration_since(changed).ok());
        let young = age.is_none_or(|age| age < options.grace);
        let path = left.path().to_owned();
        if !young && !options.dry_run {
            left.remove()?;
        }
        Ok(Some(LeftLoad { path, bytes, young }))
    }

    /// Removes versions from the list of snapshots, but never the last one.
    fn expire(&self, versions: &[i64]) -> Result<()> {
        if versions.is_empty() {
            return Ok(());
        }
        let update = self.shared.update(STORE, json::LIMIT, &mut |before| {
            let mut store = json::parse(before)?;
            let snapshots = snapshots_of(&mut store)?;
            let last = snapshots.iter().filter_map(version_of).max();
            let count = snapshots.len();
            snapshots.retain(|one| {
                version_of(one).is_none_or(|version| Some(version) == last || !versions.contains(&version))
            });
            let changed = snapshots.len() != count;
            Ok(changed.then(|| Value::Object(store).to_string().into_bytes()))
        });
        update.map(drop)
    }

    /// The time since a file was last changed; `None` if it is unknown or negative, in which case the file is kept.
    fn age(&self, name: &str, now: SystemTime) -> Result<Option<Duration>> {
        let Some(blob) = self.root.try_file(name)? else { return Ok(None) };
        Ok(blob.opened_as().modified.and_then(|modified| now.duration_since(modified).ok()))
    }
}

/// Snapshots to keep, and snapshots to remove.
fn divided<'s>(
    snapshots: &'s [SnapshotEntry],
    options: &VacuumOptions,
    now: SystemTime,
) -> (Vec<&'s SnapshotEntry>, Vec<&'s SnapshotEntry>) {
    // No snapshot has a time before 1970: with such a clock, all snapshots count as younger, and are kept.
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let old = |entry: &SnapshotEntry| {
        let made = Duration::from_millis(u64::try_from(entry.timestamp).unwrap_or_default());
        options.keep_for.is_none_or(|keep| made.saturating_add(keep) <= now)
    };
    let last = snapshots.len().saturating_sub(options.keep_last.max(1));
    let (mut stay, mut go) = (Vec::new(), Vec::new());
    for (at, entry) in snapshots.iter().enumerate() {
        if at < last && old(entry) { go.push(entry) } else { stay.push(entry) }
    }
    (stay, go)
}

/// Checks that a snapshot still lists all files that its writers counted: the files that a damaged list lacks are
/// needed to repair it.
///
/// # Errors
/// [`rules::COUNT`].
fn names_all(snapshot: &Snapshot) -> Result<()> {
    let mut findings = Findings::keeping(1);
    metadata::snapshot(snapshot, &mut findings);
    let lacks = findings.by_rule().flat_map(|(_, kept)| kept).find(|one| one.rule == &rules::COUNT);
    match lacks {
        None => Ok(()),
        Some(one) => Err(Error::broken(one.rule, one.message.clone()).at(one.place.clone())),
    }
}

/// The version that a file of this name claims.
fn claimed(name: &str) -> Option<i64> {
    name.strip_prefix("snapshots/snapshot")?.strip_suffix(".json")?.parse().ok()
}
