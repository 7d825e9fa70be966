//! The description of a dataset in the model: one node type, one edge type.

use arrow_schema::DataType;
use isomorph_model::{Direction, EdgeType, Graph, Key, LabelVocabulary, NodeType, Property, Relation, well_known};

use super::Nock;
use crate::columns::Column;
use crate::node_rows::Settled;
use crate::rows::Shape;

/// Name of the only node type.
pub const NODE: &str = "node";

/// Describes an opened dataset. Counts are known once it is settled.
pub(super) fn graph(nock: &Nock, settled: Option<&Settled>) -> Graph {
    let mut graph = describe(&nock.shape, nock.has_shadows, nock.options.keep_edge_id);
    if let (Some(settled), Some(nodes)) = (settled, graph.nodes.first_mut()) {
        nodes.rows = Some(settled.nodes);
    }
    if let (Some(settled), Some(edges)) = (settled, graph.edges.first_mut()) {
        edges.rows = Some(settled.edges);
    }
    graph
}

fn describe(shape: &Shape, shadows: bool, edge_id: bool) -> Graph {
    let truth = || Property::new(well_known::TRUTH, shape.truth.clone()).required();
    let extras = || shape.extras.iter().map(|extra| Property::new(&extra.name, extra.data_type.clone()));

    let mut node = NodeType::new(NODE, Key::utf8().named(Column::SrcName.name()));
    node.labels = LabelVocabulary::Open;
    node.properties.push(truth());
    node.properties.push(Property::new(well_known::IS_RDF, DataType::Boolean).required());
    if shadows {
        node.properties.push(Property::new(well_known::SHADOW, DataType::Int64));
    }
    node.properties.push(Property::bag());
    node.properties.extend(extras());

    let mut edge = EdgeType::new(0, "", 0);
    edge.relation = Relation::PerRow;
    edge.direction = Direction::Directed;
    edge.properties.push(truth());
    if edge_id {
        edge.properties.push(Property::new(Column::EdgeId.name(), DataType::Int64).required());
    }
    edge.properties.push(Property::bag());
    edge.properties.extend(extras());

    Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() }
}
