//! One partition. Every length and offset is checked before it is used.

use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use isomorph_error::{Error, Place, Result, index};
use isomorph_model::Set;
use isomorph_storage::{Blob, Root};

use super::ENTRIES;
use super::blocks::{EdgeBlocks, NodeBlocks};
use super::files::PartitionFiles;
use crate::binary::layout::{EDGE_RECORD, MAP_RECORD, Names, TIME_RECORD};
use crate::binary::supplement::{Asked, Beside, Counts, Types};
use crate::block::{Block, Depth, Features, Kind};
use crate::feature::{FeatureColumns, FeatureType};
use crate::rules;

/// Number of edges that are read at a time.
pub(super) const EDGES: u64 = 65_536;

/// Number of bytes of features that are read at a time, unless one element has more.
pub(super) const BYTES: u64 = 64 << 20;

/// Entries of the map between which a search looks at each, and which are read rather than left out between two that are wanted.
const NEAR: u64 = 64;

/// A search looks at this part of a map, at most: where more are searched for, all of it is read.
const SEARCH: u64 = 256;

/// Features of an element, at most.
const FEATURES: u64 = 1 << 16;

/// Files of features.
pub(super) struct FeatureFiles {
    pub index: Blob,
    data: Blob,
    /// Number of features.
    pub slots: u64,
}

/// An opened partition.
pub(crate) struct Partition {
    pub(super) map: Blob,
    pub(super) node_index: Blob,
    pub(super) node_features: FeatureFiles,
    pub(super) neighbors: Blob,
    pub(super) edge_index: Blob,
    pub(super) edge_features: FeatureFiles,
    pub(super) times: Option<Blob>,
    /// What the files cannot store, as far as requested.
    pub(super) beside: Beside,
    /// Number of entries of the map.
    pub entries: u64,
    /// Number of edges.
    pub edges: u64,
    /// Weights of the entries that are nodes, if they were recovered.
    pub weights: Vec<f32>,
    /// Whether the ids of the map ascend, once a pass over all of them has determined it.
    sorted: OnceLock<bool>,
}

/// Bytes of features that nobody wants are read if there are no more of them between two that are wanted: a page.
const NEAR_BYTES: u64 = 4096;

/// The result of a pass over entries of the map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Passed {
    /// Entries of the requested node, with their types.
    pub found: Vec<(u64, i32)>,
    /// The first id and the last.
    ends: Option<(u64, u64)>,
    /// Whether the ids do not ascend.
    unsorted: bool,
}

fn broken(blob: &Blob, what: impl Into<String>) -> Error {
    Error::broken(&rules::BOUNDS, what).at(blob.place())
}

/// Returns the number of records of a file that has one more than there are elements.
fn records(blob: &Blob, size: usize) -> Result<u64> {
    let size = size as u64;
    match blob.size() / size {
        count if count > 0 && blob.size().is_multiple_of(size) => Ok(count - 1),
        _ => Err(broken(
            blob,
            format!("{} bytes are not a whole number of records of {size} bytes, plus one at the end", blob.size()),
        )),
    }
}

/// Reads 64-bit numbers from a range of positions, both ends included; they must not descend.
pub(super) fn numbers(blob: &Blob, range: Range<u64>) -> Result<Vec<u64>> {
    let bytes = blob.read(range.start * 8..(range.end + 1) * 8)?;
    let numbers: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
    match numbers.windows(2).position(|pair| pair[0] > pair[1]) {
        None => Ok(numbers),
        Some(at) => {
            let place = blob.place().row(range.start + at as u64 + 1);
            Err(Error::broken(&rules::BOUNDS, format!("{} after {}", numbers[at + 1], numbers[at])).at(place))
        }
    }
}

pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

pub(super) fn half_word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

impl FeatureFiles {
    fn open(root: &Root, index: &str, data: &str) -> Result<Self> {
        let (index, data) = (must(root, index)?, must(root, data)?);
        let slots = records(&index, 8)?;
        let end = word(&index.read(slots * 8..(slots + 1) * 8)?);
        if end != data.size() {
            return Err(broken(&data, format!("the file has {} bytes, but the index ends at {end}", data.size())));
        }
        Ok(FeatureFiles { index, data, slots })
    }

