//! A table that a pass goes over, and the matches that were found in it.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use isomorph::dataset::Batches;

use super::batch::Element;
use super::ends::Ends;
use super::{TableGraph, cells, number};
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
    pub(super) batches: Option<Batches>,
    pub(super) element: Rc<Element>,
    pub(super) ways: Vec<Way<'p>>,
    /// Positions of columns in a batch.
    pub(super) columns: EdgeColumns,
    pub(super) ends: [Option<Ends>; 2],
    /// Whether edges are met in both ways, and may have one node at both ends.
    pub(super) has_loops: bool,
    pub(super) counted: u64,
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
    pub(super) next: usize,
    /// The nodes at the ends, where they are read.
    pub(super) ends: [Vec<Node>; 2],
    pub(super) conditions: Rc<[&'p Expr]>,
    pub(super) is_shown: bool,
}

impl<'p> Way<'p> {
    pub(super) fn new(is_backward: bool, mode: Mode, conditions: Vec<&'p Expr>, reads_ends: [bool; 2]) -> Self {
        Way { is_backward, mode, conditions: conditions.into(), reads_ends, weights: Vec::new() }
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
        }
    }

    pub(super) fn nodes(&mut self, batch: RecordBatch, found: &mut VecDeque<Found<'p>>) {
        let Some(way) = self.ways.first() else { return };
        if way.mode == Mode::Count {
            self.counted += batch.num_rows() as u64;
            return;
        }
        found.push_back(Found::Rows(Box::new(FoundRows {
            batch: Rc::new(batch),
            element: Rc::clone(&self.element),
            rows: None,
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
            let mut end = |side: usize, each: &mut dyn FnMut(usize)| -> Result<usize> {
                let is_source = side == of_source;
                let (keys, ends) = match (is_source, self.ends.as_mut_slice()) {
                    (true, [ends, _]) => (source, ends),
                    (_, [_, ends]) => (target, ends),
                    _ => return Ok(0),
                };
                let (Some(keys), Some(ends)) = (keys, ends) else { return Ok(0) };
                ends.positions(keys, rows.as_deref(), graph, each)?;
                Ok(ends.table)
            };
            match way.mode {
                Mode::Count => self.counted += met as u64,
                Mode::Weigh(side) => {
                    let mut weights = std::mem::take(&mut self.ways[at].weights);
                    let before = weights.len();
                    end(side, &mut |position| {
                        if position >= weights.len() {
                            weights.resize(position + 1, 0);
                        }
                        weights[position] += 1;
                    })?;
                    graph.scans.grow(size_of::<u64>() as u64 * (weights.len() - before) as u64)?;
                    self.ways[at].weights = weights;
                }
                Mode::Rows => {
                    let (reads, conditions) = (way.reads_ends, Rc::clone(&way.conditions));
                    let mut ends = [Vec::new(), Vec::new()];
                    for (side, nodes) in ends.iter_mut().enumerate() {
                        if reads.get(side) == Some(&true) {
                            let mut positions = Vec::with_capacity(met);
                            let table = end(side, &mut |position| positions.push(position))?;
                            nodes.extend(positions.into_iter().map(|position| Node(number(table, position))));
                        }
                    }
                    found.push_back(Found::Rows(Box::new(FoundRows {
                        batch: Rc::clone(&batch),
                        element: Rc::clone(&self.element),
                        rows,
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
    pub(super) fn finish(&mut self, found: &mut VecDeque<Found<'p>>) {
        let tables = self.ends.each_ref().map(|ends| ends.as_ref().map_or(self.table, |ends| ends.table));
        for way in std::mem::take(&mut self.ways) {
            if let Mode::Weigh(side) = way.mode {
                let is_source = side == usize::from(way.is_backward);
                let table = tables[usize::from(!is_source)];
                let (weights, conditions) = (way.weights, way.conditions);
                found.push_back(Found::Weighed { side, table, weights, next: 0, conditions });
            }
        }
        if self.counted > 0 {
            found.push_back(Found::Count(self.counted));
        }
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
