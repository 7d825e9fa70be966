//! Everything as nodes and edges: how a graph with hyperedges, groups, layers and keys of edges is written if there are
//! only typed nodes and edges with columns (`docs/mapping.md`).
//!
//! A hyperedge is a node with edges to its members, a group is a node with edges to the nodes and hyperedges in it.
//! Columns hold the layers and coefficients of ends, the key of an edge and its direction, and, as lists, the groups
//! that an edge is in. Nothing is dropped, so the way back needs only the record: [`Reified`] shows the graph as nodes
//! and edges, [`Restored`] is the inverse.

mod columns;
mod forward;
mod restore;
mod tables;

use std::collections::BTreeMap;

use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::schema::{GroupKind, HyperedgeType, Owner};
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Batch, Direction, EdgeType, Graph, Key, KeyKind, NodeType, Property, Relation, Request, Source, Tables, well_known,
};
use serde::{Deserialize, Serialize};

use super::Names;

pub use forward::Reified;
pub use restore::Restored;

/// Roles of members, as the model names them.
pub(super) const ROLES: [&str; 3] = ["head", "tail", "member"];

/// The relation between a graph and the same graph as nodes and edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reification {
    /// The graph.
    pub rich: Graph,
    /// The same as nodes and edges; its first node and edge types are those of the graph.
    pub plain: Graph,
    /// For each edge type of the graph, what became columns.
    pub edges: Vec<EdgeColumns>,
    /// For each hyperedge type, where it is stored.
    pub hyperedges: Vec<HyperedgeTables>,
    /// For each kind of groups, where it is stored.
    pub groups: Vec<GroupTables>,
}

/// The parts of an edge type that became columns, by their index in the plain type.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EdgeColumns {
    /// The key.
    pub key: Option<usize>,
    /// Whether the edge is directed.
    pub directed: Option<usize>,
    /// Layers of source and target.
    pub layers: Option<[usize; 2]>,
    /// Coefficients of source and target.
    pub coefficients: Option<[usize; 2]>,
    /// The groups that the edge is in.
    pub memberships: Vec<EdgeMemberships>,
}

/// Groups that edges are in: lists of the same length, one for the keys of the groups and one for each property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeMemberships {
    /// The kind of groups.
    pub kind: usize,
    /// The membership table of that kind.
    pub table: usize,
    /// Column of the groups' keys.
    pub groups: usize,
    /// Columns of the properties of the memberships.
    pub properties: Vec<usize>,
}

/// Where the hyperedges of a type are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HyperedgeTables {
    /// The node type.
    pub node: usize,
    /// Its column that states whether a hyperedge is directed.
    pub directed: Option<usize>,
    /// The edge types to the members, by role as in [`ROLES`]. Columns: the layer if members have one, the coefficient.
    pub roles: [Option<usize>; 3],
    /// Whether members have layers.
    pub layered: bool,
}

/// Where the groups of a kind are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTables {
    /// The node type.
    pub node: usize,
    /// For each membership table, its edge type; `None` if the members are edges, which have it as columns.
    pub memberships: Vec<Option<usize>>,
}

impl Reification {
    /// Whether a graph has anything besides nodes, edges and columns, and the format does not; `by_row` states that the
    /// format stores the direction of each edge.
    pub fn is_needed(graph: &Graph, by_row: bool) -> bool {
        let rich = |ty: &EdgeType| ty.key.is_some() || ty.layered || ty.direction == Direction::PerRow && !by_row;
        !graph.hyperedges.is_empty() || !graph.groups.is_empty() || graph.edges.iter().any(rich)
    }

