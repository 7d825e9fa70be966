//! The nearest names and types that a format has: how a graph is written that has others (`docs/mapping.md`).
//!
//! A column of a type that the format lacks becomes one of the nearest that it has, and text where there is none; a name
//! that it forbids becomes one that it allows; documents that it has no place for stay with the record. Each value comes
//! back exactly, because the record has both descriptions: [`Converted`] shows the graph in either.

mod cells;
mod names;
mod source;

use std::collections::BTreeMap;

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::{list_of, type_name};
use isomorph_model::{Cardinality, Document, Graph, LabelVocabulary, Property, Relation, ValueKind};
use serde::{Deserialize, Serialize};

use self::names::given;

pub use source::Converted;

/// What a format allows, as far as graphs may have more.
#[derive(Clone, Copy)]
pub struct Allowed {
    /// Types of columns, by whether they are of edges.
    pub holds: fn(&Property, bool) -> bool,
    /// Whether a name may be that of a node type.
    pub is_type: fn(&str) -> bool,
    /// Of a relation.
    pub is_relation: fn(&str) -> bool,
    /// Whether there may be an edge type of this source, relation and target, whose names are allowed.
    pub is_edge: fn(&str, &str, &str) -> bool,
    /// Of a property.
    pub is_property: fn(&str) -> bool,
    /// Of a label.
    pub is_label: fn(&str) -> bool,
    /// Whether keys may be integers from 2^63 on.
    pub wide_keys: bool,
    /// What no name of a property begins with.
    pub reserved_prefix: &'static str,
    /// Documents.
    pub documents: fn(&Document) -> bool,
}

impl Allowed {
    /// Whatever the model has.
    pub fn anything() -> Self {
        Allowed {
            holds: |_, _| true,
            is_type: |_| true,
            is_relation: |_| true,
            is_edge: |_, _, _| true,
            is_property: |_| true,
            is_label: |_| true,
            wide_keys: true,
            reserved_prefix: "",
            documents: |_| true,
        }
    }
}

/// The relation between a graph and the same in names and types of a format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitting {
    /// The graph.
    pub graph: Graph,
    /// The same types and properties in the same order, with other names and types.
    pub fitted: Graph,
}

impl Fitting {
    /// The fitting of a graph of nodes and edges; nothing where it fits as it is. Names depend on the description alone.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for values that have no text either.
    pub fn of(graph: &Graph, allowed: &Allowed) -> Result<Option<Fitting>> {
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
            let names = ty.key.name.iter().chain(ty.properties.iter().map(|property| &property.name));
            let names: Vec<String> = names.cloned().collect();
            let names = given(names.iter().map(String::as_str), allowed.is_property, allowed.reserved_prefix);
            if let Some(name) = &mut ty.key.name {
                rename(name, &names);
            }
            if !allowed.wide_keys && ty.key.data_type == DataType::UInt64 {
                // Of the same bits: what is above 2^63 is negative there.
                ty.key.data_type = DataType::Int64;
            }
            ty.properties.iter_mut().try_for_each(|property| fit(property, false, allowed, &names, &of))?;
        }
        for ty in &mut fitted.edges {
            let names: Vec<String> = ty.properties.iter().map(|property| property.name.clone()).collect();
            let names = given(names.iter().map(String::as_str), allowed.is_property, allowed.reserved_prefix);
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

/// Gives a property the name and the type that it has in the format.
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
    let what = format!("there is no place for values of type {}", type_name(&original.data_type));
    Err(Error::unsupported(what).at(place(of, &original.name)))
}

fn place(of: &str, name: &str) -> Place {
    Place::field(format!("{of}.{name}"))
}

/// Whether values of a kind are what their type says, or are read from such by who knows what they are.
pub(super) fn has_plain(kind: &ValueKind) -> bool {
    matches!(kind, ValueKind::Plain | ValueKind::Tensor { .. } | ValueKind::Raw)
}

/// Types that hold every value of a property, the nearest first; text at last.
fn candidates(property: &Property) -> Vec<(DataType, ValueKind)> {
    let mut all = vec![(property.data_type.clone(), property.kind.clone())];
    if has_plain(&property.kind) {
        // What a tensor or raw bytes are is in the record.
        if property.kind != ValueKind::Plain {
            all.push((property.data_type.clone(), ValueKind::Plain));
        }
        all.extend(nearest(&property.data_type).into_iter().map(|data_type| (data_type, ValueKind::Plain)));
        let has_parts = matches!(cells::normal(&property.data_type), DataType::List(_) | DataType::Struct(_));
        all.push((DataType::Utf8, if has_parts { ValueKind::Json } else { ValueKind::Plain }));
    }
    all
}

/// Types of columns that hold every value of `data_type`, the nearest first.
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
        // Of the same bits: what is above 2^63 is negative there.
        T::UInt64 => vec![T::Int64],
        T::Float32 => vec![T::Float64],
        T::Time32(TimeUnit::Second) => vec![T::Time32(TimeUnit::Millisecond)],
        T::Timestamp(TimeUnit::Second, zone) => {
            vec![T::Timestamp(TimeUnit::Millisecond, zone.clone()), T::Timestamp(TimeUnit::Millisecond, None)]
        }
        // The same moments in UTC.
        T::Timestamp(unit, Some(_)) => vec![T::Timestamp(*unit, Some("UTC".into())), T::Timestamp(*unit, None)],
        T::Duration(_) => vec![T::Int64],
        T::Null => vec![T::Utf8],
        T::List(item) => nearest(item.data_type()).into_iter().map(list_of).collect(),
        _ => Vec::new(),
    });
    all
}
