//! A table that a pass goes over, and the matches that were found in it.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};

use super::alike::{Alike, Codes, alike};
use super::batch::Element;
use super::ends::Ends;
use super::unordered::Reader;
use super::{TableGraph, cells, number, unknown};
use crate::fault::Result;
use crate::graph::Direction;
use crate::plan::{Expr, RelationshipPattern};
use crate::value::Node;

/// How edges of a table are met in one direction, or nodes.
pub(super) struct Way<'p> {
    pub(super) is_backward: bool,
    pub(super) mode: Mode,
    /// Conditions that are tested for each match.
    pub(super) conditions: Rc<[&'p Expr]>,
    pub(super) reads_ends: [bool; 2],
    /// Properties by which matches look alike, if nothing else is read: of the node for `Mode::Weigh`, of the element for `Mode::Rows`.
    pub(super) only: Option<Vec<&'p Arc<str>>>,
    /// For `Mode::Weigh`: the number of matches by position of the node.
    pub(super) weights: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing is read of a match.
    Count,
    /// Only the left (0) or right (1) node is.
    Weigh(usize),
    Rows,
}

/// A table that is being read.
pub(super) struct Reading<'p> {
    pub(super) table: usize,
    pub(super) batches: Option<Reader>,
    pub(super) element: Rc<Element>,
    pub(super) ways: Vec<Way<'p>>,
    /// Positions of columns in a batch.
    pub(super) columns: EdgeColumns,
    pub(super) ends: [Option<Ends>; 2],
    /// Whether edges are met in both ways, and may have one node at both ends.
    pub(super) has_loops: bool,
    pub(super) counted: u64,
    /// Positions of nodes.
    found: Vec<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EdgeColumns {
    pub(super) source: Option<usize>,
    pub(super) target: Option<usize>,
    pub(super) relation: Option<usize>,
    pub(super) directed: Option<usize>,
}

