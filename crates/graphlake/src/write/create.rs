//! A new store of one snapshot.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(doc)]
use isomorph_error::Kind;
use isomorph_error::Result;
use isomorph_model::faces::Quad;
use isomorph_storage::{Budget, Scratch, ScratchFile, Staging};

use super::dictionary::Dictionary;
use super::filler::{Filler, graph_name};
use super::names::{Named, Names};
use super::parts::{Parts, graph_id, predicate_id};
use super::run::Run;
use crate::parallel;
use crate::snapshot::{DataFile, NamedGraph, Snapshot, file_of};
use crate::store::{STORE, SnapshotEntry, Store};
use crate::term;

/// The version of the snapshot of a new store.
pub(super) const VERSION: i64 = 1;

/// The most expanded texts of one file, bytes: offsets of 32 bits tell them apart.
const LARGEST_FILE: u64 = 1 << 30;

/// Options of [`LakeWriter::create`].
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Expanded texts of one file, bytes; a sixteenth of the budget, if that is less. Files are smaller, by as much as
    /// namespaces repeat.
    pub file_bytes: u64,
    /// Write filters by which a triple is found when its id is known.
    pub id_filters: bool,
    /// The time of the snapshot, instead of the clock's.
    pub time: Option<SystemTime>,
    /// Threads that sort and write. Nothing that is written depends on their number.
    pub threads: usize,
    /// Memory to sort in.
    pub budget: Budget,
    /// Where what does not fit goes; the system's directory for temporary files if nothing is given.
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
    /// Different triples, each counted in every graph that it is in.
    pub triples: u64,
    /// Graphs, those without triples included.
    pub graphs: u64,
}

/// A new store in the making: takes quads in any order, some of them twice, and sorts them.
pub struct LakeWriter<'a> {
    staging: &'a Staging,
    options: WriteOptions,
    scratch: Scratch,
    names: Arc<Names>,
    /// Graphs that are there also when nothing is in them.
    graphs: BTreeSet<String>,
    /// What takes the quads that are pushed here.
    own: Option<Filler>,
    filled: Vec<(ScratchFile, Vec<Run>)>,
}

impl<'a> LakeWriter<'a> {
    /// Begins a store in `staging`, a directory.
    ///
    /// # Errors
    /// When there is no place for temporary files.
    pub fn create(staging: &'a Staging, options: &WriteOptions) -> Result<Self> {
        Ok(LakeWriter {
            staging,
            options: options.clone(),
            scratch: options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?,
            names: Arc::new(Names::new(&options.budget)?),
            graphs: BTreeSet::new(),
            own: None,
            filled: Vec::new(),
        })
    }

