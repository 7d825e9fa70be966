//! The three digests of a source, computed on all threads.

use std::sync::{Mutex, OnceLock, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_model::digest::{ContentDigest, Digest, OrderDigest, RowHashes, Table, key_hashes, schema_digest};
use isomorph_model::{Batch, EndForm, Graph, KeyKind, Request, Source, Tables};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{Hashes, HashesBuilder};
use serde::{Deserialize, Serialize};

use crate::parallel;
use crate::progress::Progress;

/// What limits a job.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Threads.
    pub threads: usize,
    /// Memory.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Scratch,
}

impl Resources {
    /// All cores, a quarter of the memory, the system's directory for temporary files.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn of_this_machine() -> Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Resources { threads, budget: Budget::of_this_machine(), scratch: Scratch::new(None)? })
    }
}

/// The digests of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// Of what the graph says.
    pub content: Digest,
    /// Of positions that mean something.
    pub order: Digest,
    /// Of what is declared.
    pub schema: Digest,
}

/// The digests of a graph, and the table behind the first.
#[derive(Debug, Clone)]
pub struct Digested {
    /// The digests.
    pub digests: Digests,
    /// The sums by kind, type and property.
    pub table: Table,
}

/// A running digest that several threads feed. Each thread keeps sums of its own and merges them at the end.
pub struct Running {
    graph: Graph,
    /// Key hashes of nodes by row, for each node type that edges refer to by row.
    hashes: Vec<Option<NodeHashes>>,
    total: Mutex<State>,
}

/// Key hashes of the nodes of one type: collected while nodes pass, then only read.
struct NodeHashes {
    builder: Mutex<Option<HashesBuilder>>,
    frozen: OnceLock<Hashes>,
}

impl NodeHashes {
    fn write(&self, start: u64, hashes: &[u128]) -> Result<()> {
        // Nodes that pass a second time are known already.
        let builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        builder.as_ref().map_or(Ok(()), |builder| builder.write(start, hashes))
    }

    fn freeze(&self) -> Result<()> {
        let builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(builder) = builder {
            let _ = self.frozen.set(builder.finish()?);
        }
        Ok(())
    }
}

/// The sums of one thread.
#[derive(Default)]
pub struct State {
    content: ContentDigest,
    order: OrderDigest,
}

impl Running {
    /// Nothing seen yet.
    ///
    /// # Errors
    /// When memory is short and temporary files cannot be made.
    pub fn new(source: &dyn Source, resources: &Resources) -> Result<Self> {
        let graph = source.graph();
        let by_row = (0..graph.edges.len()).filter(|&ty| source.end_form(ty) == EndForm::Rows);
        let ends = |ty: usize| graph.edges.get(ty).map(|ty| [ty.source, ty.target]).unwrap_or_default();
        let mut needed: Vec<usize> = by_row.flat_map(ends).collect();
        needed.sort_unstable();
        needed.dedup();
        let hashes = graph.nodes.iter().enumerate().map(|(at, ty)| {
            // A type without a key is hashed by row as it is.
            if !needed.contains(&at) || ty.key.kind == KeyKind::Row {
                return Ok(None);
            }
            let memory = resources.budget.limit() / 8;
            let builder = HashesBuilder::new(&resources.budget, &resources.scratch, memory);
            Ok(Some(NodeHashes { builder: Mutex::new(Some(builder)), frozen: OnceLock::new() }))
        });
        let hashes = hashes.collect::<Result<_>>()?;
        Ok(Running { graph: graph.clone(), hashes, total: Mutex::default() })
    }

    /// Adds a batch to a thread's sums. All nodes come before the first edge, unless ends are keys.
    ///
    /// # Errors
    /// When the batch is not sound; see [`ContentDigest`].
    pub fn add(&self, state: &mut State, batch: &Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => {
                let keys = state.content.nodes(&self.graph, nodes)?;
                state.order.nodes(&self.graph, nodes, keys)?;
                if let Some(Some(hashes)) = self.hashes.get(nodes.ty) {
                    hashes.write(nodes.start, keys)?;
                }
                Ok(())
            }
            Batch::Edges(edges) => state.content.edges(&self.graph, edges, self),
            _ => Err(Error::unsupported("a digest of hyperedges, values and groups")),
        }
    }

    /// Only remembers the keys of nodes, for edges that refer to them before their turn.
    ///
    /// # Errors
    /// When a key is null.
    pub fn remember(&self, batch: &Batch) -> Result<()> {
        let Batch::Nodes(nodes) = batch else { return Ok(()) };
        let (Some(Some(hashes)), Some(ty), Some(keys)) =
            (self.hashes.get(nodes.ty), self.graph.nodes.get(nodes.ty), &nodes.keys)
        else {
            return Ok(());
        };
        let mut of_keys = Vec::with_capacity(nodes.rows);
        key_hashes(&ty.name, &ty.key, keys, &mut of_keys)?;
        hashes.write(nodes.start, &of_keys)
    }

    /// All nodes have passed: edges may come.
    ///
    /// # Errors
    /// When keys that were spilled cannot be read.
    pub fn nodes_done(&self) -> Result<()> {
        self.hashes.iter().flatten().try_for_each(NodeHashes::freeze)
    }

    /// Merges what a thread has summed.
    pub fn merge(&self, state: State) {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.content.merge(state.content);
        total.order.merge(state.order);
    }

    /// The digests of everything that was added.
    ///
    /// # Errors
    /// When a document is not sound.
    pub fn finish(self) -> Result<Digested> {
        let mut total = self.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        total.content.documents(&self.graph)?;
        let digests = Digests {
            content: total.content.digest(),
            order: total.order.digest(),
            schema: schema_digest(&self.graph),
        };
        Ok(Digested { digests, table: total.content.into_table() })
    }
}

impl RowHashes for Running {
    fn gather(&self, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        match self.hashes.get(ty) {
            Some(Some(NodeHashes { frozen, .. })) => match frozen.get() {
                Some(hashes) => hashes.gather(rows, out),
                None => Err(Error::usage("edges came before their nodes")),
            },
            _ => Err(Error::usage("ends are rows where keys were announced")),
        }
    }
}

/// Reads all of `source` and computes its digests.
///
/// # Errors
/// When the source cannot be read or is not sound.
pub fn digest(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Digested> {
    let running = Running::new(source, resources)?;
    let by_row = (0..source.graph().edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
    let passes: &[(&str, Tables)] =
        if by_row { &[("nodes", Tables::AllNodes), ("edges", Tables::AllEdges)] } else { &[("read", Tables::All)] };
    for (stage, tables) in passes {
        let parts = source.scan(&Request::of(*tables))?;
        progress.begin(stage, parts.iter().map(|part| part.rows()).sum());
        let states = parallel::fold(&parts, resources.threads, State::default, |state, _, batch| {
            progress.advance(batch.rows() as u64);
            running.add(state, &batch)
        });
        progress.end();
        states?.into_iter().for_each(|state| running.merge(state));
        running.nodes_done()?;
    }
    running.finish()
}