/// Matches that were found.
pub(super) enum Found<'p> {
    /// So many of which nothing is read.
    Count(u64),
    /// The nodes at one end, with the number of matches of each.
    Weighed {
        side: usize,
        table: usize,
        /// The nodes, if these are not all.
        nodes: Option<Vec<u32>>,
        weights: Vec<u64>,
        next: usize,
        conditions: Rc<[&'p Expr]>,
    },
    Rows(Box<FoundRows<'p>>),
}

pub(super) struct FoundRows<'p> {
    pub(super) batch: Rc<RecordBatch>,
    pub(super) element: Rc<Element>,
    /// The rows, if not all of them are.
    pub(super) rows: Option<Vec<u32>>,
    /// How many matches each of them stands for, if it is not one.
    pub(super) times: Option<Vec<u64>>,
    pub(super) next: usize,
    /// The nodes at the ends, where they are read.
    pub(super) ends: [Vec<Node>; 2],
    pub(super) conditions: Rc<[&'p Expr]>,
    pub(super) is_shown: bool,
}

impl<'p> Way<'p> {
    pub(super) fn new(is_backward: bool, mode: Mode, conditions: Vec<&'p Expr>, reads_ends: [bool; 2]) -> Self {
        Way { is_backward, mode, conditions: conditions.into(), reads_ends, only: None, weights: Vec::new() }
    }

    /// Gives each row as it is.
    pub(super) fn row_by_row(&mut self) {
        if self.mode == Mode::Rows && self.conditions.is_empty() {
            self.only = None;
        }
    }

    /// The rows of a batch that differ in what is read of them.
    fn alike(&self, element: &Element, batch: &RecordBatch, rows: Option<&[u32]>) -> Option<Alike> {
        let names = self.only.as_ref().filter(|names| !names.is_empty())?;
        let column = |name: &&Arc<str>| {
            let (_, at) = element.properties.iter().find(|(own, _)| **own == ***name)?;
            Codes::of(std::slice::from_ref(batch.columns().get(*at)?))
        };
        let codes = names.iter().map(column).collect::<Option<Vec<_>>>()?;
        match rows {
            Some(rows) => alike(codes, rows.iter().copied(), |_| 1),
            None => alike(codes, 0..u32::try_from(batch.num_rows()).ok()?, |_| 1),
        }
    }
}

impl<'p> Reading<'p> {
    pub(super) fn new(table: usize) -> Self {
        Reading {
            table,
            batches: None,
            element: Rc::new(Element::default()),
            ways: Vec::new(),
            columns: EdgeColumns::default(),
            ends: [None, None],
            has_loops: false,
            counted: 0,
            found: Vec::new(),
        }
    }

    pub(super) fn nodes(&mut self, batch: RecordBatch, found: &mut VecDeque<Found<'p>>) {
        let Some(way) = self.ways.first() else { return };
        if way.mode == Mode::Count {
            self.counted += batch.num_rows() as u64;
            return;
        }
        let (rows, times) = way.alike(&self.element, &batch, None).map(|all| (all.rows, all.times)).unzip();
        found.push_back(Found::Rows(Box::new(FoundRows {
            batch: Rc::new(batch),
            element: Rc::clone(&self.element),
            rows,
            times,
            next: 0,
            ends: [Vec::new(), Vec::new()],
            conditions: Rc::clone(&way.conditions),
            is_shown: false,
        })));
    }

    pub(super) fn edges(
        &mut self,
        graph: &TableGraph<'_>,
        one: &RelationshipPattern,
        batch: RecordBatch,
        found: &mut VecDeque<Found<'p>>,
    ) -> Result<()> {
        let batch = Rc::new(batch);
        let count = batch.num_rows();
        let column = |at: Option<usize>| at.map(|at| cells::of(&batch, at)).transpose();
        let (source, target) = (column(self.columns.source)?, column(self.columns.target)?);
        // Rows of other types are left out.
        let typed = match column(self.columns.relation)?.filter(|_| !one.types.is_empty()) {
            Some(relation) => Some(of_types(relation, &one.types)?),
            None => None,
        };
        let directed = column(self.columns.directed)?.and_then(|column| column.as_boolean_opt());
        let is_directed = |row: usize| directed.is_none_or(|column| column.is_null(row) || column.value(row));
        // A loop is met once: from its source, if that way fits.
        let loops = match (source, target) {
            (Some(source), Some(target)) if self.has_loops => equal_keys(source, target)?,
            _ => Vec::new(),
        };
        let is_fixed = directed.is_none() && typed.is_none();
        for at in 0..self.ways.len() {
            let Some(way) = self.ways.get(at) else { break };
            let is_backward = way.is_backward;
            let rows: Option<Vec<u32>> = if is_fixed && (!is_backward || loops.is_empty()) {
                None
            } else {
                let fits = |row: &u32| {
                    let row = *row as usize;
                    let forward = directed.is_none() || one.direction != Direction::In || !is_directed(row);
                    let backward = directed.is_none() || one.direction != Direction::Out || !is_directed(row);
                    let is_met =
                        if is_backward { backward && !(forward && loops.get(row) == Some(&true)) } else { forward };
                    is_met && typed.as_ref().is_none_or(|typed| typed.get(row) == Some(&true))
                };
                Some((0..u32::try_from(count).unwrap_or(u32::MAX)).filter(fits).collect())
            };
            let met = rows.as_ref().map_or(count, Vec::len);
            // The side of the pattern that has the source of the edge.
            let of_source = usize::from(is_backward);
            // Finds the nodes at a side of the pattern; returns their table.
            let end = |side: usize, ends: &mut [Option<Ends>; 2], positions: &mut Vec<usize>| -> Result<usize> {
                positions.clear();
                let [of_sources, of_targets] = ends;
                let (keys, ends) = if side == of_source { (source, of_sources) } else { (target, of_targets) };
                let (Some(keys), Some(ends)) = (keys, ends) else { return Ok(0) };
                ends.positions(keys, rows.as_deref(), graph, positions)?;
                Ok(ends.table)
            };
            match way.mode {
                Mode::Count => self.counted += met as u64,
                Mode::Weigh(side) => {
                    let mut weights = std::mem::take(&mut self.ways[at].weights);
                    let before = weights.len();
                    end(side, &mut self.ends, &mut self.found)?;
                    let most = self.found.iter().max().map_or(0, |most| most + 1);
                    if most > weights.len() {
                        weights.resize(most, 0);
                    }
                    for position in &self.found {
                        weights[*position] += 1;
                    }
                    graph.scans.grow(size_of::<u64>() as u64 * (weights.len() - before) as u64)?;
                    self.ways[at].weights = weights;
                }
                Mode::Rows => {
                    let (reads, conditions) = (way.reads_ends, Rc::clone(&way.conditions));
                    let merged = way.alike(&self.element, &batch, rows.as_deref());
                    let mut ends = [Vec::new(), Vec::new()];
                    for (side, nodes) in ends.iter_mut().enumerate() {
                        if reads.get(side) == Some(&true) {
                            let table = end(side, &mut self.ends, &mut self.found)?;
                            nodes.extend(self.found.iter().map(|position| Node(number(table, *position))));
                        }
                    }
                    let (rows, times) = match merged {
                        Some(all) => (Some(all.rows), Some(all.times)),
                        None => (rows, None),
                    };
                    found.push_back(Found::Rows(Box::new(FoundRows {
                        batch: Rc::clone(&batch),
                        element: Rc::clone(&self.element),
                        rows,
                        times,
                        next: 0,
                        ends,
                        conditions,
                        is_shown: false,
                    })));
                }
            }
        }
        Ok(())
    }

    /// The table was read.
    pub(super) fn finish(&mut self, graph: &TableGraph<'_>, found: &mut VecDeque<Found<'p>>) -> Result<()> {
        let tables = self.ends.each_ref().map(|ends| ends.as_ref().map_or(self.table, |ends| ends.table));
        for way in std::mem::take(&mut self.ways) {
            if let Mode::Weigh(side) = way.mode {
                let is_source = side == usize::from(way.is_backward);
                let table = tables[usize::from(!is_source)];
                let mut nodes = graph.nodes.get(table).ok_or_else(unknown)?.borrow_mut();
                let alike = match &way.only {
                    Some(names) if !names.is_empty() => nodes.alike(names, &way.weights, &graph.scans)?,
                    _ => None,
                };
                let (nodes, weights) = match alike {
                    Some(alike) => (Some(alike.rows), alike.times),
                    None => (None, way.weights),
                };
                found.push_back(Found::Weighed { side, table, nodes, weights, next: 0, conditions: way.conditions });
            }
        }
        if self.counted > 0 {
            found.push_back(Found::Count(self.counted));
        }
        Ok(())
    }
}

/// Whether each relation is one of the types.
pub(super) fn of_types(relation: &dyn Array, types: &[Arc<str>]) -> Result<Vec<bool>> {
    let fits = |row: usize| {
        let name = cells::key(relation, row)?.text();
        Ok(types.iter().any(|one| **one == *name))
    };
    (0..relation.len()).map(fits).collect()
}

/// Whether both keys of each row are equal.
fn equal_keys(left: &dyn Array, right: &dyn Array) -> Result<Vec<bool>> {
    if let (Some(left), Some(right)) = (left.as_primitive_opt::<Int64Type>(), right.as_primitive_opt::<Int64Type>()) {
        return Ok(left.values().iter().zip(right.values()).map(|(left, right)| left == right).collect());
    }
    (0..left.len()).map(|row| Ok(cells::key(left, row)? == cells::key(right, row)?)).collect()
}
