//! Records of one kind as columns without a final type: what is kept of a file that was read.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::StringArray;
use arrow_array::builder::{ArrayBuilder, StringBuilder};
use isomorph_error::Result;
use isomorph_tables::PackedFile;

use crate::reader::{Item, Reader, Syntax};
use crate::slots::{Number, Record, Role, Slots, Tag};
use crate::stored::{Stored, StoredBuilder};

/// Maximum number of rows in a chunk.
pub(crate) const ROWS: usize = 1 << 16;

/// Bytes of texts after which a chunk ends.
const BYTES: usize = 16 << 20;

/// Ends of hyperedges.
#[derive(Debug)]
pub(crate) struct Members {
    pub owners: StringArray,
    pub nodes: StringArray,
    pub roles: StringArray,
    /// Number of ends up to each hyperedge, and its own.
    counts: Vec<usize>,
}

impl Members {
    /// Returns the position of the hyperedge of each end.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        let starts = std::iter::once(0).chain(self.counts.iter().copied());
        starts.zip(&self.counts).enumerate().flat_map(|(row, (start, end))| std::iter::repeat_n(row, end - start))
    }
}

/// Records that are not read, by their positions in the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOut {
    nodes: BTreeSet<u64>,
    edges: BTreeSet<u64>,
    hyperedges: BTreeSet<u64>,
}

impl LeftOut {
    /// Adds a record; returns whether it is new.
    pub fn add(&mut self, item: Item, position: u64) -> bool {
        match item {
            Item::Node => self.nodes.insert(position),
            Item::Edge => self.edges.insert(position),
            Item::Hyperedge => self.hyperedges.insert(position),
        }
    }

    /// Adds records that are numbered without those that are here already.
    pub fn add_remaining(&mut self, others: &LeftOut) {
        for (own, others) in [
            (&mut self.nodes, &others.nodes),
            (&mut self.edges, &others.edges),
            (&mut self.hyperedges, &others.hyperedges),
        ] {
            let known: Vec<u64> = (0..).zip(own.iter()).map(|(before, position)| position - before).collect();
            own.extend(others.iter().map(|row| row + known.partition_point(|free| free <= row) as u64));
        }
    }

    fn of(&self, item: Item) -> Vec<u64> {
        let all = match item {
            Item::Node => &self.nodes,
            Item::Edge => &self.edges,
            Item::Hyperedge => &self.hyperedges,
        };
        all.iter().copied().collect()
    }
}

/// Records of one kind, in the order of the file.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub item: Item,
    /// The number of the first one.
    pub start: u64,
    pub rows: usize,
    /// Ids of nodes and hyperedges, or sources; and targets. `None` if no row has one.
    pub ids: [Option<Stored>; 2],
    /// Directions, where records state them.
    pub directed: Option<Stored>,
    /// Where each record is in the file, in bytes.
    pub offsets: Vec<u64>,
    /// Attributes by position of their name.
    pub columns: Vec<(usize, Stored)>,
    pub members: Option<Members>,
    /// Whether a hyperedge has both a direction and members without one.
    pub has_members_beside: bool,
}

impl Chunk {
    /// Returns the memory, in bytes.
    pub fn bytes(&self) -> usize {
        let ids = self.ids.iter().flatten().chain(&self.directed).map(Stored::bytes).sum::<usize>();
        let columns = self.columns.iter().map(|(_, column)| column.bytes()).sum::<usize>();
        let members = self.members.iter().flat_map(|own| [&own.owners, &own.nodes, &own.roles]);
        let members = members.map(arrow_array::Array::get_array_memory_size).sum::<usize>();
        let counts = self.members.as_ref().map_or(0, |own| own.counts.capacity() * size_of::<usize>());
        ids + columns + members + counts + self.offsets.capacity() * size_of::<u64>()
    }

    /// Returns the rows without an id, or without one of two ends.
    pub fn incomplete(&self) -> impl Iterator<Item = usize> {
        let needed = if self.item == Item::Edge { 2 } else { 1 };
        let ids = self.ids.get(..needed).unwrap_or_default();
        let is_whole = ids.iter().all(|own| own.as_ref().is_some_and(|own| own.count(false) == 0));
        let rows = if is_whole { 0..0 } else { 0..self.rows };
        rows.filter(|row| !ids.iter().all(|own| own.as_ref().is_some_and(|own| own.has(*row))))
    }

    /// Returns the values of an attribute; `None` if no record has it.
    pub fn column(&self, at: usize) -> Option<&Stored> {
        let found = self.columns.binary_search_by_key(&at, |(own, _)| *own).ok()?;
        self.columns.get(found).map(|(_, column)| column)
    }
}

/// Collects records of one kind.
struct ChunkBuilder {
    item: Item,
    /// Whether only ids are wanted.
    bare: bool,
    /// Number of records that were read, and the positions of those that are left out, in order.
    read: u64,
    left_out: std::iter::Peekable<std::vec::IntoIter<u64>>,
    start: u64,
    rows: usize,
    bytes: usize,
    ids: [StoredBuilder; 2],
    directed: StoredBuilder,
    offsets: Vec<u64>,
    columns: Vec<StoredBuilder>,
    members: [StringBuilder; 3],
    counts: Vec<usize>,
    has_members_beside: bool,
}

