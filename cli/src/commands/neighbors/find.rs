//! Finding the neighbours of one node.

use isomorph::storage::Resources;
use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph::convert::{Renderer, Silent, must_exist};
use isomorph::model::{
    Batch, Direction, EdgeBatch, EdgeType, Ends, Graph, KeyKind, NodeId, Part, Request, Side, Source,
};
use isomorph::{Error, Kind, Result, did_you_mean};
use serde::Serialize;
use serde_json::Value;

use super::incident::{self, Incident};
use super::keys;
use super::line::{self, Facts, Line};

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
    properties: Facts,
    /// Members of its bag that are called like columns.
    #[serde(skip_serializing_if = "Facts::is_empty")]
    bag: Facts,
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

    /// The edge as tests compare it, without its direction.
    #[cfg(test)]
    pub fn shown(&self) -> String {
        let id = self.key.as_ref().or(self.row.as_ref()).map(Value::to_string).unwrap_or_default();
        format!("{} {} {id} {}", self.relation, self.ty, self.facts())
    }

    /// What the edge says.
    pub fn facts(&self) -> String {
        line::shown(&self.properties, &self.bag)
    }
}

/// Which edges of a node are shown. Those without a direction always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// Those that leave it.
    Out,
    /// Those that reach it.
    In,
    /// All of them.
    Both,
}

impl Sides {
    /// Whether directed edges are shown of which the node is this end.
    pub fn include(self, side: Side) -> bool {
        self == Sides::Both || (self == Sides::Out) == (side == Side::Out)
    }
}

/// Edges of one type that are read, so that those beyond the limit can be counted.
const COUNTED: usize = 1 << 14;

/// Other relations that are remembered.
const OTHERS: usize = 1000;

/// What was found, and how many more there are.
#[derive(Debug, Default)]
pub struct Found {
    pub neighbors: Vec<Neighbor>,
    /// More of the edges that were looked at.
    pub more: u64,
    /// Whether some edges were not looked at, because there were enough neighbours.
    pub ended: bool,
    /// Relations of edges that were left out because another one was asked for, some of them.
    pub others: BTreeSet<String>,
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
                let near = did_you_mean(name, graph.nodes.iter().map(|ty| ty.name.as_str()));
                Error::usage(format!("there is no node type {name}{near}")).hint(format!("--type {}", types()))
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
            let names = graph.edges.iter().filter_map(|edge| edge.relation.fixed());
            let near = did_you_mean(relation, names.chain(graph.hyperedges.iter().map(|own| own.name.as_str())));
            return Err(Error::usage(format!("there is no relation {relation}{near}")));
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

    /// The key of the node, if it has one: a number where keys are numbers.
    pub fn key(&self) -> Option<Value> {
        let NodeId::Key(key) = self.node else { return None };
        let is_number = self.graph.nodes.get(self.ty).is_some_and(|ty| ty.key.kind == KeyKind::Int);
        let number = key.parse::<serde_json::Number>().ok().filter(|_| is_number);
        Some(number.map_or_else(|| Value::from(key), Value::Number))
    }

    /// `person 933`, `person row 7`.
    pub fn shown(&self) -> String {
        match self.node {
            NodeId::Key(key) => format!("{} {key}", self.type_name()),
            NodeId::Row(row) => format!("{} row {row}", self.type_name()),
        }
    }

    /// The first `limit` neighbours. An edge without a direction counts from both of its ends, whatever `sides` are.
    ///
    /// # Errors
    /// When the node does not exist or the edges cannot be read.
    pub fn neighbors(&self, sides: Sides, limit: usize) -> Result<Found> {
        let mut found = Found::default();
        let mut asked = false;
        let mut missing = None;
        let implied = self.graph.nodes.get(self.ty).is_some_and(|ty| ty.implied);
        for (number, edge) in self.graph.edges.iter().enumerate() {
            let other = |fixed: &str| self.relation.is_some_and(|wanted| wanted != fixed);
            if edge.relation.fixed().is_some_and(other) {
                continue;
            }
            let has_undirected = edge.direction != Direction::Directed;
            for side in [Side::Out, Side::In].into_iter().filter(|side| has_undirected || sides.include(*side)) {
                let (near, far) = match side {
                    Side::Out => (edge.source, edge.target),
                    Side::In => (edge.target, edge.source),
                };
                if near != self.ty {
                    continue;
                }
                asked = true;
                if found.neighbors.len() >= limit {
                    found.ended = true;
                    return Ok(found);
                }
                let batches = match self.source.neighbors(number, self.node, side) {
                    // It may be an end of other edges.
                    Err(error) if implied && error.kind() == Kind::NotFound => {
                        missing.get_or_insert(error);
                        continue;
                    }
                    batches => batches?,
                };
                let mut seen = 0;
                for batch in batches {
                    let Batch::Edges(batch) = batch? else { continue };
                    if found.neighbors.len() >= limit && seen >= COUNTED {
                        found.ended = true;
                        return Ok(found);
                    }
                    seen += batch.rows;
                    let keep = self.kept(&batch, edge, side, sides)?;
                    self.add(batch, (side, far), keep, limit, &mut found)?;
                }
            }
        }
        if !asked {
            must_exist(self.source, self.ty, self.node)?;
        }
        match missing {
            Some(error) if found.neighbors.is_empty() && !self.is_an_end()? => Err(error),
            _ => Ok(found),
        }
    }

