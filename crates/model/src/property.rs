//! Properties and the metadata vocabulary: what Arrow types cannot say.

use std::collections::BTreeMap;

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

/// What the cells of a column mean, beyond their Arrow type.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// What the Arrow type says.
    #[default]
    Plain,
    /// A `Utf8` column whose cells are JSON texts: one JSON value each, any kind.
    Json,
    /// A `Utf8` column whose cells are JSON objects: *each top-level member is a property of its own*, named by the
    /// member. NOCK's `props` is one. Null and the empty text are the empty object.
    Bag,
    /// RDF literals. A `Utf8` column of lexical forms when `datatype` (and `language`) is the same for all; else a
    /// struct of `value`, `datatype`, `language`, `direction`, all `Utf8`, the last two nullable.
    Literal {
        /// Datatype IRI of every cell, if it is one.
        datatype: Option<String>,
    },
    /// RDF terms as canonical text, see [`crate::term`].
    Term,
    /// A tensor: a list of numbers (dense) or a struct of `coordinates` and `values` (sparse).
    Tensor {
        /// Fixed shape, if declared; empty = one-dimensional, any length.
        shape: Vec<u64>,
        /// Sparse (coordinates and values) instead of dense.
        sparse: bool,
    },
    /// Bytes whose type is not known (DeepGNN binary features without a declaration).
    Raw,
}

impl ValueKind {
    /// The word that schema digests, carries and documentation use.
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

/// How many values an owner may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cardinality {
    /// At most one.
    #[default]
    Single,
    /// An ordered list; the column is an Arrow list.
    List,
    /// A set: order and repeats mean nothing; the column is an Arrow list.
    Set,
}

/// One property of an element type: one column of its batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// Its name, unique within the type. Empty for a [`ValueKind::Bag`], whose members name themselves.
    pub name: String,
    /// Arrow type of the column (for list and set cardinality: of the list).
    #[serde(with = "crate::type_name::by_name")]
    pub data_type: DataType,
    /// What the cells mean.
    pub kind: ValueKind,
    /// Whether null is declared legal.
    pub nullable: bool,
    /// How many values.
    pub cardinality: Cardinality,
    /// DeepGNN feature id, if it has one.
    pub feature: Option<u32>,
    /// The format's own declaration where it says more than the above (a user-defined GraphAr type, for example).
    pub declared: BTreeMap<String, String>,
}

impl Property {
    /// A plain, nullable, single-valued property.
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

    /// A column of JSON objects whose members are properties.
    pub fn bag() -> Self {
        Property::new("", DataType::Utf8).of_kind(ValueKind::Bag)
    }

    /// The same property with cells of another meaning.
    pub fn of_kind(mut self, kind: ValueKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same property, declared never null.
    pub fn required(mut self) -> Self {
        self.nullable = false;
        self
    }

    /// The same property with another cardinality.
    pub fn with_cardinality(mut self, cardinality: Cardinality) -> Self {
        self.cardinality = cardinality;
        self
    }
}

/// Properties that mean the same in every format.
pub mod well_known {
    /// Weight of a node or an edge, a float.
    pub const WEIGHT: &str = "weight";
    /// Labels of a node, a set of text. Not a column of its own: see [`crate::LabelColumn`].
    pub const LABELS: &str = "labels";
    /// Degree of belief, 0 to 1; absent means 1.
    pub const TRUTH: &str = "truth";
    /// Whether the element came from an RDF stack (NOCK).
    pub const IS_RDF: &str = "is_rdf";
    /// Partition that owns a node that is only mentioned here, where no owner is at hand (NOCK).
    pub const SHADOW: &str = "shadow";
    /// Whether these are properties of nodes among which [`SHADOW`] is a column, also where it is left out because no node
    /// needs it: `truth`, `is_rdf` and a bag, which NOCK alone has. A member of the bag that is called so is another property.
    pub fn keep_shadow(properties: &[super::Property]) -> bool {
        let has = |name: &str| properties.iter().any(|property| property.name == name);
        has(TRUTH) && has(IS_RDF) && properties.iter().any(|property| property.kind == super::ValueKind::Bag)
    }

    /// Whether an edge is directed, where this differs from row to row.
    pub const DIRECTED: &str = "directed";
    /// Start of an element's life (temporal graphs).
    pub const CREATED_AT: &str = "created_at";
    /// End of an element's life (temporal graphs).
    pub const REMOVED_AT: &str = "removed_at";
    /// `edge` on a node that stands for an edge which is itself an end point.
    pub const ENTITY: &str = "entity";
    /// Signed coefficient of an end in an incidence matrix.
    pub const COEFFICIENT: &str = "coefficient";
    /// Named graph of an edge.
    pub const GRAPH: &str = "graph";
}
