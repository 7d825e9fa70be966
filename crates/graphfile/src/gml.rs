//! GML, the Graph Modelling Language, as NetworkX and igraph write it.

mod lexer;
mod read;
pub mod rules;
mod write;

use arrow_schema::DataType;
use isomorph_error::{Result, Rule};
use isomorph_model::{Cardinality, Property, ValueKind};
use isomorph_records::{Form, Head, Labels, Reader, RecordRules, Syntax};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

/// In the metadata of a graph: whether it is a multigraph.
pub(crate) const MULTIGRAPH: &str = "gml.multigraph";

/// What NetworkX writes before the single element of a list.
pub(crate) const LIST_START: &str = "_networkx_list_start";

/// GML.
pub struct Gml;

impl Syntax for Gml {
    fn name(&self) -> &'static str {
        "GML"
    }

    fn rules(&self) -> RecordRules {
        RecordRules { id: &rules::ID, end: &rules::END, value: &rules::VALUE, mixed: &rules::ID, hyperedge: None }
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(read::GmlReader::new(file)?))
    }

    fn labels(&self) -> Labels {
        Labels::Usual("label")
    }

    fn has_json_as_text(&self) -> bool {
        true
    }

    fn has_integer_ids(&self) -> bool {
        true
    }

    fn single_edges(&self, head: &Head) -> Option<&'static Rule> {
        (head.metadata.get(MULTIGRAPH).map(String::as_str) != Some("true")).then_some(&rules::MULTIGRAPH)
    }
}

impl Gml {
    /// Returns whether the file at `location` begins like GML.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        Ok(lexer::begins(&crate::detect::beginning(location)?))
    }

    /// Returns what writes it; `has_text_keys` says whether nodes are known by texts, which become their labels.
    pub fn form(has_text_keys: bool) -> Box<dyn Form> {
        Box::new(write::GmlForm::new(has_text_keys))
    }

    /// Returns whether values of a property are written as they are. JSON is written as text.
    pub fn holds(property: &Property) -> bool {
        let is_json = matches!(property.kind, ValueKind::Json | ValueKind::Bag) && property.data_type == DataType::Utf8;
        let is_plain = property.kind == ValueKind::Plain
            && matches!(property.data_type, DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Utf8);
        property.cardinality == Cardinality::Single && (is_json || is_plain)
    }

    /// Returns whether nodes may have a property of this name.
    pub fn is_property(name: &str) -> bool {
        is_key(name) && !matches!(name, "id" | "label")
    }

    /// The same for edges. `key` distinguishes parallel edges in NetworkX: a property of that name that other graphs have would
    /// merge those of which it is the same.
    pub fn is_edge_property(name: &str) -> bool {
        is_key(name) && !matches!(name, "source" | "target" | "key")
    }
}

/// Returns whether a name is a key of GML.
fn is_key(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    // These open records inside of which they would be read as such.
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !matches!(name, "node" | "edge" | "graph")
}
