//! Plans a commit: from the changes that a transaction gathered to files, on top of a base.

use std::collections::BTreeMap;

use isomorph_error::{Kind, Result};
use isomorph_storage::Additions;

use super::Lake;
use super::base::Base;
use super::change::{Changes, GraphChange, gone};
use super::existing::{Found, Wanted};
use super::raw::RawGraph;
use super::reinsert::{self, Revived};
use super::transaction::Transaction;
use super::work::{From, Rows, Work, Written};
use crate::read::Order;
use crate::snapshot::DataFile;
use crate::term::QUOTED_GRAPH;
use crate::triple::Triple;
use crate::write::{FileWriter, Partition, uuid};

/// The changes of a commit to a base.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) changes: Changes,
    pub(super) inserted: u64,
    /// Inserted triples of the graph of quoted triples, which are not included above.
    pub(super) quoted: u64,
    /// Those that existed before; `None` if that was not looked up.
    pub(super) again: Option<u64>,
    pub(super) deleted: u64,
    /// Triples to be deleted that did not exist.
    pub(super) missing: u64,
    /// Files that are only useful for this base.
    pub(super) own: Vec<String>,
}

/// Writes the files, and returns the changes to each graph.
///
/// # Errors
/// Returns an error if a part of the base cannot be read, or a file cannot be written.
pub(super) fn plan(transaction: &mut Transaction<'_>) -> Result<Plan> {
    let Transaction { lake, base, additions, graphs, .. } = transaction;
    let mut plan = Plan { again: Some(0), ..Plan::default() };
    for (name, work) in graphs {
        let there = base.snapshot.has(name);
        if work.dropped {
            if there {
                plan.changes.insert(name.clone(), None);
            }
            continue;
        }
        write_inserts(lake, additions, base, name, work)?;
        let change = graph(&mut plan, lake, additions, base, name, work)?;
        let changed = !change.removed.is_empty() || change.added.iter().any(|files| !files.is_empty());
        // Other files, or none, instead of its own; or a graph that did not exist.
        let (replaced, made) = (work.from != From::Own && there, work.wanted && !there);
        if changed || replaced || made {
            plan.changes.insert(name.clone(), Some(change));
        }
    }
    Ok(plan)
}

/// Writes the files of triples that are inserted into a graph, if they are not written yet.
pub(super) fn write_inserts(
    lake: &Lake,
    additions: &Additions,
    base: &Base,
    name: &str,
    work: &mut Work,
) -> Result<()> {
    let pending = |rows: &Rows| rows.written.is_none() && rows.inserts().next().is_some();
    if !work.predicates.values().any(pending) {
        return Ok(());
    }
    let raw = base.snapshot.graph(name)?;
    let graph_id = id_of(work, raw.as_deref())?;
    for (predicate, rows) in &mut work.predicates {
        if !pending(rows) {
            continue;
        }
        let predicate_id = partition_of(&mut work.partitions, raw.as_deref(), predicate)?;
        let partition = Partition {
            graph: name,
            graph_id: &graph_id,
            predicate,
            predicate_id: &predicate_id,
            version: 0,
            file_bytes: lake.writing.file_bytes,
            id_filters: lake.writing.id_filters,
        };
        rows.written = Some(both(lake, additions, &partition, rows.inserts().collect())?);
    }
    Ok(())
}

/// The ids of a graph and of a predicate in it: existing ones, or new ones that are kept.
pub(super) fn ids_of(base: &Base, graph: &str, predicate: &str, work: &mut Work) -> Result<[String; 2]> {
    let raw = base.snapshot.graph(graph)?;
    Ok([id_of(work, raw.as_deref())?, partition_of(&mut work.partitions, raw.as_deref(), predicate)?])
}

/// The id of a predicate in a graph: an existing one, or a new one that is kept in `kept`.
fn partition_of(kept: &mut BTreeMap<String, String>, raw: Option<&RawGraph>, predicate: &str) -> Result<String> {
    let known = raw.and_then(|graph| graph.partition(predicate));
    if let Some(id) = known.map(|(_, id)| id).or(kept.get(predicate)) {
        return Ok(id.clone());
    }
    let id = uuid::fresh()?;
    kept.insert(predicate.to_owned(), id.clone());
    Ok(id)
}

/// The id of a graph: an existing one, or a new one that is kept.
fn id_of(work: &mut Work, raw: Option<&RawGraph>) -> Result<String> {
    if let Some(raw) = raw {
        return Ok(raw.id.clone());
    }
    if work.id.is_none() {
        work.id = Some(uuid::fresh()?);
    }
    Ok(work.id.clone().unwrap_or_default())
}