    /// Reads the features between two indexes that `depth` wants; `ends` are the ends of each element. `types` states their types if
    /// `columns` does not.
    pub(super) fn read(
        &self,
        ends: &[u64],
        depth: Depth,
        columns: &FeatureColumns,
        types: Option<&Types>,
        out: &mut Features,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (ends.first(), ends.last()) else { return Ok(()) };
        if *last > self.slots {
            return Err(broken(&self.index, format!("feature {last}, but there are only {}", self.slots)));
        }
        let offsets = numbers(&self.index, *first..*last)?;
        let Some(to) = offsets.last() else { return Ok(()) };
        if *to > self.data.size() {
            return Err(broken(
                &self.data,
                format!("a feature ends at {to}, but the file ends at {}", self.data.size()),
            ));
        }
        let mut spans: Vec<Range<u64>> = Vec::new();
        let mut bytes = 0;
        let said = types.map(|types| types.read(*first..*last)).transpose()?;
        for pair in ends.windows(2) {
            for slot in pair[0]..pair[1] {
                let at = index(slot - first);
                let id = index(slot - pair[0]);
                if !depth.wants(id) {
                    out.kinds.push(Kind::Hole);
                    out.bytes_ends.push(bytes);
                    continue;
                }
                let span = offsets[at]..offsets[at + 1];
                bytes += span.end - span.start;
                match spans.last_mut() {
                    Some(last) if last.end == span.start => last.end = span.end,
                    _ if span.is_empty() => {}
                    _ => spans.push(span),
                }
                let own = types.zip(said.as_ref().and_then(|said| said.get(at)));
                let own = own.and_then(|(types, [said])| types.of(id, *said));
                let kind = match own.unwrap_or_else(|| columns.type_of(id)) {
                    _ if offsets[at] == offsets[at + 1] => Kind::Hole,
                    FeatureType::Dense(dtype) => Kind::Dense(dtype),
                    // The number of coordinates of a point is stored with the feature.
                    FeatureType::Sparse(dtype) => Kind::Sparse(dtype, 0),
                    FeatureType::Text => Kind::Text,
                    FeatureType::Timed(timed) => Kind::Temporal(timed),
                    FeatureType::Raw => Kind::Raw,
                };
                out.kinds.push(kind);
                out.bytes_ends.push(bytes);
            }
            out.end_element();
        }
        self.read_spans(&spans, &mut out.bytes)
    }

