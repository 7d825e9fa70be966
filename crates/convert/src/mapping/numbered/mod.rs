//! Numbers for everything: how a typed graph is written where nodes are integers, types are numbers and values are features
//! (`docs/mapping.md`).
//!
//! DeepGNN knows a node by an integer of 64 bits, node types and relations by their numbers, and values by the number of a
//! feature: tensors and text. [`Numberer`] stands before a sink of that shape and takes the rows of the typed graph,
//! because ids may be rows, which are known when keys have been looked up. [`Unnumbered`] shows what was written as the
//! typed graph again.
//!
//! Nothing is carried beside the record: keys that are no ids are features, a cell that no feature can say (an empty text, an
//! empty list, a list with nulls) is JSON in a feature of its own, and an edge without a direction is there in both, the second
//! one marked.

mod back;
mod cells;
mod forward;
mod order;
mod rest;

use std::collections::BTreeMap;

use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Direction, EdgeType, Graph, Key, KeyKind, LabelVocabulary, NodeType, Property, Relation, ValueKind, well_known,
};
use serde::{Deserialize, Serialize};

use super::merge::bases;

pub use back::Unnumbered;
pub use cells::holds;
pub use forward::Numberer;

/// Names that the format gives its one node type, its key, and the type of a node.
const NODE: &str = "node";
const NODE_ID: &str = "node_id";
const TYPE: &str = "type";

/// What the ids of nodes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ids {
    /// The integer keys of the one node type: the same 64 bits.
    Keys,
    /// Rows, counted through all node types.
    Rows,
}

/// The relation between a typed graph and the same in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbering {
    /// The typed graph.
    pub typed: Graph,
    /// The same in numbers: one node type, one edge type whose relations are numbers. Behind type and weight each property is a
    /// feature.
    pub numbered: Graph,
    /// What ids are.
    pub ids: Ids,
    /// One for each node type.
    pub nodes: Vec<NumberedNodes>,
    /// One for each edge type.
    pub edges: Vec<NumberedEdges>,
    /// The feature with cells that their own features cannot say, of nodes and of edges.
    pub rest: [Option<usize>; 2],
}

/// How a node type lies among the nodes. Features are indexes of properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedNodes {
    /// Where its ids begin, where these are rows.
    pub base: u64,
    /// The feature with the key, where it is no id.
    pub key: Option<usize>,
    /// The feature with the row, where that means something and is no id.
    pub row: Option<usize>,
    /// The feature with the labels.
    pub labels: Option<usize>,
    /// The property that is the weight as well.
    pub weight: Option<usize>,
    /// The features of its properties.
    pub properties: Vec<usize>,
}

/// How an edge type lies among the edges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedEdges {
    /// The number of its relation.
    pub number: u16,
    /// The property that is the weight, or the feature that is nearest to it.
    pub weight: Option<usize>,
    /// The property that is false for an edge without a direction, where each row has its own.
    pub directed: Option<usize>,
    /// The feature that marks the second of the two edges that an edge without a direction is.
    pub mirror: Option<usize>,
    /// The features of its properties, or 0, the weight.
    pub properties: Vec<usize>,
}

impl Numbering {
    /// The numbering of a typed graph. Ids of features depend on the description alone: properties of all types in their
    /// order, one feature for those of one name and type, and then what is no property.
    ///
    /// # Errors
    /// When the graph has more than nodes, edges and columns that are features, too many types, or a node type whose
    /// number of rows is not known.
    pub fn of(typed: &Graph) -> Result<Numbering> {
        if !typed.hyperedges.is_empty() || !typed.values.is_empty() || !typed.groups.is_empty() {
            return Err(Error::unsupported("only nodes and edges can be numbered"));
        }
        let most = usize::from(u16::MAX);
        if typed.nodes.len() > most || typed.edges.len() > most {
            return Err(Error::unsupported("more than 65535 types of nodes or of edges have no numbers"));
        }
        let ids = match typed.nodes.as_slice() {
            [only] if only.key.kind == KeyKind::Int => Ids::Keys,
            _ => Ids::Rows,
        };
        let bases = if ids == Ids::Rows { bases(typed)? } else { vec![0] };
        let mut features = Features::after(vec![
            Property::new(TYPE, DataType::Int32).required(),
            Property::new(well_known::WEIGHT, DataType::Float32).required(),
        ]);
        let mut nodes = Vec::new();
        for (ty, base) in typed.nodes.iter().zip(bases) {
            let properties = features.of(&ty.properties).map_err(|error| error.at(Place::field(ty.name.clone())))?;
            let weight = weight_of(&ty.properties);
            nodes.push(NumberedNodes { base, key: None, row: None, labels: None, weight, properties });
        }
        for (ty, own) in typed.nodes.iter().zip(&mut nodes) {
            own.key = match (ids, ty.key.kind) {
                (Ids::Keys, _) | (_, KeyKind::Row) => None,
                (_, KeyKind::Tuple) => return Err(Error::unsupported("keys that are lists are no features")),
                (_, _) => Some(features.add(What::Key, &Property::new("key", ty.key.data_type.clone()))?),
            };
            if ids == Ids::Keys && ty.ordered {
                own.row = Some(features.add(What::Row, &Property::new("row", DataType::UInt64))?);
            }
            if ty.labels != LabelVocabulary::None {
                own.labels = Some(features.add(What::Labels, &Property::new("labels", DataType::Utf8))?);
            }
        }
        let rest_of_nodes = features.rest(typed.nodes.iter().flat_map(|ty| &ty.properties))?;
        let key = Key { kind: KeyKind::Int, data_type: DataType::UInt64, name: Some(NODE_ID.to_owned()) };
        let mut node = NodeType::new(NODE, key);
        node.rows = typed.node_rows();
        node.properties = features.properties;

        let mut features = Features::after(vec![Property::new(well_known::WEIGHT, DataType::Float32).required()]);
        let numbers = numbers(typed)?;
        let mut edges = Vec::new();
        for (ty, number) in typed.edges.iter().zip(numbers) {
            let (_, relation, _) = typed.edge_name(ty);
            if ty.key.is_some() || ty.layered || ty.relation == Relation::PerRow || ty.direction == Direction::PerRow {
                let what = "edges with keys, layers, relations or directions of their own cannot be numbered";
                return Err(Error::unsupported(what).at(Place::field(relation)));
            }
            let weight = weight_of(&ty.properties);
            let mut properties = Vec::new();
            for (at, property) in ty.properties.iter().enumerate() {
                // A weight of 32 bits is the weight itself.
                let is_weight = weight == Some(at) && property.data_type == DataType::Float32;
                properties.push(if is_weight { 0 } else { features.property(property)? });
            }
            edges.push(NumberedEdges {
                number,
                weight,
                directed: directed_of(&ty.properties),
                mirror: None,
                properties,
            });
        }
        for (ty, own) in typed.edges.iter().zip(&mut edges) {
            if ty.direction == Direction::Undirected || own.directed.is_some() {
                own.mirror = Some(features.add(What::Mirror, &Property::new("mirror", DataType::UInt8))?);
            }
        }
        let rest_of_edges = features.rest(typed.edges.iter().flat_map(|ty| &ty.properties))?;
        let mut edge = EdgeType::new(0, "", 0);
        edge.relation = Relation::PerRow;
        edge.rows = typed.edge_rows();
        edge.properties = features.properties;
        let numbered = Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() };
        let rest = [rest_of_nodes, rest_of_edges];
        Ok(Numbering { typed: typed.clone(), numbered, ids, nodes, edges, rest })
    }
}

