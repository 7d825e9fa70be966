//! The model of these formats, and conversion of blocks to batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int32Array, Int64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::{
    Batch, Direction, EdgeBatch, EdgeType, Ends, Graph, Key, KeyKind, NodeBatch, NodeType, Property, Relation,
    Relations, well_known,
};

use crate::binary::DUMMY;
use crate::block::{Block, Depth, Life};
use crate::feature::FeatureColumns;
use crate::number;

/// Name of the only node type.
pub(crate) const NODE: &str = "node";

/// Property with the type of a node.
pub(crate) const TYPE: &str = "type";

/// Metadata key of a graph: the last time that a binary knows.
pub(crate) const WATERMARK: &str = "deepgnn.watermark";

/// Columns other than keys, ends, types and weights.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    pub node_features: FeatureColumns,
    pub edge_features: FeatureColumns,
    /// Whether nodes have weights; for a binary, those in its sidecar.
    pub node_weights: bool,
    /// Whether nodes have times.
    pub node_times: bool,
    /// Whether edges have times.
    pub edge_times: bool,
}

fn times(wanted: bool) -> impl Iterator<Item = Property> {
    let names = [well_known::CREATED_AT, well_known::REMOVED_AT].into_iter().filter(move |_| wanted);
    names.map(|name| Property::new(name, DataType::Int64))
}

impl Columns {
    /// Returns the description of a graph with these columns.
    pub fn graph(&self, nodes: Option<u64>, edges: Option<u64>) -> Graph {
        let key = Key { kind: KeyKind::Int, data_type: DataType::UInt64, name: Some("node_id".to_owned()) };
        let weight = || Property::new(well_known::WEIGHT, DataType::Float32).required();
        let mut node = NodeType::new(NODE, key);
        node.properties = vec![Property::new(TYPE, DataType::Int32).required()];
        node.properties.extend(self.node_weights.then(weight));
        node.properties.extend(times(self.node_times).chain(self.node_features.properties()));
        // An edge may end in an id that no node states.
        node.implied = true;
        node.rows = nodes;
        let mut edge = EdgeType::new(0, "", 0);
        (edge.relation, edge.direction) = (Relation::PerRow, Direction::Directed);
        edge.properties = vec![weight()];
        edge.properties.extend(times(self.edge_times).chain(self.edge_features.properties()));
        edge.rows = edges;
        Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() }
    }

    /// Returns whether a feature id has values of several types.
    pub fn has_several(&self) -> bool {
        self.node_features.has_several() || self.edge_features.has_several()
    }

    /// The position of the first feature among the properties of nodes.
    pub fn first_node_feature(&self) -> usize {
        1 + usize::from(self.node_weights) + 2 * usize::from(self.node_times)
    }

    /// The position of the first feature among the properties of edges.
    pub fn first_edge_feature(&self) -> usize {
        1 + 2 * usize::from(self.edge_times)
    }

    fn node_columns(&self) -> usize {
        self.first_node_feature() + self.node_features.len()
    }

    /// Delivers the nodes of a block as batches of at most `rows` rows; the first is row `start`. Entries that only
    /// stand for edges are skipped.
    ///
    /// # Errors
    /// Returns an error if a feature is not of its type, and the errors of `take`.
    pub fn nodes(
        &self,
        block: &Block,
        start: u64,
        rows: usize,
        depth: Depth,
        take: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<u64> {
        let nodes = &block.nodes;
        let mut start = start;
        for real in nodes.types.chunk_by(|a, b| (*a == DUMMY) == (*b == DUMMY)).scan(0, |at, run| {
            let from = *at;
            *at += run.len();
            Some((from..*at, run.first() != Some(&DUMMY)))
        }) {
            let (run, true) = real else { continue };
            for range in pieces(run, rows) {
                let keys: ArrayRef = Arc::new(UInt64Array::from(nodes.ids[range.clone()].to_vec()));
                let mut properties: Vec<Option<ArrayRef>> = Vec::new();
                if depth != Depth::Bare {
                    properties.push(Some(Arc::new(Int32Array::from(nodes.types[range.clone()].to_vec()))));
                    if self.node_weights {
                        properties.push(Some(weights(&nodes.weights[range.clone()])));
                    }
                    if self.node_times {
                        properties.extend(lives(range.clone().map(|node| block.node_life(node))));
                    }
                }
                match depth {
                    Depth::Features(_) | Depth::Full => {
                        properties.extend(self.node_features.columns(&nodes.features, range.clone(), depth)?);
                    }
                    Depth::Bare | Depth::Plain => properties.resize(self.node_columns(), None),
                }
                let rows = range.len();
                take(Batch::Nodes(NodeBatch {
                    ty: 0,
                    start,
                    numbers: None,
                    rows,
                    keys: Some(keys),
                    labels: None,
                    properties,
                }))?;
                start += rows as u64;
            }
        }
        Ok(start)
    }

    /// Delivers the edges of a block as batches of at most `rows` rows.
    ///
    /// # Errors
    /// Returns an error if a feature is not of its type, and the errors of `take`.
    pub fn edges(
        &self,
        block: &Block,
        rows: usize,
        depth: Depth,
        take: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let edges = &block.edges;
        for range in pieces(0..edges.sources.len(), rows) {
            let ends = |ids: &[u64]| Ends::Keys(Arc::new(UInt64Array::from(ids.to_vec())));
            let mut properties: Vec<Option<ArrayRef>> = Vec::new();
            if depth != Depth::Bare {
                properties.push(Some(weights(&edges.weights[range.clone()])));
                if self.edge_times {
                    properties.extend(lives(range.clone().map(|edge| block.edge_life(edge))));
                }
            }
            match depth {
                Depth::Features(_) | Depth::Full => {
                    properties.extend(self.edge_features.columns(&edges.features, range.clone(), depth)?);
                }
                Depth::Bare | Depth::Plain => {
                    properties.resize(self.first_edge_feature() + self.edge_features.len(), None)
                }
            }
            take(Batch::Edges(EdgeBatch {
                ty: 0,
                rows: range.len(),
                relations: Some(relations(&edges.types[range.clone()])),
                source: ends(&edges.sources[range.clone()]),
                target: ends(&edges.targets[range.clone()]),
                layers: None,
                directed: None,
                keys: None,
                properties,
            }))?;
        }
        Ok(())
    }
}

