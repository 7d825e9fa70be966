//! The graph that is sampled, and what its ids and numbers mean.

use isomorph::storage::Resources;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, Utc};
use isomorph::convert::{Opened, Registry, Silent};
use isomorph::formats::deepgnn::{DeepGnn, OpenOptions};
use isomorph::model::Graph as Model;
use isomorph::sampling::{Clock, Graph, GraphOptions, Hold, IndexFile, NO_TIME, Names, TypeSet};
use isomorph::{Error, Kind, Result, did_you_mean};

use super::declared::has_several_types;
use super::without_binary;
use crate::args::sample::{CommonArgs, Feature, Groups, Moment, What};
use crate::commands::open_at;
use crate::console::Console;

/// An opened graph.
pub(super) struct Place {
    pub graph: Arc<Graph>,
    /// Of graphs that were read; the ids of a binary are its keys.
    pub(super) names: Option<Names>,
    /// What is said of its nodes and edges.
    pub(super) model: Model,
    /// Kinds of groups that are not in it.
    pub left_out: Vec<String>,
}

impl Place {
    /// Opens the graph at `path`: a binary of DeepGNN as it lies, anything else by reading it once. Where `what` is features, a graph
    /// whose properties have no columns is surveyed for them.
    ///
    /// # Errors
    /// When there is none, or it is not sound, or its format has no answer to what is asked.
    pub fn open(
        path: &str,
        what: &What,
        formats: &Registry,
        resources: &Resources,
        console: &Console,
    ) -> Result<Place> {
        let common = what.common();
        let features: &[Feature] = if let What::Features(args) = what { &args.features } else { &[] };
        let hold = if common.copy { Hold::Copied } else { Hold::Mapped };
        let index = if common.no_index { IndexFile::Ignore } else { IndexFile::Keep };
        let options = GraphOptions { hold, index, ..GraphOptions::new(&resources.budget, &resources.scratch) };
        let (location, mut how) = common.open.place(path, formats, resources)?;
        how.get_mut::<OpenOptions>().no_recovery = true;
        let opened = open_at(&location, &how, console)?;
        console.warn(&opened.cautions()?);
        let wanted = common.node_type.as_deref();
        if let Some(ty) = wanted.filter(|ty| !is_node_type(opened.graph.graph(), ty)) {
            return Err(no_node_type(opened.graph.graph(), ty));
        }
        let native = opened.native.as_any().and_then(|native| native.downcast_ref::<DeepGnn>());
        let is_binary = native.is_some_and(|graph| graph.text().is_none());
        if !is_binary {
            without_binary(what)?;
        }
        // Which of its types a feature has tells what lies beside the binary: that is read with it.
        if is_binary && !features.iter().any(|feature| has_several_types(opened.graph.graph(), &feature.id)) {
            let model = opened.graph.graph().clone();
            let graph = Arc::new(Graph::open(&location, &options)?);
            return Ok(Place { graph, names: None, model, left_out: Vec::new() });
        }
        let known = |feature: &Feature| has_property(opened.graph.graph(), &feature.id);
        let mut source = match common.hyperedges {
            Some(how) => opened.without_hyperedges(how, resources, &Silent)?,
            None if !features.iter().all(known) => opened.in_columns(resources, &Silent)?,
            None => opened.with_resources_as_nodes(resources)?,
        };
        let kinds = source.graph().groups.iter().filter(|kind| !kind.memberships.is_empty());
        let mut left_out: Vec<String> = kinds.map(|kind| kind.kind.clone()).collect();
        if common.groups == Groups::Reify && !left_out.is_empty() {
            left_out.clear();
            source = Opened::with_groups_as_nodes(source, resources)?;
        }
        let (graph, names) = Graph::of_source(source.as_ref(), &options)?;
        let model = source.graph().clone();
        Ok(Place { graph: Arc::new(graph), names: Some(names), model, left_out })
    }

