//! Types in one table of nodes and one of edges, properties in bags: how a typed graph is written to NOCK, and how NOCK
//! is read as a typed graph (`docs/mapping.md`).

use std::collections::{BTreeMap, BTreeSet};

use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{
    Cardinality, Direction, EdgeType, Graph, Key, LabelVocabulary, NodeType, Property, Relation, ValueKind, well_known,
};
use serde::{Deserialize, Serialize};

use super::json_in::JsonColumn;
use super::{EdgeSlots, Layout, Names, NodeSlots, Slot};

/// Name of the node type in bundled graphs.
const NODE: &str = "node";

/// The relation between a typed graph and a bundled one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundling {
    /// The typed graph.
    pub typed: Graph,
    /// The bundled graph: one node type, one edge type.
    pub bundled: Graph,
    /// One for each node type of the typed graph.
    pub nodes: Vec<NodeSlots>,
    /// One for each edge type of the typed graph.
    pub edges: Vec<EdgeSlots>,
}

impl Bundling {
    /// Where the typed graph is in the bundled one.
    pub fn layout(&self) -> Layout {
        Layout::new(&self.typed, &self.bundled, self.nodes.clone(), self.edges.clone())
    }

    /// The bundling of a typed graph: each node type is a label and, if there are several, the prefix of the names of
    /// its nodes; each edge type is a relation; properties are members of the bag, except the well-known ones.
    ///
    /// # Errors
    /// If the graph has something that a bundled graph cannot store.
    pub fn of_typed(typed: &Graph) -> Result<Self> {
        if !typed.hyperedges.is_empty() || !typed.values.is_empty() || !typed.groups.is_empty() {
            return Err(Error::unsupported("only nodes and edges can be bundled"));
        }
        let labels = label_names(typed);
        let mut taken = Names::reserving(labels.values().map(String::as_str));
        let mut prefixes = Names::default();
        let several = typed.nodes.len() > 1;
        let mut nodes = Vec::new();
        for ty in &typed.nodes {
            let label = taken.give(&ty.name, |c| c != ',');
            let prefix = match several {
                true => format!("{}/", prefixes.give(&ty.name, |c| c != '/')),
                false => String::new(),
            };
            let own = match &ty.labels {
                LabelVocabulary::Declared(own) => own.as_slice(),
                _ => &[],
            };
            let renamed = own.iter().filter_map(|name| Some((name.clone(), labels.get(name)?.clone())));
            let renamed = renamed.filter(|(typed, bundled)| typed != bundled).collect();
            let properties = slots(&ty.properties, 0).map_err(|error| error.at(Place::field(ty.name.clone())))?;
            nodes.push(NodeSlots { label: Some(label), prefix, labels: renamed, properties });
        }
        let mut edges = Vec::new();
        for ty in &typed.edges {
            let (_, relation, _) = typed.edge_name(ty);
            if ty.key.is_some() || ty.layered {
                return Err(Error::unsupported("edges with keys or layers cannot be bundled without conversion")
                    .at(Place::field(relation)));
            }
            let directed = (ty.direction != Direction::Directed).then(|| {
                let used = ty.properties.iter().map(|property| property.name.as_str());
                Names::reserving(used).give(well_known::DIRECTED, |_| true)
            });
            let properties = slots(&ty.properties, 1).map_err(|error| error.at(Place::field(relation.clone())))?;
            edges.push(EdgeSlots { relation, directed, properties });
        }
        Ok(Bundling { typed: typed.clone(), bundled: bundled(typed), nodes, edges })
    }
}

/// The bundled graph of a typed one.
fn bundled(typed: &Graph) -> Graph {
    let truth = |of: &[&Vec<Property>]| {
        let wide = |property: &Property| is_truth(property) && property.data_type == DataType::Float64;
        let double = of.iter().any(|properties| properties.iter().any(wide));
        let data_type = if double { DataType::Float64 } else { DataType::Float32 };
        Property::new(well_known::TRUTH, data_type).required()
    };
    let mut node = NodeType::new(NODE, Key::utf8());
    node.labels = LabelVocabulary::Open;
    node.rows = typed.node_rows();
    node.properties = vec![
        truth(&typed.nodes.iter().map(|ty| &ty.properties).collect::<Vec<_>>()),
        Property::new(well_known::IS_RDF, DataType::Boolean).required(),
        Property::bag(),
    ];
    let mut edge = EdgeType::new(0, "", 0);
    edge.relation = Relation::PerRow;
    edge.rows = typed.edge_rows();
    edge.properties = vec![truth(&typed.edges.iter().map(|ty| &ty.properties).collect::<Vec<_>>()), Property::bag()];
    Graph { name: typed.name.clone(), nodes: vec![node], edges: vec![edge], ..Graph::default() }
}

/// `truth` is the well-known column only if every row has it.
fn is_truth(property: &Property) -> bool {
    let float = matches!(property.data_type, DataType::Float32 | DataType::Float64);
    property.name == well_known::TRUTH && float && is_stated(property)
}

fn is_stated(property: &Property) -> bool {
    !property.nullable && property.kind == ValueKind::Plain && property.cardinality == Cardinality::Single
}

/// Where the properties of a type are stored; the well-known columns begin at 0, and `is_rdf` exists only for nodes.
fn slots(properties: &[Property], edge: usize) -> Result<Vec<Slot>> {
    properties
        .iter()
        .map(|property| {
            if is_truth(property) {
                return Ok(Slot::Column(0));
            }
            if edge == 0
                && property.name == well_known::IS_RDF
                && property.data_type == DataType::Boolean
                && is_stated(property)
            {
                return Ok(Slot::Column(1));
            }
            if property.kind == ValueKind::Bag {
                return Ok(Slot::Rest);
            }
            // Data that cannot be read back must not be written.
            JsonColumn::new(property).map_err(|error| error.at(Place::field(property.name.clone())))?;
            Ok(Slot::Member(property.name.clone()))
        })
        .collect()
}

/// The bundled name of each label: unchanged, unless it has a comma.
fn label_names(typed: &Graph) -> BTreeMap<String, String> {
    let real: BTreeSet<&String> = typed
        .nodes
        .iter()
        .filter_map(|ty| match &ty.labels {
            LabelVocabulary::Declared(labels) => Some(labels),
            _ => None,
        })
        .flatten()
        .collect();
    let legal = |name: &str| !name.is_empty() && !name.contains(',');
    let mut names = Names::default();
    let mut given = BTreeMap::new();
    // Legal names first: they are kept, whatever other names exist.
    for name in real.iter().filter(|name| legal(name)).chain(real.iter().filter(|name| !legal(name))) {
        given.insert((*name).clone(), names.give(name, |c| c != ','));
    }
    given
}
