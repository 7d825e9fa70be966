//! GEXF: the XML of Gephi, which NetworkX reads and writes.

mod attributes;
mod read;
pub mod rules;
mod times;
mod write;

use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::{Cardinality, Property, ValueKind};
use isomorph_records::{Form, Reader, RecordRules, Syntax, xml};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

/// In [`Property::declared`]: what of an element a property is, if it is not one of its declared attributes.
pub(crate) const ATTRIBUTE: &str = "gexf.attribute";
/// In [`Property::declared`]: that the values of an attribute have times, and their type.
pub(crate) const DYNAMIC: &str = "gexf.dynamic";

/// In [`Property::declared`]: the value of elements that have none, of an attribute whose values have times.
pub(crate) const DEFAULT: &str = "gexf.default";
/// In [`Property::declared`]: the values that an attribute may have.
pub(crate) const OPTIONS: &str = "gexf.options";

/// GEXF 1.1 to 1.3.
pub struct Gexf;

impl Syntax for Gexf {
    fn name(&self) -> &'static str {
        "GEXF"
    }

    fn rules(&self) -> RecordRules {
        RecordRules { id: &rules::ID, end: &rules::END, value: &rules::VALUE, mixed: &rules::ID, hyperedge: None }
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(read::GexfReader::new(file)?))
    }

    fn has_json_as_text(&self) -> bool {
        true
    }
}

impl Gexf {
    /// Returns whether the file at `location` begins like GEXF.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        Ok(xml::begins_with(&crate::detect::beginning(location)?, "gexf"))
    }

    /// Returns what writes it.
    pub fn form() -> Box<dyn Form> {
        Box::new(write::GexfForm::default())
    }

    /// Returns whether edges may have a property of this name. NetworkX cannot read an attribute `key` of edges, and an attribute
    /// `networkx_key` distinguishes parallel edges there: those of which it is the same would be one.
    pub fn is_edge_property(name: &str) -> bool {
        !matches!(name, "key" | "networkx_key")
    }

    /// Returns whether values of a property are written as they are. JSON is written as text, and so is the label of a node, which
    /// is an attribute of its element.
    pub fn holds(property: &Property, of_edge: bool) -> bool {
        if !of_edge && property.name == LABEL && property.data_type != DataType::Utf8 {
            return false;
        }
        let is_json = matches!(property.kind, ValueKind::Json | ValueKind::Bag) && property.data_type == DataType::Utf8;
        let is_plain = property.kind == ValueKind::Plain
            && matches!(property.data_type, DataType::Boolean | DataType::Int64 | DataType::Float64 | DataType::Utf8);
        property.cardinality == Cardinality::Single && (is_json || is_plain)
    }
}

/// The name of the text that tools show of a node. NetworkX gives every node such a value, in place of a declared attribute of this
/// title.
const LABEL: &str = "label";

/// Returns the name of an element or attribute that a property is, instead of a declared attribute. By its name alone a text
/// `label` is one, of nodes also JSON, and of edges a double `weight`, unless another of these properties is.
pub(crate) fn attribute_of<'p>(property: &'p Property, all: &[Property], of_node: bool) -> Option<&'p str> {
    if let Some(own) = property.declared.get(ATTRIBUTE) {
        return Some(own);
    }
    let by_name = match (property.name.as_str(), &property.data_type, &property.kind) {
        (LABEL, DataType::Utf8, ValueKind::Plain) => LABEL,
        (LABEL, DataType::Utf8, ValueKind::Json | ValueKind::Bag) if of_node => LABEL,
        ("weight", DataType::Float64, ValueKind::Plain) if !of_node => "weight",
        _ => return None,
    };
    let is_taken = all.iter().any(|other| other.declared.get(ATTRIBUTE).is_some_and(|own| own == by_name));
    (!is_taken).then_some(by_name)
}
