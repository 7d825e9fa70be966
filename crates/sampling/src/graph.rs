//! An opened graph: partitions, and an index of the nodes.

use isomorph_deepgnn::{BinaryFiles, Types};
use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Budget, Location, Reservation, Scratch, pool};
use rayon::prelude::*;

use crate::faults::{Fault, Faults};
use crate::hubs::Hubs;
use crate::index::{Entry, Found, Index, IndexFile, IndexOrigin, NodeIdsFile};
use crate::map::{Hold, bytes_of};
use crate::partition::{Column, DUMMY, Partition, target};
use crate::request::{Generator, TypeSet};

/// Options for opening a graph.
#[derive(Debug, Clone)]
pub struct GraphOptions {
    /// Whether the files are mapped or copied.
    pub hold: Hold,
    /// Memory for tables that must be built. Mapped files are in the system's cache and are not counted.
    pub budget: Budget,
    /// Temporary files for copies.
    pub scratch: Scratch,
    /// Whether the index of the nodes is kept in a file next to the graph. If only some partitions are opened, or from several directories, no index file is used.
    pub index: IndexFile,
    /// The numbers of the partitions of a binary to open; `None` means all of them.
    pub partitions: Option<Vec<u32>>,
    /// Further directories with partitions of the binary; the opened one has the metadata.
    pub further: Vec<Location>,
}

impl GraphOptions {
    /// Creates options for a mapped graph within a budget. Nothing is written next to the graph.
    pub fn new(budget: &Budget, scratch: &Scratch) -> Self {
        let (budget, scratch) = (budget.clone(), scratch.clone());
        GraphOptions {
            hold: Hold::Mapped,
            budget,
            scratch,
            index: IndexFile::Use,
            partitions: None,
            further: Vec::new(),
        }
    }
}

/// The source of weights for drawing nodes of the whole graph.
pub(crate) enum Drawing {
    /// Tables that were written with the graph.
    Files(Box<BinaryFiles>),
    /// The weight of each entry of the only partition.
    Weights(NodeWeights),
}

/// Weights of nodes.
pub(crate) struct NodeWeights {
    pub list: Vec<f64>,
    pub _memory: Reservation,
}

/// A graph to sample from. Can be shared by any number of samplers and threads.
pub struct Graph {
    pub(crate) partitions: Vec<Partition>,
    pub(crate) index: Index,
    index_origin: IndexOrigin,
    pub(crate) hubs: Hubs,
    pub(crate) node_types: Types,
    pub(crate) edge_types: Types,
    /// Number of nodes, without entries that only represent ends of edges.
    nodes: u64,
    pub(crate) drawing: Drawing,
    /// Reasons why some types cannot be drawn by weight or requested at a time.
    pub(crate) faults: Faults,
    /// Whether the columns of edge weights may have more than 32 bits.
    pub(crate) wide: bool,
    pub(crate) options: GraphOptions,
}

impl Graph {
    /// Opens a binary of DeepGNN: maps its files, and reads the ids of its nodes unless an index file next to it has
    /// them. Edges and features are not read.
    ///
    /// # Errors
    /// Returns an error if files are missing or their lengths do not match (`DEEPGNN-FILE`, `DEEPGNN-BOUNDS`), or
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if nodes are not sorted and the budget is too small for a table
    /// of them.
    pub fn open(location: &Location, options: &GraphOptions) -> Result<Graph> {
        let all_in_one = options.partitions.is_none() && options.further.is_empty();
        let files = match all_in_one {
            true => BinaryFiles::open(location)?,
            false => BinaryFiles::open_some(location, &options.further, options.partitions.as_deref())?,
        };
        let open = |files| Partition::open(files, options.hold, &options.scratch);
        let partitions = files.partitions.iter().map(open).collect::<Result<Vec<_>>>()?;
        // Weights of the opened partitions, in order.
        let opened = |types: &Types| Types {
            weights: files.partitions.iter().map_while(|of| types.weights.get(of.number as usize).cloned()).collect(),
            ..types.clone()
        };
        let (node_types, edge_types) = (opened(&files.meta.node_types), opened(&files.meta.edge_types));
        let nodes = files.meta.nodes;
        fewer(&partitions)?;
        let index = match all_in_one {
            true => NodeIdsFile::of(location, &files, options).index(&partitions)?,
            false => (Index::of(&partitions, &options.budget)?, IndexOrigin::Ids),
        };
        let types = (node_types, edge_types);
        Ok(Graph::with(partitions, index, types, nodes, Drawing::Files(Box::new(files)), options))
    }

