//! What a format cannot store of its nodes and edges, in tables of the sidecar.
//!
//! A type of nodes that has such a table is read from there alone: all nodes in order, with keys, labels and all properties. Of edges, a table
//! has the columns that the files lack, in the order of the files. Both belong to exactly the files that they were written for.

mod sink;
mod source;
mod table;

use isomorph_model::{Direction, Graph, Key, LabelVocabulary, Property};
use isomorph_storage::Location;
use serde::{Deserialize, Serialize};

pub use sink::Detacher;
pub use source::Attached;
pub(crate) use table::TableFiles;

/// How the files name nodes that are read from a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    /// By their keys.
    #[default]
    Keys,
    /// By their keys, which are the numbers from 1 to their count, in any order; ends of edges are these numbers less 1.
    Numbers,
    /// By their positions, from 1: they have other keys.
    Positions,
}

/// A graph of which files store a part, and tables of the sidecar the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detachment {
    /// The graph.
    pub whole: Graph,
    /// What the files store: the same types.
    pub written: Graph,
    /// How the files name nodes.
    pub naming: Naming,
    /// Whether each type of nodes has a table.
    pub nodes: Vec<bool>,
    /// Whether each type of edges has one.
    pub edges: Vec<bool>,
    /// The folder with the tables, where the mapping was read from a sidecar.
    #[serde(skip)]
    pub folder: Option<Location>,
}

impl Detachment {
    /// The record for a format that stores `written` of `whole`, if that is not all, or all nodes need a table.
    pub fn of(whole: &Graph, mut written: Graph, naming: Naming, all_nodes: bool) -> Option<Detachment> {
        let nodes = whole.nodes.iter().zip(&written.nodes);
        let nodes: Vec<bool> = nodes
            .map(|(own, left)| {
                all_nodes || names(&own.properties) != names(&left.properties) || own.labels != left.labels
            })
            .collect();
        let edges = whole.edges.iter().zip(&written.edges);
        let edges: Vec<bool> = edges
            .map(|(own, left)| names(&own.properties) != names(&left.properties) || own.direction != left.direction)
            .collect();
        if naming == Naming::Positions {
            written.nodes.iter_mut().for_each(|ty| ty.key = Key::int64());
        }
        let is_needed = nodes.iter().chain(&edges).any(|table| *table);
        is_needed.then(|| Detachment { whole: whole.clone(), written, naming, nodes, edges, folder: None })
    }

    /// The names of its files.
    pub fn tables(&self) -> Vec<String> {
        let of = |all: &[bool], name: fn(usize) -> String| {
            all.iter().enumerate().filter(|(_, table)| **table).map(|(ty, _)| name(ty)).collect::<Vec<_>>()
        };
        [of(&self.nodes, nodes_file), of(&self.edges, edges_file)].concat()
    }

    /// The positions of the properties of edges that the table of a type has.
    fn detached(&self, ty: usize) -> Vec<usize> {
        let (Some(whole), Some(written)) = (self.whole.edges.get(ty), self.written.edges.get(ty)) else {
            return Vec::new();
        };
        let all = whole.properties.iter().enumerate();
        all.filter(|(_, own)| !written.properties.iter().any(|left| left.name == own.name)).map(|(at, _)| at).collect()
    }

    /// Whether the table of a type of edges says which of them have a direction.
    fn has_directions(&self, ty: usize) -> bool {
        let direction = |graph: &Graph| graph.edges.get(ty).map(|ty| ty.direction);
        direction(&self.whole) == Some(Direction::PerRow) && direction(&self.written) != Some(Direction::PerRow)
    }

    /// Whether a type of nodes has labels.
    fn has_labels(&self, ty: usize) -> bool {
        self.whole.nodes.get(ty).is_some_and(|ty| ty.labels != LabelVocabulary::None)
    }
}

fn nodes_file(ty: usize) -> String {
    format!("nodes-{ty}.parquet")
}

fn edges_file(ty: usize) -> String {
    format!("edges-{ty}.parquet")
}

fn names(properties: &[Property]) -> Vec<&str> {
    properties.iter().map(|property| property.name.as_str()).collect()
}
