//! A new store of one snapshot.

use std::collections::HashMap;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Scratch, Staging};

use super::files::{FileWriter, Partition};
use super::sorter::Sorter;
use super::uuid;
use crate::read::Order;
use crate::rules;
use crate::snapshot::{DataFile, NamedGraph, Snapshot, file_of};
use crate::store::{STORE, SnapshotEntry, Store};
use crate::term::{self, Datatype};
use crate::triple::Triple;

/// The version of the snapshot of a new store.
const VERSION: i64 = 1;

/// The most expanded texts of one file, bytes: offsets of 32 bits tell them apart.
const LARGEST_FILE: u64 = 1 << 30;

/// The longest part of a triple, bytes: lengths have 31 bits.
const LONGEST: usize = i32::MAX as usize;

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
    /// Memory to sort in.
    pub budget: Budget,
    /// Where what does not fit goes; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { file_bytes: 64 << 20, id_filters: true, time: None, budget: Budget::default(), scratch: None }
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
    sorter: Sorter,
    graphs: Vec<String>,
    graph_numbers: HashMap<String, usize>,
    partitions: Vec<(usize, String)>,
    partition_numbers: HashMap<(usize, String), u32>,
    /// The partition of the quad before.
    last: Option<(Option<String>, String, u32)>,
    triple: Triple,
}

impl<'a> LakeWriter<'a> {
    /// Begins a store in `staging`, a directory.
    ///
    /// # Errors
    /// When there is no place for temporary files.
    pub fn create(staging: &'a Staging, options: &WriteOptions) -> Result<Self> {
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        // A third for the first sort; the second, and a file in the making, come when the first has let go of its rows,
        // or has them in temporary files.
        let memory = options.budget.available() / 3;
        Ok(LakeWriter {
            staging,
            options: options.clone(),
            sorter: Sorter::new(Order::Subject, &options.budget, memory, &scratch)?,
            scratch,
            graphs: Vec::new(),
            graph_numbers: HashMap::new(),
            partitions: Vec::new(),
            partition_numbers: HashMap::new(),
            last: None,
            triple: Triple::default(),
        })
    }

    /// Adds a graph, also when nothing will be in it.
    ///
    /// # Errors
    /// [`rules::IRI`] when its name is neither an absolute IRI nor a blank node.
    pub fn graph(&mut self, name: &str) -> Result<()> {
        self.graph_number(Some(name)).map(|_| ())
    }

