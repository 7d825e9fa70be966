//! The next snapshot: the changes to graphs, and the text of the snapshot.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use serde_json::Value;

use super::base::Base;
use super::raw::{LISTS, RawGraph, RawSnapshot};
use crate::snapshot::{DataFile, Files, Living, MOST_FILTERS};
use crate::store::SnapshotEntry;
use crate::{json, rules};

/// The changes to graphs; `None` for graphs that are dropped.
pub(crate) type Changes = BTreeMap<String, Option<GraphChange>>;

/// The changes to one graph.
#[derive(Debug, Default)]
pub(crate) struct GraphChange {
    /// The graph of the base that it starts from; `None` for an empty graph.
    pub(crate) from: Option<String>,
    /// Its id, if it has none yet.
    pub(crate) id: String,
    /// Ids of files that are no longer listed.
    pub(crate) removed: HashSet<String>,
    /// New files, in the order of [`LISTS`].
    pub(crate) added: [Vec<DataFile>; 3],
    /// Ids of the partitions of predicates that are new in the graph.
    pub(crate) partitions: BTreeMap<String, String>,
    /// The number of live triples of a predicate after the change; if it is missing and the files change, the number is
    /// unknown.
    pub(crate) living: BTreeMap<String, Tally>,
}

/// The change of a predicate's number of live triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tally {
    /// This many are added, and this many removed.
    Differs { more: Living, less: Living },
    /// The new number.
    Is(Living),
}

impl Tally {
    /// As many as before.
    pub(crate) const SAME: Tally =
        Tally::Differs { more: Living { triples: 0, literals: 0 }, less: Living { triples: 0, literals: 0 } };

    /// Applies the change to the previous number.
    fn from(self, before: Option<Living>) -> Option<Living> {
        match self {
            Tally::Is(living) => Some(living),
            Tally::Differs { more, less } => {
                let all = before?.plus(more);
                let triples = all.triples.checked_sub(less.triples)?;
                Some(Living { triples, literals: all.literals.checked_sub(less.literals)? })
            }
        }
    }
}

impl GraphChange {
    /// Adds files to the list with this number.
    pub(crate) fn add(&mut self, list: usize, files: Vec<DataFile>) {
        if let Some(own) = self.added.get_mut(list) {
            own.extend(files);
        }
    }
}

/// Returns the text of the snapshot `entry`, which differs from `base` by `changes`.
///
/// # Errors
/// Returns an error if the changed parts do not match the schema.
pub(crate) fn compose(base: &Base, entry: &SnapshotEntry, mut changes: Changes) -> Result<Vec<u8>> {
    fit_filters(&base.snapshot, &mut changes);
    let mut out = Vec::with_capacity(base.snapshot.size() + (64 << 10));
    write!(out, "{{\"id\":{},\"version\":{},\"timestamp\":{}", text(&entry.id), entry.version, entry.timestamp)?;
    out.extend_from_slice(b",\"graphs\":{");
    let mut first = true;
    let mut next = |out: &mut Vec<u8>, name: &str| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        out.extend_from_slice(text(name).as_bytes());
        out.push(b':');
    };
    for (name, text) in base.snapshot.texts() {
        match changes.remove(name) {
            None => {
                next(&mut out, name);
                out.extend_from_slice(text);
            }
            Some(None) => {}
            Some(Some(change)) => {
                next(&mut out, name);
                graph(&mut out, base, name, change)?;
            }
        }
    }
    for (name, change) in changes {
        if let Some(change) = change {
            next(&mut out, &name);
            graph(&mut out, base, &name, change)?;
        }
    }
    out.extend_from_slice(b"}}");
    Ok(out)
}

/// A text as JSON.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

fn graph(out: &mut Vec<u8>, base: &Base, name: &str, change: GraphChange) -> Result<()> {
    let from = match &change.from {
        Some(from) => base.snapshot.graph(from)?.ok_or_else(|| gone(from))?,
        None => Arc::default(),
    };
    let is_own = change.from.as_deref() == Some(name);
    let id = if is_own { &from.id } else { &change.id };
    write!(out, "{{\"id\":{},\"predicate_index\":{{", text(id))?;
    let mut predicates = from.predicates.clone();
    for (predicate, id) in &change.partitions {
        if from.partition(predicate).is_none() {
            predicates.push((predicate.clone(), id.clone()));
        }
    }
    let members = predicates.iter().map(|(predicate, id)| format!("{}:{}", text(predicate), text(id)));
    joined(out, members)?;
    out.extend_from_slice(b"},\"partitions\":{");
    joined(
        out,
        partitions(&from, &change, &predicates).iter().map(|(id, files)| format!("{}:{}", text(id), files.to_json())),
    )?;
    out.push(b'}');
    for ((list, old), new) in LISTS.iter().zip(&from.lists).zip(&change.added) {
        write!(out, ",\"{list}\":[")?;
        let mut first = true;
        let mut separate = |out: &mut Vec<u8>| {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
        };
        for file in old.iter().filter(|file| !change.removed.contains(&file.id)) {
            separate(out);
            match is_own {
                true => out.extend_from_slice(base.snapshot.at(&file.span)),
                // The same file is in two graphs: only the name of the graph that lists it differs.
                false => {
                    let mut members = json::parse(base.snapshot.at(&file.span))?;
                    members.insert("graph".to_owned(), name.into());
                    serde_json::to_writer(&mut *out, &members).map_err(unwritten)?;
                }
            }
        }
        for file in new {
            separate(out);
            serde_json::to_writer(&mut *out, &file.to_json()).map_err(unwritten)?;
        }
        out.push(b']');
    }
    for (name, span) in &from.extra {
        write!(out, ",{}:", text(name))?;
        out.extend_from_slice(base.snapshot.at(span));
    }
    out.push(b'}');
    Ok(())
}

