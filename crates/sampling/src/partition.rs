//! One partition: nodes, edges and features as stored in its files.
//!
//! Lengths are checked when the files are opened. Offsets are checked each time before they are followed, so that a graph is
//! opened without reading it, and damage is an error where it is encountered.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_deepgnn::{PartitionFiles, rules};
use isomorph_error::{Error, Place, Result, index};
use isomorph_storage::{Blob, Scratch};

use crate::features::Stated;
use crate::map::{Hold, bytes_of, prefetch};
use crate::prefetch::fetch_all;

/// Size of a map entry in bytes: id, number, type.
pub(crate) const NODE: usize = 20;

/// Size of an edge in bytes: target, first feature, type, weight.
pub(crate) const EDGE: usize = 24;

/// Size of the times of an edge in bytes: created, removed.
const LIFE: usize = 16;

/// An edge as it is stored.
pub(crate) type Edge = [u8; EDGE];

/// The type of a map entry that only represents ends of edges.
pub(crate) const DUMMY: i32 = -1;

/// The bytes of a file, with its name for errors.
pub(crate) struct Column {
    bytes: Bytes,
    name: Arc<str>,
}

/// Features: the offset of each, and the bytes.
pub(crate) struct Features {
    index: Column,
    data: Column,
    /// Features that exist but have no bytes, in order: twice the slot, plus 1 for a list with nulls. A binary
    /// has no such features.
    bare: Column,
}

/// An opened partition.
pub(crate) struct Partition {
    map: Column,
    neighbors: Column,
    edges: Column,
    times: Option<Column>,
    /// The time of removal of edges that were not removed.
    never: i64,
    /// Weights with 64 bits, if 32 bits cannot represent all of them.
    exact: Option<Column>,
    /// Factor for weights with 64 bits before they are added, so that their sum is finite.
    scale: f64,
    node_slots: Column,
    pub node_features: Features,
    pub edge_features: Features,
}

#[inline]
fn field<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&record[at..at + N]);
    bytes
}

/// Returns the target of an edge.
#[inline]
pub(crate) fn target(edge: &Edge) -> i64 {
    i64::from_le_bytes(field(edge, 0))
}

/// Returns the type of an edge.
#[inline]
pub(crate) fn type_of(edge: &Edge) -> i32 {
    i32::from_le_bytes(field(edge, 16))
}

/// Returns the stored weight of an edge.
#[inline]
pub(crate) fn weight(edge: &Edge) -> f32 {
    f32::from_le_bytes(field(edge, 20))
}

/// Returns the mass of a weight: see [`Partition::mass`].
#[inline]
pub(crate) fn mass(weight: f64) -> f64 {
    if (0.0..f64::INFINITY).contains(&weight) { weight } else { f64::NAN }
}

#[inline]
fn slot(edge: &Edge) -> u64 {
    u64::from_le_bytes(field(edge, 8))
}

impl Column {
    /// Creates a column of bytes with a name.
    pub fn new(bytes: Bytes, name: &str) -> Column {
        Column { bytes, name: name.into() }
    }

    fn open(blob: &Blob, hold: Hold, scratch: &Scratch) -> Result<Column> {
        Ok(Column::new(bytes_of(blob, hold, scratch)?, blob.name()))
    }

    /// Returns its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the place of a record, for errors.
    pub fn place(&self, row: usize) -> Place {
        Place::file(&*self.name).row(row as u64)
    }

    /// Returns the bytes as records.
    #[inline]
    pub fn records<const N: usize>(&self) -> &[[u8; N]] {
        self.bytes.as_chunks().0
    }

    #[inline]
    fn word(&self, at: usize) -> Option<u64> {
        self.records::<8>().get(at).map(|word| u64::from_le_bytes(*word))
    }

    /// Prefetches record number `at` of `size` bytes.
    #[inline]
    pub fn fetch(&self, at: usize, size: usize) {
        let start = at.saturating_mul(size);
        prefetch(&self.bytes, start);
        prefetch(&self.bytes, start.saturating_add(size - 1));
    }

    /// Prefetches the words that [`Column::span`] reads.
    #[inline]
    fn fetch_span(&self, at: usize) {
        let start = at.saturating_mul(8);
        prefetch(&self.bytes, start);
        prefetch(&self.bytes, start.saturating_add(8));
    }

    #[cold]
    fn broken(&self, row: usize, what: impl Into<String>) -> Error {
        Error::broken(&rules::BOUNDS, what).at(self.place(row))
    }

