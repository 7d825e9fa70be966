//! Tests of what can be written unchanged, for callers that can use another name or type.

use isomorph_model::{Document, Property};

use super::names::{check_name, file_part};
use super::plan::extra_info_of;
use super::types::property as checked_property;
use crate::hints::{EXTRA_INFO, edge_key};

/// Returns whether GraphAr has a type for the values of a property, whatever its name.
pub fn holds_values(property: &Property, of_edge: bool) -> bool {
    let named = Property { name: "p".to_owned(), ..property.clone() };
    checked_property(&named, of_edge).is_ok()
}

/// Returns whether a vertex type may have this name.
pub fn is_type_name(name: &str) -> bool {
    file_part("vertex type", name).is_ok()
}

/// Returns whether edge types may have this relation.
pub fn is_relation(name: &str) -> bool {
    check_name("edge type", name).is_ok() && file_part("edge type", &edge_key("a", name, "b")).is_ok()
}

/// Returns whether an edge type may have this relation and these types: file names contain all three.
pub fn is_edge_type(source: &str, relation: &str, target: &str) -> bool {
    file_part("edge type", &edge_key(source, relation, target)).is_ok()
}

/// Returns whether a property may have this name.
pub fn is_property_name(name: &str) -> bool {
    check_name("property", name).is_ok() && !name.starts_with("_graphAr")
}

/// Returns whether a label may have this name.
pub fn is_label(name: &str) -> bool {
    check_name("label", name).is_ok()
}

/// Returns whether a document can be stored.
pub fn holds_document(document: &Document) -> bool {
    document.name == EXTRA_INFO && extra_info_of(document).is_ok()
}
