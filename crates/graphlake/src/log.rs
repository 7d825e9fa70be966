//! The history of a store: its snapshots in sequence, and what each of them changed.

use std::collections::{BTreeMap, HashMap, HashSet};

use isomorph_error::{Findings, Result};

use crate::commit::Lake;
use crate::record::is_marked;
use crate::snapshot::{DataFile, NamedGraph, Snapshot};
use crate::store::{SnapshotEntry, Store};
use crate::{GraphLake, Order, term};

/// One snapshot of a store, and how it differs from the previous one. Changes are derived from the lists of files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its version.
    pub version: i64,
    /// Its id.
    pub id: String,
    /// Its time, in milliseconds since 1970.
    pub timestamp: i64,
    /// Number of graphs, including those without triples.
    pub graphs: u64,
    /// Number of triples, counted in each graph that has them, without triples that are only quoted.
    pub triples: u64,
    /// Whether that number is exact; otherwise it is an upper bound: not every writer of its files counted, and there
    /// is too much to read.
    pub exact: bool,
    /// Records in its files by subject, including those of deleted triples and of triples in several files.
    pub records: u64,
    /// Deleted triples that are still in files.
    pub deletions: u64,
    /// Files of triples and of deletions.
    pub files: u64,
    /// Their total size in bytes; files in several graphs count once.
    pub bytes: u64,
    /// The version that it is compared with, 0 for an empty store; `None` if the previous version no longer exists, so
    /// that the changes are unknown.
    pub after: Option<i64>,
    /// The changes since that version.
    pub changes: Vec<GraphEvent>,
}

/// What a snapshot changed in one graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphEvent {
    /// Its name; `None` for the default graph.
    pub graph: Option<String>,
    /// The kind of change.
    pub what: What,
    /// Triples in new files by subject; 0 if the graph's triples did not change, and if versions in between are
    /// missing, because inserts and merges then look alike.
    pub inserted: u64,
    /// Triples in new files of deletions, with the same exception.
    pub deleted: u64,
    /// Files that are no longer listed.
    pub removed: u64,
}

/// The kind of change that a snapshot made to a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum What {
    /// The graph was created.
    Created,
    /// It was dropped.
    Dropped,
    /// Files were added, and possibly removed.
    #[default]
    Changed,
    /// The same triples are in other files.
    Compacted,
}

impl Lake {
    /// Returns the last `limit` snapshots of a store, the newest last.
    ///
    /// # Errors
    /// Returns an error if a snapshot cannot be read.
    pub fn log(&self, limit: usize) -> Result<Vec<Event>> {
        let mut findings = Findings::keeping(0);
        let budget = &self.opening.budget;
        let store = Store::read(&self.root, self.opening.tolerance, budget, &mut findings)?;
        let first = store.snapshots.len().saturating_sub(limit);
        let read = |entry: &SnapshotEntry| Snapshot::listed(&self.root, entry, budget);
        let mut before = match first.checked_sub(1).and_then(|at| store.snapshots.get(at)) {
            Some(entry) => Some(read(entry)?),
            // Before the first version, the store was empty.
            None => store.snapshots.first().filter(|entry| entry.version == 1).map(|_| Snapshot::default()),
        };
        let mut counter = Counter { left: self.opening.survey_up_to, known: HashMap::new() };
        let mut events = Vec::new();
        for entry in store.snapshots.iter().skip(first) {
            let open = GraphLake::over(self.root.clone(), store.clone(), read(entry)?, self.opening.clone());
            let mut event = event(before.as_ref(), &open.snapshot, entry);
            (event.triples, event.exact) = counter.count(&open)?;
            events.push(event);
            before = Some(open.snapshot);
        }
        Ok(events)
    }
}

/// Counts live triples.
struct Counter {
    /// Records that may still be read.
    left: u64,
    /// Results of reading, by the names of a predicate's files: usually the next snapshot has the same files.
    known: HashMap<Vec<(String, i64)>, u64>,
}

