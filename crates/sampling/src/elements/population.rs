//! The elements of one type in one partition.

use isomorph_deepgnn::rules;
use isomorph_error::{Error, Place, Result, index};
use isomorph_storage::Reservation;

use crate::faults::UNIFORM;
use crate::graph::{Drawing, Graph};
use crate::index::Entry;
use crate::neighbors::no_weight;
use crate::partition::{Column, mass, target, type_of};
use crate::request::TypeSet;
use crate::stop::Stop;

/// Nodes or edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nodes,
    Edges,
}

/// The elements of one type in one partition.
pub(super) struct Population {
    /// Their type.
    pub ty: i32,
    /// Number of elements.
    pub size: u64,
    /// Sum of their weights.
    pub weight: f64,
    partition: usize,
    members: Members,
}

enum Members {
    /// A table of nodes from the files.
    NodeTable(Column),
    /// A table of edges from the files.
    EdgeTable(Column),
    /// Entries of the map.
    Nodes(Listed),
    /// Numbers of edges.
    Edges(Listed),
}

/// Elements found in the partition itself.
struct Listed {
    /// Number of elements.
    size: usize,
    /// Their numbers; empty if they are all elements of the partition.
    numbers: Vec<u64>,
    /// Running sums of their weights; empty if not needed.
    sums: Vec<f64>,
    _memory: Reservation,
}

/// Size of a record in a table of nodes, in bytes: node, other node, probability of the first.
const NODE_RECORD: usize = 20;

/// Size of a record in a table of edges, in bytes: source, target, other source, other target, probability.
const EDGE_RECORD: usize = 36;

