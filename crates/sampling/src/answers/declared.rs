//! Finds a requested feature, and its type according to the graph.

use arrow_schema::DataType;
use isomorph_deepgnn::{DType, FeatureType};
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Graph as Model, Property, Relation};

use super::feature::Feature;
use super::keyed::KeyedGraph;
use super::values::Elements;
use crate::{LABELS, is_json_feature};

/// The type of a feature.
#[derive(Clone, Copy)]
pub(super) struct Declared<'a> {
    pub ty: FeatureType,
    /// Whether it is a single number, not a list.
    pub single: bool,
    /// The type of the numbers, if they are dates or times.
    pub unit: Option<&'a DataType>,
}

impl Declared<'static> {
    /// Creates the description of values of a type, without further details.
    pub fn of(ty: FeatureType) -> Self {
        Declared { ty, single: false, unit: None }
    }
}

/// A requested feature that was found in the graph.
pub(super) struct Found<'a> {
    pub id: u32,
    /// Its name in the graph.
    pub name: String,
    /// Its type; bytes if the graph does not state it, like a binary without sidecar.
    pub what: Declared<'a>,
    /// The requested type, and the number of values unless all are requested; `None` for its own type.
    pub wanted: Option<(FeatureType, Option<usize>)>,
}

impl KeyedGraph {
    /// Finds the requested feature. In a graph that was read, it is the property with this name: a feature id is the
    /// name of the property in a text, or `ID:TYPE` if the id has several types.
    ///
    /// # Errors
    /// Returns an error if there is none, or the elements have properties of several types with this name.
    pub(super) fn found(&self, feature: &Feature, elements: &Elements) -> Result<Found<'_>> {
        let wanted = feature.ty.map(|ty| (ty, feature.count));
        let Some(names) = &self.names else {
            let id = feature.id.parse().map_err(|_| {
                Error::usage(format!("{:?} is not a feature", feature.id)).hint("features of a binary are numbers")
            })?;
            // The type of values at times is part of their name: nothing else reads their bytes.
            let names: Vec<&str> = match elements.are_edges() {
                true => self.model.edges.iter().flat_map(|ty| &ty.properties).map(|of| of.name.as_str()).collect(),
                false => self.model.nodes.iter().flat_map(|ty| &ty.properties).map(|of| of.name.as_str()).collect(),
            };
            let typed: Vec<&str> = of_id(names.into_iter(), &feature.id).collect();
            if !typed.is_empty() && !typed.contains(&feature.text.as_str()) {
                return Err(typed_by_name(&feature.id, &typed));
            }
            let what = self.declared(&feature.id, elements)?;
            return Ok(Found { id, name: feature.id.clone(), what, wanted });
        };
        let known = if elements.are_edges() { names.edge_features() } else { names.features() };
        let typed = feature.ty.map(|ty| format!("{}:{ty}", feature.id));
        // The name of a property may look like a feature with its type.
        let readings = [(Some(feature.text.clone()), None), (typed, wanted), (Some(feature.id.clone()), wanted)];
        for (name, wanted) in readings {
            // Numbers without a property have an empty name.
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            if let Some((id, _)) = (0..).zip(known).find(|(_, known)| **known == name) {
                let what = self.declared(&name, elements)?;
                return Ok(Found { id, name, what, wanted });
            }
        }
        let several: Vec<&str> = of_id(known.iter().map(String::as_str), &feature.id).collect();
        if !several.is_empty() {
            return Err(typed_by_name(&feature.id, &several));
        }
        let near = did_you_mean(&feature.id, known.iter().map(String::as_str));
        let error = Error::usage(format!("{:?} is not a feature{near}", feature.id));
        let named: Vec<&str> = known.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        Err(if named.is_empty() { error } else { error.hint(format!("--features {}", named.join("|"))) })
    }

    /// Returns the type of a property of `elements` according to the graph, or to the sidecar of a binary.
    fn declared(&self, name: &str, elements: &Elements) -> Result<Declared<'_>> {
        let of = |ty: &'_ [Property]| ty.iter().position(|property| property.name == name);
        // The property of each type of elements that has it, and whether the elements have this type.
        let mut found: Vec<(&str, &Property, bool)> = Vec::new();
        match elements {
            Elements::Nodes(ids) => {
                let types: Option<Vec<&str>> =
                    self.names.as_ref().map(|names| ids.iter().filter_map(|id| names.node_type(*id)).collect());
                for ty in &self.model.nodes {
                    let is_asked = types.as_ref().is_none_or(|types| types.contains(&ty.name.as_str()));
                    found.extend(of(&ty.properties).map(|at| (ty.name.as_str(), &ty.properties[at], is_asked)));
                }
            }
            Elements::Edges(_, _, types) => {
                let known = self.names.as_ref().map(|names| names.edge_types()).unwrap_or_default();
                let asked = |name: &String| {
                    types.iter().any(|ty| usize::try_from(*ty).is_ok_and(|ty| known.get(ty) == Some(name)))
                };
                for ty in &self.model.edges {
                    let (relation, is_asked) = match &ty.relation {
                        Relation::Fixed(name) => (name.as_str(), known.is_empty() || asked(name)),
                        Relation::PerRow => ("edges", true),
                    };
                    found.extend(of(&ty.properties).map(|at| (relation, &ty.properties[at], is_asked)));
                }
            }
        }
        let mut asked = found.iter().filter(|(.., is_asked)| *is_asked);
        // If none of the elements can have it, the type does not matter.
        let Some((first, property, _)) = asked.next().or(found.first()) else {
            let labels = name == LABELS && !elements.are_edges() && self.names.is_some();
            return Ok(Declared::of(if labels { FeatureType::Text } else { FeatureType::Raw }));
        };
        if let Some((other, others, _)) = asked.find(|(_, other, _)| other.data_type != property.data_type) {
            let message =
                format!("{name} is {} of type {first}, and {} of type {other}", property.data_type, others.data_type);
            return Err(Error::usage(message).hint("request elements of one type at a time"));
        }
        Ok(declared(&property.data_type))
    }
}

