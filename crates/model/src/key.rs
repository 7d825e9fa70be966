//! Keys, which identify nodes, keyed edges, hyperedges and groups.

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

/// The kind of a key. Keys of different kinds are never equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Any 64-bit integer, compared by value.
    Int,
    /// Text, compared as bytes, without normalisation.
    Utf8,
    /// An RDF term as canonical text, see [`crate::term`].
    Term,
    /// A list of labels (a layer of a multilayer graph).
    Tuple,
    /// No key: the position identifies the element.
    Row,
}

/// The declaration of a key: its kind, its declared type, and its name in the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The kind.
    pub kind: KeyKind,
    /// The declared Arrow type. The width belongs to the schema, not to the content. `Null` for [`KeyKind::Row`].
    #[serde(with = "crate::type_name::by_name")]
    pub data_type: DataType,
    /// The name of the property that is the key (the primary property in GraphAr), if the format has one.
    pub name: Option<String>,
}

impl Key {
    /// No key: the position identifies the element.
    pub fn row() -> Self {
        Key { kind: KeyKind::Row, data_type: DataType::Null, name: None }
    }

    /// A text key.
    pub fn utf8() -> Self {
        Key { kind: KeyKind::Utf8, data_type: DataType::Utf8, name: None }
    }

    /// A signed 64-bit key.
    pub fn int64() -> Self {
        Key { kind: KeyKind::Int, data_type: DataType::Int64, name: None }
    }

    /// An RDF term.
    pub fn term() -> Self {
        Key { kind: KeyKind::Term, data_type: DataType::Utf8, name: None }
    }

    /// Sets the name of the key in its format.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}
