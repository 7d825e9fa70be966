//! Which feature is asked for, and what it is by the graph's own word.

use arrow_schema::DataType;
use isomorph_deepgnn::{DType, FeatureType};
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Graph as Model, Property, Relation};

use super::feature::Feature;
use super::keyed::KeyedGraph;
use super::values::Elements;
use crate::{LABELS, is_json_feature};

/// What a feature is.
#[derive(Clone, Copy)]
pub(super) struct Declared<'a> {
    pub ty: FeatureType,
    /// One number, and no list of them.
    pub single: bool,
    /// What the numbers stand for, where they are days or times.
    pub unit: Option<&'a DataType>,
}

impl Declared<'static> {
    /// Values of a type, nothing more being known of them.
    pub fn of(ty: FeatureType) -> Self {
        Declared { ty, single: false, unit: None }
    }
}

/// A feature that is asked for, found in the graph.
pub(super) struct Found<'a> {
    pub id: u32,
    /// What the graph calls it.
    pub name: String,
    /// What it is; bytes where the graph does not say, as a binary by itself.
    pub what: Declared<'a>,
    /// As what it is wanted, and how many numbers, if not all; else it is shown as what it is.
    pub wanted: Option<(FeatureType, Option<usize>)>,
}

impl KeyedGraph {
    /// The feature that is asked for. Of a graph that was read it is a property of this name and no other: the number of a feature is the
    /// name of the property that a text has it as, `ID:TYPE` where it has several types.
    ///
    /// # Errors
    /// When there is none, or the elements have properties of several types under its name.
    pub(super) fn found(&self, feature: &Feature, elements: &Elements) -> Result<Found<'_>> {
        let wanted = feature.ty.map(|ty| (ty, feature.count));
        let Some(names) = &self.names else {
            let id = feature.id.parse().map_err(|_| {
                Error::usage(format!("{:?} is no feature", feature.id)).hint("features of a binary are numbers")
            })?;
            // Values at times have their type in their name: nothing else reads their bytes.
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
        // A property may be called like a feature with its type.
        let readings = [(Some(feature.text.clone()), None), (typed, wanted), (Some(feature.id.clone()), wanted)];
        for (name, wanted) in readings {
            let Some(name) = name else { continue };
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
        let error = Error::usage(format!("{:?} is no feature{near}", feature.id));
        Err(if known.is_empty() { error } else { error.hint(format!("--features {}", known.join("|"))) })
    }

    /// What the graph says that a property of `elements` is: its type, or what travels with a binary.
    fn declared(&self, name: &str, elements: &Elements) -> Result<Declared<'_>> {
        let of = |ty: &'_ [Property]| ty.iter().position(|property| property.name == name);
        // The property of each type of elements that has it, and whether elements are of this type.
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
        // Where none of the elements can have it, any type will do for nothing.
        let Some((first, property, _)) = asked.next().or(found.first()) else {
            let labels = name == LABELS && !elements.are_edges() && self.names.is_some();
            return Ok(Declared::of(if labels { FeatureType::Text } else { FeatureType::Raw }));
        };
        if let Some((other, others, _)) = asked.find(|(_, other, _)| other.data_type != property.data_type) {
            let message =
                format!("{name} is {} of type {first}, and {} of type {other}", property.data_type, others.data_type);
            return Err(Error::usage(message).hint("ask for those of one type at a time"));
        }
        Ok(declared(&property.data_type))
    }
}

/// What is said of a feature whose type is a part of its name.
fn typed_by_name(id: &str, names: &[&str]) -> Error {
    Error::usage(format!("feature {id} has its type in its name")).hint(format!("--features {}", names.join(",")))
}

/// What values of a column of this type are as a feature.
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

/// The numbers that values of a type are stored as, and the type itself where they stand for days or times.
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

/// Of `names` those that are a feature with its type.
fn of_id<'n>(names: impl Iterator<Item = &'n str>, id: &str) -> impl Iterator<Item = &'n str> {
    names.filter(move |name| {
        let ty = name.strip_prefix(id).and_then(|rest| rest.strip_prefix(':'));
        ty.is_some_and(|ty| ty.parse::<FeatureType>().is_ok())
    })
}

/// Whether nodes or edges of a text have values of several types under one feature id.
pub fn has_several_types(graph: &Model, id: &str) -> bool {
    let nodes = graph.nodes.iter().map(|ty| &ty.properties);
    let mut all = nodes.chain(graph.edges.iter().map(|ty| &ty.properties));
    all.any(|of| of_id(of.iter().map(|property| property.name.as_str()), id).count() > 1)
}