    /// Returns the word at `at` and the next one, which must not be smaller.
    #[inline]
    fn span(&self, at: usize, limit: usize) -> Result<Range<usize>> {
        match (self.word(at), self.word(at + 1)) {
            (Some(start), Some(end)) if start <= end && end <= limit as u64 => Ok(index(start)..index(end)),
            _ => Err(self.broken(at, format!("offset points outside the {limit} elements"))),
        }
    }
}

impl Features {
    fn open(index: &Blob, data: &Blob, hold: Hold, scratch: &Scratch) -> Result<Features> {
        let bare = Column::new(Bytes::new(), data.name());
        Ok(Features { index: Column::open(index, hold, scratch)?, data: Column::open(data, hold, scratch)?, bare })
    }

    /// Creates features from columns: 64-bit offsets, one more than there are features, the bytes, and the features without bytes.
    pub fn of(index: Column, data: Column, bare: Column) -> Features {
        Features { index, data, bare }
    }

    /// Returns whether an element with these slots has feature `id`.
    ///
    /// # Errors
    /// As [`Features::get`].
    pub fn stated(&self, slots: &Range<usize>, id: u32) -> Result<Stated> {
        match self.get(slots, id)? {
            None => return Ok(Stated::No),
            Some(bytes) if !bytes.is_empty() => return Ok(Stated::Yes),
            Some(_) => {}
        }
        let slot = slots.start.saturating_add(id as usize) as u64;
        let bare = self.bare.records::<8>();
        let at = bare.partition_point(|word| u64::from_le_bytes(*word) >> 1 < slot);
        Ok(match bare.get(at).map(|word| u64::from_le_bytes(*word)) {
            Some(word) if word >> 1 == slot => [Stated::Yes, Stated::WithNulls][usize::from(word & 1 == 1)],
            _ => Stated::No,
        })
    }

    /// Returns the bytes of feature `id` of an element with these slots: `None` if it has no such feature, no bytes if it has a
    /// hole.
    #[inline]
    pub fn get(&self, slots: &Range<usize>, id: u32) -> Result<Option<&[u8]>> {
        let at = slots.start.saturating_add(id as usize);
        if at >= slots.end {
            return Ok(None);
        }
        let span = self.index.span(at, self.data.bytes.len())?;
        Ok(self.data.bytes.get(span))
    }

    /// Prefetches the offset of the feature at a slot.
    #[inline]
    pub fn fetch_offset(&self, at: usize) {
        self.index.fetch_span(at);
    }

    /// Prefetches up to `bytes` bytes of feature `id` of an element with these slots.
    #[inline]
    pub fn fetch_data(&self, slots: &Range<usize>, id: u32, bytes: usize) {
        /// For longer features, the processor prefetches the rest itself.
        const MOST: usize = 1024;
        let at = slots.start.saturating_add(id as usize);
        if at < slots.end
            && let Ok(span) = self.index.span(at, self.data.bytes.len())
        {
            let end = span.end.min(span.start + bytes.min(MOST));
            if span.start < end {
                fetch_all(&self.data.bytes, span.start..end);
            }
        }
    }

    fn slots(&self) -> usize {
        (self.index.bytes.len() / 8).saturating_sub(1)
    }
}

/// The parts of a partition that is not opened from files.
pub(crate) struct Parts {
    pub map: Column,
    pub neighbors: Column,
    pub edges: Column,
    pub times: Option<Column>,
    /// See the fields of [`Partition`].
    pub never: i64,
    pub exact: Option<Column>,
    pub scale: f64,
    pub node_slots: Column,
    pub node_features: Features,
    pub edge_features: Features,
}

impl Partition {
    /// Creates a partition from columns with matching lengths.
    pub fn of(parts: Parts) -> Partition {
        let Parts { map, neighbors, edges, times, never, exact, scale, node_slots, node_features, edge_features } =
            parts;
        Partition { map, neighbors, edges, times, never, exact, scale, node_slots, node_features, edge_features }
    }

    /// Opens the files of a partition.
    ///
    /// # Errors
    /// Returns an error if a file cannot be mapped or copied.
    pub fn open(files: &PartitionFiles, hold: Hold, scratch: &Scratch) -> Result<Partition> {
        let column = |blob: &Blob| Column::open(blob, hold, scratch);
        Ok(Partition {
            map: column(&files.map)?,
            neighbors: column(&files.neighbors)?,
            edges: column(&files.edge_index)?,
            times: files.times.as_ref().map(column).transpose()?,
            never: -1,
            exact: None,
            scale: 1.0,
            node_slots: column(&files.node_index)?,
            node_features: Features::open(&files.node_features_index, &files.node_features_data, hold, scratch)?,
            edge_features: Features::open(&files.edge_features_index, &files.edge_features_data, hold, scratch)?,
        })
    }

