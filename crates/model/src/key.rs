//! Keys: what identifies a node, a keyed edge, a hyperedge or a group.

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

/// What a key is made of. Keys of different kinds are never equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Any 64-bit integer, compared by value.
    Int,
    /// Text, compared by bytes, no normalisation.
    Utf8,
    /// An RDF term as canonical text, see [`crate::term`].
    Term,
    /// A list of labels (a layer of a multilayer graph).
    Tuple,
    /// No key: the position is the identity.
    Row,
}

/// The declaration of a key: its kind, its declared width, and the name under which the format knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What it is made of.
    pub kind: KeyKind,
    /// Declared Arrow type; a width is schema, not content. `Null` for [`KeyKind::Row`].
    #[serde(with = "crate::type_name::by_name")]
    pub data_type: DataType,
    /// Name of the property that is the key (GraphAr's primary property), if the format names it.
    pub name: Option<String>,
}

impl Key {
    /// No key: position is identity.
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

    /// The same key, known to its format as `name`.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}
