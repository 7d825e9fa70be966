//! A node type for each number that nodes state as their type: how a graph of one node type is written where there are several
//! (`docs/mapping.md`).
//!
//! DeepGNN has one type of nodes with a property `type`. An edge names the id of its end alone, so which types it is between is a look-up:
//! the ids of all nodes are sorted for it and kept, 10 bytes for each, in memory or, beyond a quarter of the budget, in a temporary file. [`Parted`] shows the graph with a node type for each number,
//! and an edge type for each two of them that edges lead between; [`Unparted`] shows that as the graph again, and holds nothing.

mod back;
mod forward;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Ends, Graph, NodeBatch, Progress, Request, Source, Tables};
use isomorph_tables::lookup::{Numbered, NumberedBuilder};
use isomorph_tables::sort::{EdgeSorter, SortOptions};
use serde::{Deserialize, Serialize};

use super::Names;
use crate::digests::Resources;
use crate::parallel;
use crate::pipeline::REPEATED_KEY;

pub use back::Unparted;
pub use forward::Parted;

/// What stands for no type, beside the 32 bits of those that are stated.
const NO_TYPE: u64 = 1 << 32;

/// Node types, at most.
const TYPES: usize = 1_000;

/// How nodes are given types of their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeTypes {
    /// The property that says the type, of 32-bit integers.
    pub property: String,
    /// Names for its values; others are called by their numbers.
    pub names: BTreeMap<i32, String>,
}

/// The relation between a graph of one node type and the same with several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parting {
    /// The graph, with one node type and edge types from it to itself.
    pub single: Graph,
    /// The same with a node type for each value, and edge types between them.
    pub typed: Graph,
    /// The property that says the type.
    pub property: usize,
    /// For each node type its value; nothing for nodes without one.
    pub values: Vec<Option<i32>>,
    /// For each edge type that of the single graph which it is a part of.
    pub edges: Vec<usize>,
    /// The types of nodes, which only the way there needs.
    #[serde(skip)]
    types: Types,
}

/// The number of the type of each node.
#[derive(Clone, Default)]
struct Types(Option<Arc<Numbered>>);

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Types").field(&self.0.as_ref().map(|nodes| nodes.len())).finish()
    }
}

impl PartialEq for Types {
    /// What is written down of two records decides: this is no part of it.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Types {
    /// The number of the type of a node.
    fn of(&self, id: u64) -> Result<u16> {
        let ty = self.0.as_ref().and_then(|nodes| nodes.get(id));
        ty.ok_or_else(|| Error::malformed(format!("there is no node {id}")))
    }

    fn of_all(&self, ids: &UInt64Array) -> Result<Vec<u16>> {
        ids.values().iter().map(|id| self.of(*id)).collect()
    }
}

/// Ids as they are held.
fn ids(keys: Option<&ArrayRef>) -> Result<&UInt64Array> {
    let ids = keys.and_then(|keys| keys.as_primitive_opt::<UInt64Type>());
    ids.ok_or_else(|| {
        Error::unsupported("only nodes with 64-bit integers without sign for keys are given types of their own")
    })
}

fn ends(ends: &Ends) -> Result<&UInt64Array> {
    match ends {
        Ends::Keys(keys) => ids(Some(keys)),
        Ends::Rows(_) => Err(Error::usage("ends are rows where keys were announced")),
    }
}

/// How many edges of an edge type lead from one type to another.
type Found = BTreeMap<(usize, u16, u16), u64>;

impl Parting {
    /// The parts of `source`, whose nodes and ends of edges are read once each.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] when the graph has no such property; when it cannot be read, the budget has no room for its
    /// ids, or there are more than a thousand types.
    pub fn of(source: &dyn Source, how: &NodeTypes, resources: &Resources, progress: &dyn Progress) -> Result<Parting> {
        let single = source.graph().clone();
        let is_type = |property: &isomorph_model::Property| {
            property.name == how.property && property.data_type == DataType::Int32
        };
        let [node] = single.nodes.as_slice() else {
            return Err(Error::usage("only a graph of one node type is given several"));
        };
        let property = node.properties.iter().position(is_type).ok_or_else(|| {
            Error::usage(format!("there is no property {:?} of 32-bit integers", how.property))
                .hint("--node-type-from property:type")
        })?;
        let (types, values, counts) = read_types(source, property, resources, progress)?;
        let mut names = Names::default();
        let mut typed = Graph { nodes: Vec::new(), edges: Vec::new(), ..single.clone() };
        for (value, rows) in values.iter().zip(counts) {
            let own = value.map(|value| how.names.get(&value).cloned().unwrap_or_else(|| value.to_string()));
            let mut ty = node.clone();
            ty.name = names.give(&own.unwrap_or_else(|| node.name.clone()), |_| true);
            ty.properties.remove(property);
            ty.rows = Some(rows);
            typed.nodes.push(ty);
        }
        let mut edges = Vec::new();
        for ((of, from, to), rows) in read_ends(source, &types, resources, progress)? {
            let Some(ty) = single.edges.get(of) else { continue };
            let mut ty = ty.clone();
            (ty.source, ty.target, ty.rows) = (usize::from(from), usize::from(to), Some(rows));
            typed.edges.push(ty);
            edges.push(of);
        }
        Ok(Parting { single, typed, property, values, edges, types })
    }
}

