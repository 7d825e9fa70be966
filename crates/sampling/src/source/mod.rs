//! Any other graph: read once through the model, and kept in temporary files in the form of a binary.
//!
//! Edges are sorted by the engine of `isomorph-tables`, which spills what the budget does not hold; what comes out is
//! written in order and mapped, so a graph larger than memory is sampled like any other.

mod edges;
mod features;
mod json;
mod names;

use std::io::{BufWriter, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{Array, ArrayRef, Int32Array, StringArray};
use arrow_schema::DataType;
use bytes::Bytes;
use isomorph_deepgnn::Types;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::json::push_string;
use isomorph_model::{
    Batch, Graph as Model, KeyKind, LabelColumn, LabelVocabulary, NodeBatch, NodeType, Request, Source, Tables,
    well_known,
};
use isomorph_storage::ScratchFile;

use crate::graph::{Drawing, Graph, GraphOptions};
use crate::map::own;
use crate::partition::{Column, DUMMY, Partition, Parts};
use edges::{EdgeColumns, Edges};
use features::NodeFeatures;
pub use json::is_json as is_json_feature;
pub use names::{LABELS, Names};

/// The property that holds the type of a node where a graph has one node type (DeepGNN).
const TYPE: &str = "type";

/// A temporary file that is written from the beginning to the end.
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
    /// Reads a graph of any format. Nodes with integer keys keep them as ids where there is one node type; else ids are
    /// row numbers, type after type, and [`Names`] knows the keys. Types of nodes and of edges become numbers, properties
    /// features, those of one name in several types one feature. Weights are the properties called `weight`, 1 without; times of edges those called
    /// `created_at` and `removed_at`. Undirected edges lead both ways.
    ///
    /// # Errors
    /// When the graph cannot be read, keys are neither integers nor texts, an end is no node, or the budget has no room
    /// for the keys; [`Kind::Unsupported`] when it has hyperedges, or nodes that only edges name and that are not called by integers.
    pub fn of_source(source: &dyn Source, options: &GraphOptions) -> Result<(Graph, Names)> {
        let model = source.graph();
        if let Some(ty) = model.hyperedges.iter().find(|ty| ty.rows != Some(0)) {
            return Err(Error::new(
                Kind::Unsupported,
                format!("hyperedges of type {} have no neighbours in pairs", ty.name),
            )
            .hint(
                "--hyperedges expand    takes them as edges between their members; reify, as nodes; skip, not at all",
            ));
        }
        let unnamed = model.nodes.iter().find(|ty| ty.implied && ty.key.kind != KeyKind::Int);
        if let Some(ty) = unnamed {
            let message = format!("nodes of type {} are only ends of edges, and their keys no integers", ty.name);
            return Err(
                Error::unsupported(message).hint("isomorph_convert::Opened::with_resources_as_nodes lists them")
            );
        }
        let mut names = Names::of(model, options)?;
        let mut nodes = Nodes::new(options)?;
        for (number, ty) in model.nodes.iter().enumerate() {
            let columns = NodeColumns::of(model, ty, names.features());
            for part in source.scan(&Request::of(Tables::Nodes(number)))? {
                part.read(&mut |batch| match batch {
                    Batch::Nodes(batch) => {
                        names.push(number, batch.keys.as_ref(), batch.rows)?;
                        nodes.push(&batch, &columns, &mut names)
                    }
                    _ => Ok(()),
                })?;
            }
            names.end_of_type()?;
        }
        let mut edges = Edges::new(model, &names, options)?;
        edges.read(source, &mut names)?;
        // Ends that are no rows, where nodes are implied by edges: entries that only stand for edges.
        for id in names.implied() {
            nodes.entry(id.cast_signed(), DUMMY, 1.0)?;
        }
        let written = edges.finish(nodes.count, options)?;
        let edge_counts = written.counts;
        names.edge_types = written.types;
        let (partition, node_counts, weights) = nodes.finish(written.columns)?;
        let real = node_counts.iter().sum();
        #[expect(clippy::cast_possible_truncation, reason = "numbers of types are `i32`")]
        let types = |counts: Vec<u64>| Types { number: counts.len() as u32, counts, weights: Vec::new() };
        let drawing = Drawing::Weights(weights);
        let graph = Graph::of(vec![partition], types(node_counts), types(edge_counts), real, drawing, options)?;
        Ok((graph, names))
    }
}

