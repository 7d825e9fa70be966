//! Graphs in the shape of the format, handmade or random, delivered to a sink as a pipeline does.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    Batch, EdgeBatch, EdgeType, Ends, Graph, Key, LabelVocabulary, NodeBatch, NodeType, Property, Relation, Relations,
    Written,
};
use isomorph_nock::{CreateOptions, NockWriter};
use isomorph_storage::{Location, Mode, Staging};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    pub name: String,
    pub labels: Vec<String>,
    pub truth: f64,
    pub is_rdf: bool,
    pub shadow: Option<i64>,
    pub props: Map<String, Value>,
    pub part: i64,
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    pub source: usize,
    pub rel: String,
    pub target: usize,
    pub truth: f64,
    pub props: Map<String, Value>,
}

/// A graph. Edges are sorted by their source.
#[derive(Debug, Clone)]
pub struct Data {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Truth as Float64; otherwise Float32 can represent every truth.
    pub double: bool,
    /// Whether nodes have a further column `part`.
    pub part_column: bool,
}

impl Data {
    pub fn graph(&self) -> Graph {
        let truth = if self.double { DataType::Float64 } else { DataType::Float32 };
        let mut node = NodeType::new("node", Key::utf8());
        node.labels = LabelVocabulary::Open;
        node.properties = vec![
            Property::new("truth", truth.clone()).required(),
            Property::new("is_rdf", DataType::Boolean).required(),
        ];
        if self.has_shadows() {
            node.properties.push(Property::new("shadow", DataType::Int64));
        }
        node.properties.push(Property::bag());
        if self.part_column {
            node.properties.push(Property::new("part", DataType::Int64));
        }
        let mut edge = EdgeType::new(0, "", 0);
        edge.relation = Relation::PerRow;
        edge.properties = vec![Property::new("truth", truth).required(), Property::bag()];
        Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() }
    }

    pub fn has_shadows(&self) -> bool {
        self.nodes.iter().any(|node| node.shadow.is_some())
    }

    fn truth(&self, values: impl Iterator<Item = f64>) -> ArrayRef {
        if self.double {
            Arc::new(Float64Array::from_iter_values(values))
        } else {
            Arc::new(Float32Array::from_iter_values(values.map(|value| value as f32)))
        }
    }

    fn node_batch(&self, from: usize, to: usize) -> NodeBatch {
        let nodes = &self.nodes[from..to];
        let mut labels = LabelBuilder::default();
        nodes.iter().for_each(|node| labels.push(node.labels.iter().map(String::as_str)));
        let mut properties: Vec<Option<ArrayRef>> = vec![
            Some(self.truth(nodes.iter().map(|node| node.truth))),
            Some(Arc::new(BooleanArray::from_iter(nodes.iter().map(|node| Some(node.is_rdf))))),
        ];
        if self.has_shadows() {
            properties.push(Some(Arc::new(Int64Array::from_iter(nodes.iter().map(|node| node.shadow)))));
        }
        properties.push(Some(bags(nodes.iter().map(|node| &node.props))));
        if self.part_column {
            properties.push(Some(Arc::new(Int64Array::from_iter_values(nodes.iter().map(|node| node.part)))));
        }
        NodeBatch {
            ty: 0,
            start: from as u64,
            numbers: None,
            rows: nodes.len(),
            keys: Some(Arc::new(StringArray::from_iter_values(nodes.iter().map(|node| &node.name)))),
            labels: Some(labels.finish()),
            properties,
        }
    }

    fn edge_batch(&self, edges: &[Edge]) -> EdgeBatch {
        let names: Vec<&str> = edges.iter().map(|edge| edge.rel.as_str()).collect();
        let targets = edges.iter().map(|edge| &self.nodes[edge.target].name);
        EdgeBatch {
            ty: 0,
            rows: edges.len(),
            relations: Some(Relations {
                names: StringArray::from(names),
                index: UInt32Array::from_iter_values(0..edges.len() as u32),
            }),
            source: Ends::Rows(UInt64Array::from_iter_values(edges.iter().map(|edge| edge.source as u64))),
            target: Ends::Keys(Arc::new(StringArray::from_iter_values(targets))),
            layers: None,
            directed: None,
            keys: None,
            properties: vec![
                Some(self.truth(edges.iter().map(|edge| edge.truth))),
                Some(bags(edges.iter().map(|edge| &edge.props))),
            ],
        }
    }

    /// Nodes in batches of `nodes`, each followed by its edges in batches of `edges`.
    pub fn batches(&self, nodes: usize, edges: usize) -> Vec<Batch> {
        let mut batches = Vec::new();
        let mut edge = 0;
        for from in (0..self.nodes.len()).step_by(nodes.max(1)) {
            let to = (from + nodes.max(1)).min(self.nodes.len());
            batches.push(Batch::Nodes(self.node_batch(from, to)));
            let here = self.edges[edge..].iter().take_while(|edge| edge.source < to).count();
            for chunk in self.edges[edge..edge + here].chunks(edges.max(1)) {
                batches.push(Batch::Edges(self.edge_batch(chunk)));
            }
            edge += here;
        }
        batches
    }

    /// Writes the graph to `path`.
    pub fn write(&self, path: &Path, options: &CreateOptions, sizes: (usize, usize)) -> Result<Written> {
        write_batches(path, &self.graph(), options, self.batches(sizes.0, sizes.1))
    }

    /// Returns the graph in the form of the fixtures.
    pub fn view(&self) -> Value {
        let mut nodes: Vec<Value> = self
            .nodes
            .iter()
            .map(|node| {
                let mut labels = node.labels.clone();
                labels.sort_unstable();
                labels.dedup();
                json!({
                    "name": node.name, "labels": labels, "truth": self.kept(node.truth), "is_rdf": node.is_rdf,
                    "shadow": node.shadow.unwrap_or(-1), "props": node.props,
                })
            })
            .collect();
        let mut edges: Vec<Value> = self
            .edges
            .iter()
            .map(|edge| {
                json!({
                    "src": self.nodes[edge.source].name, "rel": edge.rel, "dst": self.nodes[edge.target].name,
                    "truth": self.kept(edge.truth), "props": edge.props,
                })
            })
            .collect();
        nodes.sort_by_key(|node| node["name"].as_str().unwrap().to_owned());
        edges.sort_by_key(super::edge_order);
        json!({ "nodes": nodes, "edges": edges })
    }

    fn kept(&self, truth: f64) -> f64 {
        if self.double { truth } else { f64::from(truth as f32) }
    }
}

