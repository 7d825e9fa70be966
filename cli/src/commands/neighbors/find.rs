//! Finding the neighbours of one node.

use std::sync::Arc;

use isomorph::convert::{Renderer, Resources, Silent};
use isomorph::model::{Batch, Direction, EdgeBatch, Ends, Graph, KeyKind, NodeId, Part, Request, Side, Source};
use isomorph::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};

use super::incident::{self, Incident};
use super::keys;

/// One neighbour, over one edge.
#[derive(Debug, Serialize)]
pub struct Neighbor {
    /// `out` or `in`.
    pub direction: &'static str,
    /// Relation of the edge.
    pub relation: String,
    /// Type of the neighbour.
    #[serde(rename = "type")]
    pub ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Value>,
    directed: bool,
    properties: Map<String, Value>,
}

impl Neighbor {
    /// Its key, or its row where the row is the key.
    pub fn identity(&self) -> String {
        match (&self.key, &self.row) {
            (Some(Value::String(text)), _) => text.clone(),
            (Some(key), _) => key.to_string(),
            (None, Some(row)) => format!("row {row}"),
            (None, None) => String::new(),
        }
    }

    /// The word before it: whether the edge leaves the node, reaches it, or has no direction.
    pub fn word(&self) -> &'static str {
        if self.directed { self.direction } else { "with" }
    }

    /// What the edge says.
    pub fn facts(&self) -> String {
        let facts = self.properties.iter().map(|(name, value)| format!("{name} {value}"));
        facts.collect::<Vec<_>>().join(", ")
    }
}

/// What was found, and how many more there are.
#[derive(Debug, Default)]
pub struct Found {
    pub neighbors: Vec<Neighbor>,
    pub more: u64,
}

/// A node whose neighbours are asked for.
pub struct Asked<'a> {
    source: &'a dyn Source,
    graph: &'a Graph,
    ty: usize,
    relation: Option<&'a str>,
    node: NodeId<'a>,
    renderer: Renderer,
    resources: &'a Resources,
}

impl<'a> Asked<'a> {
    /// A node of `source`, by key or by row.
    ///
    /// # Errors
    /// When the type or the relation does not exist, or the type is not told where there are several.
    pub fn new(
        source: &'a dyn Source,
        ty: Option<&str>,
        relation: Option<&'a str>,
        key: Option<&'a str>,
        row: Option<u64>,
        resources: &'a Resources,
    ) -> Result<Self> {
        let graph = source.graph();
        let types = || graph.nodes.iter().map(|ty| ty.name.as_str()).collect::<Vec<_>>().join("|");
        let ty = match (ty, graph.nodes.len()) {
            (Some(name), _) => graph.node_type(name).ok_or_else(|| {
                Error::usage(format!("there is no node type {name}")).hint(format!("--type {}", types()))
            })?,
            (None, 1) => 0,
            (None, _) => {
                return Err(Error::usage("there are several node types").hint(format!("--type {}", types())));
            }
        };
        let known = |relation: &str| {
            graph.edges.iter().any(|edge| edge.relation.fixed().is_none_or(|fixed| fixed == relation))
                || graph.hyperedges.iter().any(|own| own.name == relation)
        };
        if let Some(relation) = relation.filter(|relation| !known(relation)) {
            return Err(Error::usage(format!("there is no relation {relation}")));
        }
        let node = match (key, row) {
            (Some(key), _) => NodeId::Key(key),
            (None, Some(row)) => NodeId::Row(row),
            (None, None) => return Err(Error::usage("no node is named")),
        };
        let renderer = Renderer::new(&Description(graph), resources, &Silent)?;
        Ok(Asked { source, graph, ty, relation, node, renderer, resources })
    }

    /// Name of the node's type.
    pub fn type_name(&self) -> &str {
        self.graph.nodes.get(self.ty).map_or("", |ty| ty.name.as_str())
    }

    /// `person 933`, `person row 7`.
    pub fn shown(&self) -> String {
        match self.node {
            NodeId::Key(key) => format!("{} {key}", self.type_name()),
            NodeId::Row(row) => format!("{} row {row}", self.type_name()),
        }
    }

