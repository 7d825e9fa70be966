//! Any other graph: read once through the model, and stored in temporary files in the form of a binary.
//!
//! Edges are sorted by `isomorph-tables`, which spills beyond the budget; the result is
//! written in order and mapped, so that a graph larger than memory is sampled like any other.

mod edges;
mod features;
mod json;
mod kept;
mod names;
mod numbers;
mod times;
mod weights;

use std::io::{BufWriter, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, StringArray};
use arrow_schema::DataType;
use bytes::Bytes;
use isomorph_deepgnn::Types;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::json::push_string;
use isomorph_model::{
    Batch, Graph as Model, KeyKind, LabelColumn, LabelVocabulary, NodeBatch, NodeType, Request, Source, Tables,
};
use isomorph_storage::ScratchFile;

use crate::faults::{Faults, Met};
use crate::graph::{Drawing, Graph, GraphOptions};
use crate::map::own;
use crate::partition::{Column, DUMMY, Partition, Parts, mass};
use edges::{EdgeColumns, Edges};
use features::NodeFeatures;
pub use json::is_json as is_json_feature;
pub use kept::KeptGraph;
pub use names::{LABELS, Names};
use numbers::Numbers;
pub use times::Clock;
use weights::{NO_WEIGHT, Weights};

/// The property with the type of a node in a graph with one node type (DeepGNN).
const TYPE: &str = "type";

/// A temporary file that is written sequentially.
struct Writer(BufWriter<ScratchFile>);

impl Writer {
    fn new(options: &GraphOptions) -> Result<Self> {
        Ok(Writer(BufWriter::with_capacity(1 << 18, options.scratch.create()?)))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all(bytes)?)
    }

    fn column(self, name: &str) -> Result<Column> {
        let file = self.0.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let bytes = if file.size() == 0 { Bytes::new() } else { own(file)? };
        Ok(Column::new(bytes, name))
    }
}

impl Graph {
    /// Reads a graph of any format. If there is one node type with integer keys, the keys are the ids; otherwise ids are
    /// row numbers, type after type, and [`Names`] has the keys. Types of nodes and edges become numbers, properties
    /// become features, with the feature id that they state, or one for each name. Weights are the properties called `weight`, by default 1, in columns or
    /// in a bag; times of edges are the columns `created_at` and `removed_at`: dates, timestamps or integers, on the common
    /// clock of [`Names::clock`]. Unusable weights and times are errors when they are requested. Undirected edges lead both ways.
    ///
    /// # Errors
    /// Returns an error if the graph cannot be read, keys are neither integers nor texts, an end is not a node, or the budget is too small
    /// for the keys; [`Kind::Unsupported`] if it has hyperedges, or nodes without integer keys that only edges mention.
    pub fn of_source(source: &dyn Source, options: &GraphOptions) -> Result<(Graph, Names)> {
        let model = source.graph();
        if let Some(ty) = model.hyperedges.iter().find(|ty| ty.rows != Some(0)) {
            return Err(Error::new(
                Kind::Unsupported,
                format!("hyperedges of type {} do not connect pairs of nodes", ty.name),
            )
            .hint(
                "--hyperedges expand    read them as edges between their members; reify: as nodes; skip: ignore them",
            ));
        }
        let unnamed = model.nodes.iter().find(|ty| ty.implied && ty.key.kind != KeyKind::Int);
        if let Some(ty) = unnamed {
            let message = format!("nodes of type {} are only ends of edges, and their keys are not integers", ty.name);
            return Err(
                Error::unsupported(message).hint("use isomorph_convert::Opened::with_resources_as_nodes to list them")
            );
        }
        let mut names = Names::of(model, options)?;
        let mut nodes = Nodes::new(options)?;
        for (number, ty) in model.nodes.iter().enumerate() {
            let mut columns = NodeColumns::of(model, ty, names.node_numbers());
            for part in source.scan(&Request::of(Tables::Nodes(number)))? {
                for batch in part {
                    let Batch::Nodes(batch) = batch? else { continue };
                    names.push(number, batch.keys.as_ref(), batch.rows)?;
                    nodes.push(&batch, &mut columns, &mut names)?;
                }
            }
            names.end_of_type()?;
        }
        let mut edges = Edges::new(model, &names, options)?;
        edges.read(source, &mut names)?;
        // Ends without rows, if nodes are implied by edges: entries that only represent ends of edges.
        for id in names.implied() {
            nodes.entry(id.cast_signed(), DUMMY, NO_WEIGHT)?;
        }
        let written = edges.finish(nodes.count, options)?;
        let edge_counts = written.counts;
        names.edge_types = written.types;
        let faults = Faults { nodes: std::mem::take(&mut nodes.faults), edges: written.faults };
        let (partition, node_counts, weights) = nodes.finish(written.columns)?;
        let real = node_counts.iter().sum();
        #[expect(clippy::cast_possible_truncation, reason = "numbers of types are `i32`")]
        let types = |counts: Vec<u64>| Types { number: counts.len() as u32, counts, weights: Vec::new() };
        let drawing = Drawing::Weights(weights);
        let mut graph = Graph::of(vec![partition], types(node_counts), types(edge_counts), real, drawing, options)?;
        (graph.faults, graph.wide) = (faults, written.wide);
        Ok((graph, names))
    }
}

