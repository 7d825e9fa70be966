//! An edge type for each relation: how a graph whose edges name their relations is written to a format with edge types
//! (`docs/mapping.md`).
//!
//! The edges of DeepGNN are of one type, and each states the number of its relation. A [`Relating`] has an edge type for
//! each relation that a survey found. If there are too many relations for types, there is one edge type with the relation
//! in a column.

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeType, Graph, Property, Relation};
use serde::{Deserialize, Serialize};

use super::{EdgeSlots, Layout, Names, Slot};
use crate::survey::{Found, Survey};

/// The relation of the one edge type, if there are too many for separate types.
const EDGE: &str = "edge";

/// The column of relations in that type.
const PREDICATE: &str = "predicate";

/// The relation between a graph whose edges name their relations and the same graph with edge types for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relating {
    /// The graph, with one edge type.
    pub single: Graph,
    /// The same nodes, and edge types by relation.
    pub typed: Graph,
    /// For each edge type of the typed graph, the properties of the one edge type that are its first properties. A type
    /// that holds all relations has the relation after them.
    pub columns: Vec<Vec<usize>>,
    /// Whether there is one edge type with the relation in its last column.
    pub in_column: bool,
}

impl Relating {
    /// Where the edge types are in the one edge type; the nodes are the same.
    pub fn layout(&self) -> Layout {
        let edges = self.typed.edges.iter().zip(&self.columns).map(|(ty, columns)| {
            let relation = ty.relation.fixed().filter(|_| !self.in_column).unwrap_or_default().to_owned();
            let columns = columns.iter().map(|at| Slot::Column(*at));
            let properties = columns.chain(self.in_column.then_some(Slot::Relation)).collect();
            EdgeSlots { relation, directed: None, properties }
        });
        Layout::new(&self.typed, &self.single, Vec::new(), edges.collect())
    }

    /// Whether the edges of a graph of nodes and edges name their relations.
    pub fn is_needed(graph: &Graph) -> bool {
        let plain = graph.hyperedges.is_empty() && graph.groups.is_empty() && graph.values.is_empty();
        plain && matches!(graph.edges.as_slice(), [only] if only.relation == Relation::PerRow)
    }

    /// An edge type for each relation that a survey found, with the properties that its edges have.
    ///
    /// # Errors
    /// If the graph has more than one edge type.
    pub fn surveyed(graph: &Graph, survey: &Survey) -> Result<Relating> {
        let [edge] = graph.edges.as_slice() else {
            return Err(Error::usage("only the relations of one edge type can become edge types"));
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
        // If relations are numbers, 2 comes before 10.
        relations.sort_by_key(|(relation, _)| (relation.len(), relation.as_str()));
        for (relation, found) in relations {
            let (ty, columns) = edge_type(edge, relation, found);
            record.typed.edges.push(ty);
            record.columns.push(columns);
        }
        Ok(record)
    }
}

/// The edge type of a relation, and its properties: those with a value in some row, and those that are never null.
fn edge_type(edge: &EdgeType, relation: &str, found: &Found) -> (EdgeType, Vec<usize>) {
    let used = |at: &usize| found.columns.contains(at) || edge.properties.get(*at).is_some_and(|own| !own.nullable);
    let columns: Vec<usize> = (0..edge.properties.len()).filter(used).collect();
    let properties = columns.iter().filter_map(|at| edge.properties.get(*at).cloned()).collect();
    let relation = Relation::Fixed(relation.to_owned());
    (EdgeType { relation, properties, rows: Some(found.rows), ..edge.clone() }, columns)
}
