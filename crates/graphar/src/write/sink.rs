//! GraphAr as a [`Sink`] of the model.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Place, Result};
use isomorph_model::{Batch, Delivery, EdgeOrder, Graph, Sink, Written};
use isomorph_storage::Staging;

use super::WriteOptions;
use super::edges::EdgeWriter;
use super::encoder::Encoder;
use super::plan::plan;
use super::table::{Directory, TableFile, TableSpec};
use super::vertices::VertexWriter;
use crate::counts::encode;
use crate::info::GraphInfo;

/// Writes graphs as GraphAr.
#[derive(Debug)]
pub struct GraphArWriter;

impl GraphArWriter {
    /// Returns the information files of `graph` with these options: the layout, before anything is written.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::WouldLose`] for what GraphAr cannot store (hyperedges, qualified values, groups, documents
    /// other than `extra_info`, data types that it lacks), [`isomorph_error::Kind::Usage`] for invalid options,
    /// and the metadata rules that a name would violate.
    pub fn plan(graph: &Graph, options: &WriteOptions) -> Result<GraphInfo> {
        plan(graph, options)
    }

    /// Returns the information files of a graph in the order in which they are published: the graph file last.
    pub fn manifests(info: &GraphInfo) -> Vec<String> {
        let vertices = info.vertices.iter().map(|vertex| vertex.file.clone());
        let edges = info.edges.iter().map(|edge| edge.file.clone());
        vertices.chain(edges).chain([graph_file(info)]).collect()
    }

    /// Creates a sink that writes `graph` into `staging`. It requests the nodes of each type in the source's order, then
    /// the edges of each type once for each alignment of its lists. The caller publishes: commit the staging with
    /// [`GraphArWriter::manifests`].
    ///
    /// # Errors
    /// As [`GraphArWriter::plan`].
    pub fn create<'a>(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let info = plan(graph, options)?;
        let mut deliveries: Vec<Delivery> = (0..graph.nodes.len()).map(Delivery::Nodes).collect();
        for (ty, edge) in info.edges.iter().enumerate() {
            for (order, by_source) in [(EdgeOrder::Source, true), (EdgeOrder::Target, false)] {
                if edge.lists.iter().any(|list| list.kind.by_source() == by_source) {
                    deliveries.push(Delivery::Edges { ty, order });
                }
            }
        }
        Ok(Box::new(GraphArSink {
            directory: staging,
            encoder: Encoder::new(options.threads)?,
            graph: graph.clone(),
            info,
            options: options.clone(),
            deliveries,
            vertices: Vec::new(),
            at: None,
            written: Mutex::default(),
        }))
    }
}

/// Returns the name of the graph file.
pub(crate) fn graph_file(info: &GraphInfo) -> String {
    format!("{}.graph.yml", info.name.as_deref().unwrap_or("graph"))
}

/// The destination of files, and their encoder.
pub(crate) struct Files<'a> {
    pub directory: &'a dyn Directory,
    pub encoder: &'a Encoder,
    /// Whether labels are written at all.
    pub label_files: bool,
    pub written: &'a Mutex<Vec<(String, u64)>>,
}

impl Files<'_> {
    /// Begins a table file.
    ///
    /// # Errors
    /// As [`TableFile::create`].
    pub fn table(&self, path: &str, spec: &TableSpec) -> Result<TableFile> {
        TableFile::create(self.directory, self.encoder, path, spec)
    }

    /// Writes a count file.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn count(&self, path: &str, count: u64) -> Result<()> {
        self.bytes(path, &encode(count)?)
    }

    /// Writes a small file.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn bytes(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let size = put(self.directory, path, bytes)?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), size));
        Ok(())
    }
}

/// Writes a small file and returns its size.
fn put(directory: &dyn Directory, path: &str, bytes: &[u8]) -> Result<u64> {
    let mut file = directory.create(path)?;
    file.write_all(bytes).map_err(|error| Error::from(error).at(Place::file(path)))?;
    Ok(file.finish()?.size)
}

