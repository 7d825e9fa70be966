//! The nearest names and types that a format has: how a graph with others is written (`docs/mapping.md`).
//!
//! A column type that the format lacks becomes one of the nearest that it has, or text if there is none; a name that it
//! forbids becomes one that it allows; documents that it cannot store stay in the record. Each value is restored
//! exactly, because the record has both descriptions: [`super::Redeclared`] shows the graph as either.

mod cells;
mod large_keys;
mod names;

use std::collections::BTreeMap;

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::{list_of, type_name};
use isomorph_model::{Cardinality, Document, Graph, KeyKind, LabelVocabulary, Property, Relation, ValueKind};
use serde::{Deserialize, Serialize};

use self::names::given;

pub(super) use cells::Way;
pub(crate) use large_keys::has_large_keys;

/// What a format allows.
#[derive(Clone, Copy)]
pub struct Allowed {
    /// Whether it has a column of this type; the flag is true for edges.
    pub holds: fn(&Property, bool) -> bool,
    /// Whether a name is allowed for a node type.
    pub is_type: fn(&str) -> bool,
    /// The same for a relation.
    pub is_relation: fn(&str) -> bool,
    /// Whether an edge type with this source, relation and target, whose names are allowed, is allowed.
    pub is_edge: fn(&str, &str, &str) -> bool,
    /// The same for a property.
    pub is_property: fn(&str) -> bool,
    /// The same for a property of edges, if others are allowed there.
    pub is_edge_property: Option<fn(&str) -> bool>,
    /// Whether a name is allowed for a label.
    pub is_label: fn(&str) -> bool,
    /// Whether names of keys are written. Where the format has its own, they stay as they are.
    pub key_names: bool,
    /// Whether keys can be integers from 2^63 on. Where they cannot, such keys are text.
    pub wide_keys: bool,
    /// The prefix that names of properties must not have.
    pub reserved_prefix: &'static str,
    /// Whether it can store a document.
    pub documents: fn(&Document) -> bool,
}

impl Allowed {
    /// Everything that the model has.
    pub fn anything() -> Self {
        Allowed {
            holds: |_, _| true,
            is_type: |_| true,
            is_relation: |_| true,
            is_edge: |_, _, _| true,
            is_property: |_| true,
            is_edge_property: None,
            is_label: |_| true,
            key_names: true,
            wide_keys: true,
            reserved_prefix: "",
            documents: |_| true,
        }
    }
}

/// The relation between a graph and the same graph with names and types of a format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitting {
    /// The graph.
    pub graph: Graph,
    /// The same types and properties in the same order, with other names and types.
    pub fitted: Graph,
}

