//! Rules of `store.json` and of snapshots.

use std::collections::{HashMap, HashSet};

use isomorph_error::{Findings, Place, Result};

use crate::read::GraphLake;
use crate::record::is_marked;
use crate::snapshot::{DataFile, Living, NamedGraph, OneOrder, Snapshot, file_of};
use crate::store::{STORE, SnapshotEntry, Store};
use crate::validate::orders::are_alike;
use crate::{rules, term};

/// V17.
pub(super) fn store(store: &Store, findings: &mut Findings) {
    for entry in store.snapshots.iter().filter(|entry| entry.version < 1) {
        findings.push(
            &rules::SEQUENCE,
            format!("{} has version {}, which is not positive", entry.id, entry.version),
            STORE,
        );
    }
    for pair in store.snapshots.windows(2).filter(|pair| pair[1].timestamp < pair[0].timestamp) {
        let message = format!("version {} is older than version {}", pair[1].version, pair[0].version);
        findings.push(&rules::SEQUENCE, message, STORE);
    }
    let mut ids = HashSet::new();
    for entry in store.snapshots.iter().filter(|entry| !ids.insert(&entry.id)) {
        findings.push(&rules::ID, format!("two snapshots are called {}", entry.id), STORE);
    }
}

/// V2.
pub(crate) fn entry(entry: &SnapshotEntry, snapshot: &Snapshot, findings: &mut Findings) {
    if let Some(message) = differs(entry, (&snapshot.id, snapshot.version, snapshot.timestamp)) {
        findings.push(&rules::STORE_ENTRY, message, file_of(&entry.id));
    }
}

/// The differences between id, version and time of a snapshot and those of the entry that lists it, if any.
pub(crate) fn differs(entry: &SnapshotEntry, own: (&str, i64, i64)) -> Option<String> {
    (own != (entry.id.as_str(), entry.version, entry.timestamp)).then(|| {
        format!(
            "store.json says {}, version {}, time {}; the snapshot {}, {}, {}",
            entry.id, entry.version, entry.timestamp, own.0, own.1, own.2
        )
    })
}

/// V9 as far as numbers of records tell: predicates of which one order was not written, in all versions or in some. Where
/// the numbers differ because files of one version may share triples, these are read, up to `most` records.
///
/// # Errors
/// Returns an error if such a file cannot be read.
pub(crate) fn orders(lake: &GraphLake, most: u64, findings: &mut Findings) -> Result<()> {
    for graph in &lake.snapshot.graphs {
        for (predicate, OneOrder { records: [subject, object], .. }) in graph.of_one_order() {
            let is_read = subject.saturating_add(object) <= most && graph.may_repeat(predicate);
            if is_read && are_alike(lake, graph, predicate)? {
                continue;
            }
            let message = format!("{predicate}: {subject} records by subject, {object} by object");
            let place = Place::file(file_of(&lake.snapshot.id)).in_field(format!("graphs[{}]", graph.name));
            findings.push(&rules::ORDERS_DIFFER, message, place);
        }
    }
    Ok(())
}

/// V10 to V15, V18, and V19 for names.
pub(crate) fn snapshot(snapshot: &Snapshot, findings: &mut Findings) {
    let file = file_of(&snapshot.id);
    let mut ids = HashSet::new();
    for graph in &snapshot.graphs {
        let place = Place::file(&file).in_field(format!("graphs[{}]", graph.name));
        if !ids.insert(&graph.id) {
            findings.push(&rules::ID, format!("two graphs have the id {}", graph.id), place.clone());
        }
        if let Some(name) = term::graph_name(&graph.name)
            && !name.starts_with("_:")
            && !term::is_absolute_iri(name)
        {
            findings.push(&rules::IRI, format!("the graph {name:?} is not an absolute IRI"), place.clone());
        }
        for predicate in graph.all_predicates().into_iter().filter(|predicate| !term::is_absolute_iri(predicate)) {
            findings.push(&rules::IRI, format!("the predicate {predicate:?} is not an absolute IRI"), place.clone());
        }
        partitions(graph, &place, findings);
        let predicates = graph.predicates.iter().map(|(predicate, _)| predicate.as_str()).collect();
        let mut ids = HashSet::new();
        for (list, data) in graph.files() {
            let place = Place::file(&file).in_field(format!("graphs[{}].{list}[{}]", graph.name, data.id));
            if !ids.insert(&data.id) {
                findings.push(&rules::ID, "two files of the graph have this id", place.clone());
            }
            data_file(snapshot, (graph, &predicates), list, data, &place, findings);
        }
    }
}

fn data_file(
    snapshot: &Snapshot,
    (graph, predicates): (&NamedGraph, &HashSet<&str>),
    list: &str,
    file: &DataFile,
    place: &Place,
    findings: &mut Findings,
) {
    let mut broken = |rule, message: String| findings.push(rule, message, place.clone());
    if list == "so_data_files" && file.is_inverse || list == "os_data_files" && !file.is_inverse {
        broken(&rules::INVERSE, format!("is_inverse is {}", file.is_inverse));
    }
    if !predicates.contains(file.predicate.as_str()) {
        broken(&rules::PREDICATE, format!("predicate_index lacks {}", file.predicate));
    }
    if file.graph != graph.name {
        broken(&rules::GRAPH, format!("the file names the graph {:?}", file.graph));
    }
    if file.snapshot_version > snapshot.version {
        let message = format!(
            "the file has version {}, but its snapshot has version {}",
            file.snapshot_version, snapshot.version
        );
        broken(&rules::VERSION, message);
    }
    let mut prefixes: Vec<&(String, i32)> = file.prefix_map.iter().collect();
    prefixes.sort_by_key(|(_, id)| *id);
    if !prefixes.iter().map(|(prefix, _)| prefix).eq(&file.prefixes) {
        let rule = if is_marked(file) { &rules::PREFIXES_CHANGED } else { &rules::PREFIXES };
        broken(rule, "prefixes and prefix_map differ".to_owned());
    }
}

/// V14, and V18 for partitions.
fn partitions(graph: &NamedGraph, place: &Place, findings: &mut Findings) {
    let files: HashMap<&str, &str> =
        graph.files().map(|(_, file)| (file.id.as_str(), file.predicate.as_str())).collect();
    let predicates: HashMap<&str, &str> =
        graph.predicates.iter().map(|(predicate, id)| (id.as_str(), predicate.as_str())).collect();
    if predicates.len() < graph.predicates.len() {
        findings.push(&rules::ID, "two predicates share one partition", place.clone());
    }
    for (id, listed) in &graph.partitions {
        let missing = listed.ids.iter().filter(|name| !files.contains_key(name.as_str())).count();
        if missing > 0 && Living::was_stated_of(&listed.extra, listed.ids.iter().map(String::as_str)) {
            let message = format!(
                "the live triples of partition {id} were counted in {} files, of which {missing} are not listed",
                listed.ids.len()
            );
            findings.push(&rules::COUNT, message, place.clone());
        }
        for name in &listed.ids {
            match (files.get(name.as_str()), predicates.get(id.as_str())) {
                (None, _) => {
                    let message = format!("partition {id} names the file {name}, which its graph does not list");
                    findings.push(&rules::PARTITION, message, place.clone());
                }
                (Some(of), Some(predicate)) if of != predicate => {
                    let message = format!("partition {id} of {predicate} names a file of {of}");
                    findings.push(&rules::PARTITION, message, place.clone());
                }
                _ => {}
            }
        }
    }
}