/// Writes the information files, which come last: nothing is described before it exists.
pub(crate) fn put_infos(directory: &dyn Directory, info: &GraphInfo) -> Result<Vec<(String, u64)>> {
    let mut texts = Vec::new();
    for vertex in &info.vertices {
        texts.push((vertex.file.clone(), vertex.to_yml()?));
    }
    for edge in &info.edges {
        texts.push((edge.file.clone(), edge.to_yml()?));
    }
    texts.push((graph_file(info), info.to_yml()?));
    texts.into_iter().map(|(path, text)| put(directory, &path, text.as_bytes()).map(|size| (path, size))).collect()
}

/// The table that is being written.
enum Current {
    Vertices(Box<VertexWriter>),
    Edges(EdgeWriter),
}

struct GraphArSink<'a> {
    directory: &'a Staging,
    encoder: Encoder,
    graph: Graph,
    info: GraphInfo,
    options: WriteOptions,
    deliveries: Vec<Delivery>,
    /// Number of vertices of each complete type.
    vertices: Vec<u64>,
    at: Option<(usize, Current)>,
    written: Mutex<Vec<(String, u64)>>,
}

impl GraphArSink<'_> {
    fn files(&self) -> Files<'_> {
        Files {
            directory: self.directory,
            encoder: &self.encoder,
            label_files: self.options.label_files,
            written: &self.written,
        }
    }

    /// Returns the writer of delivery `number`.
    fn begin(&self, number: usize) -> Result<Current> {
        let missing = || Error::usage(format!("there is no delivery {number}"));
        match self.deliveries.get(number).ok_or_else(missing)? {
            Delivery::Edges { ty, order } => {
                let (Some(edge), Some(info)) = (self.graph.edges.get(*ty), self.info.edges.get(*ty)) else {
                    return Err(missing());
                };
                let count = |ty: usize| self.vertices.get(ty).copied().unwrap_or_default();
                let vertices = (count(edge.source), count(edge.target));
                EdgeWriter::new(edge, info, *order, vertices, self.options.compression).map(Current::Edges)
            }
            Delivery::Nodes(ty) => {
                let (Some(node), Some(info)) = (self.graph.nodes.get(*ty), self.info.vertices.get(*ty)) else {
                    return Err(missing());
                };
                let writer = VertexWriter::new(node, info, self.options.compression)?;
                Ok(Current::Vertices(Box::new(writer)))
            }
            _ => Err(missing()),
        }
    }

    /// Ends every delivery before `number`; a delivery without rows is a table without rows.
    fn go_to(&mut self, number: usize) -> Result<()> {
        let mut next = match self.at.take() {
            Some((at, current)) if at == number => {
                self.at = Some((at, current));
                return Ok(());
            }
            Some((at, current)) => {
                self.end(current)?;
                at + 1
            }
            None => 0,
        };
        if next > number {
            return Err(Error::usage(format!("delivery {number} has ended")));
        }
        while next < number {
            let current = self.begin(next)?;
            self.end(current)?;
            next += 1;
        }
        if number < self.deliveries.len() {
            self.at = Some((number, self.begin(number)?));
        }
        Ok(())
    }

    fn end(&mut self, mut current: Current) -> Result<()> {
        match &mut current {
            Current::Vertices(writer) => {
                writer.finish(&self.files())?;
                self.vertices.push(writer.rows());
            }
            Current::Edges(writer) => writer.finish(&self.files())?,
        }
        Ok(())
    }
}

impl Sink for GraphArSink<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries.clone()
    }

    fn write(&mut self, delivery: usize, batch: Batch) -> Result<()> {
        self.go_to(delivery)?;
        let Some((at, mut current)) = self.at.take() else {
            return Err(Error::usage(format!("there is no delivery {delivery}")));
        };
        let files = self.files();
        let outcome = match (&mut current, &batch) {
            (Current::Vertices(writer), Batch::Nodes(batch)) => writer.write(&files, batch),
            (Current::Edges(writer), Batch::Edges(batch)) => writer.write(&files, batch),
            _ => Err(Error::usage("a batch of another kind than requested")),
        };
        self.at = Some((at, current));
        outcome
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.go_to(self.deliveries.len())?;
        let GraphArSink { directory, encoder, info, written, .. } = *self;
        let mut files = encoder.finish()?;
        files.extend(written.into_inner().unwrap_or_else(PoisonError::into_inner));
        files.extend(put_infos(directory, &info)?);
        files.sort();
        Ok(Written { files })
    }
}
