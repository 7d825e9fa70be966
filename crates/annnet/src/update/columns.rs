//! The columns of tables that are given, for formats whose files do not say what they hold.

use arrow_schema::DataType;
use isomorph_model::Property;
use isomorph_model::type_name::list_of;

use super::AttributeTable;
use crate::layout::{column, word};
use crate::read::Annnet;

/// What the rows of a table are about.
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

/// Columns that have a meaning of their own, and the attributes that `annnet` has already, with their types.
pub fn columns(annnet: &Annnet, rows: Rows) -> Vec<(String, DataType)> {
    let text = || DataType::Utf8;
    let texts = || list_of(DataType::Utf8);
    let numbers = || list_of(DataType::Float64);
    let float = || DataType::Float64;
    let (mut known, attributes): (Vec<(&str, DataType)>, &[Property]) = match rows {
        Rows::Vertices => {
            (vec![("id", text()), ("layer", texts()), ("slices", texts())], annnet.nodes.own_properties())
        }
        Rows::Edges => (
            vec![
                ("id", text()),
                (column::SOURCE, text()),
                (column::TARGET, text()),
                (column::WEIGHT, float()),
                (column::DIRECTED, DataType::Boolean),
                ("entity", DataType::Boolean),
                (column::HEAD, texts()),
                (column::TAIL, texts()),
                (column::MEMBERS, texts()),
                ("source_layer", texts()),
                ("target_layer", texts()),
                ("source_coefficient", float()),
                ("target_coefficient", float()),
                ("head_coefficients", numbers()),
                ("tail_coefficients", numbers()),
                ("member_coefficients", numbers()),
                ("slices", texts()),
                ("slice_weights", numbers()),
            ],
            &annnet.edge_attributes.attributes.properties,
        ),
        Rows::Slice => (vec![("node", text()), ("edge", text()), (column::WEIGHT, float())], &[]),
        Rows::Table(AttributeTable::Nodes) => (vec![("id", text())], annnet.nodes.own_properties()),
        Rows::Table(AttributeTable::Edges) => (vec![("id", text())], &annnet.edge_attributes.attributes.properties),
        Rows::Table(AttributeTable::Slices) => (vec![("id", text())], &annnet.slices.attributes.properties),
        Rows::Table(AttributeTable::EdgeSlices) => (Vec::new(), &annnet.slices.pairs.attributes.properties),
        Rows::Table(AttributeTable::Layers) => (vec![(word::LAYER, texts()), (word::ATTRIBUTES, text())], &[]),
    };
    known.extend([annnet.words.node_id, column::EDGE_ID, column::SLICE_ID].map(|name| (name, text())));
    let mut all: Vec<(String, DataType)> = known.into_iter().map(|(name, own)| (name.to_owned(), own)).collect();
    for property in attributes {
        if all.iter().all(|(name, _)| *name != property.name) {
            all.push((property.name.clone(), property.data_type.clone()));
        }
    }
    all
}
