//! The graph that is sampled, and what its ids and numbers mean.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, StringArray, UInt64Array};
use isomorph::convert::{Opened, Resources};
use isomorph::formats::deepgnn::DeepGnn;
use isomorph::sampling::{Graph, GraphOptions, Hold, Names, TypeSet};
use isomorph::{Error, Location, Result};

use crate::args::SelectArgs;
use crate::args::sample::CommonArgs;

/// An opened graph.
pub(super) struct Place {
    pub graph: Arc<Graph>,
    /// Of graphs that were read; the ids of a binary are its keys.
    names: Option<Names>,
}

impl Place {
    /// Opens the graph at `path`: a binary of DeepGNN as it lies, anything else by reading it once.
    ///
    /// # Errors
    /// When there is none, or it is not sound.
    pub fn open(path: &str, common: &CommonArgs, resources: &Resources) -> Result<Place> {
        let hold = if common.copy { Hold::Copied } else { Hold::Mapped };
        let options = GraphOptions { hold, ..GraphOptions::new(&resources.budget, &resources.scratch) };
        let location = Location::parse(path)?;
        let opened = Opened::open(&location, &common.open.options(&location, &SelectArgs::default(), resources)?)?;
        let native = opened.native.as_any().and_then(|native| native.downcast_ref::<DeepGnn>());
        if native.is_some_and(|graph| graph.text().is_none()) {
            return Ok(Place { graph: Arc::new(Graph::open(&location, &options)?), names: None });
        }
        let (graph, names) = Graph::of_source(opened.graph.as_ref(), &options)?;
        Ok(Place { graph: Arc::new(graph), names: Some(names) })
    }

    /// Ids of the nodes with these keys.
    pub fn ids(&self, keys: &[String], common: &CommonArgs) -> Result<Vec<i64>> {
        let id = |key: &String| match &self.names {
            Some(names) => names.id(common.node_type.as_deref(), key),
            None => {
                let number = key.parse::<i64>().or_else(|_| key.parse::<u64>().map(|id| id as i64));
                number.map_err(|_| Error::usage(format!("{key:?} is no id of a node")).hint("ids are 64-bit integers"))
            }
        };
        keys.iter().map(id).collect()
    }

    /// Keys of nodes as a column.
    pub fn keys(&self, ids: &[i64]) -> Result<ArrayRef> {
        match &self.names {
            Some(names) => names.keys(ids),
            // Ids have no sign in the files.
            None => Ok(Arc::new(ids.iter().map(|id| *id as u64).collect::<UInt64Array>())),
        }
    }

    /// Types of nodes, by name or number.
    pub fn node_types(&self, wanted: &Option<Vec<String>>) -> Result<TypeSet> {
        types(wanted, &self.node_names())
    }

    /// Types of edges, by name or number.
    pub fn edge_types(&self, wanted: &Option<Vec<String>>) -> Result<TypeSet> {
        types(wanted, &self.edge_names())
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

    /// The id of a feature, which may be the name of a property.
    pub fn feature(&self, name: &str) -> Result<u32> {
        if let Some(names) = &self.names
            && let Some(at) = names.features().iter().position(|feature| feature == name)
        {
            return Ok(at as u32);
        }
        name.parse().map_err(|_| {
            let error = Error::usage(format!("{name:?} is no feature"));
            match &self.names {
                Some(names) => error.hint(names.features().join(", ")),
                None => error.hint("features of a binary are numbers"),
            }
        })
    }
}

fn types(wanted: &Option<Vec<String>>, names: &[&str]) -> Result<TypeSet> {
    let Some(wanted) = wanted else { return Ok(TypeSet::all()) };
    let number = |word: &String| match names.iter().position(|name| name == word) {
        Some(at) => Ok(at as i32),
        None => word.parse::<i32>().map_err(|_| {
            let error = Error::usage(format!("there is no type {word:?}"));
            if names.is_empty() { error.hint("types are numbers here") } else { error.hint(names.join(", ")) }
        }),
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
