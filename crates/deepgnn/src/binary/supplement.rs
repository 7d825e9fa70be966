//! What a binary cannot store, in a folder of its directory that no other reader opens: weights of nodes, which it
//! has only in its sampling tables, rounded and combined; times of nodes; times of edges if they are not stored as they
//! were stated; and types of features if one id has several.
//!
//! Each is one file for each partition, with a record of fixed size for each entry of the map, edge or feature, in
//! their order. A file begins with the first record that differs from the default and ends with the last, so that a
//! partition without such records has no file (for types, all partitions have one, or none).

use std::io::Write;
use std::ops::Range;

use isomorph_error::{Error, Result, index};
use isomorph_storage::{Blob, Root, StagedFile, Staging};

use crate::block::{Features, Life};
use crate::feature::FeatureType;
use crate::rules;

/// Name of the folder.
pub const BESIDE: &str = "_isomorph";

/// Size of the write buffer in bytes.
const BUFFER: usize = 64 << 10;

/// Default lifetime, if none is stated: unlimited.
const ALWAYS: (i64, i64) = (0, -1);

/// Stands for times of an edge that are stored as they were stated. No edge states these times while others are stored,
/// because they are always stored as they are.
const AS_STORED: (i64, i64) = (i64::MIN, i64::MIN);

/// Returns the name of a file in the folder.
fn name(what: &str, partition: u32) -> String {
    format!("{BESIDE}/{what}_{partition}")
}

const NODE_WEIGHTS: &str = "node_weights";
const NODE_TIMES: &str = "node_times";
const EDGE_TIMES: &str = "edge_times";
const NODE_TYPES: &str = "node_feature_types";
const EDGE_TYPES: &str = "edge_feature_types";

fn times(life: (i64, i64)) -> [u8; 16] {
    let mut record = [0; 16];
    record[..8].copy_from_slice(&life.0.to_le_bytes());
    record[8..].copy_from_slice(&life.1.to_le_bytes());
    record
}

/// Returns a stated lifetime as numbers.
fn stated(life: Life) -> (i64, i64) {
    (life.created.unwrap_or(ALWAYS.0), life.removed.unwrap_or(ALWAYS.1))
}

/// A writer of the records of one partition.
struct Column<'a, const N: usize> {
    staging: &'a Staging,
    name: String,
    /// The default record.
    fill: [u8; N],
    /// Begun with the first record that differs from the default.
    file: Option<StagedFile>,
    buffer: Vec<u8>,
    /// Number of elements that have their record.
    elements: u64,
}

impl<'a, const N: usize> Column<'a, N> {
    fn new(staging: &'a Staging, what: &str, partition: u32, fill: [u8; N]) -> Self {
        Column { staging, name: name(what, partition), fill, file: None, buffer: Vec::new(), elements: 0 }
    }

    /// Writes the record of an element; earlier elements without a record get the default.
    fn put(&mut self, element: u64, record: [u8; N]) -> Result<()> {
        if record == self.fill {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(self.staging.create(&self.name)?);
        }
        while self.elements < element {
            self.push(self.fill)?;
        }
        self.push(record)
    }

    fn push(&mut self, record: [u8; N]) -> Result<()> {
        self.buffer.extend_from_slice(&record);
        self.elements += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(&self.buffer)?;
        }
        self.buffer.clear();
        Ok(())
    }

    /// Completes the file, if there is one.
    fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.file.map_or(Ok(()), |file| file.finish().map(|_| ()))
    }
}

/// A writer of feature types: a byte for each feature, 0 for the first type of its id in the partition. They are
/// followed by these first types, a byte for each id, and their number in 32 bits.
struct TypesWriter<'a> {
    column: Column<'a, 1>,
    /// 0 for an id that has had only holes so far.
    first: Vec<u8>,
    /// Number of features that were seen.
    slots: u64,
}

impl<'a> TypesWriter<'a> {
    fn new(staging: &'a Staging, what: &str, partition: u32) -> Self {
        TypesWriter { column: Column::new(staging, what, partition, [0]), first: Vec::new(), slots: 0 }
    }

    fn append(&mut self, features: &Features, elements: Range<usize>) -> Result<()> {
        for element in elements {
            let own = features.of(element);
            if own.len() > self.first.len() {
                self.first.resize(own.len(), 0);
            }
            for (kind, first) in features.kinds[own].iter().zip(&mut self.first) {
                let slot = self.slots;
                self.slots += 1;
                let Some(tag) = FeatureType::of(*kind).map(FeatureType::tag) else { continue };
                if *first == 0 {
                    *first = tag;
                } else if *first != tag {
                    self.column.put(slot, [tag])?;
                }
            }
        }
        Ok(())
    }