    /// Creates a graph from opened partitions.
    ///
    /// # Errors
    /// As [`Graph::open`].
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

    /// Returns where the index of the nodes came from.
    pub fn index_origin(&self) -> IndexOrigin {
        self.index_origin
    }

    /// Returns the number of nodes according to the metadata.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.edge_count() as u64).sum()
    }

    /// Returns the number of node types, which are numbered from 0.
    pub fn node_type_count(&self) -> u32 {
        self.node_types.number
    }

    /// Returns the number of edge types.
    pub fn edge_type_count(&self) -> u32 {
        self.edge_types.number
    }

    /// Returns the number of nodes of the given types according to the metadata; each type is counted once, unknown ones are ignored.
    pub fn node_count(&self, types: &TypeSet) -> u64 {
        count(&self.node_types, types)
    }

    /// Returns the number of edges of the given types according to the metadata.
    pub fn edge_count(&self, types: &TypeSet) -> u64 {
        count(&self.edge_types, types)
    }

    /// Returns the memory that answers share with the graph.
    pub(crate) fn budget(&self) -> &Budget {
        &self.options.budget
    }

    /// Returns whether edges have times.
    pub fn has_times(&self) -> bool {
        self.partitions.iter().any(Partition::has_times)
    }

    /// Checks that edges of some of these types have times, and that the times can be compared.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) with the reason if not.
    pub fn check_times(&self, types: &TypeSet) -> Result<()> {
        const WITHOUT: &str =
            "omit --timestamp, or use a --strategy other than last    without times, all edges always exist";
        self.comparable(types).map_err(|error| error.hint(WITHOUT))?;
        let known = 0..i32::try_from(self.edge_types.number).unwrap_or(i32::MAX);
        let mut asked = known.filter(|ty| types.has(*ty)).peekable();
        if self.has_times() && (asked.peek().is_none() || asked.any(|ty| self.faults.has_times(ty))) {
            return Ok(());
        }
        let whose = if self.has_times() { "of these types" } else { "of this graph" };
        Err(Error::usage(format!("edges {whose} have no times")).hint(WITHOUT))
    }

    /// Checks that times of edges of these types, if they have any, can be compared.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) with the reason if not.
    pub(crate) fn comparable(&self, types: &TypeSet) -> Result<()> {
        let Some(fault) = self.faults.times(types) else { return Ok(()) };
        let error = fault.of_times();
        Err(if self.has_times() { error.hint("--types    select types whose times are valid") } else { error })
    }

    /// Checks that nodes of these types can be drawn by weight.
    ///
    /// # Errors
    /// Returns [`Kind::Malformed`](isomorph_error::Kind::Malformed) with the reason if not.
    pub(crate) fn weighs_nodes(&self, types: &TypeSet, generator: Generator) -> Result<()> {
        let fault = Faults::weighs(&self.faults.nodes, types, generator);
        fault.map_or(Ok(()), |fault| Err(fault.of_weights(self.node_types.number > 1)))
    }

    /// Checks that edges of these types can be drawn by weight.
    ///
    /// # Errors
    /// As [`Graph::weighs_nodes`].
    pub(crate) fn weighs_edges(&self, types: &TypeSet, generator: Generator) -> Result<()> {
        self.no_fault(Faults::weighs(&self.faults.edges, types, generator))
    }

    /// Turns a problem with the weights of edges into an error.
    ///
    /// # Errors
    /// As [`Graph::weighs_nodes`].
    pub(crate) fn no_fault(&self, fault: Option<Fault<'_>>) -> Result<()> {
        fault.map_or(Ok(()), |fault| Err(fault.of_weights(self.edge_types.number > 1)))
    }

    /// Returns whether weights of edges have more than 32 bits: then they are in [`Picks::exact`](crate::Picks::exact). Weights of a binary
    /// have 32.
    pub fn has_exact_weights(&self) -> bool {
        self.partitions.iter().any(Partition::has_exact)
    }

    /// Returns whether the columns of edge weights have more than 32 bits: 64-bit floats and long integers. Callers that
    /// show weights should then show 64 bits, even if 32 bits suffice, because the shortest text of a 32-bit number is another number.
    pub fn has_wide_weights(&self) -> bool {
        self.wide
    }

    /// Returns whether the graph is not a binary, so that its edges are sorted by source, type, target, weight and time.
    pub(crate) fn is_sorted(&self) -> bool {
        matches!(self.drawing, Drawing::Weights(_))
    }

    /// Returns whether the weights of the edges of a type are numbers, so that they can be shown.
    pub fn knows_weights(&self, ty: i32) -> bool {
        self.faults.has_weights(ty)
    }

    /// Returns whether a node exists, or edges that leave it.
    pub fn has(&self, node: i64) -> bool {
        self.find(node).next().is_some()
    }

    /// Returns whether an edge leads to this node, which need not exist itself. All edges are scanned.
    pub fn is_end(&self, node: i64) -> bool {
        let mut all =
            self.partitions.iter().flat_map(|partition| partition.edges().split_last()).map(|(_, edges)| edges);
        all.any(|edges| pool::run(|| edges.par_iter().any(|edge| target(edge) == node)))
    }

    /// Returns the number of edges with these ends and this type.
    ///
    /// # Errors
    /// Returns `DEEPGNN-BOUNDS` if an offset is out of range.
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

    /// Returns the entries of a node.
    #[inline]
    pub(crate) fn find(&self, node: i64) -> Found<'_> {
        self.index.find(&self.partitions, node)
    }

    #[inline]
    pub(crate) fn partition(&self, entry: Entry) -> &Partition {
        &self.partitions[entry.partition]
    }

    /// Writes the type of each node to `out`; `default` for nodes that do not exist, or only as ends of edges.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if the lengths of `out` and `nodes` differ.
    pub fn types_of(&self, nodes: &[i64], default: i32, out: &mut [i32]) -> Result<()> {
        fits(nodes.len(), out.len())?;
        for (node, out) in nodes.iter().zip(out) {
            let types = self.find(*node).map(|entry| self.partition(entry).node_type(entry.entry));
            *out = types.into_iter().find(|ty| *ty != DUMMY).unwrap_or(default);
        }
        Ok(())
    }

    /// Opens a column of a table for weighted sampling.
    pub(crate) fn column(&self, blob: &Blob) -> Result<Column> {
        Ok(Column::new(bytes_of(blob, self.options.hold, &self.options.scratch)?, blob.name()))
    }
}

/// Checks that the entries of each partition can be numbered with 32 bits.
fn fewer(partitions: &[Partition]) -> Result<()> {
    if partitions.iter().any(|partition| u32::try_from(partition.nodes().len()).is_err()) {
        return Err(Error::unsupported("a partition has more than 2³² nodes").hint("more partitions"));
    }
    Ok(())
}

fn count(types: &Types, wanted: &TypeSet) -> u64 {
    (0..).zip(&types.counts).filter(|(ty, _)| wanted.has(*ty)).map(|(_, count)| count).sum()
}

/// Checks that a buffer has the required length.
///
/// # Errors
/// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if not.
pub(crate) fn fits(wanted: usize, given: usize) -> Result<()> {
    if wanted == given {
        return Ok(());
    }
    Err(Error::usage(format!("a buffer has {given} elements, but {wanted} are needed")))
}
