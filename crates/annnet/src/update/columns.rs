//! The columns of input tables, for file formats that do not state their types.

use arrow_schema::DataType;
use isomorph_model::Property;
use isomorph_model::type_name::list_of;

use super::AttributeTable;
use crate::layout::{column, word};
use crate::read::Annnet;

/// Names of columns in input tables that are not columns of the format.
pub(super) mod name {
    use crate::layout::{NODE_WORDS, VERTEX_WORDS, column};

    /// Identifies an element in any table.
    pub const ID: &str = "id";
    /// Columns that identify vertices: in any table, in tables of the format, and in tables of its older versions.
    pub const VERTEX_IDS: [&str; 3] = [ID, NODE_WORDS.node_id, VERTEX_WORDS.node_id];
    /// Columns that identify edges.
    pub const EDGE_IDS: [&str; 2] = [ID, column::EDGE_ID];
    /// Columns that identify slices.
    pub const SLICE_IDS: [&str; 2] = [ID, column::SLICE_ID];
    /// Slices in addition to the default slice.
    pub const SLICES: &str = "slices";
    /// Weights in these slices.
    pub const SLICE_WEIGHTS: &str = "slice_weights";
    /// Whether an edge is an entity.
    pub const ENTITY: &str = "entity";
    /// Layers of both ends.
    pub const SIDE_LAYERS: [&str; 2] = ["source_layer", "target_layer"];
    /// Coefficients of both ends.
    pub const END_COEFFICIENTS: [&str; 2] = ["source_coefficient", "target_coefficient"];
    /// Coefficients of members in the head, in the tail, and of an undirected hyperedge.
    pub const MEMBER_COEFFICIENTS: [&str; 3] = ["head_coefficients", "tail_coefficients", "member_coefficients"];
    /// A node as a member of a slice.
    pub const NODE: &str = "node";
    /// An edge as a member of a slice.
    pub const EDGE: &str = "edge";
}

/// Returns the columns of edges that are not attributes, with their types.
pub(super) fn of_edges() -> Vec<(&'static str, DataType)> {
    let (text, float) = (DataType::Utf8, DataType::Float64);
    let mut all = vec![
        (column::SOURCE, text.clone()),
        (column::TARGET, text.clone()),
        (column::WEIGHT, float.clone()),
        (column::DIRECTED, DataType::Boolean),
        (name::ENTITY, DataType::Boolean),
        (name::SLICES, list_of(text.clone())),
        (name::SLICE_WEIGHTS, list_of(float.clone())),
    ];
    all.extend(name::EDGE_IDS.map(|name| (name, text.clone())));
    all.extend([column::HEAD, column::TAIL, column::MEMBERS].map(|name| (name, list_of(text.clone()))));
    all.extend(name::SIDE_LAYERS.map(|name| (name, list_of(text.clone()))));
    all.extend(name::END_COEFFICIENTS.map(|name| (name, float.clone())));
    all.extend(name::MEMBER_COEFFICIENTS.map(|name| (name, list_of(float.clone()))));
    all
}

/// The kind of an input table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// New vertices.
    Vertices,
    /// New edges.
    Edges,
    /// Members of a slice.
    Slice,
    /// Attributes.
    Table(AttributeTable),
}

/// Returns the columns with a fixed meaning, and the existing attributes of `annnet`, with their types.
pub fn columns(annnet: &Annnet, rows: Rows) -> Vec<(String, DataType)> {
    let text = || DataType::Utf8;
    let texts = || list_of(DataType::Utf8);
    let id = || (name::ID, text());
    let (mut known, attributes): (Vec<(&str, DataType)>, &[Property]) = match rows {
        Rows::Vertices => (vec![id(), (word::LAYER, texts()), (name::SLICES, texts())], annnet.nodes.own_properties()),
        Rows::Edges => (of_edges(), &annnet.edge_attributes.attributes.properties),
        Rows::Slice => (vec![(name::NODE, text()), (name::EDGE, text()), (column::WEIGHT, DataType::Float64)], &[]),
        Rows::Table(AttributeTable::Nodes) => (vec![id()], annnet.nodes.own_properties()),
        Rows::Table(AttributeTable::Edges) => (vec![id()], &annnet.edge_attributes.attributes.properties),
        Rows::Table(AttributeTable::Slices) => (vec![id()], &annnet.slices.attributes.properties),
        Rows::Table(AttributeTable::EdgeSlices) => (Vec::new(), &annnet.slices.pairs.attributes.properties),
        Rows::Table(AttributeTable::Layers) => (vec![(word::LAYER, texts()), (word::ATTRIBUTES, text())], &[]),
    };
    let ids = name::VERTEX_IDS.into_iter().chain(name::EDGE_IDS).chain(name::SLICE_IDS);
    known.extend(ids.filter(|own| *own != name::ID).map(|own| (own, text())));
    let mut all: Vec<(String, DataType)> = Vec::new();
    let own = attributes.iter().map(|property| (property.name.as_str(), &property.data_type));
    for (name, data_type) in known.iter().map(|(name, data_type)| (*name, data_type)).chain(own) {
        if all.iter().all(|(known, _)| known != name) {
            all.push((name.to_owned(), data_type.clone()));
        }
    }
    all
}