/// Returns the error for a feature whose type is a part of its name.
fn typed_by_name(id: &str, names: &[&str]) -> Error {
    Error::usage(format!("the type of feature {id} is part of its name"))
        .hint(format!("--features {}", names.join(",")))
}

/// Returns the description of a column's values as a feature.
fn declared(data_type: &DataType) -> Declared<'_> {
    let dense = |item, single| match number_of(item) {
        Some((dtype, unit)) => Declared { ty: FeatureType::Dense(dtype), single, unit },
        None => Declared::of(FeatureType::Raw),
    };
    match data_type {
        json if is_json_feature(json) => Declared::of(FeatureType::Text),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            dense(item.data_type(), false)
        }
        DataType::Struct(fields) => {
            let values = fields.iter().find(|field| field.name() == "values").map(|field| field.data_type());
            let dtype = match values {
                Some(DataType::List(item)) => DType::of_arrow(item.data_type()),
                _ => None,
            };
            Declared::of(dtype.map_or(FeatureType::Raw, FeatureType::Sparse))
        }
        DataType::Utf8 | DataType::LargeUtf8 => Declared::of(FeatureType::Text),
        number => dense(number, true),
    }
}

/// Returns the numbers as which values of a type are stored, and the type itself if they are dates or times.
fn number_of(item: &DataType) -> Option<(DType, Option<&DataType>)> {
    match item {
        DataType::Boolean => Some((DType::UInt8, None)),
        DataType::Date32 | DataType::Time32(_) => Some((DType::Int32, Some(item))),
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            Some((DType::Int64, Some(item)))
        }
        _ => DType::of_arrow(item).map(|dtype| (dtype, None)),
    }
}

/// Returns those of `names` that are a feature with its type.
fn of_id<'n>(names: impl Iterator<Item = &'n str>, id: &str) -> impl Iterator<Item = &'n str> {
    names.filter(move |name| {
        let ty = name.strip_prefix(id).and_then(|rest| rest.strip_prefix(':'));
        ty.is_some_and(|ty| ty.parse::<FeatureType>().is_ok())
    })
}

/// Returns whether nodes or edges of a text have values of several types with one feature id.
pub fn has_several_types(graph: &Model, id: &str) -> bool {
    let nodes = graph.nodes.iter().map(|ty| &ty.properties);
    let mut all = nodes.chain(graph.edges.iter().map(|ty| &ty.properties));
    all.any(|of| of_id(of.iter().map(|property| property.name.as_str()), id).count() > 1)
}