/// The property that is a weight.
fn weight_of(properties: &[Property]) -> Option<usize> {
    let is_weight = |property: &Property| {
        property.name == well_known::WEIGHT && property.kind == ValueKind::Plain && property.data_type.is_numeric()
    };
    properties.iter().position(is_weight)
}

/// The property that says whether an edge has a direction.
fn directed_of(properties: &[Property]) -> Option<usize> {
    let is_directed = |property: &Property| {
        property.name == well_known::DIRECTED
            && property.kind == ValueKind::Plain
            && property.data_type == DataType::Boolean
    };
    properties.iter().position(is_directed)
}

/// The numbers of relations: their own, where all are called by different numbers, else those of the edge types.
fn numbers(typed: &Graph) -> Result<Vec<u16>> {
    let own = |ty: &EdgeType| {
        let name = ty.relation.fixed()?;
        name.parse::<u16>().ok().filter(|number| number.to_string() == name)
    };
    let own: Option<Vec<u16>> = typed.edges.iter().map(own).collect();
    if let Some(numbers) = own {
        let mut distinct = numbers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == numbers.len() {
            return Ok(numbers);
        }
    }
    let number = |at: usize| u16::try_from(at).map_err(|_| Error::unsupported("more than 65535 types of edges"));
    (0..typed.edges.len()).map(number).collect()
}

/// What a feature is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Property(String),
    Key,
    Row,
    Labels,
    Mirror,
    Rest,
}

/// Features that are given ids.
struct Features {
    properties: Vec<Property>,
    /// Properties before the first feature.
    first: usize,
    /// By what they are and the name of their type.
    known: BTreeMap<(What, String), usize>,
}

impl Features {
    fn after(properties: Vec<Property>) -> Self {
        Features { first: properties.len(), properties, known: BTreeMap::new() }
    }

    fn of(&mut self, properties: &[Property]) -> Result<Vec<usize>> {
        properties.iter().map(|property| self.property(property)).collect()
    }

    fn property(&mut self, property: &Property) -> Result<usize> {
        self.add(What::Property(property.name.clone()), property)
    }

    /// The index of the feature that a property becomes.
    fn add(&mut self, what: What, property: &Property) -> Result<usize> {
        let (data_type, kind) = cells::feature(property)?;
        let id = self.properties.len() - self.first;
        let known = self.known.entry((what, format!("{data_type} {kind:?}")));
        let at = *known.or_insert(self.properties.len());
        if at == self.properties.len() {
            let id = u16::try_from(id).map_err(|_| Error::unsupported("more than 65536 features"))?;
            let feature = Property::new(id.to_string(), data_type).of_kind(kind);
            self.properties.push(Property { feature: Some(id.into()), ..feature });
        }
        Ok(at)
    }

    /// The feature for what the others cannot say, if there may be such.
    fn rest<'a>(&mut self, mut properties: impl Iterator<Item = &'a Property>) -> Result<Option<usize>> {
        let needed = properties.any(cells::may_be_elsewhere);
        needed.then(|| self.add(What::Rest, &Property::new("rest", DataType::Utf8))).transpose()
    }
}

/// The type of labels while they are on their way.
fn labels() -> Property {
    Property::new(well_known::LABELS, list_of(DataType::Utf8))
}
