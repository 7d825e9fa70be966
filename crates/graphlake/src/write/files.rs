//! Writes files of sorted triples, and their metadata.

use std::borrow::Cow;
use std::io::Write;

use isomorph_error::Result;
use isomorph_storage::{Additions, Budget, Reservation, StagedFile, Staging};
use twox_hash::XxHash64;

use super::encode::{Namespaces, Row};
use super::{prefixes, uuid};
use crate::bloom::{self, Bloom};
use crate::id::Identifier;
use crate::id_index;
use crate::index_file::{self, ENDING, Of, SMALL, SparseBuilder};
use crate::read::Order;
use crate::snapshot::DataFile;

/// The longest text of `min_value` and `max_value`, in bytes; bounds of longer texts are shortened.
const LONGEST_BOUND: usize = 1024;

/// Bytes of an id that is the name of a directory.
const LONGEST_DIRECTORY: usize = 128;

/// Bytes that are encoded before they are written.
const BLOCK: usize = 128 << 10;

/// Memory is reserved in steps of this many bytes.
const HELD_STEP: u64 = 256 << 10;

/// Where new files are created.
pub(crate) trait NewFiles: Sync {
    /// Creates a file.
    fn create(&self, path: &str) -> Result<StagedFile>;
    /// The id of a file with this description.
    fn id(&self, description: &[&str]) -> Result<String>;
}

/// A store that no other writer writes: equal input gives equal names.
impl NewFiles for Staging {
    fn create(&self, path: &str) -> Result<StagedFile> {
        Staging::create(self, path)
    }

    fn id(&self, description: &[&str]) -> Result<String> {
        Ok(uuid::of(description))
    }
}

/// A store with other writers: names are unique.
impl NewFiles for Additions {
    fn create(&self, path: &str) -> Result<StagedFile> {
        Additions::create(self, path)
    }

    fn id(&self, _: &[&str]) -> Result<String> {
        uuid::fresh()
    }
}

/// The graph and the predicate of files, and their maximum size.
pub(crate) struct Partition<'a> {
    pub(crate) graph: &'a str,
    pub(crate) graph_id: &'a str,
    pub(crate) predicate: &'a str,
    pub(crate) predicate_id: &'a str,
    pub(crate) version: i64,
    /// Expanded bytes of a file.
    pub(crate) file_bytes: u64,
    pub(crate) id_filters: bool,
}

/// Takes sorted triples and writes a file whenever there are enough. The choice of prefixes is known only then: until
/// then records are drafts.
pub(crate) struct FileWriter<'a> {
    staging: &'a dyn NewFiles,
    partition: &'a Partition<'a>,
    /// Another graph with the same triples of the same predicate: it gets the same files.
    twin: Option<&'a Partition<'a>>,
    order: Order,
    /// Makes the ids of the triples, if they are wanted: a look-up by id reads one order only.
    identifier: Option<Identifier>,
    making: Making,
    held: Reservation,
    done: Vec<DataFile>,
    done_of_twin: Vec<DataFile>,
}

/// A file that is being written.
#[derive(Default)]
struct Making {
    drafts: Vec<u8>,
    namespaces: Namespaces,
    /// Expanded texts, with an overhead for each row, in bytes.
    taken: u64,
    rows: u64,
    literals: u64,
    lowest: String,
    highest: String,
    /// Hashes of the different first texts, for the filter.
    keys: Vec<u64>,
    /// Hashes of the ids of triples, for their filter, and their first bytes.
    ids: Vec<u64>,
    id_begins: Vec<u32>,
}

/// The maximum of the expanded texts of one file, in bytes, except for a single larger record: so all counts in its
/// index file have 32 bits, and offsets of its texts 31.
const LARGEST: u64 = 1 << 30;

/// Overhead of a row in addition to its texts when files are divided, in bytes.
const OF_ROW: u64 = 16;

impl Making {
    /// Memory that it takes, in bytes: vectors grow by doubling, and memory that was not touched is not counted.
    fn memory(&self) -> u64 {
        // The index file is counted with the ids: 8 additional bytes for each.
        let hashes = self.keys.len() as u64 * 8 + self.ids.len() as u64 * 28;
        self.drafts.len() as u64 + hashes + self.namespaces.memory()
    }
}

impl<'a> FileWriter<'a> {
    pub(crate) fn new(
        staging: &'a dyn NewFiles,
        partition: &'a Partition<'a>,
        order: Order,
        budget: &Budget,
    ) -> Result<Self> {
        let held = budget.reserve(0)?;
        let (making, done, done_of_twin) = Default::default();
        let wants_ids = partition.id_filters && order == Order::Subject;
        let identifier = wants_ids.then(|| Identifier::new(partition.predicate));
        Ok(FileWriter { staging, partition, twin: None, order, identifier, making, held, done, done_of_twin })
    }

