//! An opened graph: partitions, and where each node is.

use isomorph_deepgnn::{BinaryFiles, Types};
use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Budget, Location, Reservation, Scratch};
use rayon::prelude::*;

use crate::ask::{Generator, TypeSet};
use crate::faults::{Fault, Faults};
use crate::hubs::Hubs;
use crate::index::{Beside, Entry, Found, Index, IndexFile, IndexOrigin};
use crate::map::{Hold, bytes_of};
use crate::partition::{Column, DUMMY, Partition, target};

/// How a graph is opened.
#[derive(Debug, Clone)]
pub struct GraphOptions {
    /// Whether its files are mapped or copied.
    pub hold: Hold,
    /// Where tables that must be built come from. What is mapped is the system's cache and not counted.
    pub budget: Budget,
    /// Where copies go.
    pub scratch: Scratch,
    /// Whether it is kept beside the graph where its nodes are. Of some partitions nothing is read or kept there.
    pub index: IndexFile,
    /// Which partitions of a binary are opened, by their numbers; `None` is all of them.
    pub partitions: Option<Vec<u32>>,
}

impl GraphOptions {
    /// Mapped, within a budget. Nothing is written beside the graph.
    pub fn new(budget: &Budget, scratch: &Scratch) -> Self {
        let (budget, scratch) = (budget.clone(), scratch.clone());
        GraphOptions { hold: Hold::Mapped, budget, scratch, index: IndexFile::Use, partitions: None }
    }
}

/// What nodes of the whole graph are drawn by.
pub(crate) enum Drawing {
    /// Tables that were written with the graph.
    Files(Box<BinaryFiles>),
    /// The weight of each entry of the one partition.
    Weights(NodeWeights),
}

/// Weights of nodes.
pub(crate) struct NodeWeights {
    pub list: Vec<f64>,
    pub _memory: Reservation,
}

/// A graph to sample from. Shared by any number of samplers and threads.
pub struct Graph {
    pub(crate) partitions: Vec<Partition>,
    pub(crate) index: Index,
    index_origin: IndexOrigin,
    pub(crate) hubs: Hubs,
    pub(crate) node_types: Types,
    pub(crate) edge_types: Types,
    /// Nodes, without entries that only stand for edges.
    nodes: u64,
    pub(crate) drawing: Drawing,
    /// What keeps some types from being drawn by weight or asked for at a time.
    pub(crate) faults: Faults,
    /// Whether its columns of weights of edges may have more than 32 bits.
    pub(crate) wide: bool,
    pub(crate) options: GraphOptions,
}

impl Graph {
    /// Opens a binary of DeepGNN: maps its files, and looks at the ids of its nodes unless a file beside it says where they
    /// are. Edges and features are not read.
    ///
    /// # Errors
    /// When files are missing or their lengths do not fit one another (`DEEPGNN-FILE`, `DEEPGNN-BOUNDS`), and
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when nodes are in no order and the budget has no room for a table
    /// of them.
    pub fn open(location: &Location, options: &GraphOptions) -> Result<Graph> {
        let files = match &options.partitions {
            None => BinaryFiles::open(location)?,
            Some(numbers) => BinaryFiles::open_some(location, numbers)?,
        };
        let open = |files| Partition::open(files, options.hold, &options.scratch);
        let partitions = files.partitions.iter().map(open).collect::<Result<Vec<_>>>()?;
        // Weights of the opened partitions, in their order.
        let opened = |types: &Types| Types {
            weights: files.partitions.iter().map_while(|of| types.weights.get(of.number as usize).cloned()).collect(),
            ..types.clone()
        };
        let (node_types, edge_types) = (opened(&files.meta.node_types), opened(&files.meta.edge_types));
        let nodes = files.meta.nodes;
        fewer(&partitions)?;
        let index = match &options.partitions {
            None => Beside::of(location, &files, options).index(&partitions)?,
            Some(_) => (Index::of(&partitions, &options.budget)?, IndexOrigin::Ids),
        };
        let types = (node_types, edge_types);
        Ok(Graph::with(partitions, index, types, nodes, Drawing::Files(Box::new(files)), options))
    }

