//! Snapshots: the files of all graphs.

mod description;
pub(crate) mod live_count;
mod orders;
mod read;
mod write;

pub(crate) use description::Description;
pub use live_count::Living;
pub(crate) use orders::OneOrder;
pub(crate) use write::MOST_FILTERS;

use isomorph_error::{Kind, Result};
use isomorph_storage::{Blob, Root};
use serde_json::{Map, Value};

use crate::rules;

/// The name of a snapshot's file.
pub(crate) fn file_of(id: &str) -> String {
    format!("snapshots/{id}.json")
}

/// Opens the file of the snapshot `id`, which a list names.
///
/// # Errors
/// [`Kind::Incomplete`] and [`rules::STORE_ENTRY`] if it does not exist; errors of opening.
pub(crate) fn open(root: &Root, id: &str) -> Result<Blob> {
    root.file(&file_of(id)).map_err(|error| match error.kind() {
        Kind::NotFound => error.of_kind(Kind::Incomplete).rule(&rules::STORE_ENTRY),
        _ => error,
    })
}

/// One state of a store, and every file in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: i64,
    /// When it was made, in milliseconds since 1970.
    pub timestamp: i64,
    /// Its graphs, in the order of the file.
    pub graphs: Vec<NamedGraph>,
}

/// One graph of a snapshot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedGraph {
    /// Its IRI, `_:` and a label, or the name of the default graph.
    pub name: String,
    /// An id within the store.
    pub id: String,
    /// Predicates with the ids of their partitions, in the order of the file.
    pub predicates: Vec<(String, String)>,
    /// Partitions, by id. Reading does not use them: the lists of files count.
    pub partitions: Vec<(String, Files)>,
    /// Files sorted by subject.
    pub subject_files: Vec<DataFile>,
    /// Files sorted by object.
    pub object_files: Vec<DataFile>,
    /// Deleted triples, in files of both orders.
    pub tombstones: Vec<DataFile>,
    /// Members that other writers have added.
    pub extra: Map<String, Value>,
}

/// What a partition states about its files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Files {
    /// Their ids.
    pub ids: Vec<String>,
    /// Further members: see [`Living`], and those that other writers have added.
    pub extra: Map<String, Value>,
}

/// The metadata of one file of triples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataFile {
    /// Its id.
    pub id: String,
    /// The predicate of all its triples.
    pub predicate: String,
    /// Version of the commit that added it.
    pub snapshot_version: i64,
    /// Whether it is sorted by object.
    pub is_inverse: bool,
    /// Its name, relative to the root of the store, or to the location that the store states.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Number of records.
    pub triple_count: u64,
    /// No first text of a record is greater.
    pub max_value: String,
    /// No first text of a record is less.
    pub min_value: String,
    /// A filter of the first texts, as text: see [`crate::Bloom`].
    pub bloom_filter: String,
    /// The graph that lists the file.
    pub graph: String,
    /// The graph that it was written for.
    pub original_graph: String,
    /// Prefixes with their numbers, in the order of the file.
    pub prefix_map: Vec<(String, i32)>,
    /// The prefixes again, by number.
    pub prefixes: Vec<String>,
    /// A filter of the ids of triples.
    pub id_bloom_filter: Option<String>,
    /// `xxh64:` and 16 hexadecimal digits.
    pub checksum: Option<String>,
    /// `codepoint` if the records were written in this order, which need not be checked then.
    pub sort_order: Option<String>,
    /// Number of objects that are literals.
    pub literal_count: Option<u64>,
    /// Members that other writers have added.
    pub extra: Map<String, Value>,
}

impl NamedGraph {
    /// Every predicate, including those of files that are not in the index; each once, in the order of the index.
    pub fn all_predicates(&self) -> Vec<&str> {
        let files = [&self.subject_files, &self.object_files, &self.tombstones].into_iter().flatten();
        let mut seen = std::collections::HashSet::new();
        let indexed = self.predicates.iter().map(|(predicate, _)| predicate.as_str());
        indexed.chain(files.map(|file| file.predicate.as_str())).filter(|predicate| seen.insert(*predicate)).collect()
    }

    /// All files with the name of their list.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &DataFile)> {
        let subject = self.subject_files.iter().map(|file| ("so_data_files", file));
        let object = self.object_files.iter().map(|file| ("os_data_files", file));
        subject.chain(object).chain(self.tombstones.iter().map(|file| ("tombstone_files", file)))
    }
}