    /// The same for two graphs that have the same triples of one predicate: quoted triples often equal asserted ones.
    pub(crate) fn with_twin(mut self, twin: Option<&'a Partition<'a>>) -> Self {
        self.twin = twin;
        self
    }

    /// Adds the next triple in the order.
    pub(crate) fn push<'r>(&mut self, row: impl Into<Row<'r>>) -> Result<()> {
        let row = row.into();
        let bytes = row.bytes() as u64 + OF_ROW;
        if self.making.rows > 0 && self.making.taken + bytes > self.partition.file_bytes.min(LARGEST) {
            self.write()?;
        }
        let making = &mut self.making;
        let needed = making.memory() + 2 * bytes + 2 * OF_ROW;
        if needed > self.held.bytes() {
            self.held.grow((needed - self.held.bytes()).max(HELD_STEP.min(self.partition.file_bytes)))?;
        }
        let first = if self.order == Order::Subject { row.subject } else { row.object };
        let is_new = making.rows == 0 || first != making.highest;
        if is_new {
            making.keys.push(bloom::hash(first.as_bytes()));
            if making.rows == 0 {
                first.clone_into(&mut making.lowest);
            }
            first.clone_into(&mut making.highest);
        }
        if let Some(identifier) = &mut self.identifier {
            let id = identifier.id(is_new.then_some(row.subject), &row.as_object());
            making.ids.push(bloom::hash(&id.0));
            making.id_begins.push(id_index::prefix(&id));
        }
        making.namespaces.draft(&mut making.drafts, &row);
        making.taken += bytes;
        making.rows += 1;
        making.literals += u64::from(row.datatype.is_some());
        Ok(())
    }

    /// Writes the remaining triples and returns all files.
    pub(crate) fn finish(self) -> Result<Vec<DataFile>> {
        self.finish_both().map(|[done, _]| done)
    }

    /// The same for both graphs.
    pub(crate) fn finish_both(mut self) -> Result<[Vec<DataFile>; 2]> {
        self.write()?;
        Ok([self.done, self.done_of_twin])
    }

    /// Starts the file that follows `before` others.
    fn begin(&self, partition: &'a Partition<'a>, before: usize) -> Result<Begun<'a>> {
        let id = self.staging.id(&[
            "file",
            partition.graph,
            partition.predicate,
            &partition.version.to_string(),
            if self.order == Order::Subject { "subject" } else { "object" },
            &before.to_string(),
        ])?;
        let path = format!("graphs/{}/{}/{id}.bin", directory(partition.graph_id), directory(partition.predicate_id));
        let out = self.staging.create(&path)?;
        Ok(Begun { partition, id, path, out })
    }

    /// Writes one file; none if there are no rows.
    #[expect(clippy::cast_possible_truncation, reason = "of a file, see LARGEST, less than 2^32 records are known")]
    fn write(&mut self) -> Result<()> {
        use std::hash::Hasher;
        if self.making.rows == 0 {
            return Ok(());
        }
        let mut making = std::mem::take(&mut self.making);
        let sample = prefixes::memory(making.rows);
        self.held.grow(sample)?;
        let prefix_map = making.namespaces.number(&making.drafts, making.rows);
        self.held.shrink(sample);
        let mut begun = vec![self.begin(self.partition, self.done.len())?];
        if let Some(twin) = self.twin {
            begun.push(self.begin(twin, self.done_of_twin.len())?);
        }
        let mut write = |bytes: &[u8]| begun.iter_mut().try_for_each(|file| file.out.write_all(bytes));
        let mut hasher = XxHash64::with_seed(0);
        let mut bytes = Vec::with_capacity(BLOCK.min(making.drafts.len()) + BLOCK / 8);
        let (mut read, mut offset) = (0, 0u64);
        let (mut known, mut places) = (SparseBuilder::default(), Vec::with_capacity(making.id_begins.len()));
        let mut begins = making.id_begins.iter();
        while let Some(drafts) = making.drafts.get(read..).filter(|drafts| !drafts.is_empty()) {
            let before = bytes.len();
            let record = making.namespaces.record(&mut bytes, drafts);
            read += record.length;
            if known.wants(offset) {
                known.push(if self.order == Order::Subject { record.subject } else { record.object }, offset);
            }
            places.extend(begins.next().map(|begin| (*begin, known.len() as u32 - 1)));
            offset += (bytes.len() - before) as u64;
            if bytes.len() >= BLOCK {
                hasher.write(&bytes);
                write(&bytes)?;
                bytes.clear();
            }
        }
        hasher.write(&bytes);
        write(&bytes)?;
        let checksum = hasher.finish();
        let ids = self.identifier.is_some();
        let file = DataFile {
            is_inverse: self.order == Order::Object,
            triple_count: making.rows,
            max_value: upper_bound(&making.highest),
            min_value: lower_bound(&making.lowest).to_owned(),
            bloom_filter: filter(&making.keys).unwrap_or_default(),
            prefixes: prefix_map.iter().map(|(prefix, _)| prefix.clone()).collect(),
            prefix_map,
            id_bloom_filter: if ids { filter(&making.ids) } else { None },
            checksum: Some(format!("xxh64:{checksum:016x}")),
            sort_order: Some("codepoint".to_owned()),
            literal_count: Some(making.literals),
            ..DataFile::default()
        };
        let (mut beside, known) = (None, known.finish());
        for (Begun { partition, id, path, out }, done) in
            begun.into_iter().zip([&mut self.done, &mut self.done_of_twin])
        {
            let size = out.finish()?.size;
            if size >= SMALL {
                let bytes = beside.get_or_insert_with(|| {
                    places.sort_unstable();
                    let of = Of { size, records: making.rows, checksum: None };
                    let mut bloom = Bloom::of_any_size(making.keys.len());
                    making.keys.iter().for_each(|hash| bloom.add_hash(*hash));
                    index_file::encode(&of, checksum, &known, Some(&bloom), &places)
                });
                let mut sidecar = self.staging.create(&format!("{path}{ENDING}"))?;
                sidecar.write_all(bytes)?;
                sidecar.finish()?;
            }
            done.push(DataFile {
                id,
                predicate: partition.predicate.to_owned(),
                snapshot_version: partition.version,
                path,
                size,
                graph: partition.graph.to_owned(),
                original_graph: partition.graph.to_owned(),
                ..file.clone()
            });
        }
        // The allocated memory is reused for the next file.
        making.drafts.clear();
        making.keys.clear();
        making.ids.clear();
        making.id_begins.clear();
        let Making { drafts, keys, ids, id_begins, .. } = making;
        self.making = Making { drafts, keys, ids, id_begins, ..Making::default() };
        Ok(())
    }
}

