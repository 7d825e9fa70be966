//! The sink for model batches, which writes a binary or a text.

use std::io::Write;

use isomorph_error::{Error, Place, Result};
use isomorph_model::{Batch, Delivery, Graph, Sink, Written};
use isomorph_storage::Staging;

use super::common::{self, Common};
use super::encode;
use super::lines::{self, Times};
use super::records::Records;
use super::shape::{Role, Shape};
use super::text::{self, Texts};
use crate::binary::{META, Partitions};
use crate::feature::FeatureType;
use crate::{BuildOptions, WriteOptions, rules};

/// Writes a graph as a text, sorted as the specification requires: nodes by id, and edges by source, type and target,
/// edges with times by their times before the target; or as the binary of the text that has one line for each node and
/// its edges.
///
/// The graph must have the shape of the format: one node type with integer keys and properties `type`, `weight` and
/// features; at most one edge type, whose relations are numbers, with `weight`, times and features. A feature is a
/// property with a feature id: a tensor, text or raw bytes; if several have the same id, each row may have a value in
/// one of them. An element without a weight has weight 1, an element without a type has type 0. Ends of edges need not
/// be nodes. The caller publishes what was staged.
pub struct DeepGnnWriter<'a> {
    staging: &'a Staging,
    options: WriteOptions,
    graph: Graph,
    shape: Shape,
    records: Records,
    /// The latest time that an edge states.
    latest: Option<i64>,
    /// What all nodes have in common, and all edges.
    common: [Common; 2],
}

impl<'a> DeepGnnWriter<'a> {
    /// Begins a binary in `staging`, which must be a directory, or a text: one file, or a directory with the requested
    /// number of files, compressed as the name states.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the graph does not have the shape of the format, and an error if
    /// temporary files cannot be created.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let mut shape = Shape::of(graph)?;
        if let Some(format) = options.text.filter(|_| options.without_unheld) {
            shape.keep(|ty| text::has(format, ty));
        }
        let records = Records::new(&options.binary.budget, options.binary.scratch.as_ref())?;
        let (graph, options) = (graph.clone(), options.clone());
        Ok(Box::new(DeepGnnWriter {
            staging,
            options,
            graph,
            shape,
            records,
            latest: None,
            common: Default::default(),
        }))
    }

    /// Returns the last known time: the requested one, that of the source, or the latest that an edge states.
    ///
    /// # Errors
    /// Returns an error if the time of the source is not a number.
    fn watermark(&self) -> Result<Option<i64>> {
        let key = crate::batches::WATERMARK;
        let wrong =
            |text: &String| Error::broken(&rules::TIME, format!("{text:?} is not a valid time")).at(Place::field(key));
        let stated = self.graph.metadata.get(key).filter(|_| self.shape.edge_times());
        let stated = stated.map(|text| text.parse().map_err(|_| wrong(text))).transpose()?;
        Ok(self.options.binary.watermark.or(stated).or(self.latest))
    }
}