    /// Where the store is made.
    pub(super) fn staging(&self) -> &'a Staging {
        self.staging
    }

    /// Adds a graph, also when nothing will be in it.
    ///
    /// # Errors
    /// [`rules::IRI`](crate::rules::IRI) when its name is neither an absolute IRI nor a blank node.
    pub fn graph(&mut self, name: &str) -> Result<()> {
        graph_name(name)?;
        self.graphs.insert(name.to_owned());
        Ok(())
    }

    /// Adds a quad: see [`Filler::push`].
    ///
    /// # Errors
    /// [`rules::IRI`](crate::rules::IRI) when a term is not of that kind; [`Kind::NoSpace`] and [`Kind::Io`] from temporary files.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        let own = match &mut self.own {
            Some(own) => own,
            none => {
                none.insert(Filler::new(&self.names, &self.options.budget, shared(&self.options, 1), &self.scratch)?)
            }
        };
        own.push(quad)
    }

    /// So many that take quads, each on a thread of its own. Give them back with [`LakeWriter::absorb`]. What is written does
    /// not depend on which of them took which quad.
    ///
    /// # Errors
    /// When the budget has nothing left.
    pub fn fillers(&self, threads: usize) -> Result<Vec<Filler>> {
        let memory = shared(&self.options, threads);
        (0..threads).map(|_| Filler::new(&self.names, &self.options.budget, memory, &self.scratch)).collect()
    }

    /// Takes what a thread has gathered.
    ///
    /// # Errors
    /// [`Kind::NoSpace`] and [`Kind::Io`] from temporary files.
    pub fn absorb(&mut self, fillers: Vec<Filler>) -> Result<()> {
        let finished = parallel::map(self.options.threads, fillers, Filler::finish);
        finished.into_iter().try_for_each(|runs| {
            self.filled.extend(runs?);
            Ok(())
        })
    }

    /// Writes everything: files, the snapshot, and `store.json`, which is to be published last. `advance` is told how
    /// many triples more are written and may end the work.
    ///
    /// # Errors
    /// When something cannot be written, or `advance` returns an error.
    pub fn finish(mut self, advance: &dyn Fn(u64) -> Result<()>) -> Result<Created> {
        let own = self.own.take();
        self.absorb(own.into_iter().collect())?;
        let Named { graphs: names, partitions, datatypes } = self.names.named();
        let dictionary = Dictionary::merge(&self.filled, datatypes, &self.options.budget, &self.scratch)?;
        // Graphs by name, the default graph first; predicates by name. So nothing depends on what came first.
        let mut filled: Vec<(u32, &str, &str)> = (0..)
            .zip(&partitions)
            .map(|(number, (graph, predicate))| {
                (number, names.get(*graph as usize).map_or("", String::as_str), predicate.as_str())
            })
            .collect();
        filled.retain(|(number, ..)| {
            let runs = self.filled.iter().flat_map(|(_, runs)| runs);
            let mut runs = runs.map(|run| run.partitions.binary_search_by_key(number, |found| found.partition));
            runs.any(|found| found.is_ok())
        });
        filled.sort_unstable_by_key(|(_, graph, predicate)| (*graph != term::DEFAULT_GRAPH, *graph, *predicate));
        let mut all: Vec<&str> = filled.iter().map(|(_, graph, _)| *graph).collect();
        all.extend(self.graphs.iter().map(String::as_str));
        all.sort_unstable_by_key(|name| (*name != term::DEFAULT_GRAPH, *name));
        all.dedup();
        let mut snapshot = Snapshot {
            id: format!("snapshot{VERSION}"),
            version: VERSION,
            timestamp: milliseconds(self.options.time.unwrap_or_else(SystemTime::now)),
            graphs: all.iter().map(|name| named(name)).collect(),
        };
        let parts = Parts {
            staging: self.staging,
            options: &self.options,
            files: &self.filled,
            dictionary: &dictionary,
            // Half of what a file may take while it grows; as many are in the making as there are threads.
            file_bytes: self.options.file_bytes.min(self.options.budget.limit() / 16).clamp(1, LARGEST_FILE),
        };
        let written = parts.write(&filled, advance)?;
        let mut created = Created { triples: 0, graphs: snapshot.graphs.len() as u64 };
        let mut at = 0;
        for ((_, graph, predicate), [subject, object]) in filled.iter().zip(written) {
            created.triples += subject.iter().map(|file| file.triple_count).sum::<u64>();
            // Both go by the same order.
            while let Some(here) = snapshot.graphs.get_mut(at) {
                if here.name == *graph {
                    list(here, (*predicate).to_owned(), predicate_id(predicate), subject, object);
                    break;
                }
                at += 1;
            }
        }
        snapshot.fit_filters();
        write(self.staging, &file_of(&snapshot.id), &snapshot.to_json())?;
        let entry = SnapshotEntry { id: snapshot.id, version: snapshot.version, timestamp: snapshot.timestamp };
        let store = Store {
            format_version: "0.1".to_owned(),
            location: format!("/{}", self.staging.destination().file_name()),
            snapshots: vec![entry],
            extra: serde_json::Map::new(),
        };
        write(self.staging, STORE, &store.to_json())?;
        Ok(created)
    }

    /// The files that make the others a store, in the order in which they become visible.
    pub fn manifests() -> [String; 2] {
        [file_of(&format!("snapshot{VERSION}")), STORE.to_owned()]
    }
}

/// What one of so many threads may take for terms and rows: together half of what there is, for sorting takes more for a
/// moment.
fn shared(options: &WriteOptions, threads: usize) -> u64 {
    options.budget.available() / 2 / threads.max(1) as u64
}

fn named(name: &str) -> NamedGraph {
    NamedGraph { name: name.to_owned(), id: graph_id(name), ..NamedGraph::default() }
}

/// Adds the files of a predicate to a graph, in all three places where they are told.
fn list(graph: &mut NamedGraph, predicate: String, id: String, subject: Vec<DataFile>, object: Vec<DataFile>) {
    let files = subject.iter().chain(&object).map(|file| file.id.clone()).collect();
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

fn milliseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|span| i64::try_from(span.as_millis()).ok()).unwrap_or_default()
}