    /// The reification of a graph. Names depend only on the description.
    ///
    /// # Errors
    /// If the graph has value tables, relations by row or keyed edges whose keys are not text.
    pub fn of(rich: &Graph) -> Result<Reification> {
        if !rich.values.is_empty() {
            return Err(Error::unsupported("value tables cannot be written as nodes and edges yet"));
        }
        // Documents stay in the record.
        let mut plain = Graph {
            name: rich.name.clone(),
            nodes: rich.nodes.clone(),
            metadata: rich.metadata.clone(),
            ..Graph::default()
        };
        for ty in &mut plain.nodes {
            name_key(&mut ty.key, &ty.properties);
        }
        let mut names = Names::reserving(rich.nodes.iter().map(|ty| ty.name.as_str()));
        let hyper_names: Vec<String> = rich.hyperedges.iter().map(|ty| names.give(&ty.name, |_| true)).collect();
        let group_names: Vec<String> = rich.groups.iter().map(|kind| names.give(&kind.kind, |_| true)).collect();
        let mut edges = Vec::new();
        for (at, ty) in rich.edges.iter().enumerate() {
            let (ty, columns) = edge_type(rich, at, ty)?;
            plain.edges.push(ty);
            edges.push(columns);
        }
        let mut relations = Names::reserving(rich.edges.iter().filter_map(|ty| ty.relation.fixed()));
        let mut hyperedges = Vec::new();
        for (ty, name) in rich.hyperedges.iter().zip(&hyper_names) {
            hyperedges.push(hyperedge_tables(ty, name, &mut plain, &mut relations)?);
        }
        let mut groups = Vec::new();
        for (kind, name) in rich.groups.iter().zip(&group_names) {
            groups.push(group_tables(rich, kind, name, &hyperedges, &mut plain, &mut relations)?);
        }
        Ok(Reification { rich: rich.clone(), plain, edges, hyperedges, groups })
    }

    /// The same with the counts of hyperedges and groups: if the description does not state them, they are read.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn counted(mut self, source: &dyn Source) -> Result<Reification> {
        let is_known = |tables: usize| self.plain.nodes.get(tables).is_some_and(|ty| ty.rows.is_some());
        let all = self.hyperedges.iter().map(|tables| tables.node).chain(self.groups.iter().map(|tables| tables.node));
        if all.clone().all(is_known) {
            return Ok(self);
        }
        let mut rows: BTreeMap<usize, u64> = all.map(|ty| (ty, 0)).collect();
        for mut part in source.scan(&Request::of(Tables::Rest))? {
            part.read(&mut |batch| {
                let ty = match &batch {
                    Batch::Hyperedges(batch) => self.hyperedges.get(batch.ty).map(|tables| tables.node),
                    Batch::Groups(batch) => self.groups.get(batch.kind).map(|tables| tables.node),
                    _ => None,
                };
                if let Some(count) = ty.and_then(|ty| rows.get_mut(&ty)) {
                    *count += batch.rows() as u64;
                }
                Ok(())
            })?;
        }
        for (ty, count) in rows {
            if let Some(ty) = self.plain.nodes.get_mut(ty) {
                ty.rows = Some(count);
            }
        }
        Ok(self)
    }
}

/// A key that is a column has a name.
fn name_key(key: &mut Key, properties: &[Property]) {
    if key.kind != KeyKind::Row && key.name.is_none() {
        let taken = properties.iter().map(|property| property.name.as_str());
        key.name = Some(Names::reserving(taken).give("id", |_| true));
    }
}

/// Adds columns with unused names.
struct Adding {
    properties: Vec<Property>,
    names: Names,
}

impl Adding {
    fn to(properties: &[Property]) -> Self {
        let names = Names::reserving(properties.iter().map(|property| property.name.as_str()));
        Adding { properties: properties.to_vec(), names }
    }

    fn column(&mut self, name: &str, data_type: DataType) -> usize {
        let name = self.names.give(name, |_| true);
        self.properties.push(Property::new(name, data_type));
        self.properties.len() - 1
    }
}

fn edge_type(rich: &Graph, at: usize, ty: &EdgeType) -> Result<(EdgeType, EdgeColumns)> {
    let refused = |what: &str| {
        let (_, relation, _) = rich.edge_name(ty);
        Err(Error::unsupported(what.to_owned()).at(Place::field(relation)))
    };
    if ty.relation == Relation::PerRow {
        return refused("relations by row cannot be written as edge types here");
    }
    let mut columns = EdgeColumns::default();
    let mut adding = Adding::to(&ty.properties);
    if let Some(key) = &ty.key {
        if key.kind != KeyKind::Utf8 {
            return refused("keys of edges that are not text cannot be written as a column yet");
        }
        columns.key = Some(adding.column(key.name.as_deref().unwrap_or("id"), DataType::Utf8));
    }
    if ty.direction == Direction::PerRow {
        columns.directed = Some(adding.column(well_known::DIRECTED, DataType::Boolean));
    }
    if ty.layered {
        let labels = || list_of(DataType::Utf8);
        columns.layers = Some([adding.column("source_layer", labels()), adding.column("target_layer", labels())]);
        let number = DataType::Float64;
        columns.coefficients =
            Some([adding.column("source_coefficient", number.clone()), adding.column("target_coefficient", number)]);
    }
    for (kind, group) in rich.groups.iter().enumerate() {
        for (table, of) in group.memberships.iter().enumerate().filter(|(_, table)| table.of == Owner::Edges(at)) {
            let groups = adding.column(&format!("{}s", group.kind), list_of(DataType::Utf8));
            let name = |property: &Property| format!("{}_{}", group.kind, property.name);
            let list = |property: &Property| list_of(property.data_type.clone());
            let properties = of.properties.iter().map(|property| adding.column(&name(property), list(property)));
            columns.memberships.push(EdgeMemberships { kind, table, groups, properties: properties.collect() });
        }
    }
    let direction = if ty.direction == Direction::PerRow { Direction::Directed } else { ty.direction };
    let plain = EdgeType { key: None, layered: false, direction, properties: adding.properties, ..ty.clone() };
    Ok((plain, columns))
}