/// The types of all nodes, what they stand for, and how many nodes have them.
fn read_types(
    source: &dyn Source,
    property: usize,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(Types, Vec<Option<i32>>, Vec<u64>)> {
    let memory = resources.budget.available() / 4;
    let sorter = EdgeSorter::new(
        SortOptions::new(&resources.budget, &resources.scratch).memory(memory).threads(resources.threads),
    )?;
    let mut counts: BTreeMap<(bool, Option<i32>), u64> = BTreeMap::new();
    let mut start = 0;
    let parts = source.scan(&Request::of(Tables::Nodes(0)))?;
    progress.begin("types", parts.iter().map(|part| part.rows()).sum());
    let read = parallel::in_order(&parts, resources.threads, Ok, |batch| {
        let Batch::Nodes(NodeBatch { keys, properties, rows, .. }) = batch else { return Ok(()) };
        progress.advance(rows as u64)?;
        let stated = properties.get(property).and_then(Option::as_ref);
        let stated = stated.and_then(|column| column.as_primitive_opt::<Int32Type>());
        let value = |row: usize| stated.filter(|stated| stated.is_valid(row)).map(|stated| stated.value(row));
        let found: Vec<u64> = (0..rows)
            .map(|row| {
                let value = value(row);
                // Nodes without a type come behind the others.
                *counts.entry((value.is_none(), value)).or_default() += 1;
                value.map_or(NO_TYPE, |value| u64::from(value as u32))
            })
            .collect();
        if counts.len() > TYPES {
            return Err(Error::unsupported(format!("more than {TYPES} types of nodes")));
        }
        let first = start;
        start += rows as u64;
        sorter.push(ids(keys.as_ref())?.values(), &found, None, first)
    });
    progress.end();
    read?;
    let values: Vec<Option<i32>> = counts.keys().map(|(_, value)| *value).collect();
    let numbers: HashMap<u64, u16> = values
        .iter()
        .zip(0u16..)
        .map(|(value, number)| (value.map_or(NO_TYPE, |value| u64::from(value as u32)), number))
        .collect();
    let sorted = sorter.finish()?;
    let mut last = None;
    let mut nodes = NumberedBuilder::new(&resources.budget, &resources.scratch, memory);
    for batch in sorted.stream()? {
        let batch = batch?;
        for (id, found) in batch.aligned.values().iter().zip(batch.other.values()) {
            if last.replace(*id) == Some(*id) {
                return Err(Error::broken(&REPEATED_KEY, format!("there are several nodes {id}")));
            }
            nodes.push(*id, numbers.get(found).copied().unwrap_or_default())?;
        }
    }
    Ok((Types(Some(Arc::new(nodes.finish()?))), values, counts.into_values().collect()))
}

fn read_ends(source: &dyn Source, types: &Types, resources: &Resources, progress: &dyn Progress) -> Result<Found> {
    let mut found = Found::new();
    for of in 0..source.graph().edges.len() {
        let parts = source.scan(&Request::of(Tables::EdgeEnds(of)))?;
        progress.begin("ends", parts.iter().map(|part| part.rows()).sum());
        let counted = parallel::fold(&parts, resources.threads, Found::new, |found, _, batch| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            progress.advance(edges.rows as u64)?;
            let (from, to) = (ends(&edges.source)?, ends(&edges.target)?);
            for (from, to) in from.values().iter().zip(to.values()) {
                *found.entry((of, types.of(*from)?, types.of(*to)?)).or_default() += 1;
            }
            Ok(())
        });
        progress.end();
        for some in counted? {
            some.into_iter().for_each(|(of, rows)| *found.entry(of).or_default() += rows);
        }
    }
    Ok(found)
}
