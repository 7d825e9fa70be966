//! Draws subgraphs.

use std::sync::Arc;

use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::{Budget, Reservation};
use xxhash_rust::xxh3::Xxh3;

use super::local::LocalNodes;
use super::topology::{Incoming, RelationOf, Topology};
use crate::neighbors::without_replacement;
use crate::random::Key;

/// Number of steps by which data is prefetched before it is read.
const AHEAD: usize = 16;

/// Number of nodes or edges between two looks at whether anybody waits.
const CHUNK: usize = 1 << 14;

/// Bytes that an edge takes while it is drawn: its position, its target, and its numbers in the result.
const OF_EDGE: u64 = 48;

/// Nodes from which subgraphs are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeds {
    /// Index of their type.
    pub node_type: usize,
    /// Their rows, in any order, possibly repeated.
    pub rows: Vec<i64>,
}

/// A request for a subgraph.
#[derive(Debug, Clone)]
pub struct SubgraphOf {
    /// The seeds, each type once.
    pub seeds: Vec<Seeds>,
    /// For each relation and hop, the number of neighbours of a node; `None` for all of them. All relations have the same number of hops.
    pub counts: Vec<Vec<Option<u32>>>,
    /// Whether a neighbour can be drawn several times. Then as many as requested are drawn from every node that has any.
    pub replacement: bool,
    /// Whether each seed has a subgraph of its own, so that a node can be there several times.
    pub disjoint: bool,
    /// Whether the edges are all those between the nodes that were found, instead of those that were followed.
    pub induced: bool,
    /// The seed of random choices. They also depend on the seeds, but not on the other requests, or on the process.
    pub seed: u64,
    /// The pass over the data: another one gives other choices.
    pub epoch: u64,
}

/// A subgraph: nodes by type, edges by relation.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Subgraph {
    /// For each node type the rows of the nodes: the seeds, then those of each hop in the order in which they were found.
    pub nodes: Vec<Vec<i64>>,
    /// For each node the number of its seed, if subgraphs are disjoint; otherwise empty. Seeds are numbered through all types.
    pub owners: Vec<Vec<i64>>,
    /// For each relation the sources of the edges, as positions in `nodes`.
    pub sources: Vec<Vec<i64>>,
    /// For each relation the targets of the edges, as positions in `nodes`.
    pub targets: Vec<Vec<i64>>,
    /// For each relation the numbers of the edges.
    pub edges: Vec<Vec<i64>>,
    /// For each node type the number of seeds, and of nodes that each hop found.
    pub nodes_by_hop: Vec<Vec<u64>>,
    /// For each relation the number of edges that each hop followed; empty if edges are induced.
    pub edges_by_hop: Vec<Vec<u64>>,
}

/// Draws subgraphs of one topology. Buffers are reused by later calls.
pub struct Subgraphs {
    topology: Arc<Topology>,
    budget: Budget,
    local: Vec<LocalNodes>,
    positions: Vec<usize>,
    followed: Vec<u32>,
    chosen: Vec<u64>,
}

/// Asked while work is done; its error ends the work.
type Check<'c> = &'c dyn Fn() -> Result<()>;

impl Subgraphs {
    /// Creates it; `budget` is the memory of a request.
    pub fn new(topology: &Arc<Topology>, budget: &Budget) -> Self {
        let local = topology.nodes().iter().map(|_| LocalNodes::default()).collect();
        let (topology, budget) = (Arc::clone(topology), budget.clone());
        Subgraphs { topology, budget, local, positions: Vec::new(), followed: Vec::new(), chosen: Vec::new() }
    }

    /// Draws a subgraph: in each hop, from every node that the hop before has found (at first the seeds), neighbours over incoming edges of
    /// each relation. Without replacement, no edge is drawn twice from a node; a node with fewer edges than requested gives all of
    /// them, in the order of their numbers. A node that was found before is not followed again.
    ///
    /// Equal requests give equal results. `check` is called every few thousand edges.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] for a type or a row that does not exist, or counts that do not match the relations;
    /// [`Kind::Unsupported`] if edges shall be induced in disjoint subgraphs; [`Kind::TooLarge`] if the budget is too small; errors of `check`.
    pub fn draw(&mut self, asked: &SubgraphOf, check: Check<'_>) -> Result<Subgraph> {
        let topology = Arc::clone(&self.topology);
        let hops = hops(asked, &topology)?;
        if asked.induced && asked.disjoint {
            let error = Error::unsupported("induced edges of disjoint subgraphs are not supported");
            return Err(error.hint("edges that were followed (directional), or subgraphs that are not disjoint"));
        }
        let mut memory = self.budget.reserve(0)?;
        self.local.iter_mut().for_each(LocalNodes::clear);
        let key = self.start(asked, &topology)?;
        let relations = topology.relations().len();
        let mut found = Subgraph {
            sources: vec![Vec::new(); relations],
            targets: vec![Vec::new(); relations],
            edges: vec![Vec::new(); relations],
            nodes_by_hop: self.local.iter().map(|local| vec![local.nodes.len() as u64]).collect(),
            edges_by_hop: vec![Vec::new(); if asked.induced { 0 } else { relations }],
            ..Subgraph::default()
        };
        // The nodes of each type that the next hop starts from.
        let mut frontier: Vec<std::ops::Range<usize>> = self.local.iter().map(|local| 0..local.nodes.len()).collect();
        for hop in 0..hops {
            for (at, (relation, incoming)) in topology.relations().iter().zip(&topology.incoming).enumerate() {
                check()?;
                let count = asked.counts[at][hop];
                let stream = Key::new(key, u32::try_from(hop * relations + at).unwrap_or(u32::MAX));
                let range = frontier[relation.target].clone();
                self.choose(relation, incoming, range, (asked, count, stream), &mut memory, check)?;
                let number = self.positions.len() as u64;
                self.follow(relation, incoming, asked, at, &mut found, check)?;
                if let Some(counts) = found.edges_by_hop.get_mut(at) {
                    counts.push(number);
                }
            }
            for ((range, local), by_hop) in frontier.iter_mut().zip(&self.local).zip(&mut found.nodes_by_hop) {
                *range = range.end..local.nodes.len();
                by_hop.push(range.len() as u64);
            }
        }
        if asked.induced {
            self.induce(&topology, &mut found, &mut memory, check)?;
        }
        found.nodes = self.local.iter_mut().map(|local| std::mem::take(&mut local.nodes)).collect();
        found.owners = self.local.iter_mut().map(|local| std::mem::take(&mut local.owners)).collect();
        Ok(found)
    }