    /// Ids of the nodes with these keys.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when there is no such node, whatever the format.
    pub fn ids(&self, keys: &[String], common: &CommonArgs) -> Result<Vec<i64>> {
        let id = |key: &String| {
            let id = self.id(key, common)?;
            // The map of a binary has no entries for nodes that edges only lead to.
            let is_there = self.graph.has(id) || self.names.is_none() && self.graph.is_end(id);
            if is_there { Ok(id) } else { Err(missing(key)) }
        };
        keys.iter().map(id).collect()
    }

    /// Ids of the nodes with these keys that edges lead to, which need not be nodes of a binary.
    ///
    /// # Errors
    /// When a key is none, or the graph has no other nodes than those with keys, and none with this one.
    pub fn targets(&self, keys: &[String], common: &CommonArgs) -> Result<Vec<i64>> {
        keys.iter().map(|key| self.id(key, common)).collect()
    }

    fn id(&self, key: &str, common: &CommonArgs) -> Result<i64> {
        match &self.names {
            Some(names) => names.id(common.node_type.as_deref(), key),
            None => {
                let wrong = || Error::usage(format!("{key:?} is no id of a node")).hint("ids are 64-bit integers");
                let number: i128 = key.parse().map_err(|_| wrong())?;
                u64::try_from(number).map(|id| id as i64).map_err(|_| missing(key))
            }
        }
    }

    /// Of keys that are texts in their column, which are integers; nothing where the column tells.
    pub fn numbers(&self, ids: &[i64]) -> Option<Vec<bool>> {
        self.names.as_ref().map(|names| ids.iter().map(|id| names.is_number(*id)).collect())
    }

    /// Keys of nodes as a column.
    pub fn keys(&self, ids: &[i64]) -> Result<ArrayRef> {
        match &self.names {
            Some(names) => names.keys(ids),
            // Ids have no sign in the files.
            None => Ok(Arc::new(ids.iter().map(|id| *id as u64).collect::<UInt64Array>())),
        }
    }

    /// The type of nodes of this name: all of them where the graph has no other.
    ///
    /// # Errors
    /// When the graph has several, and none of this name.
    pub fn nodes_of(&self, name: &str) -> Result<TypeSet> {
        match self.node_names().is_empty() && is_node_type(&self.model, name) {
            true => Ok(TypeSet::all()),
            false => self.node_types(&Some(vec![name.to_owned()])),
        }
    }

    /// The time that is asked for, for each of so many nodes whose edges of these types are asked for.
    ///
    /// # Errors
    /// When these have no times, or it is no time as theirs are.
    pub fn times(&self, wanted: Option<&Moment>, types: &TypeSet, nodes: usize) -> Result<Option<Vec<i64>>> {
        let Some(wanted) = wanted else { return Ok(None) };
        self.graph.check_times(types)?;
        // Times of a binary are numbers.
        let (clock, one_unit) = self.names.as_ref().and_then(Names::clock).unwrap_or((Clock::Numbers, true));
        let time = match wanted {
            Moment::Number(number) if one_unit => *number,
            Moment::Number(number) => {
                let error = Error::usage(format!("times of this graph have several units, and {number} says none"));
                return Err(error.hint("--timestamp 2024-05-01T12:00:00Z"));
            }
            Moment::Time(text, _) if clock == Clock::Numbers => {
                let error = Error::usage(format!("times of this graph are numbers, and {text} is none"));
                return Err(error.hint("--timestamp 1714564800"));
            }
            Moment::Time(text, time) => on_clock(*time, clock).ok_or_else(|| {
                Error::usage(format!("{text} is too far from 1970 for the unit of the times of this graph"))
            })?,
        };
        Ok(Some(vec![time; nodes]))
    }

    /// When edges were created, as what their columns are.
    ///
    /// # Errors
    /// Never, unless numbers are no times of this graph.
    pub fn created(&self, times: impl Iterator<Item = i64>) -> Result<ArrayRef> {
        let times: Int64Array = match &self.names {
            Some(_) => times.map(|time| Some(time).filter(|time| *time != NO_TIME)).collect(),
            // A binary has 0 where an edge states nothing.
            None => times.map(|time| Some(time).filter(|time| *time != 0)).collect(),
        };
        let clock = self.names.as_ref().and_then(Names::clock).map_or(Clock::Numbers, |(clock, _)| clock);
        let unshown = |error| Error::malformed("the times of edges are none").caused_by(error);
        let days = || cast(&times, &DataType::Int32).and_then(|days| cast(&days, &DataType::Date32));
        match clock {
            Clock::Numbers => Ok(Arc::new(times)),
            Clock::Days => days().map_err(unshown),
            Clock::Moments(_) => cast(&times, &clock.data_type()).map_err(unshown),
        }
    }