/// The use of a node type's columns.
struct NodeColumns {
    number: i32,
    ty: Option<usize>,
    weights: Weights,
    /// Name of the type.
    name: String,
    /// The feature of labels.
    labels: Option<usize>,
    /// The properties of each feature, up to the last one that this type has.
    features: Vec<Vec<usize>>,
    /// If edges alone may mention nodes, the properties that every other node has: a row without them only represents an end.
    required: Vec<usize>,
}

impl NodeColumns {
    fn of(model: &Model, ty: &NodeType, numbers: &Numbers) -> NodeColumns {
        let find = |name: &str| ty.properties.iter().position(|property| property.name == name);
        let number =
            (0..).zip(&model.nodes).find(|(_, other)| std::ptr::eq(*other, ty)).map_or(0, |(number, _)| number);
        // Labels are a column after all others.
        let labels = (ty.labels != LabelVocabulary::None).then_some(ty.properties.len());
        let of_rows = find(TYPE).filter(|at| model.nodes.len() == 1 && ty.properties[*at].data_type == DataType::Int32);
        let mut features = numbers.positions(&ty.properties);
        let of_labels = numbers.names().iter().position(|name| name == LABELS).filter(|_| find(LABELS).is_none());
        if let Some((at, number)) = labels.zip(of_labels) {
            features.resize(features.len().max(number + 1), Vec::new());
            features[number].push(at);
        }
        let (weights, name) = (Weights::of(&ty.properties), ty.name.clone());
        let stated = ty.properties.iter().enumerate().filter(|(_, property)| ty.implied && !property.nullable);
        let required = stated.map(|(at, _)| at).collect();
        NodeColumns { number, ty: of_rows, weights, name, labels, features, required }
    }

    /// Returns whether a row only represents an end of edges, as written by formats with a row for each end.
    fn is_end(&self, properties: &[Option<ArrayRef>], row: usize) -> bool {
        self.required.iter().any(|at| {
            let column = properties.get(*at).and_then(Option::as_ref);
            column.is_none_or(|column| column.is_null(row))
        })
    }
}

/// Returns the labels of each row as a JSON array; null for rows without labels.
fn label_texts(labels: &LabelColumn) -> ArrayRef {
    let text = |set: &Vec<u32>| {
        let mut text = String::new();
        for (number, name) in set.iter().filter_map(|name| labels.names().get(*name as usize)).enumerate() {
            text.push(if number == 0 { '[' } else { ',' });
            push_string(&mut text, name);
        }
        (!text.is_empty()).then(|| text + "]")
    };
    let sets: Vec<Option<String>> = labels.sets().iter().map(text).collect();
    let row = |set: &u32| sets.get(*set as usize).and_then(Option::as_deref);
    Arc::new(labels.rows().iter().map(row).collect::<StringArray>())
}

/// Returns the type that a row states, or `own`, that of the table, if it states none. Types are indexes of lists: a large one would make
/// them long.
fn stated_type(types: &Int32Array, row: usize, own: i32) -> Result<i32> {
    if types.is_null(row) {
        return Ok(own);
    }
    let ty = u16::try_from(types.value(row)).ok();
    let wrong =
        || Error::malformed(format!("{} is not a node type: types are numbers from 0 to 65535", types.value(row)));
    ty.map(i32::from).ok_or_else(wrong)
}