fn hyperedge_tables(
    ty: &HyperedgeType,
    name: &str,
    plain: &mut Graph,
    relations: &mut Names,
) -> Result<HyperedgeTables> {
    let mut adding = Adding::to(&ty.properties);
    let directed = (ty.direction == Direction::PerRow).then(|| adding.column(well_known::DIRECTED, DataType::Boolean));
    let mut node = NodeType::new(name, ty.key.clone());
    node.properties = adding.properties;
    node.rows = ty.rows;
    name_key(&mut node.key, &node.properties);
    plain.nodes.push(node);
    let at = plain.nodes.len() - 1;
    let used = match ty.direction {
        Direction::Directed => [true, true, false],
        Direction::Undirected => [false, false, true],
        Direction::PerRow => [true; 3],
    };
    let mut roles = [None; 3];
    for ((role, name_of_role), used) in roles.iter_mut().zip(ROLES).zip(used) {
        if used {
            let mut adding = Adding::to(&[]);
            if ty.layered {
                adding.column("layer", list_of(DataType::Utf8));
            }
            adding.column(well_known::COEFFICIENT, DataType::Float64);
            let relation = relations.give(&format!("{name}_{name_of_role}"), |_| true);
            let mut edge = EdgeType::new(at, relation, ty.ends);
            edge.properties = adding.properties;
            plain.edges.push(edge);
            *role = Some(plain.edges.len() - 1);
        }
    }
    Ok(HyperedgeTables { node: at, directed, roles, layered: ty.layered })
}

fn group_tables(
    rich: &Graph,
    kind: &GroupKind,
    name: &str,
    hyperedges: &[HyperedgeTables],
    plain: &mut Graph,
    relations: &mut Names,
) -> Result<GroupTables> {
    let mut node = NodeType::new(name, plain_key(&kind.key)?);
    node.properties.clone_from(&kind.properties);
    node.ordered = kind.ordered;
    name_key(&mut node.key, &node.properties);
    plain.nodes.push(node);
    let at = plain.nodes.len() - 1;
    let mut memberships = Vec::new();
    for table in &kind.memberships {
        let target = match table.of {
            Owner::Nodes(ty) => ty,
            Owner::Hyperedges(ty) => hyperedges.get(ty).map(|tables| tables.node).unwrap_or_default(),
            Owner::Edges(ty) => {
                if rich.edges.get(ty).is_none_or(|ty| ty.key.is_none()) {
                    return Err(Error::unsupported("edges without a key cannot be in groups"));
                }
                memberships.push(None);
                continue;
            }
        };
        let member = plain.nodes.get(target).map(|ty| ty.name.as_str()).unwrap_or_default();
        let relation = relations.give(&format!("{name}_{member}"), |_| true);
        let mut edge = EdgeType::new(at, relation, target);
        edge.properties.clone_from(&table.properties);
        plain.edges.push(edge);
        memberships.push(Some(plain.edges.len() - 1));
    }
    Ok(GroupTables { node: at, memberships })
}

/// Lists of labels are written as JSON text.
fn plain_key(key: &Key) -> Result<Key> {
    match key.kind {
        KeyKind::Tuple => Ok(Key { name: key.name.clone(), ..Key::utf8() }),
        KeyKind::Row => Err(Error::unsupported("groups without keys cannot be written as nodes")),
        _ => Ok(key.clone()),
    }
}