/// A file that was started.
struct Begun<'a> {
    partition: &'a Partition<'a>,
    id: String,
    path: String,
    out: StagedFile,
}

/// The directory of a graph or a predicate with this id: the id itself; in a foreign store, where an id may be
/// anything, another id if it could lead elsewhere.
fn directory(id: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match (1..=LONGEST_DIRECTORY).contains(&id.len()) && id.bytes().all(is_plain) {
        true => Cow::Borrowed(id),
        false => Cow::Owned(uuid::of(&["directory", id])),
    }
}

/// The filter of keys with these hashes, as text; `None` if it would be too large for a snapshot.
fn filter(hashes: &[u64]) -> Option<String> {
    let mut bloom = Bloom::for_keys(hashes.len())?;
    hashes.iter().for_each(|hash| bloom.add_hash(*hash));
    Some(bloom.to_text())
}

/// A short text that is not greater than `text`: a prefix.
fn lower_bound(text: &str) -> &str {
    if text.len() <= LONGEST_BOUND {
        return text;
    }
    let end = (0..=LONGEST_BOUND).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

/// A text that is not less than `text`, and short if possible: a prefix whose last character is incremented.
fn upper_bound(text: &str) -> String {
    let mut bound = lower_bound(text).to_owned();
    if bound.len() == text.len() {
        return bound;
    }
    while let Some(last) = bound.pop() {
        // The last character before the surrogates is followed by the first one after them.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            bound.push(next);
            return bound;
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_BOUND, lower_bound, upper_bound};

    #[test]
    fn bounds_are_bounds() {
        let long = |last: &str| format!("{}{last}{}", "a".repeat(LONGEST_BOUND - 3), "z".repeat(10));
        for text in ["", "short", &long(""), &long("é"), &long("\u{d7ff}"), &long("日本"), &"\u{10ffff}".repeat(300)]
        {
            let (lower, upper) = (lower_bound(text), upper_bound(text));
            assert!(lower.as_bytes() <= text.as_bytes() && upper.as_bytes() >= text.as_bytes(), "{text:?}");
            assert!(lower.len() <= LONGEST_BOUND);
        }
        assert!(upper_bound(&long("")).len() <= LONGEST_BOUND);
        assert_eq!(upper_bound(&"\u{10ffff}".repeat(300)).len(), 1200, "nothing is above it");
    }
}
