//! Writes a new store of one snapshot.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use isomorph_error::Result;
use isomorph_model::faces::Quad;
use isomorph_storage::{Budget, Scratch, Staging};

use super::bulk::Bulk;
use super::filler::{Filler, graph_name};
use super::parts::{graph_id, predicate_id};
use super::resume::Resume;
use crate::snapshot::{DataFile, Files, Living, NamedGraph, Snapshot, file_of};
use crate::store::{STORE, SnapshotEntry, Store};
use crate::term;

/// The version of the snapshot of a new store.
pub(super) const VERSION: i64 = 1;

/// Options of [`LakeWriter::create`].
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Expanded texts of one file, in bytes; at most a sixteenth of the budget, and at most 1 GiB. Files are smaller,
    /// because namespaces are stored once.
    pub file_bytes: u64,
    /// Write filters for look-ups of triples by id.
    pub id_filters: bool,
    /// The time of the snapshot, instead of the current time.
    pub time: Option<SystemTime>,
    /// Threads that sort and write. The output does not depend on their number.
    pub threads: usize,
    /// Memory for sorting.
    pub budget: Budget,
    /// Directory for temporary files; by default the system's.
    pub scratch: Option<Scratch>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            file_bytes: 64 << 20,
            id_filters: true,
            time: None,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            budget: Budget::default(),
            scratch: None,
        }
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Created {
    /// Different triples, counted in each graph, except the graph of quoted triples.
    pub triples: u64,
    /// Number of graphs, including those without triples.
    pub graphs: u64,
}

/// Writes a new store: takes quads in any order, with duplicates, and sorts them.
pub struct LakeWriter<'a> {
    staging: &'a Staging,
    /// Graphs that are created even if they are empty.
    graphs: BTreeSet<String>,
    bulk: Bulk,
}

impl<'a> LakeWriter<'a> {
    /// Begins a store in `staging`, a directory.
    ///
    /// # Errors
    /// Returns an error if no temporary files can be created.
    pub fn create(staging: &'a Staging, options: &WriteOptions) -> Result<Self> {
        Ok(LakeWriter { staging, graphs: BTreeSet::new(), bulk: Bulk::new(options)? })
    }

    /// The same, continuing with what an earlier load gathered.
    ///
    /// # Errors
    /// As [`LakeWriter::create`]; [`Kind::Malformed`](isomorph_error::Kind::Malformed) if the earlier work is
    /// inconsistent.
    pub fn resumed(staging: &'a Staging, options: &WriteOptions, resume: &Arc<Resume>) -> Result<Self> {
        Ok(LakeWriter { staging, graphs: BTreeSet::new(), bulk: Bulk::resumed(options, resume)? })
    }

    /// The directory in which the store is made.
    pub(super) fn staging(&self) -> &'a Staging {
        self.staging
    }

    /// Adds a graph, which is created even if it stays empty.
    ///
    /// # Errors
    /// [`rules::IRI`](crate::rules::IRI) if its name is neither an absolute IRI nor a blank node.
    pub fn graph(&mut self, name: &str) -> Result<()> {
        term::named_graph(Some(name))?;
        graph_name(name)?;
        self.graphs.insert(name.to_owned());
        Ok(())
    }

    /// Adds a quad: see [`Bulk::push`].
    ///
    /// # Errors
    /// As [`Bulk::push`].
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.bulk.push(quad)
    }

    /// Returns this many fillers, each for a thread of its own: see [`Bulk::fillers`].
    ///
    /// # Errors
    /// As [`Bulk::fillers`].
    pub fn fillers(&self, threads: usize) -> Result<Vec<Filler>> {
        self.bulk.fillers(threads)
    }

    /// Takes the quads that a thread has gathered.
    ///
    /// # Errors
    /// As [`Bulk::absorb`].
    pub fn absorb(&mut self, fillers: Vec<Filler>) -> Result<()> {
        self.bulk.absorb(fillers)
    }

    /// Writes everything: files, the snapshot, and `store.json`, which must be published last. `advance` gets the
    /// number of triples written since its last call, and can stop the work.
    ///
    /// # Errors
    /// Returns an error if something cannot be written, or if `advance` returns one.
    pub fn finish(self, advance: &dyn Fn(u64) -> Result<()>) -> Result<Created> {
        let LakeWriter { staging, graphs, bulk } = self;
        let time = milliseconds(bulk.options().time.unwrap_or_else(SystemTime::now));
        let ids = &mut |graph: &str, predicate: &str| Ok([graph_id(graph), predicate_id(predicate)]);
        let written = bulk.write(staging, ids, advance)?;
        let mut all: Vec<&str> = written.iter().map(|(graph, ..)| graph.as_str()).collect();
        all.extend(graphs.iter().map(String::as_str));
        all.sort_unstable_by_key(|name| (*name != term::DEFAULT_GRAPH, *name));
        all.dedup();
        let mut snapshot = Snapshot {
            id: format!("snapshot{VERSION}"),
            version: VERSION,
            timestamp: time,
            graphs: all.iter().map(|name| named(name)).collect(),
        };
        let mut created = Created { triples: 0, graphs: snapshot.graphs.len() as u64 };
        let mut at = 0;
        for (graph, predicate, [subject, object]) in written {
            if graph != term::QUOTED_GRAPH {
                created.triples += subject.iter().map(|file| file.triple_count).sum::<u64>();
            }
            // Both are in the same order.
            while let Some(here) = snapshot.graphs.get_mut(at) {
                if here.name == graph {
                    let id = predicate_id(&predicate);
                    list(here, predicate, id, subject, object);
                    break;
                }
                at += 1;
            }
        }
        snapshot.fit_filters();
        write(staging, &file_of(&snapshot.id), &snapshot.to_json())?;
        let entry = SnapshotEntry { id: snapshot.id, version: snapshot.version, timestamp: snapshot.timestamp };
        let store = Store {
            format_version: "0.1".to_owned(),
            location: format!("/{}", staging.destination().file_name()),
            snapshots: vec![entry],
            extra: serde_json::Map::new(),
        };
        write(staging, STORE, &store.to_json())?;
        Ok(created)
    }

    /// The files that complete the store, in the order in which they become visible.
    pub fn manifests() -> [String; 2] {
        [file_of(&format!("snapshot{VERSION}")), STORE.to_owned()]
    }
}

fn named(name: &str) -> NamedGraph {
    NamedGraph { name: name.to_owned(), id: graph_id(name), ..NamedGraph::default() }
}

/// Adds the files of a predicate to a graph, in all three places that list them.
fn list(graph: &mut NamedGraph, predicate: String, id: String, subject: Vec<DataFile>, object: Vec<DataFile>) {
    let mut files = Files {
        ids: subject.iter().chain(&object).map(|file| file.id.clone()).collect(),
        extra: serde_json::Map::new(),
    };
    let living = Living::in_files(&subject);
    Living::state(living, &mut files.extra, files.ids.iter().map(String::as_str));
    graph.partitions.push((id.clone(), files));
    graph.predicates.push((predicate, id));
    graph.subject_files.extend(subject);
    graph.object_files.extend(object);
}

fn write(staging: &Staging, name: &str, text: &str) -> Result<()> {
    let mut file = staging.create(name)?;
    file.write_all(text.as_bytes())?;
    file.finish().map(|_| ())
}

/// The current time; 0 for a clock before 1970 or out of range.
fn milliseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|span| i64::try_from(span.as_millis()).ok()).unwrap_or_default()
}
