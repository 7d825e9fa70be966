//! The neighbours of one node, read from where its edges are stored.

mod batch;
mod hyperedges;
mod keys;
mod missing;
mod read;

use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Graph, Narrowing, NodeId, NodeType, Side};

pub use batch::NeighborBatch;
pub use hyperedges::{HyperedgeOf, HyperedgesOf};
pub use keys::must_exist;
pub use read::NeighborBatches;

use crate::dataset::Dataset;
use crate::schema::property_name;

/// The requested edges of a node. Undirected edges are always included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sides {
    /// Edges from the node.
    Out,
    /// Edges to the node.
    In,
    /// All edges.
    #[default]
    Both,
}

impl Sides {
    /// Whether directed edges with the node at this end are included.
    pub fn include(self, side: Side) -> bool {
        self == Sides::Both || (self == Sides::Out) == (side == Side::Out)
    }
}

/// A node's key or row, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    Key(String),
    Row(u64),
}

impl Named {
    fn id(&self) -> NodeId<'_> {
        match self {
            Named::Key(key) => NodeId::Key(key),
            Named::Row(row) => NodeId::Row(*row),
        }
    }
}

/// The neighbours of one node: by default over all edges, with all properties.
#[derive(Debug, Clone)]
pub struct Neighbors<'d> {
    dataset: &'d Dataset,
    /// Index of the node's type.
    ty: usize,
    node: Named,
    relation: Option<String>,
    sides: Sides,
    columns: Option<Vec<String>>,
    limit: usize,
}

impl Dataset {
    /// The neighbours of a node. The type can be omitted if there is only one. Reads nothing.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the type does not exist, or if there are several and none is given.
    pub fn neighbors(&self, node_type: Option<&str>, node: NodeId<'_>) -> Result<Neighbors<'_>> {
        let graph = self.source().graph();
        let types = || graph.nodes.iter().map(|ty| ty.name.as_str()).collect::<Vec<_>>().join("|");
        let ty = match (node_type, graph.nodes.len()) {
            (Some(name), _) => graph.node_type(name).ok_or_else(|| {
                let near = did_you_mean(name, graph.nodes.iter().map(|ty| ty.name.as_str()));
                Error::usage(format!("there is no node type {name}{near}")).hint(format!("--type {}", types()))
            })?,
            (None, 1) => 0,
            (None, _) => {
                return Err(Error::usage("there are several node types").hint(format!("--type {}", types())));
            }
        };
        let node = match node {
            NodeId::Key(key) => Named::Key(key.to_owned()),
            NodeId::Row(row) => Named::Row(row),
        };
        let (sides, limit) = (Sides::default(), usize::MAX);
        Ok(Neighbors { dataset: self, ty, node, relation: None, sides, columns: None, limit })
    }
}

impl<'d> Neighbors<'d> {
    /// Restricts to edges of this relation, and hyperedges of this type.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the description has neither. If the rows of edges name the relations,
    /// only reading shows which relations exist: see [`NeighborBatches::others`].
    pub fn relation(mut self, relation: &str) -> Result<Self> {
        let graph = self.graph();
        let known = graph.edges.iter().any(|edge| edge.relation.fixed().is_none_or(|fixed| fixed == relation))
            || graph.hyperedges.iter().any(|own| own.name == relation);
        if !known {
            let names = graph.edges.iter().filter_map(|edge| edge.relation.fixed());
            let near = did_you_mean(relation, names.chain(graph.hyperedges.iter().map(|own| own.name.as_str())));
            return Err(Error::usage(format!("there is no relation {relation}{near}")));
        }
        self.relation = Some(relation.to_owned());
        Ok(self)
    }

    /// Restricts to edges from the node, or to edges to the node; the default is both.
    pub fn sides(mut self, sides: Sides) -> Self {
        self.sides = sides;
        self
    }

    /// Restricts to these properties of edges and hyperedges, by name. Formats that can skip the others do so.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for a name that no edge or hyperedge has as a property.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Result<Self> {
        let columns: Vec<String> = columns.into_iter().map(Into::into).collect();
        let graph = self.graph();
        let of_edges = graph.edges.iter().flat_map(|ty| &ty.properties);
        let names: Vec<&str> =
            of_edges.chain(graph.hyperedges.iter().flat_map(|ty| &ty.properties)).map(property_name).collect();
        if let Some(name) = columns.iter().find(|name| !names.contains(&name.as_str())) {
            let near = did_you_mean(name, names.iter().copied());
            return Err(Error::usage(format!("no edge has a property {name}{near}")));
        }
        self.columns = Some(columns);
        Ok(self)
    }

    /// Limits the number of neighbours, and that of hyperedges. Reading ends at the limit, except that a bounded number
    /// of further edges is counted.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The type of the node.
    pub fn node_type(&self) -> Option<&'d NodeType> {
        self.dataset.source().graph().nodes.get(self.ty)
    }

    /// The edges with the nodes at their other ends, in batches. An undirected edge counts from both ends, whichever
    /// sides are requested, and an undirected loop counts once.
    pub fn batches(&self) -> NeighborBatches<'d> {
        NeighborBatches::new(self.clone())
    }

    /// The hyperedges that the node is a member of, ordered by type and key. Directed ones with the node in their head
    /// count as outgoing, those with the node in their tail as incoming. This needs passes over hyperedges and their
    /// members, unless the format knows that there are none.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn hyperedges(&self) -> Result<HyperedgesOf> {
        hyperedges::read(self)
    }

    fn graph(&self) -> &'d Graph {
        self.dataset.source().graph()
    }

    /// Whether the property is requested.
    fn wants(&self, property: &str) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.iter().any(|name| name == property))
    }

    /// The request to the format for edges of one type.
    fn narrowing(&self, edge: usize) -> Option<Narrowing> {
        self.columns.as_ref()?;
        let properties = &self.graph().edges.get(edge)?.properties;
        let wanted = properties.iter().enumerate().filter(|(_, property)| self.wants(property_name(property)));
        Some(Narrowing { properties: wanted.map(|(at, _)| at).collect(), ..Narrowing::least() })
    }
}
