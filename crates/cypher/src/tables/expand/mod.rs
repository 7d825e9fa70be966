//! Patterns of several relationships, and of walks of a bounded length, answered by a search over lists of neighbours.
//!
//! All edges that the pattern may follow are read once, as pairs of integers, and sorted into lists; then all threads search. Only what
//! later clauses read of a match becomes values, and if that is one node or nothing, matches are counted. What is left to matching from
//! node to node: patterns that begin with a look-up, named and shortest paths, walks whose relationships are read, and patterns of parts
//! that are not connected.

mod adjacency;
mod joined;
mod load;
mod running;
mod search;
mod shape;
mod steps;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use isomorph::storage::Reservation;
use isomorph::{Error, Kind};

use super::{TableGraph, number};
use crate::eval::{Row, holds, set};
use crate::exec::Context;
use crate::fault::{Fault, Result};
use crate::plan::Branch;
use crate::value::{Node, Relationship, Value};
pub use joined::{Joined, JoinedEdges, JoinedLink, JoinedMatches};
use load::{Loaded, Loading};
pub use running::Found;
use running::{Running, failed};
use search::{Mode, Search, pairs};
use shape::Shape;
use steps::{Link, Place, Step, order};

/// Of fewer edges, one thread searches.
const ALONE: usize = 20_000;

/// The matches of the first pattern of a branch.
pub(crate) struct Expansion<'p, 'g> {
    graph: &'g TableGraph<'g>,
    shape: Shape<'p>,
    pass: usize,
    matches: Option<Matches>,
    /// How often the last match is still to be given.
    again: u64,
    /// The row with the match that was found last.
    pub row: Row,
}

/// A search that was started, and what it has found.
struct Matches {
    running: Running,
    /// Matches that were received, and the next one.
    found: Found,
    next: usize,
    bases: Vec<u32>,
    loaded: Loaded,
    _memory: Reservation,
}

impl<'p, 'g> Expansion<'p, 'g> {
    /// A search, if the first pattern of the branch has the shape, and the graph has tables.
    pub(crate) fn of(branch: &'p Branch, start: &Row, cx: &Context<'g>) -> Option<Self> {
        let graph = cx.graph.tables()?;
        let shape = Shape::of(branch, cx)?;
        // Edges that are read later have the numbers of their tables.
        for at in &shape.shown_edges {
            let one = shape.pattern.relationships.get(*at)?;
            let mut tables =
                graph.edges.iter().map(std::cell::RefCell::borrow).filter(|table| table.may_have(&one.types));
            if !tables.all(|table| table.is_whole() || table.is_unread()) {
                return None;
            }
        }
        let pass = graph.new_pass();
        Some(Expansion { graph, shape, pass, matches: None, again: 0, row: start.clone() })
    }

    /// Moves to the next match, and returns how many equal ones it stands for.
    pub(crate) fn next(&mut self, cx: &Context<'g>) -> Result<Option<u64>> {
        loop {
            cx.tick()?;
            if self.again > 0 {
                self.again -= 1;
                return Ok(Some(1));
            }
            let mut matches = match self.matches.take() {
                Some(matches) => matches,
                None => self.start(cx)?,
            };
            let times = self.take(&mut matches, cx);
            self.matches = Some(matches);
            let Some(times) = times? else { return Ok(None) };
            let mut passes = true;
            for condition in &self.shape.others {
                passes = passes && holds(condition, &mut self.row, cx)?;
            }
            if !passes {
                continue;
            }
            if self.shape.may_count {
                return Ok(Some(times));
            }
            self.again = if self.shape.is_distinct { 0 } else { times - 1 };
            return Ok(Some(1));
        }
    }

