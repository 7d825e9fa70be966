//! Numbers instead of keys, types and values: how a typed graph is written if nodes are integers, types are numbers and
//! values are features (`docs/mapping.md`).
//!
//! DeepGNN identifies a node by a 64-bit integer, node types and relations by numbers, and values by the number of a
//! feature: tensors and text. [`Numberer`] is in front of a sink of that shape and takes the rows of the typed graph,
//! because ids may be rows, which are known after keys were looked up. [`Unnumbered`] shows the output as the typed
//! graph again.
//!
//! Only the record goes into the sidecar: keys that are not ids are features, a cell that no feature can represent (an
//! empty text, an empty list, a list with nulls) is JSON in an additional feature, and an undirected edge is stored in
//! both directions, the second one marked.

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

use super::one_table::bases;

pub use back::Unnumbered;
pub use cells::holds;
pub use forward::Numberer;

/// The format's names for its one node type, its key, and the type of a node.
const NODE: &str = "node";
const NODE_ID: &str = "node_id";
const TYPE: &str = "type";

/// The ids of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ids {
    /// The integer keys of the one node type: the same 64 bits.
    Keys,
    /// Row numbers, counted across all node types.
    Rows,
}

/// The relation between a typed graph and the same graph in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbering {
    /// The typed graph.
    pub typed: Graph,
    /// The same in numbers: one node type, and one edge type whose relations are numbers. After type and weight, each
    /// property is a feature.
    pub numbered: Graph,
    /// The meaning of ids.
    pub ids: Ids,
    /// One for each node type.
    pub nodes: Vec<NumberedNodes>,
    /// One for each edge type.
    pub edges: Vec<NumberedEdges>,
    /// The features with cells that other features cannot represent, for nodes and for edges.
    pub rest: [Option<usize>; 2],
}

/// How a node type is stored. Features are indexes of properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedNodes {
    /// Its first id, if ids are rows.
    pub base: u64,
    /// The feature with the key, if the key is not the id.
    pub key: Option<usize>,
    /// The feature with the row, if the row has a meaning and is not the id.
    pub row: Option<usize>,
    /// The feature with the labels.
    pub labels: Option<usize>,
    /// The property that is also the weight.
    pub weight: Option<usize>,
    /// The features of its properties.
    pub properties: Vec<usize>,
}

/// How an edge type is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedEdges {
    /// The number of its relation.
    pub number: u16,
    /// The property that is the weight, or the feature with the exact value.
    pub weight: Option<usize>,
    /// The property that is false for an undirected edge, if each row has its own direction.
    pub directed: Option<usize>,
    /// The feature that marks the second of the two edges for an undirected edge.
    pub mirror: Option<usize>,
    /// The features of its properties; 0 is the weight.
    pub properties: Vec<usize>,
}

impl Numbering {
    /// The numbering of a typed graph. Ids of features depend only on the description: properties of all types in
    /// order, one feature for each name and type, followed by features that are not properties.
    ///
    /// # Errors
    /// If the graph has more than nodes, edges and columns that can be features, too many types, or a node type whose
    /// row count is unknown.
    pub fn of(typed: &Graph) -> Result<Numbering> {
        if !typed.hyperedges.is_empty() || !typed.values.is_empty() || !typed.groups.is_empty() {
            return Err(Error::unsupported("only nodes and edges can be numbered"));
        }
        let most = usize::from(u16::MAX);
        if typed.nodes.len() > most || typed.edges.len() > most {
            return Err(Error::unsupported("more than 65535 node types or edge types cannot be numbered"));
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
                (_, KeyKind::Tuple) => return Err(Error::unsupported("keys that are lists cannot be features")),
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
                // A 32-bit weight is the weight itself.
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

/// The property that states whether an edge is directed.
fn directed_of(properties: &[Property]) -> Option<usize> {
    let is_directed = |property: &Property| {
        property.name == well_known::DIRECTED
            && property.kind == ValueKind::Plain
            && property.data_type == DataType::Boolean
    };
    properties.iter().position(is_directed)
}

/// The numbers of relations: their names, if all are different numbers; otherwise those of the edge types.
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
    let number = |at: usize| u16::try_from(at).map_err(|_| Error::unsupported("more than 65535 edge types"));
    (0..typed.edges.len()).map(number).collect()
}

/// The role of a feature.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Property(String),
    Key,
    Row,
    Labels,
    Mirror,
    Rest,
}

/// Assigns ids to features.
struct Features {
    properties: Vec<Property>,
    /// Properties before the first feature.
    first: usize,
    /// By role and the name of their type.
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

    /// The index of the feature for a property.
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

    /// The feature for what the others cannot represent, if it can be needed.
    fn rest<'a>(&mut self, mut properties: impl Iterator<Item = &'a Property>) -> Result<Option<usize>> {
        let needed = properties.any(cells::may_be_elsewhere);
        needed.then(|| self.add(What::Rest, &Property::new("rest", DataType::Utf8))).transpose()
    }
}

/// The type of labels during the conversion.
fn labels() -> Property {
    Property::new(well_known::LABELS, list_of(DataType::Utf8))
}