/// Partitions, with updated numbers for those that change.
fn partitions(from: &RawGraph, change: &GraphChange, predicates: &[(String, String)]) -> Vec<(String, Files)> {
    let mut all = from.partitions.clone().unwrap_or_default();
    if !change.removed.is_empty() {
        all.iter_mut().for_each(|(_, files)| files.ids.retain(|file| !change.removed.contains(file)));
    }
    let mut places: HashMap<String, usize> = all.iter().enumerate().map(|(at, (id, _))| (id.clone(), at)).collect();
    let index: HashMap<&str, &str> = predicates.iter().map(|(own, id)| (own.as_str(), id.as_str())).collect();
    for file in change.added.iter().flatten() {
        let Some(id) = index.get(file.predicate.as_str()) else { continue };
        match places.get(*id).and_then(|at| all.get_mut(*at)) {
            Some((_, files)) => files.ids.push(file.id.clone()),
            None => {
                places.insert((*id).to_owned(), all.len());
                all.push(((*id).to_owned(), Files { ids: vec![file.id.clone()], ..Files::default() }));
            }
        }
    }
    let before = from.living();
    for (predicate, ids) in after(from, change) {
        let place = index.get(predicate).and_then(|id| places.get(*id));
        let Some((_, files)) = place.and_then(|at| all.get_mut(*at)) else { continue };
        let before = before.get(predicate).copied().unwrap_or(Some(Living::default()));
        let known = change.living.get(predicate).and_then(|tally| tally.from(before));
        Living::state(known, &mut files.extra, ids);
    }
    all
}

/// The ids of the files of each predicate whose files change, after the change.
fn after<'a>(from: &'a RawGraph, change: &'a GraphChange) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in change.added.iter().flatten() {
        after.entry(&file.predicate).or_default().push(&file.id);
    }
    for file in from.lists.iter().flatten().filter(|file| change.removed.contains(&file.id)) {
        after.entry(&file.predicate).or_default();
    }
    for file in from.lists.iter().flatten().filter(|file| !change.removed.contains(&file.id)) {
        if let Some(ids) = after.get_mut(file.predicate.as_str()) {
            ids.push(&file.id);
        }
    }
    after
}

fn joined(out: &mut Vec<u8>, members: impl Iterator<Item = String>) -> Result<()> {
    for (at, member) in members.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.write_all(member.as_bytes())?;
    }
    Ok(())
}

/// Drops filters of new files, those of ids first, until all filters fit into a snapshot. Existing filters are found by
/// the way this crate writes them: those of other writers may not be counted.
fn fit_filters(base: &RawSnapshot, changes: &mut Changes) {
    let length = |at: usize| {
        let rest = base.text().get(at..).unwrap_or_default();
        memchr::memchr(b'"', rest).unwrap_or_default()
    };
    let found =
        |name: &str| memchr::memmem::find_iter(base.text(), name).map(|at| length(at + name.len())).sum::<usize>();
    // The name of one key is the end of the name of the other.
    let mut room = MOST_FILTERS.saturating_sub(found("bloom_filter\":\""));
    let mut files: Vec<&mut DataFile> =
        changes.values_mut().flatten().flat_map(|one| one.added.iter_mut().flatten()).collect();
    for file in &mut files {
        match room.checked_sub(file.bloom_filter.len()) {
            Some(left) => room = left,
            None => file.bloom_filter.clear(),
        }
    }
    for file in &mut files {
        let size = file.id_bloom_filter.as_ref().map_or(0, String::len);
        match room.checked_sub(size) {
            Some(left) => room = left,
            None => file.id_bloom_filter = None,
        }
    }
}

/// The error for a graph that does not exist, but should be changed or copied.
pub(super) fn gone(name: &str) -> Error {
    Error::new(Kind::NotFound, format!("graph not found: {name}"))
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::broken(&rules::JSON, error.to_string())
}