/// Returns the factor for weights with this sum, so that the sum is finite.
fn scale_of(sum: f64) -> f64 {
    // No graph has 2⁶⁴ elements.
    if sum == f64::INFINITY { 2f64.powi(-64) } else { 1.0 }
}

/// The nodes in the order in which they are read.
struct Nodes {
    map: Writer,
    features: NodeFeatures,
    weights: Vec<f64>,
    faults: Met,
    memory: isomorph_storage::Reservation,
    counts: Vec<u64>,
    count: u64,
}

impl Nodes {
    fn new(options: &GraphOptions) -> Result<Self> {
        Ok(Nodes {
            map: Writer::new(options)?,
            features: NodeFeatures::new(options)?,
            weights: Vec::new(),
            faults: Met::new(),
            memory: options.budget.reserve(0)?,
            counts: Vec::new(),
            count: 0,
        })
    }

    fn push(&mut self, batch: &NodeBatch, columns: &mut NodeColumns, names: &mut Names) -> Result<()> {
        let column = |at: Option<usize>| at.and_then(|at| batch.properties.get(at)?.as_ref());
        let types = column(columns.ty).map(|types| types.as_primitive::<Int32Type>().clone());
        self.memory.grow(8 * batch.rows as u64)?;
        let ids = names.ids_of(batch)?;
        let ty = |row: usize| match &types {
            _ if columns.is_end(&batch.properties, row) => Ok(DUMMY),
            Some(types) => stated_type(types, row, columns.number)
                .map_err(|error| error.at(Place::default().row(batch.start + row as u64))),
            None => Ok(columns.number),
        };
        let types = (0..ids.len()).map(ty).collect::<Result<Vec<i32>>>()?;
        let whose = |row: usize| format!("row {} of the nodes of type {}", batch.start + row as u64, columns.name);
        let of = |row: usize| types.get(row).copied().unwrap_or(columns.number);
        let weights = columns.weights.read(&batch.properties, ids.len(), of, &whose, &mut self.faults)?;
        for ((id, ty), weight) in ids.into_iter().zip(types).zip(weights) {
            self.entry(id, ty, weight)?;
            let Ok(at) = usize::try_from(ty) else { continue };
            if self.counts.len() <= at {
                self.counts.resize(at + 1, 0);
            }
            self.counts[at] += 1;
        }
        match (columns.labels, &batch.labels) {
            (Some(at), Some(labels)) => {
                let mut properties = batch.properties.clone();
                properties.resize(at, None);
                properties.push(Some(label_texts(labels)));
                self.features.push(&properties, batch.rows, &columns.features)
            }
            _ => self.features.push(&batch.properties, batch.rows, &columns.features),
        }
    }

    fn entry(&mut self, id: i64, ty: i32, weight: f64) -> Result<()> {
        self.map.put(&id.to_le_bytes())?;
        self.map.put(&self.count.to_le_bytes())?;
        self.map.put(&ty.to_le_bytes())?;
        self.weights.push(weight);
        self.count += 1;
        Ok(())
    }

    fn finish(mut self, edges: EdgeColumns) -> Result<(Partition, Vec<u64>, crate::graph::NodeWeights)> {
        let EdgeColumns { neighbors, records: edges, times: lives, exact, scale, features: edge_features } = edges;
        let (node_slots, node_features) = self.features.finish(self.count)?;
        let map = self.map.column("nodes")?;
        let never = times::NEVER;
        let parts = Parts {
            map,
            neighbors,
            edges,
            times: lives,
            never,
            exact,
            scale,
            node_slots,
            node_features,
            edge_features,
        };
        let scale = scale_of(self.weights.iter().map(|weight| mass(*weight)).filter(|mass| !mass.is_nan()).sum());
        self.weights.iter_mut().for_each(|weight| *weight *= scale);
        self.weights.shrink_to_fit();
        Ok((Partition::of(parts), self.counts, crate::graph::NodeWeights { list: self.weights, _memory: self.memory }))
    }
}