    /// The first `limit` neighbours. Unless `sides` are given, those over edges that leave the node, and over edges
    /// without a direction.
    ///
    /// # Errors
    /// When the node does not exist or the edges cannot be read.
    pub fn neighbors(&self, sides: Option<[Option<Side>; 2]>, limit: usize) -> Result<Found> {
        let mut found = Found::default();
        let mut asked = false;
        for (number, edge) in self.graph.edges.iter().enumerate() {
            let other = |fixed: &str| self.relation.is_some_and(|wanted| wanted != fixed);
            if edge.relation.fixed().is_some_and(other) {
                continue;
            }
            let usual = [Some(Side::Out), Some(Side::In).filter(|_| edge.direction == Direction::Undirected)];
            for side in sides.unwrap_or(usual).into_iter().flatten() {
                let (near, far) = match side {
                    Side::Out => (edge.source, edge.target),
                    Side::In => (edge.target, edge.source),
                };
                if near != self.ty {
                    continue;
                }
                asked = true;
                for batch in self.source.neighbors(number, self.node, side)? {
                    self.add(batch, (side, far, sides.is_none()), limit, &mut found)?;
                }
            }
        }
        if !asked {
            keys::must_exist(self.source, self.ty, self.node)?;
        }
        Ok(found)
    }

    /// The first `limit` hyperedges that the node is a member of, by the same sides: with its key, and how many more there are.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn incidents(&self, sides: Option<[Option<Side>; 2]>, limit: usize) -> Result<(String, Vec<Incident>, u64)> {
        incident::of_node(self.source, (self.ty, self.node), self.relation, sides, (limit, self.resources))
    }

    /// Adds the far ends of a batch. A loop without a direction is there once, although both of its ends are the node.
    fn add(
        &self,
        mut batch: EdgeBatch,
        (side, far, once): (Side, usize, bool),
        limit: usize,
        found: &mut Found,
    ) -> Result<()> {
        let undirected = self.graph.edges.get(batch.ty).is_some_and(|ty| ty.direction == Direction::Undirected);
        let repeats = if once && undirected && side == Side::In { loops(&batch) } else { Vec::new() };
        let mut repeats = repeats.into_iter();
        let room = limit.saturating_sub(found.neighbors.len());
        let all_count = repeats.len() == 0 && (self.relation.is_none() || batch.relations.is_none());
        if all_count && batch.rows > room {
            found.more += (batch.rows - room) as u64;
            batch = batch.slice(0, room);
        }
        let ends = match side {
            Side::Out => &batch.target,
            Side::In => &batch.source,
        };
        let keys = match ends {
            Ends::Keys(keys) => Arc::clone(keys),
            Ends::Rows(rows) => keys::of_rows(self.source, far, rows)?,
        };
        // With the far end on both sides a line says everything that is to be shown, whichever end it puts first.
        (batch.source, batch.target) = (Ends::Keys(Arc::clone(&keys)), Ends::Keys(keys));
        let by_row = self.graph.nodes.get(far).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        let ty = self.graph.nodes.get(far).map(|ty| ty.name.clone()).unwrap_or_default();
        self.renderer.batch(&Batch::Edges(batch), |element| {
            if repeats.next() == Some(true) {
                return Ok(());
            }
            if self.relation.is_some_and(|wanted| wanted != element.ty) {
                return Ok(());
            }
            if found.neighbors.len() >= limit {
                found.more += 1;
                return Ok(());
            }
            let line: Map<String, Value> = serde_json::from_str(element.line)
                .map_err(|error| Error::malformed(format!("an edge has no JSON form: {error}")))?;
            let identity = line.get("ends").and_then(|ends| ends.get(0)).cloned();
            let (key, row) = if by_row { (None, identity) } else { (identity, None) };
            found.neighbors.push(Neighbor {
                direction: if side == Side::Out { "out" } else { "in" },
                relation: element.ty.to_owned(),
                ty: ty.clone(),
                key,
                row,
                directed: line.get("directed").and_then(Value::as_bool).unwrap_or(true),
                properties: line.get("properties").and_then(Value::as_object).cloned().unwrap_or_default(),
            });
            Ok(())
        })
    }
}

/// Which rows are loops; nothing when none is.
fn loops(batch: &EdgeBatch) -> Vec<bool> {
    let loops: Vec<bool> = match (&batch.source, &batch.target) {
        (Ends::Rows(sources), Ends::Rows(targets)) => {
            sources.values().iter().zip(targets.values()).map(|(source, target)| source == target).collect()
        }
        (Ends::Keys(sources), Ends::Keys(targets)) if sources.data_type() == targets.data_type() => {
            (0..batch.rows).map(|row| sources.slice(row, 1) == targets.slice(row, 1)).collect()
        }
        _ => Vec::new(),
    };
    if loops.contains(&true) { loops } else { Vec::new() }
}

/// A graph without rows whose ends are keys: all that is needed to render edges of which the keys are at hand.
struct Description<'a>(&'a Graph);

impl Source for Description<'_> {
    fn graph(&self) -> &Graph {
        self.0
    }

    fn scan(&self, _request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        Ok(Vec::new())
    }
}