    /// Reads the tables, and starts the threads.
    fn start(&mut self, cx: &Context<'g>) -> Result<Matches> {
        let graph = self.graph;
        let mut memory = graph.scans.budget.reserve(0)?;
        let pattern = self.shape.pattern;
        for at in &self.shape.shown_edges {
            let Some(one) = pattern.relationships.get(*at) else { continue };
            for table in graph.edges.iter().filter(|table| table.borrow().may_have(&one.types)) {
                table.borrow_mut().read_whole(&graph.nodes, &graph.scans)?;
            }
        }
        let row = self.row.clone();
        let mut loading = Loading { graph, shape: &self.shape, pass: self.pass, row, memory: &mut memory };
        let mut loaded = loading.load(cx)?;
        for at in &self.shape.shown_edges {
            let Some(one) = pattern.relationships.get(*at) else { continue };
            for (table, edges) in &loaded.edges {
                let table = graph.edges.get(*table).ok_or_else(super::unknown)?.borrow();
                if table.may_have(&one.types) && table.count() != edges.sources.len() {
                    let text = format!("{} changed while it was read", table.table_name());
                    return Err(Fault::Other(Error::new(Kind::Conflict, text)));
                }
            }
        }
        let threads = threads(graph, &loaded);
        let search = self.search(&mut loaded, threads, &mut memory, cx)?;
        let bases = loaded.bases.clone();
        if self.shape.shown_edges.is_empty() {
            // Numbers of edges are all that a search needs.
            let bytes: usize = loaded.edges.values().map(|edges| 8 * edges.sources.len()).sum();
            memory.shrink((bytes as u64).min(memory.bytes()));
            loaded.edges.clear();
        }
        let running = Running::start(search, threads)?;
        Ok(Matches { running, found: Found::default(), next: 0, bases, loaded, _memory: memory })
    }

    fn search(
        &self,
        loaded: &mut Loaded,
        threads: usize,
        memory: &mut Reservation,
        cx: &Context<'g>,
    ) -> Result<Search> {
        let (pattern, shape) = (self.shape.pattern, &self.shape);
        let tested = |node: usize| {
            loaded.passing.get(node).is_some_and(Option::is_some)
                || shape.pairs.iter().any(|(one, pair)| *one == node || pair.other == node)
        };
        let place = |node: usize| {
            let (passing, of) = loaded.counts(node);
            let is_plain = !tested(node) && !shape.shown_nodes.contains(&node);
            Place { passing: float(passing), of: float(of), is_plain }
        };
        let places: Vec<Place> = (0..pattern.nodes.len()).map(place).collect();
        let links = pattern.relationships.iter().enumerate().map(|(at, one)| Link {
            left: one.left,
            right: one.right,
            length: shape.lengths.get(at).copied().flatten(),
            edges: float(loaded.edges_of(at)),
        });
        let links: Vec<Link> = links.collect();
        let steps = order(&places, &links);
        let mut lists: Vec<[Option<usize>; 2]> = vec![[None; 2]; links.len()];
        let (mut known, mut adjacency) = (Vec::new(), Vec::new());
        for step in &steps {
            for one in step.via() {
                let parts = loaded.parts(one.relationship, one.from_left);
                let found = match known.iter().position(|other| *other == parts) {
                    Some(found) => found,
                    None => {
                        adjacency.push(loaded.adjacency(&parts, threads, memory)?);
                        known.push(parts);
                        known.len() - 1
                    }
                };
                lists[one.relationship][usize::from(!one.from_left)] = Some(found);
            }
        }
        let pairs = pairs(&shape.pairs, &steps, places.len());
        let starts = match steps.first() {
            Some(Step::Start { node }) => self.own_starts(*node, loaded, cx)?,
            _ => Vec::new(),
        };
        memory.grow(4 * starts.len() as u64).map_err(|error| error.hint("--memory"))?;
        let merges = shape.may_count || shape.is_distinct;
        let mode = match (shape.shown_nodes.as_slice(), shape.shown_edges.as_slice()) {
            ([], []) => Mode::Count,
            ([_], []) if merges => Mode::Weigh,
            _ => Mode::Rows,
        };
        let mut weights = Vec::new();
        if mode == Mode::Weigh {
            let nodes = loaded.bases.last().copied().unwrap_or_default() as usize;
            memory.grow(8 * nodes as u64).map_err(|error| error.hint("--memory"))?;
            weights.resize_with(nodes, AtomicU64::default);
        }
        let passing = std::mem::take(&mut loaded.passing);
        let search = Search {
            steps,
            lists,
            adjacency,
            passing,
            pairs,
            repeats: pattern.repeats,
            starts,
            shown_nodes: shape.shown_nodes.clone(),
            shown_edges: shape.shown_edges.clone(),
            counted: Vec::new(),
            mode,
            weights,
            cancel: cx.cancel.clone(),
            deadline: cx.deadline,
            next: AtomicUsize::new(0),
            is_left: AtomicBool::new(false),
        };
        Ok(Search { counted: search.counted(), ..search })
    }

