//! What a binary has no place for, in a folder inside its directory that no other reader looks into: weights of nodes, which it has in
//! its tables for sampling alone, rounded and mixed; times of nodes; times of edges that it does not store as they were stated; and types
//! of features, where one id has several.
//!
//! Each is a file for each partition, of a record of fixed size for each entry of the map, edge or feature, in their order. A file begins
//! with the first record that says something, and ends with the last: those before and behind say what goes without saying, so a
//! partition where nothing else is said has no file (of types all partitions have one, or none).

use std::io::Write;
use std::ops::Range;

use isomorph_error::{Error, Result, index};
use isomorph_storage::{Blob, Root, StagedFile, Staging};

use crate::block::{Features, Life};
use crate::feature::FeatureType;
use crate::rules;

/// The folder.
pub const BESIDE: &str = "_isomorph";

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 << 10;

/// Nobody said when it lives: since ever, for ever.
const ALWAYS: (i64, i64) = (0, -1);

/// The times of an edge that are those that the binary stores. No edge states them and has others stored, because these are stored as
/// they are stated.
const AS_STORED: (i64, i64) = (i64::MIN, i64::MIN);

/// A file in the folder.
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

/// What is stated of a life, in numbers.
fn stated(life: Life) -> (i64, i64) {
    (life.created.unwrap_or(ALWAYS.0), life.removed.unwrap_or(ALWAYS.1))
}

/// Records of one partition that are being written.
struct Column<'a, const N: usize> {
    staging: &'a Staging,
    name: String,
    /// What goes without saying.
    fill: [u8; N],
    /// Begun with the first record that is not.
    file: Option<StagedFile>,
    buffer: Vec<u8>,
    /// Elements that have their record.
    elements: u64,
}

impl<'a, const N: usize> Column<'a, N> {
    fn new(staging: &'a Staging, what: &str, partition: u32, fill: [u8; N]) -> Self {
        Column { staging, name: name(what, partition), fill, file: None, buffer: Vec::new(), elements: 0 }
    }

    /// States the record of an element; those before that have none are as goes without saying.
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

    /// Ends the file, if there is one.
    fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.file.map_or(Ok(()), |file| file.finish().map(|_| ()))
    }
}

/// Types of features that are being written: a byte for each feature, 0 for the type that its id has first in the partition. Behind
/// them stand these first types, a byte for each id, and their number, 32 bits.
struct TypesWriter<'a> {
    column: Column<'a, 1>,
    /// 0 where an id has nothing but holes so far.
    first: Vec<u8>,
    /// Features that were seen.
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

    /// Ends the file, which is there if types are to be `stated`.
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

/// What travels with one partition that is being written.
pub(crate) struct Writer<'a> {
    node_weights: Column<'a, 4>,
    node_times: Column<'a, 16>,
    edge_times: Column<'a, 16>,
    node_types: TypesWriter<'a>,
    edge_types: TypesWriter<'a>,
}

impl<'a> Writer<'a> {
    /// Nothing yet of `partition`, in which edges have times or not.
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

    /// States weight and times of the node that is `entry` of the map.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn node(&mut self, entry: u64, weight: f32, life: Life) -> Result<()> {
        self.node_weights.put(entry, weight.to_le_bytes())?;
        self.node_times.put(entry, times(stated(life)))
    }

    /// States the times of an edge, where they are not those that are stored.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn edge(&mut self, edge: u64, life: Life, stored: Option<(i64, i64)>) -> Result<()> {
        let life = stated(life);
        if stored == Some(life) { Ok(()) } else { self.edge_times.put(edge, times(life)) }
    }

    /// States the types of the features of nodes, in the order in which they are stored.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn node_features(&mut self, features: &Features, elements: Range<usize>) -> Result<()> {
        self.node_types.append(features, elements)
    }

    /// The same of edges.
    ///
    /// # Errors
    /// Returns the errors of [`Writer::node`].
    pub fn edge_features(&mut self, features: &Features, elements: Range<usize>) -> Result<()> {
        self.edge_types.append(features, elements)
    }

    /// Ends all files. Whether an id has `several` types is known of all partitions now: one of them may have values of one type alone.
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

/// Records of one partition.
struct Records<const N: usize> {
    blob: Option<Blob>,
    fill: [u8; N],
    count: u64,
}

impl<const N: usize> Records<N> {
    /// Opens those of `partition`, which has so many elements; behind them the file has `end` bytes.
    fn open(blob: Option<Blob>, fill: [u8; N], elements: u64, end: u64) -> Result<Self> {
        let size = blob.as_ref().map_or(0, Blob::size).saturating_sub(end);
        let (count, rest) = (size / N as u64, size % N as u64);
        if let Some(blob) = blob.as_ref().filter(|_| rest != 0 || count > elements) {
            let message = format!("{size} bytes are no records of {N} for {elements} elements");
            return Err(Error::broken(&rules::BOUNDS, message).at(blob.place()));
        }
        Ok(Records { blob, fill, count })
    }

    /// The records of a range of elements.
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

    /// Of each feature of a range its type, by what it says itself; 0 for the first of its id.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn read(&self, slots: Range<u64>) -> Result<Vec<[u8; 1]>> {
        self.records.read(slots)
    }

    /// The type of a feature of this id that says this of itself; nothing where nothing is known.
    pub fn of(&self, id: usize, said: u8) -> Option<FeatureType> {
        let tag = if said == 0 { self.first.get(id).copied()? } else { said };
        FeatureType::of_tag(tag)
    }
}

/// What is asked for of what lies beside a binary.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub node_weights: bool,
    pub node_times: bool,
    pub edge_times: bool,
    /// Types of features, where one id has several.
    pub types: bool,
}

/// What travels with one partition, as far as it is asked for.
#[derive(Default)]
pub(crate) struct Beside {
    node_weights: Option<Records<4>>,
    node_times: Option<Records<16>>,
    edge_times: Option<Records<16>>,
    pub node_types: Option<Types>,
    pub edge_types: Option<Types>,
}

/// How many elements of each kind a partition has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub entries: u64,
    pub edges: u64,
    pub node_slots: u64,
    pub edge_slots: u64,
}

impl Beside {
    /// Opens what is asked for of `partition`, in which edges have times or not.
    ///
    /// # Errors
    /// Returns an error if a file is longer than its elements are many, or is none of such records.
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

    /// The weights of a range of entries; none if they were not asked for.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn weights(&self, entries: Range<u64>) -> Result<Vec<f32>> {
        let Some(records) = &self.node_weights else { return Ok(Vec::new()) };
        Ok(records.read(entries)?.into_iter().map(f32::from_le_bytes).collect())
    }

    /// When the entries of a range live; nothing if that was not asked for.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn node_lives(&self, entries: Range<u64>) -> Result<Vec<Life>> {
        let Some(records) = &self.node_times else { return Ok(Vec::new()) };
        Ok(records.read(entries)?.iter().map(life).collect())
    }

    /// Puts what is stated in the place of what is stored, of a range of edges: nothing, where the binary has no times.
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