/// Writes triples, which are sorted by subject, in both orders.
fn both(lake: &Lake, additions: &Additions, partition: &Partition<'_>, mut triples: Vec<&Triple>) -> Result<Written> {
    let mut write = |order: Order| {
        if order == Order::Object {
            triples.sort_unstable_by(|one, other| one.compare(other, order));
        }
        let mut writer = FileWriter::new(additions, partition, order, &lake.writing.budget)?;
        triples.iter().try_for_each(|triple| writer.push(*triple))?;
        writer.finish()
    };
    Ok(Written { subject: write(Order::Subject)?, object: write(Order::Object)? })
}

/// The changes to one graph.
fn graph(
    plan: &mut Plan,
    lake: &Lake,
    additions: &Additions,
    base: &Base,
    name: &str,
    work: &mut Work,
) -> Result<GraphChange> {
    let version = base.snapshot.version.saturating_add(1);
    let from = match &work.from {
        From::Own => base.snapshot.has(name).then(|| name.to_owned()),
        From::Copy(other) => Some(other.clone()),
        From::Empty => None,
    };
    let raw = match &from {
        None => None,
        Some(from) => Some(base.snapshot.graph(from)?.ok_or_else(|| gone(from).of_kind(Kind::NotFound))?),
    };
    let (is_own, is_quoted) = (from.as_deref() == Some(name), name == QUOTED_GRAPH);
    let id = id_of(work, raw.as_deref().filter(|_| is_own))?;
    let mut change = GraphChange { from, id, ..GraphChange::default() };
    for (predicate, rows) in &work.predicates {
        let wanted = Wanted::of(rows);
        let part = match &raw {
            None => None,
            Some(raw) => Some(base.near(name, raw, predicate, &|least, most| wanted.near(least, most))?),
        };
        let mut files = [Vec::new(), Vec::new(), Vec::new()];
        for written in [Some(&rows.spilled), rows.written.as_ref()].into_iter().flatten() {
            let count = written.subject.iter().map(|file| file.triple_count).sum::<u64>();
            *(if is_quoted { &mut plan.quoted } else { &mut plan.inserted }) += count;
            let of = |files: &[DataFile]| files.iter().map(|file| stamped(file, name, version)).collect::<Vec<_>>();
            files[0].extend(of(&written.subject));
            files[1].extend(of(&written.object));
        }
        let known = part.as_ref().and_then(|part| part.predicates.first().map(|(_, id)| id.clone()));
        let predicate_id = match known.or_else(|| work.partitions.get(predicate).cloned()) {
            Some(id) => id,
            None => uuid::fresh()?,
        };
        let partition = Partition {
            graph: name,
            graph_id: &change.id,
            predicate,
            predicate_id: &predicate_id,
            version,
            file_bytes: lake.writing.file_bytes,
            id_filters: false,
        };
        let part = part.filter(|part| !part.subject_files.is_empty() || !part.tombstones.is_empty());
        let open = part.map(|part| base.lake(lake, vec![part]));
        let Found { dead, missing, again, tally } = wanted.found(open.as_ref(), predicate, additions)?;
        if !is_quoted {
            plan.again = plan.again.zip(again).map(|(sum, again)| sum + again);
        }
        plan.missing += missing;
        change.living.extend(tally.map(|tally| (predicate.clone(), tally)));
        if let Some(open) = open {
            if !dead.is_empty() {
                plan.deleted += dead.len() as u64;
                let deletions = both(lake, additions, &partition, dead)?;
                files[2].extend(deletions.subject.into_iter().chain(deletions.object));
            }
            let Revived { removed, added } = reinsert::revive(lake, additions, &open, &partition, rows)?;
            change.removed.extend(removed);
            files[2].extend(added);
            plan.own.extend(files[2].iter().map(|file| file.path.clone()));
        }
        if files.iter().any(|files| !files.is_empty()) {
            change.partitions.insert(predicate.clone(), predicate_id);
        }
        files.into_iter().enumerate().for_each(|(list, files)| change.add(list, files));
    }
    Ok(change)
}

/// The metadata of a file that is added to a snapshot of this version.
fn stamped(file: &DataFile, graph: &str, version: i64) -> DataFile {
    DataFile { graph: graph.to_owned(), snapshot_version: version, ..file.clone() }
}
