//! Reads a text into memory.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, StringArray};
use isomorph::error::{Findings, Place};
use isomorph::model::label::LabelBuilder;
use isomorph::model::{
    About, Batch, EdgeBatch, EndForm, Ends, Graph, KeyKind, MemoryGraph, NodeBatch, NodeId, Part, Request, Side, Source,
};
use isomorph::storage::Blob;
use isomorph::{Error, Location, Result};
use serde_json::Value;

use crate::{EDGE_END, Line, MOST, check};

/// An opened text.
pub struct Text {
    memory: MemoryGraph,
    place: String,
    bytes: u64,
}

/// The rows of a type while they are read.
#[derive(Default)]
struct Rows {
    keys: Vec<Value>,
    labels: LabelBuilder,
    ends: [Vec<u64>; 2],
    values: Vec<Vec<Option<String>>>,
}

impl Rows {
    fn columns(&self, columns: usize) -> Result<Vec<Option<ArrayRef>>> {
        if self.values.iter().any(|values| values.len() != columns) {
            return Err(Error::malformed(format!("a row must have {columns} values")));
        }
        let column = |at: usize| self.values.iter().map(move |values| values[at].as_deref());
        Ok((0..columns).map(|at| Some(Arc::new(column(at).collect::<StringArray>()) as ArrayRef)).collect())
    }

    fn keys(&self, kind: KeyKind) -> Result<Option<ArrayRef>> {
        let keys: ArrayRef = match kind {
            KeyKind::Row => return Ok(None),
            KeyKind::Int => Arc::new(self.keys.iter().map(Value::as_i64).collect::<Int64Array>()),
            _ => Arc::new(self.keys.iter().map(Value::as_str).collect::<StringArray>()),
        };
        if keys.null_count() == 0 {
            Ok(Some(keys))
        } else {
            Err(Error::malformed("a key does not have the declared type"))
        }
    }
}

impl Text {
    /// Opens the text at `location`.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or a line is invalid.
    pub fn open(location: &Location) -> Result<Text> {
        let (place, bytes) = (location.to_string(), Blob::open(location)?.read_all(MOST)?);
        let (mut graph, mut nodes, mut edges) = (Graph::default(), Vec::<Rows>::new(), Vec::<Rows>::new());
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let wrong = |what: String| Error::malformed(what).at(Place::file(&place).line(number as u64 + 1));
            let no_type = || wrong("no such type".to_owned());
            match serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))? {
                Line::Graph(found) => {
                    check(&found)?;
                    nodes.resize_with(found.nodes.len(), Rows::default);
                    edges.resize_with(found.edges.len(), Rows::default);
                    graph = found;
                }
                Line::Node(of, key, labels, values) => {
                    let rows = nodes.get_mut(of).ok_or_else(no_type)?;
                    rows.keys.push(key);
                    rows.labels.push(labels.iter().map(String::as_str));
                    rows.values.push(values);
                }
                Line::Edge(of, source, target, values) => {
                    let rows = edges.get_mut(of).ok_or_else(no_type)?;
                    rows.ends[0].push(source);
                    rows.ends[1].push(target);
                    rows.values.push(values);
                }
            }
        }
        let mut batches = Vec::new();
        for ((ty, own), rows) in graph.nodes.iter_mut().enumerate().zip(nodes) {
            let (keys, properties) = (rows.keys(own.key.kind)?, rows.columns(own.properties.len())?);
            let (labels, rows) = (Some(rows.labels.finish()), rows.keys.len());
            own.rows = Some(rows as u64);
            batches.push(Batch::Nodes(NodeBatch { ty, start: 0, numbers: None, rows, keys, labels, properties }));
        }
        for ((ty, own), rows) in graph.edges.iter_mut().enumerate().zip(edges) {
            let properties = rows.columns(own.properties.len())?;
            let [source, target] = rows.ends.map(|ends| Ends::Rows(ends.into()));
            let (rows, relations, layers, directed, keys) = (source.len(), None, None, None, None);
            own.rows = Some(rows as u64);
            let batch = EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties };
            batches.push(Batch::Edges(batch));
        }
        Ok(Text { memory: MemoryGraph { graph, batches }, place, bytes: bytes.len() as u64 })
    }

    fn edges(&self) -> impl Iterator<Item = &EdgeBatch> {
        self.memory.batches.iter().filter_map(|batch| if let Batch::Edges(edges) = batch { Some(edges) } else { None })
    }
}

fn rows_of(ends: &Ends) -> &[u64] {
    if let Ends::Rows(rows) = ends { rows.values() } else { &[] }
}

impl Source for Text {
    fn graph(&self) -> &Graph {
        &self.memory.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.memory.scan(request)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Rows
    }

    fn about(&self) -> About {
        About { format: "Seventh".to_owned(), files: 1, bytes: self.bytes, ..About::default() }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.memory.neighbors(edge, node, side)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        for batch in self.edges() {
            let ty = &self.memory.graph.edges[batch.ty];
            for (ends, of) in [(&batch.source, ty.source), (&batch.target, ty.target)] {
                let nodes = self.memory.graph.nodes[of].rows.unwrap_or_default();
                for (number, end) in rows_of(ends).iter().enumerate().filter(|(_, end)| **end >= nodes) {
                    let what = format!("edge {number} refers to row {end}, but there are {nodes} nodes");
                    findings.push(&EDGE_END, what, self.place.clone());
                }
            }
        }
        Ok(())
    }
}
