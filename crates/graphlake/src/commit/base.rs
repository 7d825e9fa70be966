//! The base of a change: the current snapshot, as text.

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::Reservation;

use super::Lake;
use super::raw::{RawFile, RawGraph, RawSnapshot};
use crate::snapshot::{OneOrder, file_of};
use crate::store::{SnapshotEntry, Store};
use crate::validate::metadata;
use crate::{GraphLake, NamedGraph, Snapshot, Tolerance, json, rules, snapshot};

/// The snapshot that a change starts from; one of version 0 without graphs, if the store has none.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) store: Store,
    pub(crate) snapshot: RawSnapshot,
    _memory: Option<Reservation>,
}

impl Lake {
    /// How the metadata of a store is read that will be changed: nobody writes to a version of the format that is not known.
    pub(super) fn for_changes(&self) -> Tolerance {
        match self.opening.tolerance {
            Tolerance::Lenient => Tolerance::Normal,
            own => own,
        }
    }

    /// Reads the current snapshot.
    pub(crate) fn base(&self) -> Result<Base> {
        let mut findings = Findings::keeping(0);
        let store = Store::read(&self.root, self.for_changes(), &self.opening.budget, &mut findings)?;
        let Some(entry) = store.snapshots.last().cloned() else {
            return Ok(Base { store, snapshot: RawSnapshot::default(), _memory: None });
        };
        let blob = snapshot::open(&self.root, &entry.id)?;
        // The text, the positions in it, and the text of the next snapshot.
        let needed = blob.size().saturating_mul(3);
        let memory = self.opening.budget.reserve(needed).map_err(|error| error.at(blob.place()))?;
        let snapshot = RawSnapshot::parse(blob.read_all(json::LIMIT)?, &entry.id)?;
        if let Some(message) = metadata::differs(&entry, (&snapshot.id, snapshot.version, snapshot.timestamp)) {
            return Err(Error::broken(&rules::STORE_ENTRY, message).at(blob.place()));
        }
        Ok(Base { store, snapshot, _memory: Some(memory) })
    }
}

impl Base {
    /// Returns the entry of the snapshot that a commit on top of this one makes.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if no greater version, or no later time, can be stored.
    pub(crate) fn next(&self, now: i64) -> Result<SnapshotEntry> {
        let at = |what: &str, number: i64| {
            Error::new(Kind::TooLarge, format!("the {what} {number} is the greatest possible one, so no snapshot can follow"))
                .at(Place::file(file_of(&self.snapshot.id)).in_field(what.to_owned()))
                .hint(
                    "isomorph convert PATH NEW.lake --to graphlake    creates a new store with the same triples, of version 1",
                )
        };
        let version = self.snapshot.version;
        let version = version.checked_add(1).ok_or_else(|| at("version", version))?;
        // Selection by time uses the list, even if a foreign list states another time than the snapshot.
        let listed = self.store.snapshots.iter().map(|entry| entry.timestamp);
        let last = listed.fold(self.snapshot.timestamp, i64::max);
        let after = last.checked_add(1).ok_or_else(|| at("timestamp", last))?;
        Ok(SnapshotEntry { id: format!("snapshot{version}"), version, timestamp: now.max(after) })
    }

    /// A graph with the files of one predicate, or of all, and only in the requested lists.
    ///
    /// # Errors
    /// Returns an error if an object does not match the schema.
    pub(crate) fn part(
        &self,
        name: &str,
        graph: &RawGraph,
        lists: [bool; 3],
        predicate: Option<&str>,
    ) -> Result<NamedGraph> {
        let files = |list: usize| -> Result<Vec<_>> {
            let asked = lists.get(list).copied().unwrap_or_default();
            let files = asked.then(|| graph.files_of(list, predicate)).into_iter().flatten();
            files.map(|file| self.snapshot.file(file)).collect()
        };
        let predicates = match predicate {
            Some(predicate) => graph.partition(predicate).cloned().into_iter().collect(),
            None => graph.predicates.clone(),
        };
        Ok(NamedGraph {
            name: name.to_owned(),
            id: graph.id.clone(),
            predicates,
            subject_files: files(0)?,
            object_files: files(1)?,
            tombstones: files(2)?,
            ..NamedGraph::default()
        })
    }

    /// The files of one predicate of a graph: those by subject whose bounds may contain one of the subjects, as `near`
    /// says, and all deletions.
    ///
    /// # Errors
    /// As [`Base::part`].
    pub(super) fn near(
        &self,
        name: &str,
        graph: &RawGraph,
        predicate: &str,
        near: &dyn Fn(&str, &str) -> bool,
    ) -> Result<NamedGraph> {
        self.has_both(name, graph, predicate)?;
        let mut part = self.part(name, graph, [false, false, true], Some(predicate))?;
        let may_have = |file: &&RawFile| file.bounds.as_ref().is_none_or(|(least, most)| near(least, most));
        let files = graph.files_of(0, Some(predicate)).filter(may_have);
        part.subject_files = files.map(|file| self.snapshot.file(file)).collect::<Result<_>>()?;
        Ok(part)
    }

    /// Refuses to change a predicate of which another writer wrote one order only, or less of one: with new triples in
    /// both orders, it would no longer be visible that one of them lacks the old ones.
    ///
    /// # Errors
    /// [`rules::ORDERS_DIFFER`].
    fn has_both(&self, name: &str, graph: &RawGraph, predicate: &str) -> Result<()> {
        let of = |list| graph.files_of(list, Some(predicate)).map(|file| (file.version, file.records));
        let Some(one) = OneOrder::of([&mut of(0), &mut of(1)]) else { return Ok(()) };
        let [subject, object] = one.records;
        let message = format!("{predicate}: {subject} records by subject, {object} by object");
        let hint = match one.order {
            Some(_) => "isomorph lake compact LAKE --full    writes both orders",
            // If each order lacks triples of the other, merging cannot complete them.
            None => "isomorph validate LAKE    shows the details",
        };
        Err(Error::broken(&rules::ORDERS_DIFFER, message).at(self.snapshot.place(name)).hint(hint))
    }

    /// Some graphs of the snapshot, for look-ups.
    pub(crate) fn lake(&self, lake: &Lake, graphs: Vec<NamedGraph>) -> GraphLake {
        let RawSnapshot { id, version, timestamp, .. } = &self.snapshot;
        let snapshot = Snapshot { id: id.clone(), version: *version, timestamp: *timestamp, graphs };
        GraphLake::over(lake.root.clone(), self.store.clone(), snapshot, lake.opening.clone())
    }

    /// The names of the files of a predicate, or of all, in a graph. Two snapshots in which they are equal have the
    /// same triples there.
    pub(crate) fn files_of(&self, graph: &str, predicate: Option<&str>) -> Result<Vec<String>> {
        let Some(graph) = self.snapshot.graph(graph)? else { return Ok(Vec::new()) };
        let files = (0..graph.lists.len()).flat_map(|list| graph.files_of(list, predicate));
        let mut ids: Vec<String> = files.map(|file| file.id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }
}