    /// Returns its columns by name; some do not exist in every partition.
    pub fn columns(&self) -> [(&'static str, Option<&Column>); 12] {
        let (nodes, edges) = (&self.node_features, &self.edge_features);
        [
            ("nodes", Some(&self.map)),
            ("neighbors", Some(&self.neighbors)),
            ("edges", Some(&self.edges)),
            ("times", self.times.as_ref()),
            ("exact", self.exact.as_ref()),
            ("slots", Some(&self.node_slots)),
            ("node_features_index", Some(&nodes.index)),
            ("node_features_data", Some(&nodes.data)),
            ("node_features_bare", Some(&nodes.bare)),
            ("edge_features_index", Some(&edges.index)),
            ("edge_features_data", Some(&edges.data)),
            ("edge_features_bare", Some(&edges.bare)),
        ]
    }

    /// Returns the time of removal of edges that were not removed, and the factor for weights.
    pub fn never_and_scale(&self) -> (i64, f64) {
        (self.never, self.scale)
    }

    /// Creates a partition from the columns of [`Partition::columns`]; `None` if one is missing.
    ///
    /// # Errors
    /// Returns the errors of `column`.
    pub fn of_columns(
        column: impl Fn(&'static str) -> Result<Option<Column>>,
        never: i64,
        scale: f64,
    ) -> Result<Option<Partition>> {
        let features = |index: Option<Column>, data: Option<Column>, bare: Option<Column>| {
            Some(Features { index: index?, data: data?, bare: bare? })
        };
        let columns = (column("nodes")?, column("neighbors")?, column("edges")?, column("slots")?);
        let (Some(map), Some(neighbors), Some(edges), Some(node_slots)) = columns else { return Ok(None) };
        let of = ["node_features_index", "node_features_data", "node_features_bare"];
        let node_features = features(column(of[0])?, column(of[1])?, column(of[2])?);
        let of = ["edge_features_index", "edge_features_data", "edge_features_bare"];
        let edge_features = features(column(of[0])?, column(of[1])?, column(of[2])?);
        let (Some(node_features), Some(edge_features)) = (node_features, edge_features) else { return Ok(None) };
        let (times, exact) = (column("times")?, column("exact")?);
        let parts =
            Parts { map, neighbors, edges, times, never, exact, scale, node_slots, node_features, edge_features };
        Ok(Some(Partition::of(parts)))
    }

    /// Returns the entries of its map.
    #[inline]
    pub fn nodes(&self) -> &[[u8; NODE]] {
        self.map.records()
    }

    /// Returns the id of an entry; 0 if the entry does not exist.
    #[inline]
    pub fn id(&self, entry: usize) -> i64 {
        self.nodes().get(entry).map_or(0, |node| i64::from_le_bytes(field(node, 0)))
    }

    /// Returns whether the entry exists and has this id.
    #[inline]
    pub fn has(&self, entry: usize, id: i64) -> bool {
        self.nodes().get(entry).is_some_and(|node| i64::from_le_bytes(field(node, 0)) == id)
    }

    /// Returns the type of an entry, [`DUMMY`] if it only represents ends of edges.
    #[inline]
    pub fn node_type(&self, entry: usize) -> i32 {
        self.nodes().get(entry).map_or(DUMMY, |node| i32::from_le_bytes(field(node, 16)))
    }

    /// Returns its edges, including the record after the last.
    #[inline]
    pub fn edges(&self) -> &[Edge] {
        self.edges.records()
    }

    /// Returns the number of edges.
    #[inline]
    pub fn edge_count(&self) -> usize {
        self.edges().len().saturating_sub(1)
    }

    /// Returns the numbers of the edges of an entry.
    ///
    /// # Errors
    /// Returns [`rules::BOUNDS`] if they are out of range.
    #[inline]
    pub fn edge_range(&self, entry: usize) -> Result<Range<usize>> {
        self.neighbors.span(entry, self.edge_count())
    }

    /// Prefetches what [`Partition::edge_range`] reads.
    #[inline]
    pub fn fetch_edge_range(&self, entry: usize) {
        self.neighbors.fetch_span(entry);
    }

    /// Prefetches what [`Partition::id`] and [`Partition::node_type`] read.
    #[inline]
    pub fn fetch_node(&self, entry: usize) {
        self.map.fetch(entry, NODE);
    }

    /// Prefetches what [`Partition::node_slots`] reads.
    #[inline]
    pub fn fetch_node_slots(&self, entry: usize) {
        self.node_slots.fetch_span(entry);
    }

    /// Prefetches some edges.
    #[inline]
    pub fn fetch_edges(&self, edges: Range<usize>) {
        fetch_all(&self.edges.bytes, edges.start * EDGE..edges.end * EDGE);
    }

    /// Returns the entry that has edge number `edge`.
    pub fn entry_of(&self, edge: usize) -> usize {
        let starts = self.neighbors.records::<8>();
        starts.partition_point(|start| u64::from_le_bytes(*start) <= edge as u64).saturating_sub(1)
    }

    /// Returns whether edges have times.
    #[inline]
    pub fn has_times(&self) -> bool {
        self.times.is_some()
    }

    /// Returns whether weights have more than 32 bits.
    #[inline]
    pub fn has_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Returns the weight of an edge with all its bits.
    #[inline]
    pub fn exact(&self, edge: usize) -> f64 {
        match &self.exact {
            Some(exact) => exact.word(edge).map_or(f64::NAN, f64::from_bits),
            None => self.edges().get(edge).map_or(f64::NAN, |edge| f64::from(weight(edge))),
        }
    }

    /// Returns the mass of an edge when it is drawn by weight. NaN if its weight is NaN, infinite or negative: then
    /// all sums with it are NaN too, and nothing is drawn by them.
    #[inline]
    pub fn mass(&self, number: usize, edge: &Edge) -> f64 {
        match self.exact {
            Some(_) => mass(self.exact(number)) * self.scale,
            None => mass(f64::from(weight(edge))),
        }
    }

    /// Appends the running sums of the weights of edges to `sums`, starting from `sum`, and returns the last.
    #[inline]
    pub fn add_up(&self, edges: Range<usize>, mut sum: f64, sums: &mut Vec<f64>) -> f64 {
        if self.exact.is_some() {
            sums.extend(edges.map(|edge| {
                sum += mass(self.exact(edge)) * self.scale;
                sum
            }));
        } else {
            sums.extend(self.edges().get(edges).unwrap_or_default().iter().map(|edge| {
                sum += mass(f64::from(weight(edge)));
                sum
            }));
        }
        sum
    }

    /// Returns when an edge was created and removed ([`Partition::never`] if it was not removed). Without times it always existed.
    #[inline]
    pub fn life(&self, edge: usize) -> (i64, i64) {
        let at = 8 + edge * LIFE;
        match self.times.as_ref().and_then(|times| times.bytes.get(at..at + LIFE)) {
            Some(life) => (i64::from_le_bytes(field(life, 0)), i64::from_le_bytes(field(life, 8))),
            None => (-1, self.never),
        }
    }

    /// Returns whether an edge exists at `time`: created then or before, and not yet removed.
    #[inline]
    pub fn alive(&self, edge: usize, time: i64) -> bool {
        let (created, removed) = self.life(edge);
        created <= time && (removed > time || removed == self.never)
    }

    /// Returns the slots of the features of an entry.
    ///
    /// # Errors
    /// Returns [`rules::BOUNDS`] if they are out of range.
    #[inline]
    pub fn node_slots(&self, entry: usize) -> Result<Range<usize>> {
        self.node_slots.span(entry, self.node_features.slots())
    }

    /// Returns the slots of the features of an edge.
    ///
    /// # Errors
    /// Returns [`rules::BOUNDS`] if they are out of range.
    pub fn edge_slots(&self, edge: usize) -> Result<Range<usize>> {
        let limit = self.edge_features.slots() as u64;
        match self.edges().get(edge..edge + 2) {
            Some([this, next]) if slot(this) <= slot(next) && slot(next) <= limit => {
                Ok(index(slot(this))..index(slot(next)))
            }
            _ => Err(self.edges.broken(edge, "the features of this edge are out of range")),
        }
    }

    /// Returns the edges of type `ty` in `range`, the edges of one entry, which are sorted by type.
    #[inline]
    pub fn run(&self, range: &Range<usize>, ty: i32) -> Range<usize> {
        /// Below this number of edges, a linear search is faster than a binary search.
        const FEW: usize = 24;
        let edges = &self.edges()[range.clone()];
        let (start, end) = if edges.len() <= FEW {
            let start = edges.iter().position(|edge| type_of(edge) == ty).unwrap_or(edges.len());
            let same = edges[start..].iter().take_while(|edge| type_of(edge) == ty).count();
            (start, start + same)
        } else {
            let start = edges.partition_point(|edge| type_of(edge) < ty);
            (start, start + edges[start..].partition_point(|edge| type_of(edge) <= ty))
        };
        range.start + start..range.start + end
    }
}