#[inline]
fn number(record: &[u8], at: usize) -> i64 {
    record.get(at..at + 8).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

#[inline]
fn chance(record: &[u8]) -> f32 {
    record.last_chunk().map_or(f32::NAN, |bytes| f32::from_le_bytes(*bytes))
}

/// Maximum number of records of a table that is checked before anything is drawn: in longer tables, each record is checked when it is used.
const FEW: usize = 1 << 16;

fn is_chance(chance: f32) -> bool {
    (0.0..=1.0).contains(&chance)
}

#[cold]
fn no_chance(table: &Column, record: usize, chance: f32) -> Error {
    let message = format!("{chance} is not a probability: negative weights cause such tables");
    Error::broken(&rules::ALIAS, message).at(table.place(record)).hint(UNIFORM)
}

/// Checks that all records of a table have probabilities.
fn check<const N: usize>(table: &Column, records: &[[u8; N]]) -> Result<()> {
    match records.iter().enumerate().find(|(_, record)| !is_chance(chance(*record))) {
        Some((number, record)) => Err(no_chance(table, number, chance(record))),
        None => Ok(()),
    }
}

impl Population {
    /// Returns the populations of some types, by type and then partition; types without elements are skipped.
    ///
    /// # Errors
    /// See [`super::NodeSampler::new`].
    pub fn all(graph: &Graph, kind: Kind, types: &TypeSet, weighted: bool, stop: &Stop) -> Result<Vec<Population>> {
        let stated = if kind == Kind::Nodes { &graph.node_types } else { &graph.edge_types };
        let number = i32::try_from(stated.number).map_err(|_| Error::unsupported("more than 2³¹ types"))?;
        // In tables, a node that is stated twice has two records: its weight is their sum, but it is one node.
        let (repeated, _memory) = match kind {
            Kind::Nodes if !weighted => graph.index.repeated(&graph.partitions, &graph.options.budget)?,
            _ => (Vec::new(), graph.options.budget.reserve(0)?),
        };
        let mut all = Vec::new();
        for (at, ty) in (0..number).enumerate().filter(|(_, ty)| types.has(*ty)) {
            let before = all.len();
            for partition in 0..graph.partitions.len() {
                let weight = stated.weights.get(partition).and_then(|sums| sums.get(at)).copied();
                let mut population = Population::of(graph, kind, ty, partition, weighted, (&repeated, stop))?;
                // If sums were computed, the weights come from the elements themselves.
                match (&population.members, weight) {
                    (Members::NodeTable(_) | Members::EdgeTable(_), Some(weight)) => {
                        if weighted && mass(weight).is_nan() {
                            let message = format!("weight of elements of type {ty} is {weight}, expected 0 or more");
                            return Err(Error::malformed(message).hint(UNIFORM));
                        }
                        population.weight = weight;
                    }
                    (Members::NodeTable(_) | Members::EdgeTable(_), None) if weighted && population.size > 0 => {
                        let message = "the metadata does not have the weights of the elements of a partition";
                        return Err(Error::unsupported(message).hint("use uniform sampling, which needs no weights"));
                    }
                    _ => {}
                }
                if population.size == 0 {
                    population.weight = 0.0;
                }
                all.push(population);
            }
            // A type that only other partitions have uses a number in the published engine's draw.
            let elsewhere = graph.options.partitions.is_some() && stated.counts.get(at).is_some_and(|count| *count > 0);
            if !elsewhere && all[before..].iter().all(|population| population.size == 0) {
                all.truncate(before);
            }
        }
        Ok(all)
    }

    fn of(
        graph: &Graph,
        kind: Kind,
        ty: i32,
        number: usize,
        weighted: bool,
        (repeated, stop): (&[Entry], &Stop),
    ) -> Result<Population> {
        // If only some partitions are opened, their positions differ from their numbers.
        let file = match &graph.drawing {
            Drawing::Files(files) => files.partitions.get(number).map_or(0, |partition| partition.number),
            Drawing::Weights(_) => 0,
        };
        let table = match (&graph.drawing, kind) {
            (Drawing::Files(_), Kind::Nodes) if !repeated.is_empty() => None,
            (Drawing::Files(files), Kind::Nodes) => files.node_table(ty.cast_unsigned(), file)?,
            (Drawing::Files(files), Kind::Edges) => files.edge_table(ty.cast_unsigned(), file)?,
            (Drawing::Weights(_), _) => None,
        };
        let population = |size: usize, weight: f64, members| Population {
            ty,
            size: size as u64,
            weight,
            partition: number,
            members,
        };
        let Some(blob) = table else {
            if weighted && kind == Kind::Nodes && matches!(graph.drawing, Drawing::Files(_)) {
                let message = format!("no table of weights for nodes of type {ty}");
                return Err(Error::broken(&rules::FILE, message)
                    .at(Place::file(format!("node_{ty}_{file}.alias")))
                    .hint("use uniform sampling, which needs no weights"));
            }
            let listed = Listed::of(graph, kind, ty, number, weighted, (repeated, stop))?;
            let size = listed.size;
            let weight = listed.sums.last().copied().unwrap_or(0.0);
            let members = if kind == Kind::Nodes { Members::Nodes(listed) } else { Members::Edges(listed) };
            return Ok(population(size, weight, members));
        };
        let record = if kind == Kind::Nodes { NODE_RECORD } else { EDGE_RECORD };
        if !blob.size().is_multiple_of(record as u64) {
            let message = format!("{} bytes is not a multiple of the record size {record}", blob.size());
            return Err(Error::broken(&rules::BOUNDS, message).at(blob.place()));
        }
        let size = index(blob.size() / record as u64);
        let column = graph.column(&blob)?;
        if weighted && size <= FEW {
            match kind {
                Kind::Nodes => check(&column, column.records::<NODE_RECORD>())?,
                Kind::Edges => check(&column, column.records::<EDGE_RECORD>())?,
            }
        }
        let members = if kind == Kind::Nodes { Members::NodeTable(column) } else { Members::EdgeTable(column) };
        // Its weight is in the metadata.
        Ok(population(size, 0.0, members))
    }

    /// Prefetches what [`Population::element`] and [`Population::weighted`] read of element number `at`.
    #[inline]
    pub fn fetch(&self, at: u64) {
        match &self.members {
            Members::NodeTable(table) => table.fetch(index(at), NODE_RECORD),
            Members::EdgeTable(table) => table.fetch(index(at), EDGE_RECORD),
            Members::Nodes(_) | Members::Edges(_) => {}
        }
    }

    /// Returns element number `at`: a node, or the two ends of an edge.
    #[inline]
    pub fn element(&self, graph: &Graph, at: u64) -> Result<(i64, i64)> {
        let partition = &graph.partitions[self.partition];
        let index = index(at);
        Ok(match &self.members {
            Members::NodeTable(table) => table.records::<NODE_RECORD>().get(index).map(|record| (number(record, 0), 0)),
            Members::EdgeTable(table) => {
                table.records::<EDGE_RECORD>().get(index).map(|record| (number(record, 0), number(record, 8)))
            }
            Members::Nodes(listed) => Some((partition.id(listed.number(index)), 0)),
            Members::Edges(listed) => {
                let edge = listed.number(index);
                partition.edges().get(edge).map(|record| (partition.id(partition.entry_of(edge)), target(record)))
            }
        }
        .unwrap_or_default())
    }

    /// Returns the element that `record` (of a table) and `unit` (from 0 to below 1) select by weight.
    #[inline]
    pub fn weighted(&self, graph: &Graph, record: u64, unit: f64) -> Result<(i64, i64)> {
        let index = index(record);
        let first = |table: &Column, record: &[u8]| {
            let chance = chance(record);
            if is_chance(chance) { Ok(unit < f64::from(chance)) } else { Err(no_chance(table, index, chance)) }
        };
        match &self.members {
            Members::NodeTable(table) => match table.records::<NODE_RECORD>().get(index) {
                Some(record) if first(table, record)? => Ok((number(record, 0), 0)),
                Some(record) => Ok((number(record, 8), 0)),
                None => Ok((0, 0)),
            },
            Members::EdgeTable(table) => match table.records::<EDGE_RECORD>().get(index) {
                Some(record) if first(table, record)? => Ok((number(record, 0), number(record, 8))),
                Some(record) => Ok((number(record, 16), number(record, 24))),
                None => Ok((0, 0)),
            },
            Members::Nodes(listed) | Members::Edges(listed) => {
                let wanted = unit * self.weight;
                let at = listed.sums.partition_point(|sum| *sum <= wanted);
                let last = || listed.sums.partition_point(|sum| *sum < self.weight);
                self.element(graph, if at < listed.sums.len() { at } else { last() } as u64)
            }
        }
    }
}

impl Listed {
    /// Finds the elements of a type, in one scan of the partition.
    fn of(
        graph: &Graph,
        kind: Kind,
        ty: i32,
        number: usize,
        weighted: bool,
        (repeated, stop): (&[Entry], &Stop),
    ) -> Result<Listed> {
        let partition = &graph.partitions[number];
        let (count, is): (usize, &dyn Fn(usize) -> bool) = match kind {
            Kind::Nodes => (partition.nodes().len(), &|at| {
                let again = |entry: &Entry| (entry.partition, entry.entry).cmp(&(number, at));
                partition.node_type(at) == ty && repeated.binary_search_by(again).is_err()
            }),
            Kind::Edges => {
                (partition.edge_count(), &|at| partition.edges().get(at).is_some_and(|edge| type_of(edge) == ty))
            }
        };
        let (mut beat, mut matching) = (stop.beat(), 0);
        for at in 0..count {
            beat.add(1)?;
            matching += usize::from(is(at));
        }
        let each = if matching == count { 0 } else { 8 } + if weighted { 8 } else { 0 };
        let memory = graph.options.budget.reserve(matching as u64 * each)?;
        let mut listed = Listed { size: matching, numbers: Vec::new(), sums: Vec::new(), _memory: memory };
        if matching < count {
            listed.numbers = Vec::with_capacity(matching);
            for at in 0..count {
                beat.add(1)?;
                if is(at) {
                    listed.numbers.push(at as u64);
                }
            }
        }
        if weighted {
            let weight_of = |at: usize| match (kind, &graph.drawing) {
                (Kind::Nodes, Drawing::Weights(weights)) => weights.list.get(at).copied().map_or(0.0, mass),
                _ => partition.edges().get(at).map_or(0.0, |edge| partition.mass(at, edge)),
            };
            let mut sum = 0.0;
            listed.sums = Vec::with_capacity(matching);
            for at in 0..matching {
                beat.add(1)?;
                sum += weight_of(listed.numbers.get(at).map_or(at, |number| index(*number)));
                listed.sums.push(sum);
            }
            if sum.is_nan() {
                return Err(no_weight());
            }
        }
        Ok(listed)
    }

    fn number(&self, at: usize) -> usize {
        self.numbers.get(at).map_or(at, |number| index(*number))
    }
}
