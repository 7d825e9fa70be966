//! Tables prepared for reading: information files combined with the options and with facts from the first chunks.

mod chunk;
mod edge;
mod offsets;
mod refine;
mod vertex;

pub(crate) use chunk::{Chunk, inexact, missing, open_chunk, open_chunk_with, rows_error};
pub(crate) use edge::{EdgeTable, List};
pub(crate) use offsets::{check_offsets, offset_fields, offset_values, open_offsets};
pub(crate) use refine::Refine;
pub(crate) use vertex::VertexTable;

use std::sync::Arc;

use arrow_schema::{DataType, Field};
use isomorph_model::Property;
use isomorph_tables::Encoding;

use crate::info::{PropertyInfo, ValueType};

/// Name of the column of vertex indexes.
pub(crate) const VERTEX_INDEX: &str = "_graphArVertexIndex";
/// Name of the column of source indexes.
pub(crate) const SOURCE_INDEX: &str = "_graphArSrcIndex";
/// Name of the column of destination indexes.
pub(crate) const TARGET_INDEX: &str = "_graphArDstIndex";
/// Name of the column of offsets.
pub(crate) const OFFSET: &str = "_graphArOffset";

/// The use of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The key.
    Key,
    /// A property, by its position in the type.
    Property(usize),
}

/// One column that is read.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub name: String,
    pub data_type: DataType,
    pub target: Target,
    /// Whether the property has a user-defined type, so that its values are read as text.
    pub as_text: bool,
}

/// The columns of one property group that are read.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Its position in the information file.
    pub number: usize,
    pub encoding: Encoding,
    pub columns: Arc<[Column]>,
}

impl Column {
    /// Returns its field in the schema that is declared to the reader; `None` if the file determines the type.
    pub fn field(&self, encoding: Encoding) -> Option<Field> {
        (!self.as_text || encoding.is_text()).then(|| Field::new(&self.name, self.data_type.clone(), true))
    }
}

/// Converts a property of GraphAr to one of the model.
pub(crate) fn property(info: &PropertyInfo, data_type: &DataType) -> Property {
    let mut property = Property::new(&info.name, data_type.clone()).with_cardinality(info.cardinality);
    property.nullable = info.nullable;
    if let ValueType::Other(token) = &info.value_type {
        property.declared.insert("type".to_owned(), token.clone());
    }
    if info.primary {
        property.declared.insert("primary".to_owned(), "true".to_owned());
    }
    property
}
