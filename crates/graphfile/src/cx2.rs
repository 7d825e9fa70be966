//! Cytoscape's exchange format, version 2.

mod read;
pub mod rules;
mod write;

use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::Property;
use isomorph_records::{Form, Labels, Reader, RecordRules, Syntax};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

/// The document with aspects that are neither nodes, edges nor attributes of the network.
pub const ASPECTS: &str = "aspects";

/// The property of edges with their ids, and those of nodes with their coordinates.
pub(crate) const EDGE_ID: &str = "cx2_id";
pub(crate) const COORDINATES: [(&str, &str); 3] = [("x", "layout_x"), ("y", "layout_y"), ("z", "layout_z")];

/// The attribute with the key of a node that is known by a text, and the one that Cytoscape shows.
pub(crate) const SHARED_NAME: &str = "shared name";
pub(crate) const NAME: &str = "name";

/// CX2.
pub struct Cx2;

impl Syntax for Cx2 {
    fn name(&self) -> &'static str {
        "CX2"
    }

    fn rules(&self) -> RecordRules {
        RecordRules { id: &rules::ID, end: &rules::END, value: &rules::VALUE, mixed: &rules::ID, hyperedge: None }
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(read::Cx2Reader::new(file)?))
    }

    fn labels(&self) -> Labels {
        Labels::Sidecar(SHARED_NAME)
    }

    fn added(&self) -> &'static [&'static str] {
        &[SHARED_NAME, NAME, EDGE_ID]
    }

    fn has_json_as_text(&self) -> bool {
        true
    }

    fn has_integer_ids(&self) -> bool {
        true
    }
}

impl Cx2 {
    /// Returns whether the file at `location` begins like CX2.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        let begin = crate::detect::beginning(location)?;
        let text = String::from_utf8_lossy(&begin);
        let first = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('[').map(str::trim_start);
        Ok(first.is_some_and(|first| {
            first.starts_with('{') && first.get(1..).is_some_and(|own| own.trim_start().starts_with("\"CXVersion\""))
        }))
    }

    /// Returns what writes it; `has_text_keys` says whether nodes are known by texts.
    pub fn form(has_text_keys: bool) -> Box<dyn Form> {
        Box::new(write::Cx2Form::new(has_text_keys))
    }

    /// Returns whether values of a property are written as they are. JSON is written as text.
    pub fn holds(property: &Property) -> bool {
        let has_type = |data_type: &DataType| *data_type != DataType::UInt64;
        crate::holds_json(property)
            && match &property.data_type {
                DataType::List(item) => has_type(item.data_type()),
                other => has_type(other),
            }
    }

    /// Returns whether nodes may have a property of this name.
    pub fn is_property(name: &str) -> bool {
        name != SHARED_NAME && !COORDINATES.iter().any(|(_, own)| *own == name)
    }

    /// The same for edges.
    pub fn is_edge_property(name: &str) -> bool {
        name != EDGE_ID
    }
}

/// Returns CX2's word for a type.
pub(crate) fn word(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "boolean".to_owned(),
        DataType::Int64 => "long".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::List(item) => format!("list_of_{}", word(item.data_type())),
        _ => "string".to_owned(),
    }
}
