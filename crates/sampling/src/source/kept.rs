//! A graph that was read, kept in a directory. Opened again, it answers exactly as when it was read.
//!
//! The directory can be recreated at any time from the graph that it was read from; only the version that wrote it reads it. It has the
//! columns of [`Partition`] as files, the weights of nodes (`weights`, `f64` each), and `kept.json`: what the graph was read from, as the
//! caller states it, names and numbers, and the size and the hash of the end of each file.

use std::io::Write;

use bytes::Bytes;
use isomorph_deepgnn::Types;
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Blob, FileHasher, Location, Mode, Root, Staging, TAIL_BYTES, limits};
use serde::{Deserialize, Serialize};

use super::Names;
use super::names::KeptNames;
use crate::faults::{Faults, Met, Wrong};
use crate::graph::{Drawing, Graph, GraphOptions, NodeWeights};
use crate::map::bytes_of;
use crate::partition::{Column, Partition};

/// Name of the document.
const DOCUMENT: &str = "kept.json";

/// Name of the file with the weights of nodes.
const WEIGHTS: &str = "weights";

/// Bytes that are read at a time.
const STEP: u64 = 4 << 20;

/// What is kept besides the columns.
#[derive(Serialize, Deserialize)]
struct Document {
    /// The version of isomorph that wrote it, which may read graphs in another way than others.
    written_by: String,
    /// What the graph was read from.
    input: String,
    /// Remarks of the caller.
    notes: Vec<String>,
    nodes: u64,
    node_counts: Vec<u64>,
    edge_counts: Vec<u64>,
    never: i64,
    /// The bits of the factor for weights.
    scale: u64,
    wide: bool,
    node_faults: Vec<(i32, Wrong, String)>,
    edge_faults: Vec<(i32, Wrong, String)>,
    names: KeptNames,
    files: Vec<Kept>,
}

/// A file.
#[derive(Serialize, Deserialize)]
struct Kept {
    name: String,
    size: u64,
    /// BLAKE3 of its last 64 KiB, hexadecimal.
    tail: String,
}

/// A graph that was kept.
pub struct KeptGraph {
    /// The graph.
    pub graph: Graph,
    /// Its names; keys of nodes are not kept.
    pub names: Names,
    /// The remarks of [`Graph::keep`].
    pub notes: Vec<String>,
}

impl Graph {
    /// Writes a graph that [`Graph::of_source`] read into a directory, in place of what is there. `input` states what it was read from;
    /// `notes` are returned when it is opened.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] if the graph was not read by [`Graph::of_source`], or an error if the directory cannot be written.
    pub fn keep(&self, names: &Names, input: &str, notes: &[String], location: &Location) -> Result<()> {
        let (Drawing::Weights(weights), [partition]) = (&self.drawing, self.partitions.as_slice()) else {
            return Err(Error::usage("a binary is kept already"));
        };
        let staging = Staging::directory(location, Mode::Replace)?;
        let mut files = Vec::new();
        for (name, column) in partition.columns() {
            let Some(column) = column else { continue };
            files.push(written(&staging, name, column.bytes())?);
        }
        let bytes: Vec<u8> = weights.list.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        files.push(written(&staging, WEIGHTS, &bytes)?);
        let (never, scale) = partition.never_and_scale();
        let document = Document {
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            input: input.to_owned(),
            notes: notes.to_vec(),
            nodes: self.nodes(),
            node_counts: self.node_types.counts.clone(),
            edge_counts: self.edge_types.counts.clone(),
            never,
            scale: scale.to_bits(),
            wide: self.wide,
            node_faults: listed(&self.faults.nodes),
            edge_faults: listed(&self.faults.edges),
            names: names.kept(),
            files,
        };
        let text = serde_json::to_vec_pretty(&document)
            .map_err(|error| Error::unsupported(format!("this graph cannot be kept: {error}")))?;
        written(&staging, DOCUMENT, &text)?;
        staging.commit(&[DOCUMENT])?;
        Ok(())
    }