impl ChunkBuilder {
    fn new(item: Item, bare: bool, left_out: &LeftOut) -> Self {
        ChunkBuilder {
            item,
            bare,
            read: 0,
            left_out: left_out.of(item).into_iter().peekable(),
            start: 0,
            rows: 0,
            bytes: 0,
            ids: Default::default(),
            directed: StoredBuilder::default(),
            offsets: Vec::new(),
            columns: Vec::new(),
            members: Default::default(),
            counts: Vec::new(),
            has_members_beside: false,
        }
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    fn push(&mut self, record: &Record, offset: u64) {
        let position = self.read;
        self.read += 1;
        if self.left_out.next_if_eq(&position).is_some() {
            return;
        }
        let row = self.rows;
        self.rows += 1;
        self.offsets.push(offset);
        let ids = match self.item {
            Item::Node | Item::Hyperedge => [Some(&record.id), None],
            Item::Edge => [Some(&record.source), Some(&record.target)],
        };
        for (column, id) in self.ids.iter_mut().zip(ids) {
            if let Some(id) = id.filter(|id| id.is_set()) {
                self.bytes += id.text.len();
                column.push_id(row, id);
            }
        }
        let directed = match self.item {
            Item::Node => None,
            Item::Edge => record.directed,
            Item::Hyperedge => Some(self.push_members(record)),
        };
        if let Some(directed) = directed {
            self.directed.push_value(row, Tag::Bool, if directed { "true" } else { "false" }, Number::None);
        }
        if !self.bare {
            self.push_slots(
                row,
                match self.item {
                    Item::Node => &record.nodes,
                    Item::Edge => &record.edges,
                    Item::Hyperedge => &record.hyperedges,
                },
            );
        }
    }

    fn push_slots(&mut self, row: usize, slots: &Slots) {
        if self.columns.len() < slots.names().len() {
            self.columns.resize_with(slots.names().len(), StoredBuilder::default);
        }
        for at in slots.set() {
            if let (Some(slot), Some(column)) = (slots.get(*at), self.columns.get_mut(*at)) {
                self.bytes += slot.text().len();
                column.push(row, slot);
            }
        }
    }

    /// Appends the ends of a hyperedge, and returns whether it has a direction.
    fn push_members(&mut self, record: &Record) -> bool {
        let is_directed = record.endpoints.iter().any(|end| end.role != Role::Member);
        self.has_members_beside |= is_directed && record.endpoints.iter().any(|end| end.role == Role::Member);
        let [owners, nodes, roles] = &mut self.members;
        for end in &record.endpoints {
            owners.append_value(&record.id.text);
            nodes.append_value(&end.node);
            roles.append_value(end.role.word());
            self.bytes += record.id.text.len() + end.node.len();
        }
        self.counts.push(self.members[1].len());
        is_directed
    }

    /// Returns what was collected, and starts the next chunk; `None` if it is nothing.
    fn finish(&mut self) -> Option<Chunk> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return None;
        }
        self.bytes = 0;
        let start = self.start;
        self.start += rows as u64;
        let columns = self.columns.iter_mut().enumerate();
        let members = (self.item == Item::Hyperedge).then(|| {
            let [owners, nodes, roles] = self.members.each_mut().map(StringBuilder::finish);
            Members { owners, nodes, roles, counts: std::mem::take(&mut self.counts) }
        });
        Some(Chunk {
            item: self.item,
            start,
            rows,
            ids: self.ids.each_mut().map(|ids| ids.finish(rows)),
            directed: self.directed.finish(rows),
            offsets: std::mem::take(&mut self.offsets),
            columns: columns.filter_map(|(at, own)| own.finish(rows).map(|own| (at, own))).collect(),
            members,
            has_members_beside: std::mem::take(&mut self.has_members_beside),
        })
    }
}

/// Which records are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub nodes: bool,
    pub edges: bool,
    pub hyperedges: bool,
    /// Only ids, without attributes.
    pub bare: bool,
}

impl Wanted {
    pub const ALL: Wanted = Wanted { nodes: true, edges: true, hyperedges: true, bare: false };
    /// Nothing yet, and without attributes.
    pub const BARE: Wanted = Wanted { nodes: false, edges: false, hyperedges: false, bare: true };

    /// Returns whether records of a kind are wanted.
    pub fn includes(self, item: Item) -> bool {
        match item {
            Item::Node => self.nodes,
            Item::Edge => self.edges,
            Item::Hyperedge => self.hyperedges,
        }
    }
}

/// Reads a file as chunks.
pub(crate) struct Chunks {
    pub reader: Box<dyn Reader>,
    pub record: Record,
    builders: Vec<ChunkBuilder>,
    /// The builders whose chunks are due.
    due: Range<usize>,
    is_over: bool,
}

impl Chunks {
    /// Starts to read; `record` knows the names of attributes, if they were read before.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    pub fn new(
        syntax: &dyn Syntax,
        file: &PackedFile,
        record: Record,
        wanted: Wanted,
        left_out: &LeftOut,
    ) -> Result<Chunks> {
        let items = [Item::Node, Item::Edge, Item::Hyperedge].into_iter().filter(|item| wanted.includes(*item));
        let builders = items.map(|item| ChunkBuilder::new(item, wanted.bare, left_out)).collect();
        Ok(Chunks { reader: syntax.reader(file)?, record, builders, due: 0..0, is_over: false })
    }

    /// Returns the next chunk; `None` at the end. A node comes in an earlier chunk than the edges that follow it in the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or breaks a rule of the syntax.
    pub fn next(&mut self) -> Result<Option<Arc<Chunk>>> {
        loop {
            let builders = &mut self.builders;
            if let Some(chunk) = self.due.find_map(|at| builders.get_mut(at)?.finish()) {
                return Ok(Some(Arc::new(chunk)));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.reader.next(&mut self.record)? {
                None => (self.is_over, self.due) = (true, 0..self.builders.len()),
                Some(item) => {
                    if let Some((at, builder)) = self.builders.iter_mut().enumerate().find(|(_, own)| own.item == item)
                    {
                        builder.push(&self.record, self.reader.offset());
                        if builder.is_full() {
                            self.due = 0..at + 1;
                        }
                    }
                }
            }
        }
    }
}
