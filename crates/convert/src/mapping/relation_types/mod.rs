//! An edge type for each relation: how a graph whose edges name their relations is written where edge types do
//! (`docs/mapping.md`).
//!
//! The edges of DeepGNN are of one type, and each says the number of its relation. [`Related`] shows such a graph with an
//! edge type for each relation that a survey found, [`Unrelated`] shows that as the graph again. Where there are more
//! relations than types there is one edge type with the relation in a column.

mod merge;
mod split;

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeType, Graph, Property, Relation};
use serde::{Deserialize, Serialize};

use super::Names;
use super::merge::Merged;
use super::split::Divided;
use crate::survey::{Found, Survey};

/// Shows a graph whose edges name their relations with an edge type for each relation.
pub type Related = Divided<Relating>;

/// Shows edge types by relation as edges that name their relations.
pub type Unrelated = Merged<Relating>;

/// The relation of the one edge type, where there are too many for types of their own.
const EDGE: &str = "edge";

/// The column that says the relation there.
const PREDICATE: &str = "predicate";

/// The relation between a graph whose edges name their relations and the same with edge types for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relating {
    /// The graph, with one edge type.
    pub single: Graph,
    /// The same nodes, and edge types by relation.
    pub typed: Graph,
    /// For each edge type of the typed graph, the properties of the one edge type that its first properties are. A type
    /// that holds all relations has the relation behind them.
    pub columns: Vec<Vec<usize>>,
    /// Whether there is one edge type with the relation in its last column.
    pub in_column: bool,
}

impl Relating {
    /// Whether the edges of a graph of nodes and edges name their relations.
    pub fn is_needed(graph: &Graph) -> bool {
        let plain = graph.hyperedges.is_empty() && graph.groups.is_empty() && graph.values.is_empty();
        plain && matches!(graph.edges.as_slice(), [only] if only.relation == Relation::PerRow)
    }

    /// The edge types of the relations that a survey found, each with the properties that its edges have.
    ///
    /// # Errors
    /// When the graph has more than one edge type.
    pub fn surveyed(graph: &Graph, survey: &Survey) -> Result<Relating> {
        let [edge] = graph.edges.as_slice() else {
            return Err(Error::usage("relations are those of one edge type"));
        };
        let mut record = Relating {
            typed: Graph { edges: Vec::new(), ..graph.clone() },
            single: graph.clone(),
            columns: Vec::new(),
            in_column: survey.all_edges.is_some(),
        };
        if let [node] = record.typed.nodes.as_mut_slice() {
            node.rows = Some(survey.nodes.rows);
        }
        if let Some(found) = &survey.all_edges {
            let (mut ty, columns) = edge_type(edge, EDGE, found);
            let taken = ty.properties.iter().map(|property| property.name.as_str());
            let name = Names::reserving(taken).give(PREDICATE, |_| true);
            ty.properties.push(Property::new(name, DataType::Utf8).required());
            record.typed.edges.push(ty);
            record.columns.push(columns);
        }
        let mut relations: Vec<(&String, &Found)> = survey.relations.iter().collect();
        // 2 before 10, where relations are numbers.
        relations.sort_by_key(|(relation, _)| (relation.len(), relation.as_str()));
        for (relation, found) in relations {
            let (ty, columns) = edge_type(edge, relation, found);
            record.typed.edges.push(ty);
            record.columns.push(columns);
        }
        Ok(record)
    }
}

/// The edge type of a relation, and which properties it has: those with a value somewhere, and those that are never null.
fn edge_type(edge: &EdgeType, relation: &str, found: &Found) -> (EdgeType, Vec<usize>) {
    let used = |at: &usize| found.columns.contains(at) || edge.properties.get(*at).is_some_and(|own| !own.nullable);
    let columns: Vec<usize> = (0..edge.properties.len()).filter(used).collect();
    let properties = columns.iter().filter_map(|at| edge.properties.get(*at).cloned()).collect();
    let relation = Relation::Fixed(relation.to_owned());
    (EdgeType { relation, properties, rows: Some(found.rows), ..edge.clone() }, columns)
}