/// Which columns of a node type say what.
struct NodeColumns {
    number: i32,
    ty: Option<usize>,
    weight: Option<usize>,
    /// Where labels are put.
    labels: Option<usize>,
    /// For each feature the property that it is, up to the last one that this type has.
    features: Vec<Option<usize>>,
}

impl NodeColumns {
    fn of(model: &Model, ty: &NodeType, features: &[String]) -> NodeColumns {
        let find = |name: &str| ty.properties.iter().position(|property| property.name == name);
        let number =
            (0..).zip(&model.nodes).find(|(_, other)| std::ptr::eq(*other, ty)).map_or(0, |(number, _)| number);
        // Labels are a column behind all others.
        let labels = (ty.labels != LabelVocabulary::None).then_some(ty.properties.len());
        let of_rows = find(TYPE).filter(|at| model.nodes.len() == 1 && ty.properties[*at].data_type == DataType::Int32);
        let feature = |name: &String| find(name).or(labels.filter(|_| name == LABELS));
        let mut features: Vec<Option<usize>> = features.iter().map(feature).collect();
        while features.pop_if(|last| last.is_none()).is_some() {}
        NodeColumns { number, ty: of_rows, weight: find(well_known::WEIGHT), labels, features }
    }
}

/// The labels of each row as a JSON array; nothing of rows without.
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

/// The type that a row states, or `own`, that of the whole table, where it states none. Types are places in lists: a great one would make
/// them long.
fn stated_type(types: &Int32Array, row: usize, own: i32) -> Result<i32> {
    if types.is_null(row) {
        return Ok(own);
    }
    let ty = u16::try_from(types.value(row)).ok();
    let wrong =
        || Error::malformed(format!("{} is no type of a node: types are numbers from 0 to 65535", types.value(row)));
    ty.map(i32::from).ok_or_else(wrong)
}

/// The nodes as they come.
struct Nodes {
    map: Writer,
    features: NodeFeatures,
    weights: Vec<f32>,
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
            memory: options.budget.reserve(0)?,
            counts: Vec::new(),
            count: 0,
        })
    }

    fn push(&mut self, batch: &NodeBatch, columns: &NodeColumns, names: &mut Names) -> Result<()> {
        let column = |at: Option<usize>| at.and_then(|at| batch.properties.get(at)?.as_ref());
        let types = column(columns.ty).map(|types| types.as_primitive::<Int32Type>().clone());
        let weights = column(columns.weight);
        let weights =
            weights.map(|weights| edges::numbers_of(weights, &DataType::Float32, well_known::WEIGHT)).transpose()?;
        let weights = weights.as_ref().map(|weights| weights.as_primitive::<Float32Type>());
        self.memory.grow(4 * batch.rows as u64)?;
        let ids = names.ids_of(batch)?;
        for (row, id) in ids.into_iter().enumerate() {
            let ty = match &types {
                Some(types) => stated_type(types, row, columns.number)
                    .map_err(|error| error.at(Place::default().row(batch.start + row as u64)))?,
                None => columns.number,
            };
            let weight = weights.filter(|weights| !weights.is_null(row)).map_or(1.0, |weights| weights.value(row));
            self.entry(id, ty, weight)?;
            let at = ty.unsigned_abs() as usize;
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

    fn entry(&mut self, id: i64, ty: i32, weight: f32) -> Result<()> {
        self.map.put(&id.to_le_bytes())?;
        self.map.put(&self.count.to_le_bytes())?;
        self.map.put(&ty.to_le_bytes())?;
        self.weights.push(weight);
        self.count += 1;
        Ok(())
    }

    fn finish(mut self, edges: EdgeColumns) -> Result<(Partition, Vec<u64>, crate::graph::NodeWeights)> {
        let EdgeColumns { neighbors, records: edges, times, features: edge_features } = edges;
        let (node_slots, node_features) = self.features.finish(self.count)?;
        let map = self.map.column("nodes")?;
        let parts = Parts { map, neighbors, edges, times, node_slots, node_features, edge_features };
        self.weights.shrink_to_fit();
        Ok((Partition::of(parts), self.counts, crate::graph::NodeWeights { list: self.weights, _memory: self.memory }))
    }
}