    /// Appends the bytes of these ranges, which ascend. Bytes between ranges that are near are read and dropped.
    fn read_spans(&self, spans: &[Range<u64>], out: &mut Vec<u8>) -> Result<()> {
        for near in spans.chunk_by(|one, next| next.start - one.end <= NEAR_BYTES) {
            let (Some(first), Some(last)) = (near.first(), near.last()) else { continue };
            let bytes = self.data.read(first.start..last.end)?;
            for span in near {
                let own = index(span.start - first.start)..index(span.end - first.start);
                out.extend_from_slice(bytes.get(own).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Returns the number of bytes of the features between two indexes, according to the index file.
    pub(super) fn size(&self, from: u64, to: u64) -> Result<u64> {
        if from > to || to > self.slots {
            return Err(broken(&self.index, format!("features {from} to {to}, but there are only {}", self.slots)));
        }
        let at = |slot: u64| Ok::<u64, Error>(word(&self.index.read(slot * 8..slot * 8 + 8)?));
        Ok(at(to)?.saturating_sub(at(from)?))
    }
}

fn must(root: &Root, name: &str) -> Result<Blob> {
    root.try_file(name)?.ok_or_else(|| Error::broken(&rules::FILE, "the file is missing").at(name))
}

impl Partition {
    /// Opens the files of partition `number`.
    ///
    /// # Errors
    /// Returns an error if one is missing, or lengths do not match.
    pub fn open(root: &Root, number: u32, temporal: bool, asked: Asked) -> Result<Partition> {
        let names = Names::of(number);
        let map = must(root, &names.map)?;
        if !map.size().is_multiple_of(MAP_RECORD as u64) {
            return Err(broken(
                &map,
                format!("{} bytes are not a whole number of records of {MAP_RECORD} bytes", map.size()),
            ));
        }
        let entries = map.size() / MAP_RECORD as u64;
        let (node_index, neighbors) = (must(root, &names.node_index)?, must(root, &names.neighbors)?);
        for blob in [&node_index, &neighbors] {
            let found = records(blob, 8)?;
            if found != entries {
                return Err(broken(blob, format!("{found} entries, but the map has {entries}")));
            }
        }
        let edge_index = must(root, &names.edge_index)?;
        let edges = records(&edge_index, EDGE_RECORD)?;
        let end = word(&neighbors.read(entries * 8..(entries + 1) * 8)?);
        if end != edges {
            return Err(broken(&neighbors, format!("the file ends with edge {end}, but there are {edges} edges")));
        }
        let times = temporal.then(|| must(root, &names.times)).transpose()?;
        if let Some(times) = &times
            && edges.checked_mul(TIME_RECORD as u64).and_then(|size| size.checked_add(8)) != Some(times.size())
        {
            return Err(broken(times, format!("{} bytes for {edges} edges", times.size())));
        }
        let node_features = FeatureFiles::open(root, &names.node_features_index, &names.node_features_data)?;
        let edge_features = FeatureFiles::open(root, &names.edge_features_index, &names.edge_features_data)?;
        let counts = Counts { entries, edges, node_slots: node_features.slots, edge_slots: edge_features.slots };
        Ok(Partition {
            beside: Beside::open(root, number, counts, temporal, asked)?,
            node_features,
            edge_features,
            map,
            node_index,
            neighbors,
            edge_index,
            times,
            entries,
            edges,
            weights: Vec::new(),
            sorted: OnceLock::new(),
        })
    }

    /// Returns the location of an entry, for errors.
    pub fn place_of_entry(&self, entry: u64) -> Place {
        self.map.place().row(entry)
    }

    /// Returns the location of an edge, for errors.
    pub fn place_of_edge(&self, edge: u64) -> Place {
        self.edge_index.place().row(edge)
    }

    /// Returns its files, whose lengths match.
    pub fn files(&self, number: u32) -> PartitionFiles {
        PartitionFiles {
            number,
            map: self.map.clone(),
            node_index: self.node_index.clone(),
            node_features_index: self.node_features.index.clone(),
            node_features_data: self.node_features.data.clone(),
            neighbors: self.neighbors.clone(),
            edge_index: self.edge_index.clone(),
            edge_features_index: self.edge_features.index.clone(),
            edge_features_data: self.edge_features.data.clone(),
            times: self.times.clone(),
        }
    }

    pub(super) fn entries(&self, range: &Range<u64>) -> Result<Bytes> {
        let size = MAP_RECORD as u64;
        self.map.read(range.start * size..range.end * size)
    }

    /// The entries in a range that are of nodes which are `wanted`, with their types, by a pass over all of them.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn pass(&self, range: Range<u64>, wanted: impl Fn(u64) -> bool) -> Result<Passed> {
        let records = self.entries(&range)?;
        let mut passed = Passed::default();
        for (entry, record) in range.zip(records.chunks_exact(MAP_RECORD)) {
            let own = word(record);
            let first = passed.ends.map_or(own, |(first, last)| {
                passed.unsorted |= last > own;
                first
            });
            passed.ends = Some((first, own));
            if wanted(own) {
                passed.found.push((entry, half_word(&record[16..]).cast_signed()));
            }
        }
        Ok(passed)
    }

    /// Records whether the map is sorted, after passes over all entries in their order.
    pub fn note_order<'a>(&self, passes: impl Iterator<Item = &'a Passed>) {
        let mut last = 0;
        let sorted = passes.fold(true, |sorted, passed| {
            let (first, end) = passed.ends.unwrap_or((last, last));
            let follows = last <= first;
            last = end;
            sorted && follows && !passed.unsorted
        });
        // Another look-up may have recorded the same.
        let _ = self.sorted.set(sorted);
    }

    /// Finds the entries of node `id` by binary search; returns `None` if the map is not known to be sorted.
    ///
    /// # Errors
    /// Returns an error if the map cannot be read.
    pub fn search(&self, id: u64) -> Result<Option<Vec<(u64, i32)>>> {
        if self.sorted.get() != Some(&true) {
            return Ok(None);
        }
        let (mut from, mut to) = (0, self.entries);
        while to - from > NEAR {
            let middle = from + (to - from) / 2;
            let own = word(&self.entries(&(middle..middle + 1))?);
            if own < id { from = middle + 1 } else { to = middle }
        }
        let mut found = Vec::new();
        loop {
            // Reads a few entries at a time while they belong to the node, which may have many.
            let end = self.entries.min(from + NEAR.max(to - from));
            let passed = self.pass(from..end, |own| own == id)?;
            let goes_on = passed.ends.is_some_and(|(_, last)| last <= id);
            found.extend(passed.found);
            (from, to) = (end, end);
            if !goes_on || from == self.entries {
                return Ok(Some(found));
            }
        }
    }

    /// Whether the ids of the map ascend, if that is known.
    pub fn is_sorted(&self) -> Option<bool> {
        self.sorted.get().copied()
    }

    /// Stretches of entries, ascending, with all entries of some nodes and few others: of few nodes by a search, where the map is known to be
    /// sorted, else by a pass over it.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn entries_of(&self, ids: &Set) -> Result<Vec<Range<u64>>> {
        let mut entries: Vec<u64> = Vec::new();
        if self.is_sorted() == Some(true) && (ids.len() as u64).saturating_mul(SEARCH) < self.entries {
            for id in ids.rows() {
                entries.extend(self.search(id)?.into_iter().flatten().map(|(entry, _)| entry));
            }
            entries.sort_unstable();
        } else {
            let starts = (0..self.entries).step_by(index(ENTRIES));
            let pass = |start| self.pass(start..self.entries.min(start + ENTRIES), |own| ids.has_int(own.into()));
            let passed = starts.map(pass).collect::<Result<Vec<Passed>>>()?;
            self.note_order(passed.iter());
            entries.extend(passed.iter().flat_map(|passed| &passed.found).map(|(entry, _)| *entry));
        }
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for entry in entries {
            match ranges.last_mut().filter(|last| entry < last.end + NEAR && entry < last.start + ENTRIES) {
                Some(last) => last.end = entry + 1,
                None => ranges.push(entry..entry + 1),
            }
        }
        Ok(ranges)
    }

    /// Entries of the map, with so much of each, as blocks of a bounded size.
    pub fn node_blocks<'a>(&'a self, range: Range<u64>, columns: &'a FeatureColumns, depth: Depth) -> NodeBlocks<'a> {
        NodeBlocks { partition: self, columns, depth, pending: vec![range] }
    }

    /// Delivers the same block by block.
    ///
    /// # Errors
    /// Returns the errors of [`NodeBlocks::fill`] and of `take`.
    pub fn nodes(
        &self,
        range: Range<u64>,
        columns: &FeatureColumns,
        depth: Depth,
        take: &mut dyn FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let (mut blocks, mut block) = (self.node_blocks(range, columns, depth), Block::default());
        while blocks.fill(&mut block)?.is_some() {
            take(&block)?;
        }
        Ok(())
    }

    /// Returns the weights of a range of entries; none if they are not known.
    pub(super) fn weights(&self, entries: Range<u64>) -> Result<Vec<f32>> {
        match self.weights.get(index(entries.start)..index(entries.end)) {
            Some(weights) => Ok(weights.to_vec()),
            None => self.beside.weights(entries),
        }
    }

    pub(super) fn check_counts(&self, ends: &[u64], blob: &Blob, start: u64) -> Result<()> {
        match ends.windows(2).position(|pair| pair[1] - pair[0] > FEATURES) {
            None => Ok(()),
            Some(at) => {
                let place = blob.place().row(start + at as u64);
                Err(Error::broken(&rules::BOUNDS, "more than 65536 features").at(place))
            }
        }
    }

    /// The edges of entries of the map, with so much of each, as blocks of a bounded size.
    ///
    /// # Errors
    /// Returns an error if the entries cannot be read, or an offset is out of range.
    pub fn edge_blocks<'a>(
        &'a self,
        range: Range<u64>,
        columns: &'a FeatureColumns,
        depth: Depth,
    ) -> Result<EdgeBlocks<'a>> {
        let sources = self.entries(&range)?;
        let sources: Vec<u64> = sources.chunks_exact(MAP_RECORD).map(word).collect();
        let ends = numbers(&self.neighbors, range)?;
        let mut pending: Vec<Range<u64>> = Vec::new();
        if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            if *last > self.edges {
                return Err(broken(&self.neighbors, format!("edge {last}, but there are only {}", self.edges)));
            }
            let runs = (*first..*last).step_by(index(EDGES));
            pending.extend(runs.map(|start| start..(*last).min(start + EDGES)));
            pending.reverse();
        }
        Ok(EdgeBlocks { partition: self, columns, depth, sources, ends, pending })
    }

    /// Delivers the same block by block, with the number of the first edge of each.
    ///
    /// # Errors
    /// Returns the errors of [`Partition::edge_blocks`], [`EdgeBlocks::fill`] and `take`.
    pub fn edges(
        &self,
        range: Range<u64>,
        columns: &FeatureColumns,
        depth: Depth,
        take: &mut dyn FnMut(u64, &Block) -> Result<()>,
    ) -> Result<()> {
        let (mut blocks, mut block) = (self.edge_blocks(range, columns, depth)?, Block::default());
        while let Some(start) = blocks.fill(&mut block)? {
            take(start, &block)?;
        }
        Ok(())
    }
}
