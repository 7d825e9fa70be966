//! The description of a graph in the model.

use arrow_schema::DataType;
use isomorph_model::schema::{GroupKind, HyperedgeType, MembershipTable, Owner};
use isomorph_model::type_name::list_of;
use isomorph_model::{Direction, Document, EdgeType, Graph, Key, KeyKind, NodeType, Property, ValueKind, well_known};

use super::attributes::Attributes;
use super::edges::{Class, Edges};
use super::layers::Layers;
use super::slices::Slices;
use crate::layout::{column, word};

/// The parts of a description.
pub(crate) struct Parts<'a> {
    pub nodes: u64,
    pub node_properties: Vec<Property>,
    pub edges: &'a Edges,
    pub edge_attributes: &'a Attributes,
    pub others: &'a [Class],
    pub is_layered: bool,
    pub layers: &'a Layers,
    pub elementary: &'a Attributes,
    pub slices: &'a Slices,
    pub documents: Vec<Document>,
}

/// Returns the key of a layer or an elementary layer.
fn tuple() -> Key {
    Key { kind: KeyKind::Tuple, data_type: list_of(DataType::Utf8), name: None }
}

fn weight() -> Property {
    Property::new(well_known::WEIGHT, DataType::Float64)
}

fn attributes() -> Property {
    Property::new(word::ATTRIBUTES, DataType::Utf8).of_kind(ValueKind::Json)
}

fn group(kind: &str, key: Key, ordered: bool, properties: Vec<Property>) -> GroupKind {
    GroupKind { kind: kind.to_owned(), key, ordered, properties, all: Vec::new(), memberships: Vec::new() }
}

/// Builds the description.
pub(crate) fn describe(parts: Parts<'_>) -> Graph {
    let mut node = NodeType::new(word::NODE, Key::utf8());
    node.ordered = true;
    node.properties = parts.node_properties;
    node.rows = Some(parts.nodes);

    let (edge, properties) =
        edge_type(parts.edge_attributes, parts.is_layered, Some(parts.edges.count(Class::TwoEnded)));

    let hyperedge = |class: &Class| HyperedgeType {
        name: class.name().to_owned(),
        key: Key::utf8().named(column::EDGE_ID),
        ends: 0,
        direction: Direction::PerRow,
        layered: !parts.layers.is_flat(),
        properties: properties.clone(),
        rows: Some(parts.edges.count(*class)),
    };
    let hyperedges: Vec<HyperedgeType> = parts.others.iter().map(hyperedge).collect();

    let slices = parts.slices;
    let mut slice = group(word::SLICE, Key::utf8(), true, slices.attributes.properties.clone());
    slice.all = slices.all.and_then(|all| slices.names.get(all as usize)).cloned().into_iter().collect();
    let of_edges = std::iter::once(weight()).chain(slices.pairs.attributes.properties.iter().cloned());
    let of_edges: Vec<Property> = of_edges.collect();
    slice.memberships.push(MembershipTable { of: Owner::Nodes(0), properties: Vec::new() });
    slice.memberships.push(MembershipTable { of: Owner::Edges(0), properties: of_edges.clone() });
    let of_others = (0..hyperedges.len()).map(Owner::Hyperedges);
    slice.memberships.extend(of_others.map(|of| MembershipTable { of, properties: of_edges.clone() }));
    let mut groups = vec![slice];
    if !parts.layers.is_flat() {
        let ordered = Property::new(word::ORDERED, DataType::Boolean).required();
        groups.push(group(word::ASPECT, Key::utf8(), true, vec![ordered, attributes()]));
        groups.push(group(word::ELEMENTARY, tuple(), true, parts.elementary.properties.clone()));
        let mut layer = group(word::LAYER, tuple(), false, vec![attributes()]);
        layer.memberships.push(MembershipTable { of: Owner::Nodes(0), properties: vec![attributes()] });
        groups.push(layer);
    }
    Graph { nodes: vec![node], edges: vec![edge], hyperedges, groups, documents: parts.documents, ..Graph::default() }
}

/// Returns the type of edges with two ends, and the properties of edges of all kinds.
fn edge_type(attributes: &Attributes, is_layered: bool, rows: Option<u64>) -> (EdgeType, Vec<Property>) {
    let properties: Vec<Property> =
        std::iter::once(weight().required()).chain(attributes.properties.iter().cloned()).collect();
    let mut edge = EdgeType::new(0, word::EDGE, 0);
    edge.key = Some(Key::utf8().named(column::EDGE_ID));
    edge.direction = Direction::PerRow;
    edge.layered = is_layered;
    edge.properties = properties.clone();
    edge.rows = rows;
    (edge, properties)
}

/// Describes nodes without their attributes, and edges with two ends.
pub(crate) fn describe_edges(
    nodes: Option<u64>,
    edges: Option<u64>,
    attributes: &Attributes,
    is_layered: bool,
) -> Graph {
    let mut node = NodeType::new(word::NODE, Key::utf8());
    node.ordered = true;
    node.rows = nodes;
    Graph { nodes: vec![node], edges: vec![edge_type(attributes, is_layered, edges).0], ..Graph::default() }
}