    /// Completes the file, which exists if types are to be `stated`.
    fn finish(self, stated: bool) -> Result<()> {
        if !stated {
            return self.column.finish();
        }
        let TypesWriter { mut column, first, .. } = self;
        column.flush()?;
        let mut file = column.file.map_or_else(|| column.staging.create(&column.name), Ok)?;
        file.write_all(&first)?;
        let length = u32::try_from(first.len());
        let length = length.map_err(|_| Error::unsupported("the types of features take more than 4 GiB"))?;
        file.write_all(&length.to_le_bytes())?;
        file.finish().map(|_| ())
    }
}

/// A writer of the sidecar files of one partition.
pub(crate) struct Writer<'a> {
    node_weights: Column<'a, 4>,
    node_times: Column<'a, 16>,
    edge_times: Column<'a, 16>,
    node_types: TypesWriter<'a>,
    edge_types: TypesWriter<'a>,
}

impl<'a> Writer<'a> {
    /// Begins the files of `partition`; `has_times` says whether its edges have times.
    pub fn new(staging: &'a Staging, partition: u32, has_times: bool) -> Self {
        let unsaid = if has_times { AS_STORED } else { ALWAYS };
        Writer {
            node_weights: Column::new(staging, NODE_WEIGHTS, partition, 1f32.to_le_bytes()),
            node_times: Column::new(staging, NODE_TIMES, partition, times(ALWAYS)),
            edge_times: Column::new(staging, EDGE_TIMES, partition, times(unsaid)),
            node_types: TypesWriter::new(staging, NODE_TYPES, partition),
            edge_types: TypesWriter::new(staging, EDGE_TYPES, partition),
        }
    }

    /// Writes weight and times of the node that is `entry` of the map.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn node(&mut self, entry: u64, weight: f32, life: Life) -> Result<()> {
        self.node_weights.put(entry, weight.to_le_bytes())?;
        self.node_times.put(entry, times(stated(life)))
    }

    /// Writes the times of an edge, if they differ from the stored ones.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn edge(&mut self, edge: u64, life: Life, stored: Option<(i64, i64)>) -> Result<()> {
        let life = stated(life);
        if stored == Some(life) { Ok(()) } else { self.edge_times.put(edge, times(life)) }
    }

    /// Writes the types of the features of nodes, in the order in which they are stored.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn node_features(&mut self, features: &Features, elements: Range<usize>) -> Result<()> {
        self.node_types.append(features, elements)
    }

    /// Writes the types of the features of edges.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn edge_features(&mut self, features: &Features, elements: Range<usize>) -> Result<()> {
        self.edge_types.append(features, elements)
    }

    /// Completes all files. `several` says whether an id has several types, which is now known for all partitions: a
    /// single one may have values of one type only.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn finish(self, several: bool) -> Result<()> {
        self.node_weights.finish()?;
        self.node_times.finish()?;
        self.edge_times.finish()?;
        self.node_types.finish(several)?;
        self.edge_types.finish(several)
    }
}

/// The records of one partition.
struct Records<const N: usize> {
    blob: Option<Blob>,
    fill: [u8; N],
    count: u64,
}

impl<const N: usize> Records<N> {
    /// Opens the records of `partition`, which has `elements` elements; `end` further bytes follow the records.
    fn open(blob: Option<Blob>, fill: [u8; N], elements: u64, end: u64) -> Result<Self> {
        let size = blob.as_ref().map_or(0, Blob::size).saturating_sub(end);
        let (count, rest) = (size / N as u64, size % N as u64);
        if let Some(blob) = blob.as_ref().filter(|_| rest != 0 || count > elements) {
            let message = format!("{size} bytes are not records of {N} bytes for {elements} elements");
            return Err(Error::broken(&rules::BOUNDS, message).at(blob.place()));
        }
        Ok(Records { blob, fill, count })
    }

    /// Returns the records of a range of elements.
    fn read(&self, elements: Range<u64>) -> Result<Vec<[u8; N]>> {
        let wanted = index(elements.end.saturating_sub(elements.start));
        let mut records = Vec::with_capacity(wanted);
        let end = elements.end.min(self.count);
        if let Some(blob) = self.blob.as_ref().filter(|_| elements.start < end) {
            let bytes = blob.read(elements.start * N as u64..end * N as u64)?;
            records.extend_from_slice(bytes.as_chunks::<N>().0);
        }
        records.resize(wanted, self.fill);
        Ok(records)
    }
}

/// Types of the features of one partition.
pub(crate) struct Types {
    records: Records<1>,
    /// The first type of each id, as it is stored.
    first: Vec<u8>,
}

