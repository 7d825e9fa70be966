//! What can be written as it is: asked beforehand, by those who can give it another name or type.

use isomorph_model::{Document, Property};

use super::names::{check_name, file_part};
use super::plan::extra_info_of;
use super::types::property as checked_property;
use crate::hints::{EXTRA_INFO, edge_key};

/// Whether there is a type for the values of a property; its name may be any.
pub fn holds_values(property: &Property, of_edge: bool) -> bool {
    let named = Property { name: "p".to_owned(), ..property.clone() };
    checked_property(&named, of_edge).is_ok()
}

/// Whether a vertex type may have this name.
pub fn is_type_name(name: &str) -> bool {
    file_part("vertex type", name).is_ok()
}

/// Whether edge types may have this relation.
pub fn is_relation(name: &str) -> bool {
    check_name("edge type", name).is_ok() && file_part("edge type", &edge_key("a", name, "b")).is_ok()
}

/// Whether there may be an edge type of this relation between these types: files are called after all three.
pub fn is_edge_type(source: &str, relation: &str, target: &str) -> bool {
    file_part("edge type", &edge_key(source, relation, target)).is_ok()
}

/// Whether a property may have this name.
pub fn is_property_name(name: &str) -> bool {
    check_name("property", name).is_ok() && !name.starts_with("_graphAr")
}

/// Whether a label may have this name.
pub fn is_label(name: &str) -> bool {
    check_name("label", name).is_ok()
}

/// Whether a document has a place.
pub fn holds_document(document: &Document) -> bool {
    document.name == EXTRA_INFO && extra_info_of(document).is_ok()
}