fn pieces(range: Range<usize>, rows: usize) -> impl Iterator<Item = Range<usize>> {
    let rows = rows.max(1);
    range.clone().step_by(rows).map(move |start| start..range.end.min(start + rows))
}

/// Returns weights as they are stored: with 32 bits.
fn weights(weights: &[f64]) -> ArrayRef {
    Arc::new(weights.iter().map(|weight| number::single(*weight)).collect::<Float32Array>())
}

/// Returns lifetimes; a beginning of 0 and an end of −1 mean that there is none.
fn lives(lives: impl Iterator<Item = Life>) -> [Option<ArrayRef>; 2] {
    let stated = |time: Option<i64>, none: i64| time.filter(|time| *time != none);
    let (created, removed): (Vec<_>, Vec<_>) =
        lives.map(|life| (stated(life.created, 0), stated(life.removed, -1))).unzip();
    [created, removed].map(|times| Some(Arc::new(Int64Array::from(times)) as ArrayRef))
}

/// Returns types of edges as relations: their numbers are the names.
fn relations(types: &[i32]) -> Relations {
    let mut names = types.to_vec();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    // Every type is among them, and there are fewer than 2^16 types.
    let index = |ty: &i32| names.binary_search(ty).ok().and_then(|at| u32::try_from(at).ok()).unwrap_or_default();
    let index: UInt32Array = match names.len() {
        1 => vec![0; types.len()].into(),
        _ => types.iter().map(index).collect::<Vec<u32>>().into(),
    };
    Relations { names: StringArray::from_iter_values(names.iter().map(i32::to_string)), index }
}