impl Counter {
    /// Returns an upper bound of the number of triples of a snapshot, and whether it is exact. The numbers are those of
    /// its writers; what they did not count is read, if it is not much.
    fn count(&mut self, open: &GraphLake) -> Result<(u64, bool)> {
        let (mut all, mut exact) = (0u64, true);
        for graph in open.snapshot.graphs.iter().filter(|graph| graph.name != term::QUOTED_GRAPH) {
            let mut files: HashMap<&str, Vec<(&str, &DataFile)>> = HashMap::new();
            graph.files().for_each(|(list, file)| files.entry(&file.predicate).or_default().push((list, file)));
            let (stated, ones) = (open.stated(graph), graph.of_one_order());
            for (predicate, files) in files {
                let of = |wanted: &'static str| {
                    let own = files.iter().filter(move |(list, _)| *list == wanted);
                    own.map(|(_, file)| *file)
                };
                let sum = |sum: u64, file: &DataFile| sum.saturating_add(file.triple_count);
                let by_object = ones.get(predicate).is_some_and(|one| one.order == Some(Order::Object));
                let data = of(if by_object { "os_data_files" } else { "so_data_files" });
                let deleted = of("tombstone_files");
                let records = data.clone().fold(0, sum);
                let triples = match stated.get(predicate).copied().flatten() {
                    Some(living) => Some(living.triples),
                    // A file has a triple once, unless its writer broke that rule.
                    None if data.clone().count() == 1
                        && data.clone().all(is_marked)
                        && deleted.clone().count() == 0 =>
                    {
                        Some(records)
                    }
                    None => self.read(open, graph, predicate, &files, deleted.fold(records, sum))?,
                };
                all = all.saturating_add(triples.unwrap_or(records));
                exact &= triples.is_some();
            }
        }
        Ok((all, exact))
    }

    /// The same for a predicate with this many records, by reading it; `None` if that is too much, or if its files are
    /// broken: reading and validation report where.
    fn read(
        &mut self,
        open: &GraphLake,
        graph: &NamedGraph,
        predicate: &str,
        files: &[(&str, &DataFile)],
        records: u64,
    ) -> Result<Option<u64>> {
        let mut name: Vec<(String, i64)> =
            files.iter().map(|(_, file)| (file.path.clone(), file.snapshot_version)).collect();
        name.sort_unstable();
        if let Some(known) = self.known.get(&name) {
            return Ok(Some(*known));
        }
        let Some(left) = self.left.checked_sub(records) else { return Ok(None) };
        self.left = left;
        match open.count(graph, predicate) {
            Ok(living) => {
                self.known.insert(name, living.triples);
                Ok(Some(living.triples))
            }
            Err(error) if error.broken_rule().is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn event(before: Option<&Snapshot>, snapshot: &Snapshot, entry: &SnapshotEntry) -> Event {
    let SnapshotEntry { id, version, timestamp } = entry.clone();
    let mut event = Event { version, id, timestamp, graphs: snapshot.graphs.len() as u64, ..Event::default() };
    let sizes: HashMap<&str, u64> = files(snapshot).map(|(_, file)| (file.path.as_str(), file.size)).collect();
    (event.files, event.bytes) = (sizes.len() as u64, sizes.values().sum());
    for graph in &snapshot.graphs {
        event.records =
            event.records.saturating_add(graph.once().map(|file| file.triple_count).fold(0, u64::saturating_add));
        let deletions = graph.tombstones.iter().filter(|file| !file.is_inverse);
        event.deletions += deletions.map(|file| file.triple_count).sum::<u64>();
    }
    let Some(before) = before else { return event };
    event.after = Some(before.version);
    event.changes = changes(before, snapshot);
    event
}

/// What a snapshot changed in each graph.
fn changes(before: &Snapshot, snapshot: &Snapshot) -> Vec<GraphEvent> {
    let version = snapshot.version;
    let mut changes: BTreeMap<&str, GraphEvent> = BTreeMap::new();
    let known: HashSet<&str> = files(before).map(|(_, file)| file.path.as_str()).collect();
    let (names_before, names_now) = (names(before), names(snapshot));
    let (old, new) = (listed(before), listed(snapshot));
    let once = |graph| NamedGraph::once(graph).map(|file| (graph.name.as_str(), file.path.as_str()));
    let once: HashSet<(&str, &str)> = snapshot.graphs.iter().flat_map(once).collect();
    for (name, file) in files(snapshot).filter(|(name, file)| !old.contains_key(&(*name, file.path.as_str()))) {
        let change = changes.entry(name).or_default();
        let at = (name, file.path.as_str());
        if new.get(&at).is_some_and(|list| *list == "tombstone_files") {
            // Deletions that were only rewritten keep their version.
            if !file.is_inverse && file.snapshot_version == version {
                change.deleted += file.triple_count;
            }
        } else if once.contains(&at) {
            change.inserted += file.triple_count;
            // The result of a compaction never has the version of the snapshot that lists it; files of a copied graph
            // existed before.
            if file.snapshot_version < version && !known.contains(file.path.as_str()) {
                change.what = What::Compacted;
            }
        }
    }
    for (name, _) in files(before).filter(|(name, file)| !new.contains_key(&(*name, file.path.as_str()))) {
        changes.entry(name).or_default().removed += 1;
    }
    for graph in &snapshot.graphs {
        if !names_before.contains(graph.name.as_str()) {
            changes.entry(&graph.name).or_default().what = What::Created;
        }
    }
    for graph in before.graphs.iter().filter(|graph| !names_now.contains(graph.name.as_str())) {
        changes.entry(&graph.name).or_default().what = What::Dropped;
    }
    let is_next = version.checked_sub(1) == Some(before.version);
    let named = changes.into_iter().map(|(name, mut change)| {
        if !is_next || change.what == What::Compacted {
            (change.inserted, change.deleted) = (0, 0);
        }
        if !is_next && change.what == What::Compacted {
            change.what = What::Changed;
        }
        GraphEvent { graph: term::graph_name(name).map(str::to_owned), ..change }
    });
    named.collect()
}

/// Names of graphs.
fn names(snapshot: &Snapshot) -> HashSet<&str> {
    snapshot.graphs.iter().map(|graph| graph.name.as_str()).collect()
}

/// Graphs and paths of files, with the list that each is in.
fn listed(snapshot: &Snapshot) -> HashMap<(&str, &str), &'static str> {
    let of = |graph| NamedGraph::files(graph).map(|(list, file)| ((graph.name.as_str(), file.path.as_str()), list));
    snapshot.graphs.iter().flat_map(of).collect()
}

fn files(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &DataFile)> {
    snapshot.graphs.iter().flat_map(|graph| graph.files().map(|(_, file)| (graph.name.as_str(), file)))
}
