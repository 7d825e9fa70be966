//! The meaning of the model's columns in these formats.

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{Graph, Key, KeyKind, Property, Relation, ValueKind, well_known};

use crate::batches::TYPE;
use crate::feature::FeatureType;
use crate::{DType, rules};

/// The meaning of a column of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The type of a node.
    Type,
    /// The weight.
    Weight,
    /// The beginning of a lifetime.
    Created,
    /// The end of a lifetime.
    Removed,
    /// A feature: its id and the type of its values.
    Feature(u32, FeatureType),
    /// A feature that is not written.
    LeftOut,
}

impl Role {
    /// Returns id and type of a feature.
    pub fn feature(&self) -> Option<(u32, FeatureType)> {
        match self {
            Role::Feature(id, ty) => Some((*id, *ty)),
            _ => None,
        }
    }
}

/// The columns of nodes and of edges.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    pub nodes: Vec<Role>,
    pub edges: Vec<Role>,
    /// The type of all edges, if rows state none.
    pub relation: Option<i32>,
    pub has_edges: bool,
}

impl Shape {
    /// Determines them for a graph with one node type with integer keys and at most one edge type.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the graph has anything else.
    pub fn of(graph: &Graph) -> Result<Shape> {
        let [node] = graph.nodes.as_slice() else {
            return Err(Error::usage("a DeepGNN graph must have one node type"));
        };
        if !is_integer(&node.key) {
            return Err(Error::usage("nodes of DeepGNN must have integer keys"));
        }
        if node.labels != isomorph_model::LabelVocabulary::None {
            return Err(Error::usage("nodes of DeepGNN have no labels"));
        }
        let others = !graph.hyperedges.is_empty() || !graph.values.is_empty() || !graph.groups.is_empty();
        if graph.edges.len() > 1 || others {
            return Err(Error::usage("a DeepGNN graph can only have nodes and one edge table"));
        }
        let mut shape = Shape { nodes: roles(&node.properties, true)?, ..Shape::default() };
        if let Some(edge) = graph.edges.first() {
            if edge.key.is_some() || edge.layered || edge.direction != isomorph_model::Direction::Directed {
                return Err(Error::usage("edges of DeepGNN must be directed, without keys and layers"));
            }
            shape.edges = roles(&edge.properties, false)?;
            shape.has_edges = true;
            if let Relation::Fixed(name) = &edge.relation {
                shape.relation = Some(relation(name)?);
            }
        }
        Ok(shape)
    }

    /// Drops features of types that `has` does not accept.
    pub fn keep(&mut self, has: impl Fn(FeatureType) -> bool) {
        let unheld = |role: &&mut Role| role.feature().is_some_and(|(_, ty)| !has(ty));
        self.nodes.iter_mut().chain(&mut self.edges).filter(unheld).for_each(|role| *role = Role::LeftOut);
    }

    /// Returns whether edges have times.
    pub fn edge_times(&self) -> bool {
        self.edges.iter().any(|role| matches!(role, Role::Created | Role::Removed))
    }

    /// Returns whether nodes have times.
    pub fn node_times(&self) -> bool {
        self.nodes.iter().any(|role| matches!(role, Role::Created | Role::Removed))
    }

    /// Returns ids of features of nodes, and then of edges, that have values of several types.
    pub fn several(&self) -> impl Iterator<Item = u32> {
        [&self.nodes, &self.edges].into_iter().flat_map(|roles| {
            let mut ids: Vec<u32> = roles.iter().filter_map(|role| role.feature()).map(|(id, _)| id).collect();
            ids.sort_unstable();
            let mut several: Vec<u32> = ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
            several.dedup();
            several
        })
    }

    /// Returns the types of all features, those of nodes first.
    pub fn features(&self) -> impl Iterator<Item = (u32, FeatureType)> {
        self.nodes.iter().chain(&self.edges).filter_map(Role::feature)
    }
}

/// Returns the number of a relation.
///
/// # Errors
/// Returns [`rules::TYPE`] if the relation is not a number of a type.
pub(super) fn relation(name: &str) -> Result<i32> {
    let number = name.parse::<u16>().ok().filter(|number| number.to_string() == name);
    let wrong = || Error::broken(&rules::TYPE, format!("relation {name:?} is not a valid edge type"));
    number.map(i32::from).ok_or_else(wrong)
}

fn is_integer(key: &Key) -> bool {
    key.kind == KeyKind::Int && key.data_type.is_integer()
}

fn roles(properties: &[Property], of_nodes: bool) -> Result<Vec<Role>> {
    let role = |property: &Property| match (property.name.as_str(), property.feature) {
        (_, Some(id)) if id <= u32::from(u16::MAX) => feature_type(property).map(|ty| Role::Feature(id, ty)),
        (TYPE, None) if of_nodes => Ok(Role::Type),
        (well_known::WEIGHT, None) => Ok(Role::Weight),
        (well_known::CREATED_AT, None) => Ok(Role::Created),
        (well_known::REMOVED_AT, None) => Ok(Role::Removed),
        (name, _) => Err(Error::usage(format!("property {name:?} has no feature id from 0 to 65535"))),
    };
    properties.iter().map(role).collect()
}

/// Returns the type of the values of a feature that is a column.
fn feature_type(property: &Property) -> Result<FeatureType> {
    let unfit = || {
        let name = &property.name;
        Error::usage(format!("property {name:?} cannot be a feature: it must have numbers, text or bytes"))
    };
    let items = |data_type: &DataType| match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            DType::of_arrow(item.data_type())
        }
        _ => None,
    };
    match (&property.kind, &property.data_type) {
        (ValueKind::Tensor { sparse: false, .. }, data_type) => items(data_type).map(FeatureType::Dense),
        (ValueKind::Tensor { sparse: true, .. }, DataType::Struct(fields)) => {
            let values = fields.iter().find(|field| field.name() == "values");
            values.and_then(|field| items(field.data_type())).map(FeatureType::Sparse)
        }
        // For values at times, the name states their type.
        (ValueKind::Raw, DataType::Binary | DataType::LargeBinary) => {
            let named = property.name.split_once(':').and_then(|(_, ty)| ty.parse().ok());
            Some(named.filter(|ty| matches!(ty, FeatureType::Timed(_))).unwrap_or(FeatureType::Raw))
        }
        (ValueKind::Plain, DataType::Utf8 | DataType::LargeUtf8) => Some(FeatureType::Text),
        _ => None,
    }
    .ok_or_else(unfit)
}
