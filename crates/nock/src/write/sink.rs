//! The sink: converts model batches to rows of the file.

use arrow_array::RecordBatch;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, EdgeBatch, Graph, NodeBatch, Sink, Written};
use isomorph_storage::Staging;

use super::file::row_file;
use super::options::CreateOptions;
use super::partitioned::Partitioned;
use super::row_kinds::{Edges, Nodes, rows};
use super::target::Target;
use crate::rows::sequence;

/// Receives rows of the file, in order.
pub(super) trait RowFile: Send {
    /// Writes rows.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    fn write(&mut self, rows: &RecordBatch) -> Result<()>;

    /// Writes the remaining rows; returns the finished files with their sizes in bytes.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    fn finish(self: Box<Self>) -> Result<Vec<(String, u64)>>;
}

/// Writes a graph as NOCK: each node row followed by the rows of its out-edges.
///
/// The graph must be in the shape of the format: one node type with text keys and properties `truth`, `is_rdf`,
/// `shadow`, a bag, and any further columns; at most one edge type, which names its relations row by row, with
/// properties `truth`, `edge_id`, a bag, and further columns. It requests one delivery,
/// [`Delivery::NodesWithOutEdges`]. The caller publishes the staged files.
pub struct NockWriter {
    target: Target,
    file: Box<dyn RowFile>,
    /// Nodes whose edges are being written.
    nodes: Option<Nodes>,
    /// Number of them that have been written.
    done: usize,
    /// The last node with edges: its position among the nodes, and the number of its next edge.
    open: Option<(usize, i32)>,
}

impl NockWriter {
    /// Begins a file or, with [`CreateOptions::partitions`], a directory.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the graph does not have the shape of the format or options contradict each
    /// other, or an error if a file cannot be created.
    pub fn create(staging: &Staging, graph: &Graph, options: &CreateOptions) -> Result<Box<dyn Sink>> {
        options.check()?;
        let target = Target::of(graph, options)?;
        let file: Box<dyn RowFile> = match &options.partitions {
            None => row_file(staging, staging.destination().file_name(), &target, options)?,
            Some(partitions) => Box::new(Partitioned::create(staging, &target, options, partitions)?),
        };
        Ok(Box::new(NockWriter { target, file, nodes: None, done: 0, open: None }))
    }

    fn write_nodes(&mut self, batch: &NodeBatch) -> Result<()> {
        self.write_rest()?;
        self.nodes = Some(Nodes::of(batch, &self.target)?);
        self.done = 0;
        self.open = None;
        Ok(())
    }

    /// Writes the nodes after the last one with edges.
    fn write_rest(&mut self) -> Result<()> {
        let Some(nodes) = self.nodes.take() else { return Ok(()) };
        let left = nodes.len() - self.done;
        if left == 0 {
            return Ok(());
        }
        let nodes = nodes.slice(self.done, left);
        let sequence = sequence(left, &[], true, 0)?;
        self.file.write(&rows(&nodes, &Edges::none(&self.target)?, &sequence, &self.target)?)
    }

    fn write_edges(&mut self, batch: &EdgeBatch) -> Result<()> {
        let edges = Edges::of(batch, &self.target)?;
        let (Some(&first), Some(&last)) = (edges.sources.first(), edges.sources.last()) else { return Ok(()) };
        let misplaced = || Error::usage("edges must follow their source nodes, sorted by source row");
        let nodes = self.nodes.as_ref().ok_or_else(misplaced)?;
        let local = |row: u64| {
            let at = row.checked_sub(nodes.start).and_then(|at| usize::try_from(at).ok());
            at.filter(|&at| at < nodes.len()).ok_or_else(misplaced)
        };
        let (first, last) = (local(first)?, local(last)?);
        // The first edges may belong to a node whose row and first edges have already been written.
        let (from, with_first_node, next) = match self.open {
            Some((node, next)) if node == first => (node, false, next),
            _ => (self.done, true, 0),
        };
        if last < from {
            return Err(misplaced());
        }
        let sources = edges.sources.iter().map(|&row| {
            let at = local(row)?.checked_sub(from).ok_or_else(misplaced)?;
            u32::try_from(at).map_err(|_| Error::unsupported("a batch has more than 2^32 nodes"))
        });
        let sources = sources.collect::<Result<Vec<u32>>>()?;
        let count = last + 1 - from;
        let sequence = sequence(count, &sources, with_first_node, next)?;
        let open = sequence.edge_ids.values().last().map(|&id| (last, id.saturating_add(1)));
        let rows = rows(&nodes.slice(from, count), &edges, &sequence, &self.target)?;
        self.done = last + 1;
        self.open = open;
        self.file.write(&rows)
    }
}

impl Sink for NockWriter {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::NodesWithOutEdges]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(batch) => self.write_nodes(&batch),
            Batch::Edges(batch) => self.write_edges(&batch),
            _ => Err(Error::usage("a NOCK file contains only nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.write_rest()?;
        Ok(Written { files: self.file.finish()? })
    }
}
