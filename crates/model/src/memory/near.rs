//! Edges of one node in a graph in memory, found by scanning all edges of the type.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Result};

use super::MemoryGraph;
use crate::{Batch, EdgeBatch, Ends, NodeId, Relations, Side};

fn of_arrow(error: ArrowError) -> Error {
    Error::malformed(error.to_string())
}

fn texts(keys: &ArrayRef) -> Result<StringArray> {
    Ok(cast(keys, &DataType::Utf8).map_err(of_arrow)?.as_string::<i32>().clone())
}

/// Returns the positions at which `ends` is the node with this row and this key.
fn found(ends: &Ends, row: u64, key: Option<&str>) -> Result<UInt64Array> {
    let is_node: Vec<bool> = match ends {
        Ends::Rows(rows) => rows.values().iter().map(|end| *end == row).collect(),
        Ends::Keys(keys) => texts(keys)?.iter().map(|end| end.is_some() && end == key).collect(),
    };
    Ok(is_node.iter().enumerate().filter(|(_, is_node)| **is_node).map(|(at, _)| Some(at as u64)).collect())
}

/// Returns the edges at these positions.
fn taken(batch: &EdgeBatch, at: &UInt64Array) -> Result<EdgeBatch> {
    let column = |column: &ArrayRef| take(column, at, None).map_err(of_arrow);
    let ends = |ends: &Ends| {
        Ok::<_, Error>(match ends {
            Ends::Rows(rows) => Ends::Rows(take(rows, at, None).map_err(of_arrow)?.as_primitive().clone()),
            Ends::Keys(keys) => Ends::Keys(column(keys)?),
        })
    };
    let relations = batch.relations.as_ref().map(|own| {
        let index = take(&own.index, at, None).map_err(of_arrow)?.as_primitive().clone();
        Ok::<_, Error>(Relations { names: own.names.clone(), index })
    });
    let layers = batch.layers.as_ref().map(|(source, target)| Ok::<_, Error>((column(source)?, column(target)?)));
    let directed = batch.directed.as_ref().map(|own| take(own, at, None).map(|own| own.as_boolean().clone()));
    let properties = batch.properties.iter().map(|own| own.as_ref().map(column).transpose());
    Ok(EdgeBatch {
        ty: batch.ty,
        rows: at.len(),
        relations: relations.transpose()?,
        source: ends(&batch.source)?,
        target: ends(&batch.target)?,
        layers: layers.transpose()?,
        directed: directed.transpose().map_err(of_arrow)?,
        keys: batch.keys.as_ref().map(column).transpose()?,
        properties: properties.collect::<Result<_>>()?,
    })
}

impl MemoryGraph {
    /// Returns row and key of a node; the key is `None` if the type has none.
    fn node(&self, of: usize, node: NodeId<'_>) -> Result<(u64, Option<String>)> {
        for batch in &self.batches {
            let Batch::Nodes(nodes) = batch else { continue };
            if nodes.ty != of {
                continue;
            }
            let keys = nodes.keys.as_ref().map(texts).transpose()?;
            let at = match node {
                NodeId::Row(row) => row.checked_sub(nodes.start).and_then(|at| usize::try_from(at).ok()),
                NodeId::Key(key) => keys.as_ref().and_then(|keys| keys.iter().position(|own| own == Some(key))),
            };
            if let Some(at) = at.filter(|at| *at < nodes.rows) {
                return Ok((nodes.start + at as u64, keys.map(|keys| keys.value(at).to_owned())));
            }
        }
        let what = match node {
            NodeId::Row(row) => format!("there is no row {row}"),
            NodeId::Key(key) => format!("there is no node {key}"),
        };
        Err(Error::new(Kind::NotFound, what))
    }

    /// Returns the edges of a type that leave a node, or reach it.
    pub(super) fn near(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
        let ty = self.graph.edges.get(edge).ok_or_else(|| Error::usage(format!("there is no edge type {edge}")))?;
        let (row, key) = self.node(if side == Side::Out { ty.source } else { ty.target }, node)?;
        let edges = self.batches.iter().filter_map(|batch| match batch {
            Batch::Edges(edges) if edges.ty == edge => Some(edges),
            _ => None,
        });
        edges
            .map(|edges| {
                let ends = if side == Side::Out { &edges.source } else { &edges.target };
                taken(edges, &found(ends, row, key.as_deref())?)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::Int64Array;

    use super::*;
    use crate::{EdgeType, Graph, Key, NodeBatch, NodeType, Source, part};

    /// Two nodes and three edges, whose ends are rows or keys.
    fn graph(ends: [Ends; 2]) -> MemoryGraph {
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
        let [source, target] = ends;
        let (relations, layers, directed) = (None, None, None);
        let edges = EdgeBatch {
            ty: 0,
            rows: source.len(),
            relations,
            source,
            target,
            layers,
            directed,
            keys: None,
            properties: vec![],
        };
        let nodes =
            NodeBatch { ty: 0, start: 0, numbers: None, rows: 2, keys: Some(keys), labels: None, properties: vec![] };
        let (node, edge) = (NodeType::new("a", Key::int64()), EdgeType::new(0, "to", 0));
        let graph = Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() };
        MemoryGraph { graph, batches: vec![Batch::Nodes(nodes), Batch::Edges(edges)] }
    }

    #[test]
    fn edges_are_found_by_rows_and_by_keys() {
        let keys = |keys: [i64; 3]| Ends::Keys(Arc::new(Int64Array::from(keys.to_vec())));
        let rows = |rows: [u64; 3]| Ends::Rows(rows.to_vec().into());
        for graph in [graph([rows([0, 1, 0]), rows([1, 1, 0])]), graph([keys([7, 8, 7]), keys([8, 8, 7])])] {
            let count = |node, side| {
                let edges = part::edge_batches(graph.neighbors(0, node, side).unwrap()).unwrap();
                edges.iter().map(|batch| batch.rows).sum::<usize>()
            };
            assert_eq!([NodeId::Key("7"), NodeId::Row(0)].map(|node| count(node, Side::Out)), [2, 2]);
            assert_eq!([NodeId::Key("8"), NodeId::Row(1)].map(|node| count(node, Side::In)), [2, 2]);
            for node in [NodeId::Key("9"), NodeId::Row(2)] {
                assert_eq!(graph.neighbors(0, node, Side::Out).unwrap_err().kind(), Kind::NotFound);
            }
        }
    }
}