    /// Whether an edge of any type leaves or reaches the node.
    fn is_an_end(&self) -> Result<bool> {
        for (number, edge) in self.graph.edges.iter().enumerate() {
            for (side, near) in [(Side::Out, edge.source), (Side::In, edge.target)] {
                if near != self.ty {
                    continue;
                }
                match self.source.neighbors(number, self.node, side) {
                    Err(error) if error.kind() == Kind::NotFound => {}
                    Err(error) => return Err(error),
                    Ok(mut batches) => {
                        if batches.next().transpose()?.is_some() {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        Ok(false)
    }

    /// The first `limit` hyperedges that the node is a member of, by the same sides: with its key, and how many more there are.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn incidents(&self, sides: Sides, limit: usize) -> Result<(String, Vec<Incident>, u64)> {
        incident::of_node(self.source, (self.ty, self.node), self.relation, sides, (limit, self.resources))
    }

    /// Which edges of a batch are shown; nothing when all are. Those without a direction are shown on either side, a loop
    /// among them only once: its two ends are the same node.
    fn kept(&self, batch: &EdgeBatch, edge: &EdgeType, side: Side, sides: Sides) -> Result<Option<Vec<bool>>> {
        let undirected: Vec<bool> = match (edge.direction, &batch.directed) {
            (Direction::Undirected, _) => vec![true; batch.rows],
            (Direction::PerRow, Some(directed)) => directed.iter().map(|directed| directed == Some(false)).collect(),
            _ => vec![false; batch.rows],
        };
        // Between two types the same row number is two nodes.
        let can_loop = side == Side::In && edge.source == edge.target && undirected.contains(&true);
        let loops = if can_loop { self.loops(batch, edge.source)? } else { vec![false; batch.rows] };
        let keep: Vec<bool> = undirected
            .iter()
            .zip(loops)
            .map(|(undirected, is_loop)| if *undirected { !is_loop } else { sides.include(side) })
            .collect();
        Ok(keep.contains(&false).then_some(keep))
    }

    /// Which edges of a batch between nodes of type `ty` end where they begin.
    fn loops(&self, batch: &EdgeBatch, ty: usize) -> Result<Vec<bool>> {
        if let (Ends::Rows(sources), Ends::Rows(targets)) = (&batch.source, &batch.target) {
            return Ok(sources
                .values()
                .iter()
                .zip(targets.values())
                .map(|(source, target)| source == target)
                .collect());
        }
        let keys = |ends: &Ends| {
            let keys = match ends {
                Ends::Keys(keys) => Arc::clone(keys),
                Ends::Rows(rows) => keys::of_rows(self.source, ty, rows)?,
            };
            cast(&keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
        };
        let (sources, targets) = (keys(&batch.source)?, keys(&batch.target)?);
        Ok(sources.as_string::<i32>().iter().zip(targets.as_string::<i32>()).map(|(one, other)| one == other).collect())
    }

    /// Adds the far ends of those edges of a batch that `keep` names, or of all.
    fn add(
        &self,
        mut batch: EdgeBatch,
        (side, far): (Side, usize),
        keep: Option<Vec<bool>>,
        limit: usize,
        found: &mut Found,
    ) -> Result<()> {
        let room = limit.saturating_sub(found.neighbors.len());
        let all_count = keep.is_none() && (self.relation.is_none() || batch.relations.is_none());
        if all_count && batch.rows > room {
            found.more += (batch.rows - room) as u64;
            batch = batch.slice(0, room);
        }
        let mut keep = keep.into_iter().flatten();
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
            if keep.next() == Some(false) {
                return Ok(());
            }
            if self.relation.is_some_and(|wanted| wanted != element.ty) {
                if found.others.len() < OTHERS && !found.others.contains(element.ty) {
                    found.others.insert(element.ty.to_owned());
                }
                return Ok(());
            }
            if found.neighbors.len() >= limit {
                found.more += 1;
                return Ok(());
            }
            let line = Line::read(element.line)?;
            let (identity, [properties, bag]) = (line.first_end(), line.facts()?);
            let (key, row) = if by_row { (None, identity) } else { (identity, None) };
            found.neighbors.push(Neighbor {
                direction: if side == Side::Out { "out" } else { "in" },
                relation: element.ty.to_owned(),
                ty: ty.clone(),
                key,
                row,
                directed: line.directed,
                properties,
                bag,
            });
            Ok(())
        })
    }
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
