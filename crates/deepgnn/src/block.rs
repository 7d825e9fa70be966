//! Nodes and edges as columns, in the order in which they arrive.
//!
//! A block is the content of a piece of text, or a run of records of a partition. It stores features as the binary
//! does, so that a text becomes a binary by copying. Their types, which the binary does not store, are kept separately.

use isomorph_error::{Rule, index};

use crate::DType;
use crate::feature::Timed;

/// How much of nodes or edges is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Ids and types, or ends and weights as far as they lie there, alone.
    Bare,
    /// Everything but features.
    Plain,
    /// Everything but other features than these: a bit for each of the first 64.
    Features(u64),
    /// Everything.
    Full,
}

impl Depth {
    /// Everything but other features than these; everything, if one of them has no bit.
    pub fn of_features(ids: impl IntoIterator<Item = u32>) -> Self {
        let bits = ids.into_iter().try_fold(0u64, |bits, id| Some(bits | 1u64.checked_shl(id)?));
        bits.map_or(Depth::Full, Depth::Features)
    }

    /// Whether there are features.
    pub fn has_features(self) -> bool {
        matches!(self, Depth::Features(_) | Depth::Full)
    }

    /// Whether the feature with this id is read.
    pub fn wants(self, id: usize) -> bool {
        match self {
            Depth::Bare | Depth::Plain => false,
            Depth::Features(bits) => id < 64 && (bits >> id) & 1 == 1,
            Depth::Full => true,
        }
    }
}

/// What a feature of an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Nothing: an unused id.
    Hole,
    /// Numbers of one type.
    Dense(DType),
    /// Text, in UTF-8.
    Text,
    /// Points with this many coordinates, and their values: two 32-bit counts, the coordinates as 64-bit integers, the
    /// values.
    Sparse(DType, u32),
    /// Values at times: a count, times, offsets, values.
    Temporal(Timed),
    /// Bytes of unknown type.
    Raw,
}

/// A count in a block.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a block is made of a piece of text, or of a run of records")]
pub(crate) fn narrow(count: usize) -> u32 {
    count as u32
}

/// The features of consecutive elements.
#[derive(Debug, Default)]
pub(crate) struct Features {
    /// End of the features of each element.
    pub ends: Vec<u32>,
    /// Kind of each feature.
    pub kinds: Vec<Kind>,
    /// End of the bytes of each feature.
    pub bytes_ends: Vec<u64>,
    /// The bytes of all features.
    pub bytes: Vec<u8>,
}

impl Features {
    /// Ends a feature whose bytes have been appended. A feature without bytes is a hole.
    pub fn end_feature(&mut self, kind: Kind) {
        let end = self.bytes.len() as u64;
        let empty = self.bytes_ends.last().copied().unwrap_or_default() == end;
        self.kinds.push(if empty { Kind::Hole } else { kind });
        self.bytes_ends.push(end);
    }

    /// Ends an element.
    pub fn end_element(&mut self) {
        self.ends.push(narrow(self.kinds.len()));
    }

    /// Returns the indexes of the features of an element.
    pub fn of(&self, element: usize) -> std::ops::Range<usize> {
        let start = element.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[element] as usize
    }

    /// Returns the number of features before those of an element.
    pub fn slots_before(&self, element: usize) -> u64 {
        element.checked_sub(1).map_or(0, |before| u64::from(self.ends[before]))
    }

    /// Returns the bytes of a feature.
    pub fn bytes_of(&self, feature: usize) -> &[u8] {
        &self.bytes[index(self.start_of(feature))..index(self.bytes_ends[feature])]
    }

    /// Returns where the bytes of a feature begin; also valid for the index after the last.
    pub fn start_of(&self, feature: usize) -> u64 {
        feature.checked_sub(1).map_or(0, |before| self.bytes_ends[before])
    }

    /// Keeps only the features of the first elements.
    fn truncate(&mut self, elements: usize) {
        self.ends.truncate(elements);
        let features = self.ends.last().map_or(0, |end| *end as usize);
        self.kinds.truncate(features);
        self.bytes_ends.truncate(features);
        self.bytes.truncate(self.bytes_ends.last().map_or(0, |end| index(*end)));
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.kinds.clear();
        self.bytes_ends.clear();
        self.bytes.clear();
    }
}

/// The lifetime of an element: since, and until. A text states neither, either or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Life {
    pub created: Option<i64>,
    pub removed: Option<i64>,
}

/// Nodes.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    pub ids: Vec<u64>,
    /// −1 for an entry that only stands for the edges after it.
    pub types: Vec<i32>,
    pub weights: Vec<f64>,
    /// Lifetimes; empty if no node has one.
    pub lives: Vec<Life>,
    /// Number of edges of the block before each node.
    pub edges_before: Vec<u32>,
    pub features: Features,
}

/// Edges.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    pub sources: Vec<u64>,
    pub targets: Vec<u64>,
    pub types: Vec<i32>,
    pub weights: Vec<f64>,
    /// Whether a weight was written as an integer, which is visible in sums of weights; empty if none was.
    pub integral: Vec<bool>,
    /// Lifetimes; empty if no edge has one.
    pub lives: Vec<Life>,
    /// The times are those that are stored, independent of the times of nodes.
    pub settled: bool,
    pub features: Features,
}

