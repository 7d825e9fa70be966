//! Nodes and edges as numbers: what a search needs of the tables.
//!
//! The nodes of all tables have one range of numbers, table after table, by their positions; so have the edges of those tables that
//! the pattern may follow.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use isomorph::model::Predicate;
use isomorph::model::predicate::Filter;
use isomorph::storage::Reservation;
use isomorph::{Error, Kind};

use super::super::batch::{Element, InBatch};
use super::super::ends::Ends;
use super::super::filter::{Columns, predicate};
use super::super::reading::of_types;
use super::super::{TableGraph, cells, in_pass, number, unknown};
use super::adjacency::{Adjacency, EachEdge, NodeSet};
use super::shape::{Own, Shape};
use crate::columnar::{holds_for_type, ways};
use crate::eval::{Row, eval, holds, set};
use crate::exec::Context;
use crate::fault::Result;
use crate::graph::Direction;
use crate::plan::{Expr, Slot};
use crate::value::{Node, Relationship, Value, equal};

/// Whether edges of a table are followed from one of their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Never,
    Always,
    /// Those without a direction.
    IfUndirected,
}

/// A table whose edges a relationship of the pattern may be, and the ways in which it may be met: from left to right as it is stored,
/// and against that.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    table: usize,
    forward: When,
    backward: When,
}

/// The edges of a table.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// The node tables of both ends.
    pub tables: [usize; 2],
    pub sources: Vec<u32>,
    pub targets: Vec<u32>,
    /// Edges without a direction, where edges differ in that.
    undirected: Vec<bool>,
    /// The edges that pass the conditions of a relationship of the pattern.
    passing: BTreeMap<usize, Vec<bool>>,
    /// The number of its first edge.
    pub first: u32,
}

/// What lists of neighbours are made of: tables, from which ends, and the relationship whose conditions edges pass.
type Part = (usize, When, When, Option<usize>);

/// A property that each relationship of a walk has, with its value.
type Property<'p> = (&'p Arc<str>, Value);

/// All that is read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The number of the first node of each table, and after the last one.
    pub bases: Vec<u32>,
    pub edges: BTreeMap<usize, Edges>,
    /// The tables in which each node of the pattern may be.
    reachable: Vec<BTreeSet<usize>>,
    pub passing: Vec<Option<NodeSet>>,
    candidates: Vec<Vec<Candidate>>,
}

/// Conditions as they are tested for one table.
#[derive(Debug, Default)]
struct Tests<'p> {
    /// Whether none can pass.
    is_never: bool,
    filter: Option<Predicate>,
    left: Vec<&'p Expr>,
}

impl<'p> Tests<'p> {
    fn is_always(&self) -> bool {
        !self.is_never && self.filter.is_none() && self.left.is_empty()
    }

    /// `static_of` knows what holds for a whole table.
    fn of(
        own: &Own<'p>,
        slot: Slot,
        columns: &Columns,
        static_of: &dyn Fn(&Expr) -> Option<bool>,
        cx: &Context<'_>,
    ) -> Tests<'p> {
        let mut tests = Tests::default();
        let mut filters = Vec::new();
        for condition in own.conditions.iter().copied() {
            match static_of(condition) {
                Some(truth) => tests.is_never |= !truth,
                None => match predicate(condition, slot, columns, cx) {
                    Some(filter) => filters.push(filter),
                    None => tests.left.push(condition),
                },
            }
        }
        tests.filter = if filters.len() > 1 { Some(Predicate::And(filters)) } else { filters.pop() };
        tests
    }
}

/// Reads the tables.
pub(super) struct Loading<'l, 'p, 'g> {
    pub graph: &'g TableGraph<'g>,
    pub shape: &'l Shape<'p>,
    /// Numbers the elements of batches.
    pub pass: usize,
    pub row: Row,
    pub memory: &'l mut Reservation,
}

fn too_many(what: &str) -> crate::fault::Fault {
    crate::fault::Fault::Other(Error::new(Kind::TooLarge, format!("more than 4,294,967,295 {what}")))
}