    /// Adds a quad. Its terms are texts as a store has them: IRIs, blank nodes with `_:` before their labels. Quoted
    /// triples are not among them.
    ///
    /// # Errors
    /// [`rules::IRI`] when a term is not of that kind; [`Kind::NoSpace`] and [`Kind::Io`] from temporary files.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        let number = match &self.last {
            Some((graph, predicate, number)) if graph.as_deref() == quad.graph && predicate == quad.predicate => {
                *number
            }
            _ => self.partition(quad)?,
        };
        let Triple { subject, object, literal, datatype } = &mut self.triple;
        subject.clear();
        resource(subject, quad.subject, "subject")?;
        object.clear();
        datatype.clear();
        match quad.object {
            Object::Term(term) => {
                resource(object, term, "object")?;
                *literal = false;
            }
            Object::Literal { lexical, datatype: iri, language, direction } => {
                *literal = true;
                object.push_str(lexical);
                if language.is_none() && !iri.is_empty() && !term::is_absolute_iri(iri) {
                    return Err(no_iri(iri, "datatype"));
                }
                Datatype { iri: Some(iri).filter(|_| language.is_none()), language, direction }.push(datatype);
            }
        }
        if [&*subject, &*object, &*datatype].into_iter().any(|text| text.len() > LONGEST) {
            return Err(Error::new(Kind::TooLarge, "a text of 2 GiB or more has no place in a record"));
        }
        self.sorter.push(number, &self.triple)
    }

    fn partition(&mut self, quad: &Quad<'_>) -> Result<u32> {
        if !term::is_absolute_iri(quad.predicate) {
            return Err(no_iri(quad.predicate, "predicate"));
        }
        let graph = self.graph_number(quad.graph)?;
        let key = (graph, quad.predicate.to_owned());
        let number = match self.partition_numbers.get(&key) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.partitions.len())
                    .map_err(|_| Error::new(Kind::TooLarge, "more than 2^32 predicates in graphs"))?;
                self.partitions.push(key.clone());
                self.partition_numbers.insert(key, number);
                number
            }
        };
        self.last = Some((quad.graph.map(str::to_owned), quad.predicate.to_owned(), number));
        Ok(number)
    }

    fn graph_number(&mut self, name: Option<&str>) -> Result<usize> {
        let key = name.unwrap_or(term::DEFAULT_GRAPH);
        if let Some(number) = self.graph_numbers.get(key) {
            return Ok(*number);
        }
        if !key.starts_with("_:") && !term::is_absolute_iri(key) {
            return Err(no_iri(key, "graph"));
        }
        let number = self.graphs.len();
        self.graphs.push(key.to_owned());
        self.graph_numbers.insert(key.to_owned(), number);
        Ok(number)
    }

    /// Writes everything: files, the snapshot, and `store.json`, which is to be published last. `advance` is told how
    /// many triples more are written and may end the work.
    ///
    /// # Errors
    /// When something cannot be written, or `advance` returns an error.
    pub fn finish(self, advance: &dyn Fn(u64) -> Result<()>) -> Result<Created> {
        let LakeWriter { staging, options, scratch, sorter, graphs, partitions, .. } = self;
        let mut snapshot = Snapshot {
            id: format!("snapshot{VERSION}"),
            version: VERSION,
            timestamp: milliseconds(options.time.unwrap_or_else(SystemTime::now)),
            graphs: graphs.iter().map(|name| named(name)).collect(),
        };
        // Half of what a file may take while it grows; files in the making come one after another.
        let file_bytes = options.file_bytes.min(options.budget.limit() / 16).clamp(1, LARGEST_FILE);
        let mut created = Created { triples: 0, graphs: graphs.len() as u64 };
        let mut sorted = sorter.finish()?;
        let mut triple = Triple::default();
        let mut next = sorted.next(&mut triple)?;
        while let Some(number) = next {
            let Some((graph, predicate)) = partitions.get(number as usize) else { break };
            let Some(graph) = snapshot.graphs.get_mut(*graph) else { break };
            let predicate_id = uuid::of(&["predicate", predicate]);
            let partition = Partition {
                graph: &graph.name,
                graph_id: &graph.id,
                predicate,
                predicate_id: &predicate_id,
                version: VERSION,
                file_bytes,
                id_filters: options.id_filters,
            };
            let mut by_subject = FileWriter::new(staging, &partition, Order::Subject, &options.budget)?;
            let mut sorter = Sorter::new(Order::Object, &options.budget, options.budget.limit() / 4, &scratch)?;
            let mut unsaid = 0;
            while next == Some(number) {
                by_subject.push(&triple)?;
                sorter.push(0, &triple)?;
                created.triples += 1;
                unsaid += 1;
                if unsaid == 1 << 14 {
                    advance(unsaid)?;
                    unsaid = 0;
                }
                next = sorted.next(&mut triple)?;
            }
            advance(unsaid)?;
            let subject_files = by_subject.finish()?;
            let mut by_object = FileWriter::new(staging, &partition, Order::Object, &options.budget)?;
            let mut other = sorter.finish()?;
            let mut row = Triple::default();
            while other.next(&mut row)?.is_some() {
                by_object.push(&row)?;
            }
            let object_files = by_object.finish()?;
            list(graph, predicate.clone(), predicate_id, subject_files, object_files);
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

    /// The files that make the others a store, in the order in which they become visible.
    pub fn manifests() -> [String; 2] {
        [file_of(&format!("snapshot{VERSION}")), STORE.to_owned()]
    }
}

fn named(name: &str) -> NamedGraph {
    NamedGraph { name: name.to_owned(), id: uuid::of(&["graph", name]), ..NamedGraph::default() }
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

fn resource(out: &mut String, text: &str, what: &str) -> Result<()> {
    let is_blank = text.len() > 2 && text.starts_with("_:");
    if is_blank || term::is_absolute_iri(text) {
        out.push_str(text);
        return Ok(());
    }
    Err(no_iri(text, what))
}

fn no_iri(text: &str, what: &str) -> Error {
    let shown = crate::cursor::shown(text);
    if text.starts_with("<<(") {
        return Error::unsupported(format!("the quoted triple {shown} as {what} cannot be written yet"));
    }
    Error::broken(&rules::IRI, format!("{shown:?} is no absolute IRI")).at(Place::field(what))
}

fn milliseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|span| i64::try_from(span.as_millis()).ok()).unwrap_or_default()
}