/// The end of a record (a line or a JSON object), as counts of nodes and edges in the block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordEnd {
    pub nodes: u32,
    pub edges: u32,
    /// Offset of its first byte in the block.
    pub at: u32,
}

/// A repair: the rule, the number of occurrences, and the offset of the first in the block.
#[derive(Debug, Clone)]
pub(crate) struct Repair {
    pub rule: &'static Rule,
    pub count: u64,
    pub at: usize,
    /// What was wrong, if the rule alone does not say it.
    pub message: Option<String>,
}

/// Number of skipped records in a block that are reported individually; further ones are only counted.
const TOLD: usize = 8;

/// Nodes and edges in their order.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub nodes: Nodes,
    pub edges: Edges,
    pub records: Vec<RecordEnd>,
    pub repairs: Vec<Repair>,
}

impl Block {
    /// Begins a node; its features follow.
    pub fn node(&mut self, id: u64, ty: i32, weight: f64, life: Option<Life>) {
        let nodes = &mut self.nodes;
        note_life(&mut nodes.lives, nodes.ids.len(), life);
        nodes.ids.push(id);
        nodes.types.push(ty);
        nodes.weights.push(weight);
        nodes.edges_before.push(narrow(self.edges.sources.len()));
    }

    /// Begins an edge; its features follow.
    pub fn edge(&mut self, source: u64, target: u64, ty: i32, weight: f64) {
        let edges = &mut self.edges;
        edges.sources.push(source);
        edges.targets.push(target);
        edges.types.push(ty);
        edges.weights.push(weight);
    }

    /// Sets further properties of the edge that was begun last.
    pub fn edge_says(&mut self, integral: bool, life: Option<Life>) {
        let edges = &mut self.edges;
        let at = edges.sources.len().saturating_sub(1);
        note_life(&mut edges.lives, at, life);
        if integral || !edges.integral.is_empty() {
            edges.integral.resize(at, false);
            edges.integral.push(integral);
        }
    }

    /// Ends a record that began at the offset `at` of the block.
    pub fn end_record(&mut self, at: usize) {
        let (nodes, edges) = (narrow(self.nodes.ids.len()), narrow(self.edges.sources.len()));
        self.records.push(RecordEnd { nodes, edges, at: narrow(at) });
    }

    /// Records a repair at the offset `at` of the block.
    pub fn repaired(&mut self, rule: &'static Rule, at: usize) {
        match self.repairs.iter_mut().find(|repair| repair.rule.id == rule.id) {
            Some(repair) => repair.count += 1,
            None => self.repairs.push(Repair { rule, count: 1, at, message: None }),
        }
    }

    /// Records that the record at `at` was skipped, and why.
    pub fn skipped(&mut self, rule: &'static Rule, at: usize, message: String) {
        let of_rule = self.repairs.iter().filter(|repair| repair.rule.id == rule.id).count();
        match self.repairs.iter_mut().rfind(|repair| repair.rule.id == rule.id) {
            Some(last) if of_rule >= TOLD => last.count += 1,
            _ => self.repairs.push(Repair { rule, count: 1, at, message: Some(message) }),
        }
    }

    /// Removes what was added after these numbers of nodes, edges and repairs.
    pub fn undo_to(&mut self, nodes: usize, edges: usize, repairs: Vec<Repair>) {
        self.nodes.ids.truncate(nodes);
        self.nodes.types.truncate(nodes);
        self.nodes.weights.truncate(nodes);
        self.nodes.lives.truncate(nodes);
        self.nodes.edges_before.truncate(nodes);
        self.nodes.features.truncate(nodes);
        self.edges.sources.truncate(edges);
        self.edges.targets.truncate(edges);
        self.edges.types.truncate(edges);
        self.edges.weights.truncate(edges);
        self.edges.integral.truncate(edges);
        self.edges.lives.truncate(edges);
        self.edges.features.truncate(edges);
        self.repairs = repairs;
    }

    /// Returns the lifetime of a node.
    pub fn node_life(&self, node: usize) -> Life {
        self.nodes.lives.get(node).copied().unwrap_or_default()
    }

    /// Returns the lifetime of an edge.
    pub fn edge_life(&self, edge: usize) -> Life {
        self.edges.lives.get(edge).copied().unwrap_or_default()
    }

    /// Returns whether the weight of an edge was written as an integer.
    pub fn is_integral(&self, edge: usize) -> bool {
        self.edges.integral.get(edge).copied().unwrap_or_default()
    }

    /// Clears the block but keeps its memory.
    pub fn clear(&mut self) {
        let (nodes, edges) = (&mut self.nodes, &mut self.edges);
        nodes.ids.clear();
        nodes.types.clear();
        nodes.weights.clear();
        nodes.lives.clear();
        nodes.edges_before.clear();
        nodes.features.clear();
        edges.sources.clear();
        edges.targets.clear();
        edges.types.clear();
        edges.weights.clear();
        edges.integral.clear();
        edges.lives.clear();
        edges.features.clear();
        self.records.clear();
        self.repairs.clear();
    }
}

fn note_life(lives: &mut Vec<Life>, at: usize, life: Option<Life>) {
    if life.is_some() || !lives.is_empty() {
        lives.resize(at, Life::default());
        lives.push(life.unwrap_or_default());
    }
}