impl Fitting {
    /// The fitting of a graph of nodes and edges; `None` if no change is needed. Names depend only on the description.
    /// `large_keys` tells whether a node has an integer key from 2^63 on, see [`has_large_keys`].
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Unsupported`] for values that have no text form either.
    pub fn of(graph: &Graph, allowed: &Allowed, large_keys: bool) -> Result<Option<Fitting>> {
        let mut fitted = graph.clone();
        let (types, relations) = names::of_types(graph, allowed);
        let declared = |labels: &LabelVocabulary| match labels {
            LabelVocabulary::Declared(labels) => labels.clone(),
            _ => Vec::new(),
        };
        let labels: Vec<String> = graph.nodes.iter().flat_map(|ty| declared(&ty.labels)).collect();
        let labels = given(labels.iter().map(String::as_str), allowed.is_label, "");
        for ty in &mut fitted.nodes {
            let of = ty.name.clone();
            rename(&mut ty.name, &types);
            if let LabelVocabulary::Declared(own) = &mut ty.labels {
                own.iter_mut().for_each(|label| rename(label, &labels));
            }
            let key_name = ty.key.name.as_mut().filter(|_| allowed.key_names);
            let names = key_name.iter().map(|name| &**name).chain(ty.properties.iter().map(|property| &property.name));
            let names: Vec<String> = names.cloned().collect();
            let names = given(names.iter().map(String::as_str), allowed.is_property, allowed.reserved_prefix);
            if let Some(name) = key_name {
                rename(name, &names);
            }
            if !allowed.wide_keys && ty.key.data_type == DataType::UInt64 {
                // No integer with a sign is the same from 2^63 on.
                match large_keys {
                    true => (ty.key.kind, ty.key.data_type) = (KeyKind::Utf8, DataType::Utf8),
                    false => ty.key.data_type = DataType::Int64,
                }
            }
            ty.properties.iter_mut().try_for_each(|property| fit(property, false, allowed, &names, &of))?;
        }
        for ty in &mut fitted.edges {
            let names: Vec<String> = ty.properties.iter().map(|property| property.name.clone()).collect();
            let is_allowed = allowed.is_edge_property.unwrap_or(allowed.is_property);
            let names = given(names.iter().map(String::as_str), is_allowed, allowed.reserved_prefix);
            let mut of = String::new();
            if let Relation::Fixed(relation) = &mut ty.relation {
                of.clone_from(relation);
                rename(relation, &relations);
            }
            ty.properties.iter_mut().try_for_each(|property| fit(property, true, allowed, &names, &of))?;
        }
        fitted.documents.retain(allowed.documents);
        Ok((fitted != *graph).then(|| Fitting { graph: graph.clone(), fitted }))
    }
}

fn rename(name: &mut String, names: &BTreeMap<String, String>) {
    if let Some(given) = names.get(name.as_str()) {
        name.clone_from(given);
    }
}

/// Sets the name and type of a property in the format.
fn fit(
    property: &mut Property,
    of_edge: bool,
    allowed: &Allowed,
    names: &BTreeMap<String, String>,
    of: &str,
) -> Result<()> {
    rename(&mut property.name, names);
    if (allowed.holds)(property, of_edge) {
        return Ok(());
    }
    let original = property.clone();
    for (data_type, kind) in candidates(&original) {
        for cardinality in [original.cardinality, Cardinality::Single] {
            (property.data_type, property.kind, property.cardinality) = (data_type.clone(), kind.clone(), cardinality);
            let is_list = matches!(data_type, DataType::List(_));
            if (is_list || cardinality == Cardinality::Single) && (allowed.holds)(property, of_edge) {
                return cells::check(&original, property).map_err(|error| error.at(place(of, &original.name)));
            }
        }
    }
    let what = format!("values of type {} cannot be stored", type_name(&original.data_type));
    Err(Error::unsupported(what).at(place(of, &original.name)))
}

fn place(of: &str, name: &str) -> Place {
    Place::field(format!("{of}.{name}"))
}

/// Whether values of a kind are as their type says, or can be restored from such values if the kind is known.
pub(super) fn has_plain(kind: &ValueKind) -> bool {
    matches!(kind, ValueKind::Plain | ValueKind::Tensor { .. } | ValueKind::Raw)
}

/// Types that hold every value of a property, the nearest first; text is last.
fn candidates(property: &Property) -> Vec<(DataType, ValueKind)> {
    let mut all = vec![(property.data_type.clone(), property.kind.clone())];
    if has_plain(&property.kind) {
        // The record contains the type of tensors and raw bytes.
        if property.kind != ValueKind::Plain {
            all.push((property.data_type.clone(), ValueKind::Plain));
        }
        all.extend(nearest(&property.data_type).into_iter().map(|data_type| (data_type, ValueKind::Plain)));
        let has_parts = matches!(cells::normal(&property.data_type), DataType::List(_) | DataType::Struct(_));
        all.push((DataType::Utf8, if has_parts { ValueKind::Json } else { ValueKind::Plain }));
    }
    all
}

/// Column types that hold every value of `data_type`, the nearest first. An unsigned integer of 64 bits has none but text.
fn nearest(data_type: &DataType) -> Vec<DataType> {
    use DataType as T;
    let normal = cells::normal(data_type);
    let mut all = if normal == *data_type { Vec::new() } else { vec![normal.clone()] };
    all.extend(match &normal {
        T::Int8 => vec![T::Int16, T::Int32, T::Int64],
        T::Int16 => vec![T::Int32, T::Int64],
        T::Int32 => vec![T::Int64],
        T::UInt8 => vec![T::UInt16, T::Int16, T::Int32, T::Int64],
        T::UInt16 => vec![T::UInt32, T::Int32, T::Int64],
        T::UInt32 => vec![T::UInt64, T::Int64],
        T::Float32 => vec![T::Float64],
        T::Time32(TimeUnit::Second) => vec![T::Time32(TimeUnit::Millisecond)],
        T::Timestamp(TimeUnit::Second, zone) => {
            vec![T::Timestamp(TimeUnit::Millisecond, zone.clone()), T::Timestamp(TimeUnit::Millisecond, None)]
        }
        // The same instants in UTC.
        T::Timestamp(unit, Some(_)) => vec![T::Timestamp(*unit, Some("UTC".into())), T::Timestamp(*unit, None)],
        T::Duration(_) => vec![T::Int64],
        T::Null => vec![T::Utf8],
        T::List(item) => nearest(item.data_type()).into_iter().map(list_of).collect(),
        _ => Vec::new(),
    });
    all
}