/// Passes batches to a writer and publishes the result.
pub fn write_batches(path: &Path, graph: &Graph, options: &CreateOptions, batches: Vec<Batch>) -> Result<Written> {
    let place = Location::from_path(path);
    let staging = match options.partitions {
        Some(_) => Staging::directory(&place, Mode::CreateNew)?,
        None => Staging::file(&place, Mode::CreateNew)?,
    };
    let mut writer = NockWriter::create(&staging, graph, options)?;
    for batch in batches {
        writer.write(0, batch)?;
    }
    let written = writer.finish()?;
    staging.commit(&[])?;
    Ok(written)
}

fn bags<'a>(objects: impl Iterator<Item = &'a Map<String, Value>>) -> ArrayRef {
    let texts = objects.map(|object| serde_json::to_string(object).unwrap());
    Arc::new(StringArray::from_iter_values(texts))
}

/// Any JSON value of small depth.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // serde_json does not read every float back to the last bit; eighths it does.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec(("[a-c]{1,2}", inner), 0..3).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn props() -> impl Strategy<Value = Map<String, Value>> {
    vec((any::<String>(), json_value()), 0..3).prop_map(|members| members.into_iter().collect())
}

/// Text that is difficult for text formats.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-d]{1,3}",
        1 => any::<String>(),
        1 => Just("null".to_owned()),
        1 => Just("NaN".to_owned()),
        1 => Just("-1".to_owned()),
        1 => Just(" \"x\",\r\n\ty ".to_owned()),
        1 => Just("\u{feff}é\u{1F600}".to_owned()),
    ]
}

prop_compose! {
    /// A graph of up to `most` nodes.
    pub fn data(most: usize)(
        double in any::<bool>(),
        names in proptest::collection::btree_set(text().prop_filter("names are not empty", |name| !name.is_empty()), 0..most),
        seed in any::<u64>(),
    )(
        nodes in vec(
            (vec(text().prop_map(|label| label.replace(',', ";")), 0..3), 0.0..=1.0f64, any::<bool>(), props(), 0i64..3),
            names.len(),
        ),
        edges in vec(
            (any::<prop::sample::Index>(), prop_oneof![Just(String::new()), text()], any::<prop::sample::Index>(), 0.0..=1.0f64, props()),
            0..if names.is_empty() { 1 } else { 3 * names.len() },
        ),
        double in Just(double),
        seed in Just(seed),
        names in Just(names),
    ) -> Data {
        // Not sorted by name.
        let mut names: Vec<String> = names.into_iter().collect();
        let len = names.len();
        if len > 0 {
            names.rotate_left(seed as usize % len);
        }
        let nodes: Vec<Node> = names.into_iter().zip(nodes).map(|(name, (labels, truth, is_rdf, props, part))| Node {
            name,
            labels: labels.into_iter().filter(|label| !label.is_empty()).collect(),
            truth: if double { truth } else { f64::from(truth as f32) },
            is_rdf,
            shadow: None,
            props,
            part,
        }).collect();
        let mut edges: Vec<Edge> = edges.into_iter().filter(|_| len > 0).map(|(source, rel, target, truth, props)| Edge {
            source: source.index(len),
            rel,
            target: target.index(len),
            truth: if double { truth } else { f64::from(truth as f32) },
            props,
        }).collect();
        edges.sort_by_key(|edge| edge.source);
        Data { nodes, edges, double, part_column: false }
    }
}