    /// Puts the seeds into the lists, and returns the key of this request.
    fn start(&mut self, asked: &SubgraphOf, topology: &Topology) -> Result<u64> {
        let mut hash = Xxh3::with_seed(asked.seed);
        hash.update(&asked.epoch.to_le_bytes());
        let mut owner = 0u32;
        let mut known = vec![false; self.local.len()];
        for Seeds { node_type, rows } in &asked.seeds {
            let (Some(ty), Some(local)) = (topology.nodes().get(*node_type), self.local.get_mut(*node_type)) else {
                return Err(Error::usage(format!("there is no node type number {node_type}")));
            };
            if std::mem::replace(&mut known[*node_type], true) {
                return Err(Error::usage(format!("the seeds of type {} are given twice", ty.name)));
            }
            hash.update(&(*node_type as u64).to_le_bytes());
            hash.update(&(rows.len() as u64).to_le_bytes());
            for row in rows {
                hash.update(&row.to_le_bytes());
                let row = u64::try_from(*row).ok().filter(|row| *row < ty.nodes);
                let row = row.ok_or_else(|| no_row(ty.name.as_str(), ty.nodes, rows))?;
                local.add_again(row, if asked.disjoint { owner } else { 0 }, asked.disjoint)?;
                if asked.disjoint {
                    owner = owner.checked_add(1).ok_or_else(|| Error::usage("more than 2³² seeds"))?;
                }
            }
        }
        Ok(hash.digest())
    }

    /// Chooses edges of the nodes `range` of the targets' type: their positions in the file, and the local targets.
    fn choose(
        &mut self,
        relation: &RelationOf,
        incoming: &Incoming,
        range: std::ops::Range<usize>,
        (asked, count, stream): (&SubgraphOf, Option<u32>, Key),
        memory: &mut Reservation,
        check: Check<'_>,
    ) -> Result<()> {
        self.positions.clear();
        self.followed.clear();
        if count == Some(0) {
            return Ok(());
        }
        let local = &self.local[relation.target];
        let mut counted = 0;
        for at in range.clone() {
            if let Some(ahead) = local.nodes.get(at + AHEAD) {
                incoming.fetch(index(ahead.cast_unsigned()));
            }
            let node = local.nodes[at].cast_unsigned();
            let edges = incoming.of(index(node))?;
            let target = u32::try_from(at).unwrap_or(u32::MAX);
            match count {
                _ if edges.is_empty() => {}
                Some(count) if asked.replacement => {
                    let mut stream = stream.stream(node, occurrence(local, node, at));
                    let many = edges.len() as u64;
                    self.positions.extend((0..count).map(|_| edges.start + index(stream.below(many))));
                }
                Some(count) if edges.len() > count as usize => {
                    let mut stream = stream.stream(node, occurrence(local, node, at));
                    without_replacement(edges.len() as u64, count as usize, &mut stream, &mut self.chosen);
                    self.positions.extend(self.chosen.iter().map(|at| edges.start + index(*at)));
                }
                _ => self.positions.extend(edges),
            }
            self.followed.resize(self.positions.len(), target);
            if self.positions.len() - counted > CHUNK || (at - range.start) % CHUNK == CHUNK - 1 {
                check()?;
                grow(memory, self.positions.len() - counted)?;
                counted = self.positions.len();
            }
        }
        grow(memory, self.positions.len() - counted)
    }

