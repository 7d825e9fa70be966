//! A running digest, fed by several threads.

use isomorph_storage::Resources;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_model::digest::{
    ContentDigest, FactTaker, LineKind, OrderDigest, RowHashes, edge_keys, key_hashes, schema_digest,
};
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, EndForm, Ends, Graph, KeyKind, Request, Source, Tables};
use isomorph_tables::lookup::{Hashes, HashesBuilder};

use crate::digests::{Digested, Digests};
use crate::parallel::Pass;
use crate::progress::Progress;

/// A running digest that several threads feed. Each thread has its own sums and merges them at the end.
pub struct Running {
    graph: Graph,
    /// Key hashes by row, for each table that something may refer to by row.
    hashes: BTreeMap<(LineKind, usize), KeyHashes>,
    /// Whether batches that refer by row to elements in the same pass have to wait.
    waiting: AtomicBool,
    /// Receives every fact, in addition to the sums.
    taker: Option<FactTaker>,
    total: Mutex<Sums>,
}

/// Key hashes of the elements of one table: first collected, then only read.
struct KeyHashes {
    builder: Mutex<Option<HashesBuilder>>,
    frozen: OnceLock<Hashes>,
}

impl KeyHashes {
    fn new(resources: &Resources, memory: u64) -> Self {
        let builder = HashesBuilder::new(&resources.budget, &resources.scratch, memory);
        KeyHashes { builder: Mutex::new(Some(builder)), frozen: OnceLock::new() }
    }

    fn with(&self, write: impl FnOnce(&HashesBuilder) -> Result<()>) -> Result<()> {
        // Elements that are read a second time are already known.
        let builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        builder.as_ref().map_or(Ok(()), write)
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
    sums: Sums,
}

#[derive(Default)]
struct Sums {
    content: ContentDigest,
    order: OrderDigest,
}

/// The table of an owner.
fn table_of(owner: Owner) -> (LineKind, usize) {
    match owner {
        Owner::Nodes(ty) => (LineKind::Nodes, ty),
        Owner::Edges(ty) => (LineKind::Edges, ty),
        Owner::Hyperedges(ty) => (LineKind::Hyperedges, ty),
    }
}

/// The tables that something may refer to by row. Whether it does is known only when it is read.
fn referred(source: &dyn Source) -> Vec<(LineKind, usize)> {
    let graph = source.graph();
    let by_row = (0..graph.edges.len()).filter(|&ty| source.end_form(ty) == EndForm::Rows);
    let ends = by_row.filter_map(|ty| graph.edges.get(ty)).flat_map(|ty| [ty.source, ty.target]);
    let members = graph.hyperedges.iter().enumerate();
    let members = members.flat_map(|(at, ty)| [(LineKind::Hyperedges, at), (LineKind::Nodes, ty.ends)]);
    let owners = graph.values.iter().map(|table| table_of(table.owner));
    let groups = graph.groups.iter().enumerate().filter(|(_, kind)| !kind.memberships.is_empty());
    let of_groups = graph.groups.iter().flat_map(|kind| &kind.memberships).map(|table| table_of(table.of));
    let all = ends.map(|ty| (LineKind::Nodes, ty)).chain(members).chain(owners).chain(of_groups);
    let mut all: Vec<_> = all.chain(groups.map(|(at, _)| (LineKind::Groups, at))).collect();
    // For a node type without a key, the row itself is hashed.
    all.retain(|(kind, ty)| {
        *kind != LineKind::Nodes || graph.nodes.get(*ty).is_some_and(|ty| ty.key.kind != KeyKind::Row)
    });
    all.sort_unstable();
    all.dedup();
    all
}

impl Running {
    /// Creates an empty digest.
    ///
    /// # Errors
    /// If there is too little memory and temporary files cannot be created.
    pub fn new(source: &dyn Source, resources: &Resources) -> Result<Self> {
        let referred = referred(source);
        let memory = resources.budget.limit() / 8 / (referred.len() as u64).max(1);
        let hashes = referred.into_iter().map(|table| (table, KeyHashes::new(resources, memory)));
        Ok(Running {
            graph: source.graph().clone(),
            hashes: hashes.collect(),
            waiting: AtomicBool::new(false),
            taker: None,
            total: Mutex::default(),
        })
    }

    /// The same, but passes each fact to `taker`; states are those of [`Running::state`].
    pub fn with_taker(mut self, taker: FactTaker) -> Self {
        self.taker = Some(taker);
        self
    }

    /// The empty sums of one thread.
    pub fn state(&self) -> State {
        let Some(taker) = &self.taker else { return State::default() };
        let content = ContentDigest::with_taker(taker.clone());
        State { sums: Sums { content, order: OrderDigest::default() } }
    }

    /// The same for edges in any order, so that nothing can refer to them by row.
    pub fn without_order(mut self) -> Self {
        self.hashes.retain(|(kind, _), _| *kind != LineKind::Edges);
        self
    }

    /// Whether there is more than nodes and edges.
    pub fn has_rest(&self) -> bool {
        !(self.graph.hyperedges.is_empty() && self.graph.values.is_empty() && self.graph.groups.is_empty())
    }

    /// Whether edges must be read in the order of their rows, because something may refer to these.
    pub fn numbers_edges(&self) -> bool {
        self.hashes.keys().any(|(kind, _)| *kind == LineKind::Edges)
    }