    /// Types of nodes, by name or number.
    pub fn node_types(&self, wanted: &Option<Vec<String>>) -> Result<TypeSet> {
        types(wanted, &self.node_names(), self.graph.node_type_count())
    }

    /// Types of edges, by name or number.
    pub fn edge_types(&self, wanted: &Option<Vec<String>>) -> Result<TypeSet> {
        types(wanted, &self.edge_names(), self.graph.edge_type_count())
    }

    /// Types of nodes as a column: names, where there are some.
    pub fn node_type_names(&self, types: &[i32]) -> ArrayRef {
        column(types, &self.node_names())
    }

    /// Types of edges as a column.
    pub fn edge_type_names(&self, types: &[i32]) -> ArrayRef {
        column(types, &self.edge_names())
    }

    /// Where rows have types of their own, these are numbers.
    fn node_names(&self) -> Vec<&str> {
        let names = self.names.as_ref().map(Names::node_types).unwrap_or_default();
        if names.len() == 1 { Vec::new() } else { names }
    }

    fn edge_names(&self) -> Vec<&str> {
        self.names.as_ref().map(|names| names.edge_types().iter().map(String::as_str).collect()).unwrap_or_default()
    }

    /// The type of edges of this name or number.
    pub fn edge_type(&self, name: &str) -> Result<i32> {
        let set = self.edge_types(&Some(vec![name.to_owned()]))?;
        let ty = set.listed().and_then(|types| types.first().copied());
        ty.ok_or_else(|| {
            let near = did_you_mean(name, self.edge_names());
            Error::usage(format!("there is no type {name:?}{near}"))
        })
    }
}

/// A time as a number of a clock: the last one that is not behind it.
fn on_clock(time: DateTime<Utc>, clock: Clock) -> Option<i64> {
    let in_parts = |each: i64, nanoseconds: u32| {
        time.timestamp().checked_mul(each)?.checked_add(i64::from(time.timestamp_subsec_nanos() / nanoseconds))
    };
    match clock {
        Clock::Numbers => None,
        Clock::Days => Some(time.timestamp().div_euclid(86_400)),
        Clock::Moments(TimeUnit::Second) => Some(time.timestamp()),
        Clock::Moments(TimeUnit::Millisecond) => in_parts(1_000, 1_000_000),
        Clock::Moments(TimeUnit::Microsecond) => in_parts(1_000_000, 1_000),
        Clock::Moments(TimeUnit::Nanosecond) => in_parts(1_000_000_000, 1),
    }
}

fn is_node_type(graph: &Model, name: &str) -> bool {
    graph.nodes.iter().any(|ty| ty.name == name)
}

fn no_node_type(graph: &Model, name: &str) -> Error {
    let names: Vec<&str> = graph.nodes.iter().map(|ty| ty.name.as_str()).collect();
    let near = did_you_mean(name, names.iter().copied());
    Error::usage(format!("there is no node type {name:?}{near}")).hint(format!("--type {}", names.join("|")))
}

fn missing(key: &str) -> Error {
    Error::new(Kind::NotFound, format!("there is no node {key:?}"))
}

/// Whether nodes or edges have a property of this name.
fn has_property(graph: &Model, name: &str) -> bool {
    let properties = graph.nodes.iter().map(|ty| &ty.properties).chain(graph.edges.iter().map(|ty| &ty.properties));
    properties.flatten().any(|property| property.name == name)
}

/// Types by name or number: those that the graph has names for, or counts elements of, though these may be none.
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
                [] if known == 1 => error.hint("0 is the only type here"),
                [] => error.hint(format!("types are numbers here, from 0 to {}", known - 1)),
                _ => error.hint(names.join(", ")),
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