    /// Follows the chosen edges to their sources.
    fn follow(
        &mut self,
        relation: &RelationOf,
        incoming: &Incoming,
        asked: &SubgraphOf,
        at: usize,
        found: &mut Subgraph,
        check: Check<'_>,
    ) -> Result<()> {
        let Subgraphs { local, positions, followed, topology, .. } = self;
        let limit = topology.nodes().get(relation.source).map_or(0, |ty| ty.nodes);
        let (sources, targets, edges) = (&mut found.sources[at], &mut found.targets[at], &mut found.edges[at]);
        if !asked.induced {
            sources.reserve(positions.len());
            targets.reserve(positions.len());
            edges.reserve(positions.len());
        }
        for (number, (position, target)) in positions.iter().zip(followed.iter()).enumerate() {
            if let Some(ahead) = positions.get(number + 2 * AHEAD) {
                incoming.sources.fetch(*ahead);
            }
            let owner = |of: u32| match asked.disjoint {
                true => local[relation.target].owners.get(of as usize).map_or(0, |owner| *owner),
                false => 0,
            };
            let owner_of = |of: u32| u32::try_from(owner(of)).unwrap_or(u32::MAX);
            if let (Some(ahead), Some(of)) = (positions.get(number + AHEAD), followed.get(number + AHEAD)) {
                let source = incoming.sources.get(*ahead).unwrap_or_default();
                local[relation.source].fetch(source, owner_of(*of));
            }
            let source = incoming.sources.get(*position).filter(|source| *source < limit);
            let source = source.ok_or_else(|| incoming.damaged(*position))?;
            let owner = owner_of(*target);
            let source = local[relation.source].add(source, owner, asked.disjoint)?;
            if !asked.induced {
                sources.push(source.into());
                targets.push((*target).into());
            }
            if number % CHUNK == CHUNK - 1 {
                check()?;
            }
        }
        match asked.induced {
            true => Ok(()),
            false => append_numbers(incoming, positions, edges, check),
        }
    }

    /// All edges between the nodes that were found.
    fn induce(
        &mut self,
        topology: &Topology,
        found: &mut Subgraph,
        memory: &mut Reservation,
        check: Check<'_>,
    ) -> Result<()> {
        for (at, (relation, incoming)) in topology.relations().iter().zip(&topology.incoming).enumerate() {
            let (targets, sources) = (&self.local[relation.target], &self.local[relation.source]);
            self.positions.clear();
            let mut counted = 0;
            for (target, node) in targets.nodes.iter().enumerate() {
                for position in incoming.of(index(node.cast_unsigned()))? {
                    let source = incoming.sources.get(position).ok_or_else(|| incoming.damaged(position))?;
                    let Some(source) = sources.get(source, 0) else { continue };
                    found.sources[at].push(source.into());
                    found.targets[at].push((target as u64).cast_signed());
                    self.positions.push(position);
                }
                if target % CHUNK == CHUNK - 1 {
                    check()?;
                    grow(memory, self.positions.len() - counted)?;
                    counted = self.positions.len();
                }
            }
            grow(memory, self.positions.len() - counted)?;
            append_numbers(incoming, &self.positions, &mut found.edges[at], check)?;
        }
        Ok(())
    }
}

/// Appends the numbers of the edges at some positions.
fn append_numbers(incoming: &Incoming, positions: &[usize], edges: &mut Vec<i64>, check: Check<'_>) -> Result<()> {
    edges.reserve(positions.len());
    let Some(numbers) = &incoming.numbers else {
        edges.extend(positions.iter().map(|position| (*position as u64).cast_signed()));
        return Ok(());
    };
    for positions in positions.chunks(CHUNK) {
        numbers.append(positions, edges)?;
        check()?;
    }
    Ok(())
}

/// Tells nodes that are followed more than once apart: by their seed, or, for a seed that is given twice, by its position.
#[inline]
fn occurrence(local: &LocalNodes, node: u64, at: usize) -> u32 {
    if let Some(owner) = local.owners.get(at) {
        return u32::try_from(*owner).unwrap_or(u32::MAX);
    }
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    if local.get(node, 0) == Some(at) { 0 } else { at }
}

fn grow(memory: &mut Reservation, edges: usize) -> Result<()> {
    memory.grow((edges as u64).saturating_mul(OF_EDGE)).map_err(|error| match error.kind() {
        Kind::TooLarge => error.hint("fewer seeds, or fewer neighbours"),
        _ => error,
    })
}

fn hops(asked: &SubgraphOf, topology: &Topology) -> Result<usize> {
    let (given, needed) = (asked.counts.len(), topology.relations().len());
    if given != needed {
        return Err(Error::usage(format!("numbers of neighbours are given for {given} relations of {needed}")));
    }
    let hops = asked.counts.first().map_or(0, Vec::len);
    if asked.counts.iter().any(|counts| counts.len() != hops) {
        return Err(Error::usage("all relations need numbers of neighbours for the same number of hops"));
    }
    Ok(hops)
}

fn no_row(name: &str, nodes: u64, rows: &[i64]) -> Error {
    let is_none = |row: &&i64| u64::try_from(**row).map_or(true, |row| row >= nodes);
    let row = rows.iter().find(is_none).copied().unwrap_or_default();
    Error::usage(format!("there is no node {row} of type {name}, which has {nodes}"))
        .hint("nodes are named by their rows, from 0 on")
}