impl<'p, 'g> Loading<'_, 'p, 'g> {
    pub(super) fn load(&mut self, cx: &Context<'g>) -> Result<Loaded> {
        let mut loaded = Loaded::default();
        let (graph, shape) = (self.graph, self.shape);
        for at in 0..shape.pattern.relationships.len() {
            loaded.candidates.push(self.candidates(at, cx)?);
        }
        self.reachable(&mut loaded)?;
        let mut ends: BTreeMap<usize, Ends> = BTreeMap::new();
        for table in loaded.reachable.iter().flatten() {
            if !ends.contains_key(table) {
                ends.insert(*table, Ends::new(*table, graph)?);
            }
        }
        let tables: BTreeSet<usize> = loaded.candidates.iter().flatten().map(|one| one.table).collect();
        let mut first = 0_u32;
        for table in tables {
            let followed: Vec<usize> = (0..loaded.candidates.len())
                .filter(|at| loaded.candidates.get(*at).is_some_and(|all| all.iter().any(|one| one.table == table)))
                .collect();
            let mut edges = self.edges(table, &followed, &mut ends, cx)?;
            edges.first = first;
            let count = u32::try_from(edges.sources.len()).map_err(|_| too_many("edges"))?;
            first = first.checked_add(count).ok_or_else(|| too_many("edges"))?;
            loaded.edges.insert(table, edges);
        }
        // Only now: ends of edges may be nodes that no table has.
        let mut base = 0_u32;
        loaded.bases.push(base);
        for table in &graph.nodes {
            let count = u32::try_from(table.borrow().keys().len()).map_err(|_| too_many("nodes"))?;
            base = base.checked_add(count).ok_or_else(|| too_many("nodes"))?;
            loaded.bases.push(base);
        }
        for at in 0..shape.pattern.nodes.len() {
            let set = self.passing(at, &loaded, &mut ends, cx)?;
            loaded.passing.push(set);
        }
        Ok(loaded)
    }

    fn node_tests(&self, node: usize, table: usize, cx: &Context<'_>) -> Result<Tests<'p>> {
        let (Some(own), Some(pattern)) = (self.shape.nodes.get(node), self.shape.pattern.nodes.get(node)) else {
            return Ok(Tests::default());
        };
        let table = self.graph.nodes.get(table).ok_or_else(unknown)?.borrow();
        let static_of = |expr: &Expr| match expr {
            Expr::HasLabels(base, labels) if matches!(**base, Expr::Slot(_)) => {
                holds_for_type(labels, table.name(), table.has_labels())
            }
            _ => None,
        };
        Ok(Tests::of(own, pattern.slot, &table.filtered(), &static_of, cx))
    }

    fn edge_tests(&self, at: usize, table: usize, cx: &Context<'_>) -> Result<Tests<'p>> {
        let (Some(own), Some(one)) = (self.shape.relationships.get(at), self.shape.pattern.relationships.get(at))
        else {
            return Ok(Tests::default());
        };
        let table = self.graph.edges.get(table).ok_or_else(unknown)?.borrow();
        let static_of = |expr: &Expr| match expr {
            Expr::HasLabels(base, labels) if matches!(**base, Expr::Slot(_)) => {
                table.fixed_relation().and_then(|relation| holds_for_type(labels, relation, false))
            }
            _ => None,
        };
        Ok(Tests::of(own, one.slot, &table.filtered(), &static_of, cx))
    }

    /// The tables whose edges a relationship may be.
    fn candidates(&self, at: usize, cx: &Context<'_>) -> Result<Vec<Candidate>> {
        let Some(one) = self.shape.pattern.relationships.get(at) else { return Ok(Vec::new()) };
        let is_walk = self.shape.lengths.get(at).is_some_and(Option::is_some);
        let mut found = Vec::new();
        for (number, table) in self.graph.edges.iter().enumerate() {
            if !table.borrow().may_have(&one.types) || self.edge_tests(at, number, cx)?.is_never {
                continue;
            }
            let table = table.borrow();
            let (source, target) = table.node_tables();
            // A walk goes over nodes of which the pattern says nothing.
            let fits = |left: usize, right: usize| -> Result<bool> {
                Ok(is_walk
                    || !self.node_tests(one.left, left, cx)?.is_never
                        && !self.node_tests(one.right, right, cx)?.is_never)
            };
            let (forward, backward) = ways(one.direction, table.may_be_undirected());
            let is_mixed = table.directed_column().is_some();
            let when = |is_met: bool, against: Direction| match is_met {
                false => When::Never,
                true if is_mixed && one.direction == against => When::IfUndirected,
                true => When::Always,
            };
            let forward = when(forward && fits(source, target)?, Direction::In);
            let backward = when(backward && fits(target, source)?, Direction::Out);
            if (forward, backward) != (When::Never, When::Never) {
                found.push(Candidate { table: number, forward, backward });
            }
        }
        Ok(found)
    }

    /// The tables in which nodes of the pattern may be: those to which all of their relationships lead.
    fn reachable(&self, loaded: &mut Loaded) -> Result<()> {
        for node in 0..self.shape.pattern.nodes.len() {
            let mut tables: BTreeSet<usize> = (0..self.graph.nodes.len()).collect();
            for (at, one) in self.shape.pattern.relationships.iter().enumerate() {
                if one.left != node && one.right != node {
                    continue;
                }
                let length = self.shape.lengths.get(at).copied().flatten();
                if length.is_some_and(|(least, _)| least == 0) {
                    continue;
                }
                let mut of_this = BTreeSet::new();
                for candidate in loaded.candidates.get(at).into_iter().flatten() {
                    let table = self.graph.edges.get(candidate.table).ok_or_else(unknown)?.borrow();
                    let (source, target) = table.node_tables();
                    for (when, left, right) in
                        [(candidate.forward, source, target), (candidate.backward, target, source)]
                    {
                        if when != When::Never {
                            of_this.extend((one.left == node).then_some(left));
                            of_this.extend((one.right == node).then_some(right));
                        }
                    }
                }
                tables.retain(|table| of_this.contains(table));
            }
            loaded.reachable.push(tables);
        }
        Ok(())
    }

    /// Reads the ends of the edges of a table, and tests the conditions of those relationships of the pattern.
    fn edges(
        &mut self,
        at: usize,
        followed: &[usize],
        ends: &mut BTreeMap<usize, Ends>,
        cx: &Context<'g>,
    ) -> Result<Edges> {
        let graph = self.graph;
        let pattern = self.shape.pattern;
        let cell = graph.edges.get(at).ok_or_else(unknown)?;
        let mut tests: Vec<(usize, Tests<'p>, Vec<Property<'p>>)> = Vec::new();
        let (mut element, table_name, source_at, target_at, directed_at, relation_at, count);
        let tables;
        {
            let table = cell.borrow();
            let mut names: Vec<&Arc<str>> = Vec::new();
            let mut reads_relation = false;
            for one in followed {
                let own = self.edge_tests(*one, at, cx)?;
                let mut properties = Vec::new();
                if let Some(relationship) = pattern.relationships.get(*one) {
                    for (name, value) in &relationship.properties {
                        properties.push((name, eval(value, &mut self.row, cx)?));
                    }
                    reads_relation |= !relationship.types.is_empty();
                }
                if let Some(shape) = self.shape.relationships.get(*one) {
                    names.extend(&shape.names);
                }
                reads_relation |= !own.left.is_empty();
                tests.push((*one, own, properties));
            }
            names.sort_unstable();
            names.dedup();
            element = table.element(&names);
            source_at = element.column(table.end_columns().0);
            target_at = element.column(table.end_columns().1);
            directed_at = table.directed_column().map(|name| element.column(name));
            relation_at = table.relation_column().filter(|_| reads_relation).map(|name| element.column(name));
            element.relation_at = relation_at;
            table_name = table.table_name().to_owned();
            let (source, target) = table.node_tables();
            tables = [source, target];
            count = graph.scans.dataset.statistics(&table_name)?.rows.exact().copied();
        }
        for table in tables {
            if let std::collections::btree_map::Entry::Vacant(place) = ends.entry(table) {
                place.insert(Ends::new(table, graph)?);
            }
        }
        let element = Rc::new(element);
        let mut edges = Edges { tables, ..Edges::default() };
        let mut found = Vec::new();
        if let Some(count) = count {
            self.memory.grow(8 * count).map_err(|error| error.hint("--memory"))?;
            edges.sources.reserve_exact(isomorph::error::index(count));
            edges.targets.reserve_exact(isomorph::error::index(count));
        }
        let scan = graph.scans.dataset.scan(&table_name)?.columns(element.columns.iter().cloned());
        for batch in scan.cancel(graph.scans.cancel.clone()).batches()? {
            cx.check()?;
            let batch = Rc::new(batch?);
            let rows = batch.num_rows();
            let bytes = if count.is_some() { 0 } else { 8 } + tests.len() as u64 + u64::from(directed_at.is_some());
            self.memory.grow(bytes * rows as u64).map_err(|error| error.hint("--memory"))?;
            for (column, table, positions) in
                [(source_at, tables[0], &mut edges.sources), (target_at, tables[1], &mut edges.targets)]
            {
                let keys = cells::of(&batch, column)?;
                if let Some(ends) = ends.get_mut(&table) {
                    ends.positions(keys, None, graph, &mut found)?;
                    let most = found.iter().copied().max().unwrap_or_default();
                    u32::try_from(most).map_err(|_| too_many("nodes"))?;
                    positions.extend(found.iter().map(|position| u32::try_from(*position).unwrap_or(u32::MAX)));
                }
            }
            if let Some(directed) = directed_at {
                let column = cells::of(&batch, directed)?;
                let directed = column.as_boolean_opt();
                let is_undirected = |row: usize| directed.is_some_and(|all| all.is_valid(row) && !all.value(row));
                edges.undirected.extend((0..rows).map(is_undirected));
            }
            for (relationship, tests, properties) in &tests {
                if let Some(passing) =
                    self.tested(&batch, &element, relation_at, *relationship, tests, properties, cx)?
                {
                    edges.passing.entry(*relationship).or_default().extend(passing);
                }
            }
        }
        graph.hide(self.pass);
        Ok(edges)
    }

    /// Whether each row of a batch passes what a relationship of the pattern says; `None` if it says nothing.
    #[expect(clippy::too_many_arguments, reason = "one place")]
    fn tested(
        &mut self,
        batch: &Rc<RecordBatch>,
        element: &Rc<Element>,
        relation_at: Option<usize>,
        relationship: usize,
        tests: &Tests<'p>,
        properties: &[Property<'p>],
        cx: &Context<'g>,
    ) -> Result<Option<Vec<bool>>> {
        let Some(one) = self.shape.pattern.relationships.get(relationship) else { return Ok(None) };
        let types = relation_at.filter(|_| !one.types.is_empty());
        if tests.is_always() && types.is_none() && properties.is_empty() {
            return Ok(None);
        }
        let rows = batch.num_rows();
        let mut passing = match types {
            Some(column) => of_types(cells::of(batch, column)?, &one.types)?,
            None => vec![true; rows],
        };
        if let Some(filter) = &tests.filter {
            let found = Filter::new(filter, batch.schema_ref())?.passing(batch)?;
            for (row, place) in passing.iter_mut().enumerate() {
                *place &= found.value(row);
            }
        }
        if tests.left.is_empty() && properties.is_empty() {
            return Ok(Some(passing));
        }
        self.graph.show(self.pass, InBatch { batch: Rc::clone(batch), element: Rc::clone(element) });
        for (row, place) in passing.iter_mut().enumerate().filter(|(_, passes)| **passes) {
            cx.tick()?;
            let id = in_pass(self.pass, row);
            let found = Relationship { id, source: Node(0), target: Node(0) };
            for (name, value) in properties {
                *place &= equal(&cx.graph.relationship_property(found, name)?, value) == Some(true);
            }
            set(&mut self.row, one.slot, Value::Relationship(found));
            for condition in &tests.left {
                *place = *place && holds(condition, &mut self.row, cx)?;
            }
        }
        Ok(Some(passing))
    }

    /// The nodes that pass the conditions on a node of the pattern; `None` if all do that its relationships lead to.
    fn passing(
        &mut self,
        node: usize,
        loaded: &Loaded,
        ends: &mut BTreeMap<usize, Ends>,
        cx: &Context<'g>,
    ) -> Result<Option<NodeSet>> {
        let graph = self.graph;
        let reachable = loaded.reachable.get(node).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for table in &reachable {
            all.push((*table, self.node_tests(node, *table, cx)?));
        }
        if all.iter().all(|(_, tests)| tests.is_always()) {
            return Ok(None);
        }
        let count = loaded.bases.last().copied().unwrap_or_default() as usize;
        self.memory.grow(count as u64 / 8 + 8).map_err(|error| error.hint("--memory"))?;
        let mut set_of = NodeSet::none(count);
        let (Some(own), Some(pattern)) = (self.shape.nodes.get(node), self.shape.pattern.nodes.get(node)) else {
            return Ok(None);
        };
        for (table, tests) in all {
            let base = loaded.bases.get(table).copied().unwrap_or_default() as usize;
            let end = loaded.bases.get(table + 1).copied().unwrap_or_default() as usize;
            if tests.is_never {
                continue;
            }
            if tests.is_always() {
                set_of.add_all(base..end);
                continue;
            }
            let cell = graph.nodes.get(table).ok_or_else(unknown)?;
            let (mut element, name, key, no_rows) = {
                let table = cell.borrow();
                let element = table.element(&own.names, own.reads_labels);
                (element, table.table_name().to_owned(), table.key_column().to_owned(), table.no_rows())
            };
            let key_at = element.column(&key);
            let element = Rc::new(element);
            let mut scan = graph.scans.dataset.scan(&name)?.columns(element.columns.iter().cloned());
            if let Some(filter) = &tests.filter {
                scan = scan.filter(filter.clone());
            }
            let Some(ends) = ends.get_mut(&table) else { continue };
            let mut positions = Vec::new();
            for batch in scan.cancel(graph.scans.cancel.clone()).batches()? {
                cx.check()?;
                let batch = Rc::new(batch?);
                ends.positions(cells::of(&batch, key_at)?, None, graph, &mut positions)?;
                if !tests.left.is_empty() {
                    let shown = InBatch { batch: Rc::clone(&batch), element: Rc::clone(&element) };
                    graph.show(self.pass, shown);
                }
                for (row, position) in positions.iter().copied().enumerate() {
                    let mut passes = true;
                    if !tests.left.is_empty() {
                        cx.tick()?;
                        set(&mut self.row, pattern.slot, Value::Node(Node(in_pass(self.pass, row))));
                        for condition in &tests.left {
                            passes = passes && holds(condition, &mut self.row, cx)?;
                        }
                    }
                    if passes {
                        set_of.add(base + position);
                    }
                }
            }
            graph.hide(self.pass);
            for position in no_rows {
                set(&mut self.row, pattern.slot, Value::Node(Node(number(table, position))));
                let mut passes = true;
                for condition in &own.conditions {
                    passes = passes && holds(condition, &mut self.row, cx)?;
                }
                if passes {
                    set_of.add(base + position);
                }
            }
        }
        Ok(Some(set_of))
    }
}

impl Loaded {
    /// About how many nodes may be at a node of the pattern, and how many of them pass its conditions.
    pub(super) fn counts(&self, node: usize) -> (usize, usize) {
        let of: usize = self.ranges(node).map(|range| range.len()).sum();
        let passing = self.passing.get(node).and_then(Option::as_ref).map_or(of, NodeSet::len);
        (passing, of)
    }

    /// The numbers of the nodes that may be at a node of the pattern.
    fn ranges(&self, node: usize) -> impl Iterator<Item = std::ops::Range<u32>> + '_ {
        let tables = self.reachable.get(node).into_iter().flatten();
        tables.filter_map(|table| Some(*self.bases.get(*table)?..*self.bases.get(*table + 1)?))
    }

    /// The nodes with which a search begins.
    pub(super) fn starts(&self, node: usize) -> Vec<u32> {
        let passing = self.passing.get(node).and_then(Option::as_ref);
        self.ranges(node).flatten().filter(|number| passing.is_none_or(|set| set.has(*number))).collect()
    }

    /// Edges that a relationship of the pattern may be.
    pub(super) fn edges_of(&self, relationship: usize) -> usize {
        let candidates = self.candidates.get(relationship).into_iter().flatten();
        candidates.filter_map(|one| self.edges.get(&one.table)).map(|edges| edges.sources.len()).sum()
    }

    /// What the lists of a relationship are made of, seen from its left or right node.
    pub(super) fn parts(&self, relationship: usize, from_left: bool) -> Vec<Part> {
        let candidates = self.candidates.get(relationship).into_iter().flatten();
        let part = |one: &Candidate| {
            let tested = self.edges.get(&one.table).is_some_and(|edges| edges.passing.contains_key(&relationship));
            let (by_source, by_target) =
                if from_left { (one.forward, one.backward) } else { (one.backward, one.forward) };
            (one.table, by_source, by_target, tested.then_some(relationship))
        };
        candidates.map(part).collect()
    }

    /// Builds lists.
    pub(super) fn adjacency(&self, parts: &[Part], threads: usize, memory: &mut Reservation) -> Result<Adjacency> {
        let nodes = self.bases.last().copied().unwrap_or_default() as usize;
        let each = |found: &mut EachEdge<'_>| {
            for (table, by_source, by_target, tested) in parts {
                let Some(edges) = self.edges.get(table) else { continue };
                let [source_base, target_base] =
                    edges.tables.map(|table| self.bases.get(table).copied().unwrap_or_default());
                let passing = tested.and_then(|relationship| edges.passing.get(&relationship));
                for (row, (source, target)) in edges.sources.iter().zip(&edges.targets).enumerate() {
                    if passing.is_some_and(|passing| passing.get(row) != Some(&true)) {
                        continue;
                    }
                    let is_met = |when: When| match when {
                        When::Never => false,
                        When::Always => true,
                        When::IfUndirected => edges.undirected.get(row) == Some(&true),
                    };
                    let (source, target) = (source_base + source, target_base + target);
                    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 edges")]
                    let number = edges.first + row as u32;
                    let out = is_met(*by_source);
                    if out {
                        found(source, target, number);
                    }
                    // A loop is met once.
                    if is_met(*by_target) && !(out && source == target) {
                        found(target, source, number);
                    }
                }
            }
        };
        Ok(Adjacency::build(nodes, threads, memory, &each)?)
    }
}
