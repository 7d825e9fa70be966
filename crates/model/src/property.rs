//! Properties, and metadata that Arrow types cannot express.

use std::collections::BTreeMap;

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

/// The meaning of the cells of a column, in addition to their Arrow type.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// As given by the Arrow type.
    #[default]
    Plain,
    /// A `Utf8` column whose cells are JSON texts, each with one JSON value of any kind.
    Json,
    /// A `Utf8` column whose cells are JSON objects: *each top-level member is a separate property* with the name of the
    /// member, like NOCK's `props`. Null and the empty text are the empty object.
    Bag,
    /// RDF literals: a `Utf8` column of lexical forms if `datatype` (and `language`) is the same for all; otherwise a
    /// struct of `value`, `datatype`, `language`, `direction`, all `Utf8`, the last two nullable.
    Literal {
        /// The datatype IRI of all cells, if it is the same for all.
        datatype: Option<String>,
    },
    /// RDF terms as canonical text, see [`crate::term`].
    Term,
    /// A tensor: a list of numbers (dense) or a struct of `coordinates` and `values` (sparse).
    Tensor {
        /// The fixed shape, if declared; empty means one-dimensional with any length.
        shape: Vec<u64>,
        /// Whether it is sparse (coordinates and values) instead of dense.
        sparse: bool,
    },
    /// Bytes of unknown type (binary features of DeepGNN without a declaration).
    Raw,
}

impl ValueKind {
    /// Returns the name that schema digests, sidecars and documentation use.
    pub fn word(&self) -> &'static str {
        match self {
            ValueKind::Plain => "plain",
            ValueKind::Json => "json",
            ValueKind::Bag => "bag",
            ValueKind::Literal { .. } => "literal",
            ValueKind::Term => "term",
            ValueKind::Tensor { sparse: false, .. } => "tensor",
            ValueKind::Tensor { sparse: true, .. } => "sparse-tensor",
            ValueKind::Raw => "raw",
        }
    }
}

/// The number of values that an owner may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cardinality {
    /// At most one.
    #[default]
    Single,
    /// An ordered list; the column is an Arrow list.
    List,
    /// A set: order and repetition are not significant; the column is an Arrow list.
    Set,
}

/// A property of an element type, that is, a column of its batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// Its name, unique within the type. Empty for a [`ValueKind::Bag`], whose members have their own names.
    pub name: String,
    /// The Arrow type of the column (for lists and sets: of the list).
    #[serde(with = "crate::type_name::by_name")]
    pub data_type: DataType,
    /// The meaning of the cells.
    pub kind: ValueKind,
    /// Whether nulls are allowed.
    pub nullable: bool,
    /// The number of values.
    pub cardinality: Cardinality,
    /// The feature id of DeepGNN, if it has one.
    pub feature: Option<u32>,
    /// The format's own declaration, if it is more specific than the fields above (for example a user-defined type of GraphAr).
    pub declared: BTreeMap<String, String>,
}

impl Property {
    /// Creates a plain, nullable property with single values.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Property {
            name: name.into(),
            data_type,
            kind: ValueKind::Plain,
            nullable: true,
            cardinality: Cardinality::Single,
            feature: None,
            declared: BTreeMap::new(),
        }
    }

    /// Creates a column of JSON objects whose members are properties.
    pub fn bag() -> Self {
        Property::new("", DataType::Utf8).of_kind(ValueKind::Bag)
    }

    /// Sets the kind of values.
    pub fn of_kind(mut self, kind: ValueKind) -> Self {
        self.kind = kind;
        self
    }

    /// Declares that the property is never null.
    pub fn required(mut self) -> Self {
        self.nullable = false;
        self
    }

    /// Sets the cardinality.
    pub fn with_cardinality(mut self, cardinality: Cardinality) -> Self {
        self.cardinality = cardinality;
        self
    }
}

/// Properties with the same meaning in every format.
pub mod well_known {
    /// Weight of a node or an edge, a float.
    pub const WEIGHT: &str = "weight";
    /// Labels of a node, a set of text. They are not a separate column: see [`crate::LabelColumn`].
    pub const LABELS: &str = "labels";
    /// Degree of belief from 0 to 1; absent means 1.
    pub const TRUTH: &str = "truth";
    /// Whether the element came from an RDF stack (NOCK).
    pub const IS_RDF: &str = "is_rdf";
    /// The partition that owns a node of another partition, if the owner is not available (NOCK).
    pub const SHADOW: &str = "shadow";
    /// Whether [`SHADOW`] is a column of nodes with these properties, even if it was omitted because no node needs it:
    /// `truth`, `is_rdf` and a bag occur together only in NOCK. A member of the bag with that name is another property.
    pub fn keep_shadow(properties: &[super::Property]) -> bool {
        let has = |name: &str| properties.iter().any(|property| property.name == name);
        has(TRUTH) && has(IS_RDF) && properties.iter().any(|property| property.kind == super::ValueKind::Bag)
    }

    /// Whether an edge is directed, if this differs by row.
    pub const DIRECTED: &str = "directed";
    /// Start of an element's lifetime (temporal graphs).
    pub const CREATED_AT: &str = "created_at";
    /// End of an element's lifetime (temporal graphs).
    pub const REMOVED_AT: &str = "removed_at";
    /// `edge` for a node that represents an edge which is an end of other edges.
    pub const ENTITY: &str = "entity";
    /// Signed coefficient of an end in an incidence matrix.
    pub const COEFFICIENT: &str = "coefficient";
    /// Named graph of an edge.
    pub const GRAPH: &str = "graph";
}