    /// The nodes with which the search begins, of a part those whose keys belong to it: in another process they may have other numbers.
    fn own_starts(&self, node: usize, loaded: &Loaded, cx: &Context<'g>) -> Result<Vec<u32>> {
        let mut starts = loaded.starts(node);
        let Some(part) = cx.part else { return Ok(starts) };
        cx.divided.borrow_mut().push(("the search".to_owned(), node as u64));
        let mut is_known = true;
        starts.retain(|start| {
            let (table, position) = place(&loaded.bases, *start);
            let nodes = self.graph.nodes.get(table).map(std::cell::RefCell::borrow);
            let key = nodes.as_ref().and_then(|nodes| nodes.key(position));
            is_known &= key.is_some();
            key.is_some_and(|key| part.has_key(key.text().as_bytes()))
        });
        if is_known { Ok(starts) } else { Err(Fault::Other(failed())) }
    }

    /// The next match, which is bound, with how many look alike.
    fn take(&mut self, matches: &mut Matches, cx: &Context<'g>) -> Result<Option<u64>> {
        loop {
            if let Some(times) = matches.found.times.get(matches.next).copied() {
                let width = self.shape.shown_nodes.len() + self.shape.shown_edges.len();
                let from = matches.next * width;
                matches.next += 1;
                let values = matches.found.values.get(from..from + width).unwrap_or_default();
                self.bind(values, matches)?;
                return Ok(Some(times));
            }
            match matches.running.next() {
                Ok(Some(found)) => (matches.found, matches.next) = (found, 0),
                Ok(None) => return Ok(None),
                Err(error) => {
                    // What stopped it, if something did.
                    cx.check()?;
                    return Err(Fault::Other(error));
                }
            }
        }
    }

    /// Writes a match into the row. What nobody reads is no null, so that it can be counted.
    fn bind(&mut self, values: &[u32], matches: &Matches) -> Result<()> {
        let pattern = self.shape.pattern;
        for node in &pattern.nodes {
            set(&mut self.row, node.slot, Value::Bool(true));
        }
        for one in &pattern.relationships {
            set(&mut self.row, one.slot, Value::Bool(true));
        }
        let (nodes, edges) = values.split_at(self.shape.shown_nodes.len().min(values.len()));
        for (at, value) in self.shape.shown_nodes.iter().zip(nodes) {
            let (table, position) = place(&matches.bases, *value);
            let node = Node(number(table, position));
            if let Some(pattern) = pattern.nodes.get(*at) {
                set(&mut self.row, pattern.slot, Value::Node(node));
            }
        }
        for (at, value) in self.shape.shown_edges.iter().zip(edges) {
            let found = matches.loaded.edges.iter().filter(|(_, edges)| edges.first <= *value);
            let (table, edges) =
                found.max_by_key(|(_, edges)| (edges.first, edges.sources.len())).ok_or_else(failed)?;
            let row = (value - edges.first) as usize;
            let end = |table: usize, positions: &[u32]| {
                positions.get(row).map(|position| Node(number(table, *position as usize))).ok_or_else(failed)
            };
            let [source, target] = edges.tables;
            let (source, target) = (end(source, &edges.sources)?, end(target, &edges.targets)?);
            let found = Relationship { id: number(*table, row), source, target };
            if let Some(one) = pattern.relationships.get(*at) {
                set(&mut self.row, one.slot, Value::Relationship(found));
            }
        }
        Ok(())
    }
}

/// The table and position of a node of a search: the table is the last one that begins at or before it, and is not empty.
fn place(bases: &[u32], number: u32) -> (usize, usize) {
    let table = bases.partition_point(|base| *base <= number).saturating_sub(1);
    let base = bases.get(table).copied().unwrap_or_default();
    (table, (number - base) as usize)
}

/// How many threads search.
fn threads(graph: &TableGraph<'_>, loaded: &Loaded) -> usize {
    let edges: usize = loaded.edges.values().map(|edges| edges.sources.len()).sum();
    if edges < ALONE { 1 } else { graph.threads }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(count: usize) -> f64 {
    count as f64
}

impl Drop for Expansion<'_, '_> {
    fn drop(&mut self) {
        self.graph.hide(self.pass);
    }
}
