//! What GraphML can say, as data: plans and the documentation are made from it.

use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::capability::{Capability, Directions, Documents, Scalar, Values};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Cardinality, Document, KeyKind, Property, ValueKind};

use crate::source::OF_GRAPH;

/// What GraphML can say: nodes and edges with typed data, each edge with a direction or without. Hyperedges are read, and written as
/// nodes, because no tool reads them.
pub const CAPABILITY: Capability = Capability {
    keys: &[KeyKind::Utf8],
    order: true,
    nodes: VALUES,
    edges: VALUES,
    directions: Directions::ByRow,
    parallel_edges: true,
    documents: Documents::Named(&[OF_GRAPH]),
    ..Capability::LEAST
};

const VALUES: Values = Values {
    scalars: &[Scalar::Bool, Scalar::Int(32), Scalar::Int(64), Scalar::Float(64), Scalar::Text],
    nulls: true,
    ..Values::NONE
};

/// Whether values of a property are written as they are. JSON is text. Floats of fewer bits are written as doubles: readers take the digits
/// of a `float` for a double, which the shortest of 32 bits are not.
pub fn holds(property: &Property) -> bool {
    use DataType as T;
    let plain = property.cardinality == Cardinality::Single;
    let is_json = matches!(property.kind, ValueKind::Json | ValueKind::Bag) && property.data_type == T::Utf8;
    let kind = property.kind == ValueKind::Plain || is_json;
    let data_type = matches!(property.data_type, T::Boolean | T::Int32 | T::Int64 | T::Float64 | T::Utf8);
    plain && kind && data_type
}

/// Whether a document is written: what is said of the graph.
pub(crate) fn is_of_graph(document: &Document) -> bool {
    document.name == OF_GRAPH && matches!(document.body, DocumentBody::Json(_))
}

/// Documents that are not written.
pub fn unheld(documents: &[Document]) -> impl Iterator<Item = &Document> {
    documents.iter().filter(|document| !is_of_graph(document))
}

/// Whether XML 1.0 does not have a character (section 2.2).
pub(crate) fn is_foreign(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Checks that XML has a place for a text.
///
/// # Errors
/// [`Kind::WouldLose`] for one with a character that XML 1.0 does not have.
pub fn check_text(text: &str) -> Result<()> {
    match text.chars().find(|character| is_foreign(*character)) {
        None => Ok(()),
        Some(character) => {
            let code = u32::from(character);
            Err(Error::new(
                Kind::WouldLose,
                format!("XML has no place for the character U+{code:04X}, which is in {text:?}"),
            ))
        }
    }
}
