//! A graph to sample, with the meaning of its ids and numbers.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result, did_you_mean};
use isomorph_model::Graph as Model;

use super::question::Drawing;
use super::time::{Moment, on_clock};
use crate::{Clock, Graph, NO_TIME, Names, TypeSet};

/// A graph to sample, with keys of nodes and names of types in requests and results.
pub struct KeyedGraph {
    graph: Arc<Graph>,
    /// The names of a graph that was read; `None` for a binary, whose ids are its keys.
    pub(super) names: Option<Names>,
    /// Its description.
    pub(super) model: Model,
}

impl std::fmt::Debug for KeyedGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyedGraph").field("has_names", &self.names.is_some()).finish_non_exhaustive()
    }
}

impl KeyedGraph {
    /// Creates it from a graph that was read, with its names (see [`Graph::of_source`]), or from a DeepGNN binary,
    /// without names.
    pub fn new(graph: Arc<Graph>, names: Option<Names>, model: Model) -> Self {
        KeyedGraph { graph, names, model }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Returns the names of a graph that was read.
    pub fn names(&self) -> Option<&Names> {
        self.names.as_ref()
    }

    /// Returns the ids of the nodes with these keys.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if there is no such node, in every format.
    pub(super) fn ids(&self, keys: &[String], how: &Drawing) -> Result<Vec<i64>> {
        let id = |key: &String| {
            let id = self.id(key, how)?;
            // The map of a binary has no entries for nodes that are only ends of edges.
            let is_there = self.graph.has(id) || self.names.is_none() && self.graph.is_end(id);
            if is_there { Ok(id) } else { Err(missing(key)) }
        };
        keys.iter().map(id).collect()
    }

    /// Returns the ids of the targets with these keys, which need not be nodes of a binary.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or the graph lists all nodes and none has this key.
    pub(super) fn targets(&self, keys: &[String], how: &Drawing) -> Result<Vec<i64>> {
        keys.iter().map(|key| self.id(key, how)).collect()
    }

    fn id(&self, key: &str, how: &Drawing) -> Result<i64> {
        match &self.names {
            Some(names) => names.id(how.node_type.as_deref(), key),
            None => {
                let wrong = || Error::usage(format!("{key:?} is not a node id")).hint("ids are 64-bit integers");
                let number: i128 = key.parse().map_err(|_| wrong())?;
                match self.has_signed_keys() {
                    true => i64::try_from(number).map_err(|_| missing(key)),
                    false => u64::try_from(number).map(u64::cast_signed).map_err(|_| missing(key)),
                }
            }
        }
    }

    /// Whether the sidecar of a binary says that its ids are signed.
    fn has_signed_keys(&self) -> bool {
        self.model.nodes.iter().any(|ty| ty.key.data_type.is_signed_integer())
    }

    /// Returns which of the keys are integers, if keys are text in their column; `None` if the type of the column
    /// tells.
    pub(super) fn numbers(&self, ids: &[i64]) -> Option<Vec<bool>> {
        self.names.as_ref().map(|names| ids.iter().map(|id| names.is_number(*id)).collect())
    }

    /// Returns the types of nodes as a column, null for nodes that only edges mention; `None` if the graph has one type.
    pub(super) fn types_of(&self, ids: &[i64]) -> Option<ArrayRef> {
        let names = self.names.as_ref().filter(|names| names.node_types().len() > 1)?;
        Some(Arc::new(ids.iter().map(|id| names.node_type(*id)).collect::<StringArray>()))
    }

    /// Returns the keys of nodes as a column.
    pub(super) fn keys(&self, ids: &[i64]) -> Result<ArrayRef> {
        match &self.names {
            Some(names) => names.keys(ids),
            None if self.has_signed_keys() => Ok(Arc::new(Int64Array::from(ids.to_vec()))),
            // Ids are unsigned in the files.
            None => Ok(Arc::new(ids.iter().map(|id| id.cast_unsigned()).collect::<UInt64Array>())),
        }
    }

    /// Returns the node type with this name: all nodes, if the graph has no other type.
    ///
    /// # Errors
    /// Returns an error if the graph has several types, none with this name.
    pub(super) fn nodes_of(&self, name: &str) -> Result<TypeSet> {
        match self.node_names().is_empty() && is_node_type(&self.model, name) {
            true => Ok(TypeSet::all()),
            false => self.node_types(&Some(vec![name.to_owned()])),
        }
    }

    /// Returns the requested time, once for each of `nodes` nodes; `types` are the types of the requested edges.
    ///
    /// # Errors
    /// Returns an error if these edges have no times, or times of another kind.
    pub(super) fn times(&self, wanted: Option<&Moment>, types: &TypeSet, nodes: usize) -> Result<Option<Vec<i64>>> {
        let Some(wanted) = wanted else { return Ok(None) };
        self.graph.check_times(types)?;
        // Times of a binary are numbers.
        let (clock, one_unit) = self.names.as_ref().and_then(Names::clock).unwrap_or((Clock::Numbers, true));
        let time = match wanted {
            Moment::Number(number) if one_unit => *number,
            Moment::Number(number) => {
                let error = Error::usage(format!("times of this graph have several units, but {number} has no unit"));
                return Err(error.hint("--timestamp 2024-05-01T12:00:00Z"));
            }
            Moment::Time(text, _) if clock == Clock::Numbers => {
                let error = Error::usage(format!("times of this graph are numbers, but {text} is not"));
                return Err(error.hint("--timestamp 1714564800"));
            }
            Moment::Time(text, time) => on_clock(*time, clock).ok_or_else(|| {
                Error::usage(format!("{text} is too far from 1970 for the unit of the times of this graph"))
            })?,
        };
        Ok(Some(vec![time; nodes]))
    }

    /// Returns the times of creation of edges, in the type of their columns.
    ///
    /// # Errors
    /// Only if numbers are not valid times of this graph.
    pub(super) fn created(&self, times: impl Iterator<Item = i64>) -> Result<ArrayRef> {
        let times: Int64Array = match &self.names {
            Some(_) => times.map(|time| Some(time).filter(|time| *time != NO_TIME)).collect(),
            // A binary stores 0 for an edge without a time.
            None => times.map(|time| Some(time).filter(|time| *time != 0)).collect(),
        };
        let clock = self.names.as_ref().and_then(Names::clock).map_or(Clock::Numbers, |(clock, _)| clock);
        let unshown = |error| Error::malformed("the times of edges are invalid").caused_by(error);
        let days = || cast(&times, &DataType::Int32).and_then(|days| cast(&days, &DataType::Date32));
        match clock {
            Clock::Numbers => Ok(Arc::new(times)),
            Clock::Days => days().map_err(unshown),
            Clock::Moments(_) => cast(&times, &clock.data_type()).map_err(unshown),
        }
    }

    /// Returns a set of node types, by name or number.
    pub(super) fn node_types(&self, wanted: &Option<Vec<String>>) -> Result<TypeSet> {
        types(wanted, &self.node_names(), self.graph.node_type_count())
    }

    /// Returns a set of edge types, by name or number.
    pub(super) fn edge_types(&self, wanted: &Option<Vec<String>>) -> Result<TypeSet> {
        types(wanted, &self.edge_names(), self.graph.edge_type_count())
    }

    /// Returns node types as a column: names, if there are any.
    pub(super) fn node_type_names(&self, types: &[i32]) -> ArrayRef {
        column(types, &self.node_names())
    }

    /// Returns edge types as a column.
    pub(super) fn edge_type_names(&self, types: &[i32]) -> ArrayRef {
        column(types, &self.edge_names())
    }

    /// If rows have their own types, these are numbers.
    fn node_names(&self) -> Vec<&str> {
        let names = self.names.as_ref().map(Names::node_types).unwrap_or_default();
        if names.len() == 1 { Vec::new() } else { names }
    }

    fn edge_names(&self) -> Vec<&str> {
        self.names.as_ref().map(|names| names.edge_types().iter().map(String::as_str).collect()).unwrap_or_default()
    }

    /// Returns the edge type with this name or number.
    pub(super) fn edge_type(&self, name: &str) -> Result<i32> {
        let set = self.edge_types(&Some(vec![name.to_owned()]))?;
        let ty = set.listed().and_then(|types| types.first().copied());
        ty.ok_or_else(|| {
            let near = did_you_mean(name, self.edge_names());
            Error::usage(format!("there is no type {name:?}{near}"))
        })
    }
}

fn is_node_type(graph: &Model, name: &str) -> bool {
    graph.nodes.iter().any(|ty| ty.name == name)
}

fn missing(key: &str) -> Error {
    Error::new(Kind::NotFound, format!("there is no node {key}"))
}

/// Returns types by name or number: those with names in the graph, or with a number in its counts, which may be 0.
fn types(wanted: &Option<Vec<String>>, names: &[&str], counted: u32) -> Result<TypeSet> {
    let Some(wanted) = wanted else { return Ok(TypeSet::all()) };
    let known = usize::try_from(counted).unwrap_or(usize::MAX).max(names.len()).max(1);
    let number = |word: &String| {
        let at = names.iter().position(|name| name == word).or_else(|| word.parse().ok());
        let number = at.filter(|at| *at < known).and_then(|at| i32::try_from(at).ok());
        number.ok_or_else(|| {
            let near = did_you_mean(word, names.iter().copied());
            let error = Error::usage(format!("there is no type {word:?}{near}"));
            match names {
                [] if known == 1 => error.hint("the only type of this graph is 0"),
                [] => error.hint(format!("types of this graph are numbers from 0 to {}", known - 1)),
                // An empty name would not be seen.
                _ => error.hint(
                    names.iter().map(|name| if name.is_empty() { "\"\"" } else { name }).collect::<Vec<_>>().join(", "),
                ),
            }
        })
    };
    Ok(TypeSet::of(&wanted.iter().map(number).collect::<Result<Vec<_>>>()?))
}

fn column(types: &[i32], names: &[&str]) -> ArrayRef {
    if names.is_empty() || names.iter().all(|name| name.parse::<u16>().is_ok()) {
        return Arc::new(Int32Array::from(types.to_vec()));
    }
    let name = |ty: &i32| usize::try_from(*ty).ok().and_then(|ty| names.get(ty)).copied();
    Arc::new(types.iter().map(name).collect::<StringArray>())
}
