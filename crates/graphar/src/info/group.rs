//! Property groups: columns that are stored together.

use arrow_schema::{DataType, TimeUnit};
use isomorph_model::Cardinality;
use isomorph_model::type_name::list_of;

use super::{FileType, ValueType};

/// Properties whose columns share their files.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyGroup {
    /// Directory of the group, relative to the type's directory (for edges: to each list's).
    pub prefix: String,
    /// File type of its chunks.
    pub file_type: FileType,
    /// Its properties, in the order of the information file.
    pub properties: Vec<PropertyInfo>,
}

impl PropertyGroup {
    /// Returns the default directory of a group: the names of its properties, joined.
    pub fn default_prefix(properties: &[PropertyInfo]) -> String {
        let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
        format!("{}/", names.join("_"))
    }
}

/// A property as declared in an information file.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyInfo {
    /// Its name.
    pub name: String,
    /// Type of a single value.
    pub value_type: ValueType,
    /// Whether it identifies vertices.
    pub primary: bool,
    /// Whether it may be null; never true for a primary property.
    pub nullable: bool,
    /// Number of values.
    pub cardinality: Cardinality,
}

impl PropertyInfo {
    /// Creates a nullable property with at most one value.
    pub fn new(name: impl Into<String>, value_type: ValueType) -> Self {
        PropertyInfo { name: name.into(), value_type, primary: false, nullable: true, cardinality: Cardinality::Single }
    }

    /// Returns the Arrow type of its column.
    pub fn data_type(&self) -> DataType {
        match self.cardinality {
            Cardinality::Single => self.value_type.data_type(),
            Cardinality::List | Cardinality::Set => list_of(self.value_type.data_type()),
        }
    }

    /// Returns the Arrow type of its column, with timestamps in `unit`.
    pub(crate) fn data_type_in(&self, unit: TimeUnit) -> DataType {
        match self.value_type {
            ValueType::Timestamp => {
                let one = DataType::Timestamp(unit, None);
                if self.is_list() { list_of(one) } else { one }
            }
            _ => self.data_type(),
        }
    }

    /// Returns whether a cell can hold more than one value.
    pub fn is_list(&self) -> bool {
        self.value_type.is_list() || self.cardinality != Cardinality::Single
    }

    pub(crate) fn can_be_key(&self) -> bool {
        let kind = matches!(self.value_type, ValueType::Int32 | ValueType::Int64 | ValueType::String);
        kind && self.cardinality == Cardinality::Single
    }
}