    /// Opens a graph that [`Graph::keep`] wrote, if it was read from `input` by this version of isomorph.
    ///
    /// # Errors
    /// Returns an error if files cannot be read, or if the budget is too small for the weights of nodes. A directory that does not exist,
    /// or whose files were changed, is no error: then there is no such graph.
    pub fn kept(location: &Location, input: &str, options: &GraphOptions) -> Result<Option<KeptGraph>> {
        let root = match Root::open(location) {
            Ok(root) => root,
            Err(error) if error.kind() == Kind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(file) = root.try_file(DOCUMENT)? else { return Ok(None) };
        // A document of another version may have any fields.
        let Ok(document) = serde_json::from_slice::<Document>(&file.read_all(limits::MANIFEST_BYTES)?) else {
            return Ok(None);
        };
        if document.input != input || document.written_by != env!("CARGO_PKG_VERSION") {
            return Ok(None);
        }
        let mut blobs = Vec::with_capacity(document.files.len());
        for kept in &document.files {
            let Some(blob) = root.try_file(&kept.name)? else { return Ok(None) };
            if blob.size() != kept.size || hex(&tail_of(&blob)?) != kept.tail {
                return Ok(None);
            }
            blobs.push((kept.name.as_str(), blob));
        }
        let find = |name: &str| blobs.iter().find(|(other, _)| *other == name).map(|(_, blob)| blob);
        let column = |name: &'static str| -> Result<Option<Column>> {
            let bytes = |blob: &Blob| bytes_of(blob, options.hold, &options.scratch);
            Ok(find(name).map(bytes).transpose()?.map(|bytes: Bytes| Column::new(bytes, name)))
        };
        let scale = f64::from_bits(document.scale);
        let Some(partition) = Partition::of_columns(column, document.never, scale)? else { return Ok(None) };
        let Some(weights) = find(WEIGHTS).filter(|blob| blob.size() / 8 == partition.nodes().len() as u64) else {
            return Ok(None);
        };
        let weights = read_weights(weights, options)?;
        #[expect(clippy::cast_possible_truncation, reason = "numbers of types are `i32`")]
        let types = |counts: Vec<u64>| Types { number: counts.len() as u32, counts, weights: Vec::new() };
        let (node_types, edge_types) = (types(document.node_counts), types(document.edge_counts));
        let drawing = Drawing::Weights(weights);
        let mut graph = Graph::of(vec![partition], node_types, edge_types, document.nodes, drawing, options)?;
        let met = |list: Vec<(i32, Wrong, String)>| -> Met {
            list.into_iter().map(|(ty, wrong, message)| ((ty, wrong), message)).collect()
        };
        graph.faults = Faults { nodes: met(document.node_faults), edges: met(document.edge_faults) };
        graph.wide = document.wide;
        Ok(Some(KeptGraph { graph, names: document.names.names(options)?, notes: document.notes }))
    }
}

fn written(staging: &Staging, name: &str, bytes: &[u8]) -> Result<Kept> {
    let mut file = staging.create(name)?;
    file.write_all(bytes)?;
    let digest = file.finish()?;
    Ok(Kept { name: name.to_owned(), size: digest.size, tail: hex(&digest.tail) })
}

fn listed(met: &Met) -> Vec<(i32, Wrong, String)> {
    met.iter().map(|((ty, wrong), message)| (*ty, *wrong, message.clone())).collect()
}

/// Reads the weights of nodes, which were scaled when they were written.
fn read_weights(blob: &Blob, options: &GraphOptions) -> Result<NodeWeights> {
    let memory = options.budget.reserve(blob.size())?;
    let mut list = Vec::with_capacity(usize::try_from(blob.size() / 8).unwrap_or(0));
    let mut at = 0;
    while at < blob.size() {
        let end = blob.size().min(at + STEP);
        let bytes = blob.read(at..end)?;
        list.extend(bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)));
        at = end;
    }
    Ok(NodeWeights { list, _memory: memory })
}

fn tail_of(blob: &Blob) -> Result<[u8; 32]> {
    let mut hasher = FileHasher::new();
    hasher.update(&blob.read(blob.size().saturating_sub(TAIL_BYTES as u64)..blob.size())?);
    Ok(hasher.finish().blake3)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