    /// Adds a batch to a thread's sums. All nodes must be added before the first edge, unless ends are keys; nodes and
    /// edges before everything else.
    ///
    /// # Errors
    /// If the batch is invalid; see [`ContentDigest`].
    pub fn add(&self, state: &mut State, batch: &Batch) -> Result<()> {
        let State { sums: Sums { content, order } } = state;
        match batch {
            Batch::Nodes(nodes) => {
                let keys = content.nodes(&self.graph, nodes)?;
                order.nodes(&self.graph, nodes, keys)?;
                self.keep((LineKind::Nodes, nodes.ty), nodes.start, keys)
            }
            Batch::Edges(edges) => {
                if let Some(hashes) = self.hashes.get(&(LineKind::Edges, edges.ty)) {
                    let keys = edge_keys(&self.graph, edges)?;
                    hashes.with(|builder| builder.push(&keys))?;
                }
                content.edges(&self.graph, edges, self)
            }
            Batch::Hyperedges(hyperedges) => {
                let keys = content.hyperedges(&self.graph, hyperedges)?;
                self.keep((LineKind::Hyperedges, hyperedges.ty), hyperedges.start, &keys)
            }
            Batch::Groups(groups) => {
                let keys = content.groups(&self.graph, groups)?;
                order.groups(&self.graph, groups, &keys)?;
                self.keep((LineKind::Groups, groups.kind), groups.start, &keys)
            }
            _ if self.must_wait(batch) => {
                self.waiting.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => content.rest(&self.graph, batch, self),
        }
    }

    /// Whether a batch refers by row to elements that are read in the same pass, in any order: hyperedges and groups.
    fn must_wait(&self, batch: &Batch) -> bool {
        let by_row = |ends: &Ends| matches!(ends, Ends::Rows(_));
        let beside = |owner: Option<Owner>| matches!(owner, Some(Owner::Hyperedges(_)));
        match batch {
            Batch::Members(members) => by_row(&members.owner),
            Batch::Values(values) => {
                by_row(&values.owner) && beside(self.graph.values.get(values.table).map(|table| table.owner))
            }
            Batch::Memberships(batch) => {
                let table = self.graph.groups.get(batch.kind).and_then(|kind| kind.memberships.get(batch.table));
                by_row(&batch.group) || by_row(&batch.member) && beside(table.map(|table| table.of))
            }
            _ => false,
        }
    }

    fn keep(&self, table: (LineKind, usize), start: u64, keys: &[u128]) -> Result<()> {
        self.hashes.get(&table).map_or(Ok(()), |hashes| hashes.with(|builder| builder.write(start, keys)))
    }

    /// Records only the keys of nodes, for edges that refer to them and are read first.
    ///
    /// # Errors
    /// If a key is null.
    pub fn remember(&self, batch: &Batch) -> Result<()> {
        let Batch::Nodes(nodes) = batch else { return Ok(()) };
        let (Some(hashes), Some(ty), Some(keys)) =
            (self.hashes.get(&(LineKind::Nodes, nodes.ty)), self.graph.nodes.get(nodes.ty), &nodes.keys)
        else {
            return Ok(());
        };
        let mut of_keys = Vec::with_capacity(nodes.rows);
        key_hashes(&ty.name, &ty.key, keys, &mut of_keys)?;
        hashes.with(|builder| builder.write(nodes.start, &of_keys))
    }

    /// Finishes the nodes: edges may follow.
    ///
    /// # Errors
    /// If keys that were spilled cannot be read.
    pub fn nodes_done(&self) -> Result<()> {
        self.freeze(|kind| kind == LineKind::Nodes)
    }

    fn freeze(&self, which: impl Fn(LineKind) -> bool) -> Result<()> {
        self.hashes.iter().filter(|((kind, _), _)| which(*kind)).try_for_each(|(_, hashes)| hashes.freeze())
    }

    /// Reads what is neither nodes nor edges from `source`, after all nodes and edges were added.
    ///
    /// # Errors
    /// If the source cannot be read or is invalid.
    pub fn rest(&self, source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<()> {
        if !self.has_rest() {
            return Ok(());
        }
        self.freeze(|kind| matches!(kind, LineKind::Nodes | LineKind::Edges))?;
        self.scan_rest(source, resources, progress, |state, batch| self.add(state, batch))?;
        if !self.waiting.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.freeze(|_| true)?;
        self.scan_rest(source, resources, progress, |state, batch| match self.must_wait(batch) {
            true => state.sums.content.rest(&self.graph, batch, self),
            false => Ok(()),
        })
    }

    fn scan_rest(
        &self,
        source: &dyn Source,
        resources: &Resources,
        progress: &dyn Progress,
        add: impl Fn(&mut State, &Batch) -> Result<()> + Sync,
    ) -> Result<()> {
        let parts = source.scan(&Request::of(Tables::Rest))?;
        let pass = Pass::new(parts, "rest", resources.threads, progress);
        let states = pass.fold(|| self.state(), |state, _, batch| add(state, &batch))?;
        states.into_iter().for_each(|state| self.merge(state));
        Ok(())
    }

    /// Merges the sums of a thread.
    pub fn merge(&self, state: State) {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.content.merge(state.sums.content);
        total.order.merge(state.sums.order);
    }

    /// The digests of everything that was added.
    ///
    /// # Errors
    /// If a document is invalid.
    pub fn finish(self) -> Result<Digested> {
        let mut documents = self.state();
        documents.sums.content.documents(&self.graph)?;
        self.merge(documents);
        let total = self.total.into_inner().unwrap_or_else(PoisonError::into_inner);
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
        self.gather_of(LineKind::Nodes, ty, rows, out)
    }

    fn gather_of(&self, kind: LineKind, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        let word = kind.word();
        match self.hashes.get(&(kind, ty)).map(|hashes| hashes.frozen.get()) {
            Some(Some(hashes)) => hashes.gather(rows, out),
            Some(None) => Err(Error::usage(format!("something referred to {word} by row before they were read"))),
            None => Err(Error::usage(format!("{word} are referred to by row, but keys were announced"))),
        }
    }
}