    /// A graph of partitions that are there.
    ///
    /// # Errors
    /// As of [`Graph::open`].
    pub(crate) fn of(
        partitions: Vec<Partition>,
        node_types: Types,
        edge_types: Types,
        nodes: u64,
        drawing: Drawing,
        options: &GraphOptions,
    ) -> Result<Graph> {
        fewer(&partitions)?;
        let index = (Index::of(&partitions, &options.budget)?, IndexOrigin::Ids);
        Ok(Graph::with(partitions, index, (node_types, edge_types), nodes, drawing, options))
    }

    fn with(
        partitions: Vec<Partition>,
        (index, index_origin): (Index, IndexOrigin),
        (node_types, edge_types): (Types, Types),
        nodes: u64,
        drawing: Drawing,
        options: &GraphOptions,
    ) -> Graph {
        let (hubs, options) = (Hubs::new(&options.budget), options.clone());
        let faults = Faults::default();
        Graph {
            partitions,
            index,
            index_origin,
            hubs,
            node_types,
            edge_types,
            nodes,
            drawing,
            faults,
            wide: false,
            options,
        }
    }

    /// How it is known where its nodes are.
    pub fn index_origin(&self) -> IndexOrigin {
        self.index_origin
    }

    /// Number of nodes, as the metadata says.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Number of edges.
    pub fn edges(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.edge_count() as u64).sum()
    }

    /// Number of node types: types are from 0 to below it.
    pub fn node_type_count(&self) -> u32 {
        self.node_types.number
    }

    /// Number of edge types.
    pub fn edge_type_count(&self) -> u32 {
        self.edge_types.number
    }

    /// Nodes of the given types, as the metadata says; each type is counted once, unknown ones not at all.
    pub fn node_count(&self, types: &TypeSet) -> u64 {
        count(&self.node_types, types)
    }

    /// Edges of the given types, as the metadata says.
    pub fn edge_count(&self, types: &TypeSet) -> u64 {
        count(&self.edge_types, types)
    }

    /// Whether edges have times.
    pub fn has_times(&self) -> bool {
        self.partitions.iter().any(Partition::has_times)
    }

    /// Whether edges of some of these types have times, and whether they can be compared.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) if not, with the reason.
    pub fn check_times(&self, types: &TypeSet) -> Result<()> {
        const WITHOUT: &str =
            "leave --timestamp out, or take another --strategy than last    all edges are there at any time";
        self.comparable(types).map_err(|error| error.hint(WITHOUT))?;
        let known = 0..i32::try_from(self.edge_types.number).unwrap_or(i32::MAX);
        let mut asked = known.filter(|ty| types.has(*ty)).peekable();
        if self.has_times() && (asked.peek().is_none() || asked.any(|ty| self.faults.has_times(ty))) {
            return Ok(());
        }
        let whose = if self.has_times() { "of these types" } else { "of this graph" };
        Err(Error::usage(format!("edges {whose} have no times")).hint(WITHOUT))
    }

    /// Whether times of edges of these types, if they have some, can be compared.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) if not, with the reason.
    pub(crate) fn comparable(&self, types: &TypeSet) -> Result<()> {
        let Some(fault) = self.faults.times(types) else { return Ok(()) };
        let error = fault.of_times();
        Err(if self.has_times() { error.hint("--types    names types whose times are sound") } else { error })
    }

    /// Whether nodes of these types can be drawn by weight.
    ///
    /// # Errors
    /// [`Kind::Malformed`](isomorph_error::Kind::Malformed) if not, with the reason.
    pub(crate) fn weighs_nodes(&self, types: &TypeSet, generator: Generator) -> Result<()> {
        let fault = Faults::weighs(&self.faults.nodes, types, generator);
        fault.map_or(Ok(()), |fault| Err(fault.of_weights(self.node_types.number > 1)))
    }

    /// The same of edges.
    ///
    /// # Errors
    /// As of [`Graph::weighs_nodes`].
    pub(crate) fn weighs_edges(&self, types: &TypeSet, generator: Generator) -> Result<()> {
        self.no_fault(Faults::weighs(&self.faults.edges, types, generator))
    }

    /// Whether what was found wrong of the weights of edges is nothing.
    ///
    /// # Errors
    /// As of [`Graph::weighs_nodes`].
    pub(crate) fn no_fault(&self, fault: Option<Fault<'_>>) -> Result<()> {
        fault.map_or(Ok(()), |fault| Err(fault.of_weights(self.edge_types.number > 1)))
    }

    /// Whether weights of edges have more than 32 bits: then they are in [`Picks::exact`](crate::Picks::exact). Weights of a binary
    /// have 32.
    pub fn has_exact_weights(&self) -> bool {
        self.partitions.iter().any(Partition::has_exact)
    }

    /// Whether weights of edges are stated with more than 32 bits, by the types of their columns: 64-bit floats and long integers. Who
    /// shows weights shows them with 64 then, also where 32 hold all of them, as the shortest text of one with 32 is another number.
    pub fn has_wide_weights(&self) -> bool {
        self.wide
    }

    /// Whether it was read, and so its edges lie in one order: by source, type, target, weight and time.
    pub(crate) fn is_sorted(&self) -> bool {
        matches!(self.drawing, Drawing::Weights(_))
    }

    /// Whether the weights of the edges of a type can be shown: numbers, which a graph may not have there.
    pub fn knows_weights(&self, ty: i32) -> bool {
        self.faults.has_weights(ty)
    }

    /// Whether a node is there, or edges that leave it.
    pub fn has(&self, node: i64) -> bool {
        self.find(node).next().is_some()
    }

    /// Whether an edge leads to this node, which need not be there itself. All edges are looked at.
    pub fn is_end(&self, node: i64) -> bool {
        let mut all =
            self.partitions.iter().flat_map(|partition| partition.edges().split_last()).map(|(_, edges)| edges);
        all.any(|edges| edges.par_iter().any(|edge| target(edge) == node))
    }

    /// Number of edges with these ends and this type.
    ///
    /// # Errors
    /// `DEEPGNN-BOUNDS` when an offset points outside.
    pub fn edges_between(&self, source: i64, to: i64, ty: i32) -> Result<usize> {
        let mut count = 0;
        for entry in self.find(source) {
            let partition = self.partition(entry);
            let run = partition.run(&partition.edge_range(entry.entry)?, ty);
            let edges = partition.edges().get(run).unwrap_or_default();
            count += edges.iter().filter(|edge| target(edge) == to).count();
        }
        Ok(count)
    }

    /// The entries of a node.
    #[inline]
    pub(crate) fn find(&self, node: i64) -> Found<'_> {
        self.index.find(&self.partitions, node)
    }

    #[inline]
    pub(crate) fn partition(&self, entry: Entry) -> &Partition {
        &self.partitions[entry.partition]
    }

    /// The type of each node; `default` for those that are not there, or only as ends of edges.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) when `out` has another length than `nodes`.
    pub fn types_of(&self, nodes: &[i64], default: i32, out: &mut [i32]) -> Result<()> {
        fits(nodes.len(), out.len())?;
        for (node, out) in nodes.iter().zip(out) {
            let types = self.find(*node).map(|entry| self.partition(entry).node_type(entry.entry));
            *out = types.into_iter().find(|ty| *ty != DUMMY).unwrap_or(default);
        }
        Ok(())
    }

    /// A column of a table for weighted sampling.
    pub(crate) fn column(&self, blob: &Blob) -> Result<Column> {
        Ok(Column::new(bytes_of(blob, self.options.hold, &self.options.scratch)?, blob.name()))
    }
}

/// Whether entries of each partition have numbers of 32 bits.
fn fewer(partitions: &[Partition]) -> Result<()> {
    if partitions.iter().any(|partition| u32::try_from(partition.nodes().len()).is_err()) {
        return Err(Error::unsupported("more than 2³² nodes in one partition").hint("more partitions"));
    }
    Ok(())
}

fn count(types: &Types, wanted: &TypeSet) -> u64 {
    (0..).zip(&types.counts).filter(|(ty, _)| wanted.has(*ty)).map(|(_, count)| count).sum()
}

/// Whether a buffer has the length that is asked for.
///
/// # Errors
/// [`Kind::Usage`](isomorph_error::Kind::Usage).
pub(crate) fn fits(wanted: usize, given: usize) -> Result<()> {
    if wanted == given {
        return Ok(());
    }
    Err(Error::usage(format!("a buffer has room for {given} elements, where {wanted} are needed")))
}