impl Types {
    fn open(root: &Root, what: &str, partition: u32, slots: u64) -> Result<Types> {
        let blob = root.try_file(&name(what, partition))?;
        let Some(found) = &blob else {
            return Ok(Types { records: Records::open(None, [0], slots, 0)?, first: Vec::new() });
        };
        let wrong = || Error::broken(&rules::BOUNDS, "the file does not end with types of features").at(found.place());
        let size = found.size();
        let behind = size.checked_sub(4).ok_or_else(wrong)?;
        let count = found.read(behind..size)?.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
        let start = behind.checked_sub(count).filter(|_| count <= 1 << 16).ok_or_else(wrong)?;
        let first = found.read(start..behind)?.to_vec();
        Ok(Types { records: Records::open(blob, [0], slots, size - start)?, first })
    }

    /// Returns the stored type byte of each feature in a range; 0 stands for the first type of its id.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn read(&self, slots: Range<u64>) -> Result<Vec<[u8; 1]>> {
        self.records.read(slots)
    }

    /// Returns the type of a feature with this id and type byte; `None` if it is not known.
    pub fn of(&self, id: usize, said: u8) -> Option<FeatureType> {
        let tag = if said == 0 { self.first.get(id).copied()? } else { said };
        FeatureType::of_tag(tag)
    }
}

/// The requested files of a sidecar.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub node_weights: bool,
    pub node_times: bool,
    pub edge_times: bool,
    /// Types of features, if one id has several.
    pub types: bool,
}

/// The sidecar files of one partition, as far as requested.
#[derive(Default)]
pub(crate) struct Beside {
    node_weights: Option<Records<4>>,
    node_times: Option<Records<16>>,
    edge_times: Option<Records<16>>,
    pub node_types: Option<Types>,
    pub edge_types: Option<Types>,
}

/// Number of elements of each kind in a partition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub entries: u64,
    pub edges: u64,
    pub node_slots: u64,
    pub edge_slots: u64,
}

impl Beside {
    /// Opens the requested files of `partition`; `has_times` says whether its edges have times.
    ///
    /// # Errors
    /// Returns an error if a file has more records than there are elements, or is malformed.
    pub fn open(root: &Root, partition: u32, counts: Counts, has_times: bool, asked: Asked) -> Result<Beside> {
        let file = |what: &str| root.try_file(&name(what, partition));
        let mut beside = Beside::default();
        if asked.node_weights {
            beside.node_weights = Some(Records::open(file(NODE_WEIGHTS)?, 1f32.to_le_bytes(), counts.entries, 0)?);
        }
        if asked.node_times {
            beside.node_times = Some(Records::open(file(NODE_TIMES)?, times(ALWAYS), counts.entries, 0)?);
        }
        if asked.edge_times {
            let unsaid = if has_times { AS_STORED } else { ALWAYS };
            beside.edge_times = Some(Records::open(file(EDGE_TIMES)?, times(unsaid), counts.edges, 0)?);
        }
        if asked.types {
            beside.node_types = Some(Types::open(root, NODE_TYPES, partition, counts.node_slots)?);
            beside.edge_types = Some(Types::open(root, EDGE_TYPES, partition, counts.edge_slots)?);
        }
        Ok(beside)
    }

    /// Returns the weights of a range of entries; none if they were not requested.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn weights(&self, entries: Range<u64>) -> Result<Vec<f32>> {
        let Some(records) = &self.node_weights else { return Ok(Vec::new()) };
        Ok(records.read(entries)?.into_iter().map(f32::from_le_bytes).collect())
    }

    /// Returns the lifetimes of the entries of a range; none if they were not requested.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn node_lives(&self, entries: Range<u64>) -> Result<Vec<Life>> {
        let Some(records) = &self.node_times else { return Ok(Vec::new()) };
        Ok(records.read(entries)?.iter().map(life).collect())
    }

    /// Replaces stored times by stated ones for a range of edges; does nothing if the binary has no times.
    ///
    /// # Errors
    /// Returns the errors of [`Beside::node_lives`].
    pub fn edge_lives(&self, edges: Range<u64>, lives: &mut Vec<Life>) -> Result<()> {
        let Some(records) = &self.edge_times else { return Ok(()) };
        let records = records.read(edges)?;
        lives.resize(records.len(), Life::default());
        let unsaid = times(AS_STORED);
        for (own, record) in lives.iter_mut().zip(&records).filter(|(_, record)| **record != unsaid) {
            *own = life(record);
        }
        Ok(())
    }
}

fn life(record: &[u8; 16]) -> Life {
    let time = |bytes: &[u8]| bytes.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
    Life { created: time(record), removed: time(&record[8..]) }
}