impl Sink for DeepGnnWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        let edges = self.shape.has_edges.then_some(Delivery::EdgesAsTheyCome(0));
        std::iter::once(Delivery::Nodes(0)).chain(edges).collect()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match &batch {
            Batch::Nodes(nodes) => {
                let properties = self.graph.nodes.get(nodes.ty).map(|ty| ty.properties.as_slice());
                let common = &mut self.common[0];
                let mut see = |ty: i32, record: &[u8]| common.see(ty, record);
                encode::nodes(&self.shape, properties.unwrap_or_default(), nodes, &mut self.records, &mut see)
            }
            Batch::Edges(edges) => {
                let properties = self.graph.edges.get(edges.ty).map(|ty| ty.properties.as_slice());
                let common = &mut self.common[1];
                let mut see = |ty: i32, record: &[u8]| common.see(ty, record);
                let latest =
                    encode::edges(&self.shape, properties.unwrap_or_default(), edges, &mut self.records, &mut see)?;
                self.latest = self.latest.max(latest);
                Ok(())
            }
            _ => Err(Error::usage("DeepGNN supports only nodes and edges")),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        match self.options.text {
            Some(format) => {
                let times = self.shape.node_times() || self.shape.edge_times();
                let times = Times { nodes: times, edges: times };
                let leaves_out = self.options.leave_out && format.has_defaults();
                let left = if leaves_out { self.common.each_ref().map(Common::left) } else { Default::default() };
                let mut texts = Texts::create(self.staging, format, &self.options, left)?;
                lines::each(self.records, times, |lines| texts.append(lines))?;
                texts.finish()?;
                let [nodes, edges] = &self.common;
                if leaves_out && let Some(text) = common::defaults(nodes, edges, format)? {
                    let mut file = self.staging.create(META)?;
                    file.write_all(text.as_bytes())?;
                    file.finish()?;
                }
            }
            None => {
                let watermark = self.watermark()?;
                let options = BuildOptions { watermark, ..self.options.binary };
                let mut partitions = Partitions::create(self.staging, &options)?;
                // Times of nodes can only be stored in the sidecar.
                let times = Times { nodes: options.beside && self.shape.node_times(), edges: self.shape.edge_times() };
                lines::each(self.records, times, |lines| {
                    let number = |at: usize| lines.numbers.get(at).copied().unwrap_or_default();
                    partitions.append(&lines.block, number)?.map_err(|refused| refused.error)
                })?;
                partitions.finish(watermark, self.shape.several().next().is_some())?;
            }
        }
        let files = self.staging.finished().into_iter();
        Ok(Written { files: files.map(|(name, digest)| (name, digest.size)).collect() })
    }
}

/// Returns ids of features of nodes, and then of edges, that have values of several types.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if the graph does not have the shape of the format.
pub fn several(graph: &Graph) -> Result<Vec<u32>> {
    Ok(Shape::of(graph)?.several().collect())
}

/// Returns whether the output has times that the files do not declare: lines of EdgeList then have two more numbers,
/// and can only be read if this is known ([`crate::OpenOptions::temporal`]).
pub fn hides_times(graph: &Graph, options: &WriteOptions) -> bool {
    options.text == Some(crate::TextFormat::EdgeList)
        && Shape::of(graph).is_ok_and(|shape| shape.node_times() || shape.edge_times())
}

/// Returns what would be lost when a graph in the shape of the format is written, as far as its description shows: the
/// subject, and why.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if the graph does not have the shape of the format.
pub fn unheld(graph: &Graph, options: &WriteOptions) -> Result<Vec<(String, String)>> {
    let shape = Shape::of(graph)?;
    let mut found = Vec::new();
    let mut lost = |subject: &str, why: String| found.push((subject.to_owned(), why));
    let Some(format) = options.text else {
        if options.binary.beside {
            return Ok(found);
        }
        if shape.nodes.contains(&Role::Weight) {
            lost(
                "weights of nodes",
                "a binary stores them only in its sampling tables, rounded and combined".to_owned(),
            );
        }
        if shape.node_times() {
            lost("times of nodes", "a binary stores only those of edges".to_owned());
        }
        for id in shape.several() {
            let why = "a binary does not state which of them a value has".to_owned();
            lost(&format!("types of feature {id}"), why);
        }
        return Ok(found);
    };
    if (shape.node_times() || shape.edge_times()) && !text::has_times(format) {
        lost("times", format!("{format} does not support them"));
    }
    let mut features: Vec<(u32, FeatureType)> = shape.features().filter(|(_, ty)| !text::has(format, *ty)).collect();
    features.sort_unstable();
    features.dedup();
    for (id, ty) in features {
        let why = match ty {
            FeatureType::Raw => "a text needs the type of its values (--node-features, --edge-features)".to_owned(),
            _ => format!("{format} does not support features of type {ty}"),
        };
        lost(&format!("feature {id}"), why);
    }
    Ok(found)
}
