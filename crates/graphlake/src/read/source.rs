//! The snapshot as a source of model batches.

use std::collections::HashMap;

use isomorph_error::{Error, Findings, Result};
use isomorph_model::{About, EdgeOrder, Graph, NodeId, Part, Request, Side, Source, Tables};

use super::GraphLake;
use super::part::{PredicatePart, Wanted, empty_graphs};
use crate::{lookup, term, validate};

impl Source for GraphLake {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    /// One partition for each predicate of each graph, or several if its files are large and have indexes; one for
    /// graphs without triples. Resources have no rows: they exist because triples mention them.
    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("a store is read predicate by predicate, not in one order"));
        }
        let (edges, values) = match request.tables {
            Tables::All => (true, true),
            // A triple in two graphs is two edges: the graph belongs to the edge.
            Tables::AllEdges | Tables::Edges(0) | Tables::EdgeEnds(0) => (true, false),
            Tables::Rest => (false, true),
            _ => return Ok(Vec::new()),
        };
        let wanted = Wanted { edges, values, rows: request.batch_rows.max(1) };
        let tables = self.graph.values.iter().enumerate();
        let tables: HashMap<&str, usize> = tables.map(|(at, table)| (table.property.name.as_str(), at)).collect();
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        let graphs = self.snapshot.graphs.iter().enumerate();
        for (at, graph) in graphs.filter(|(_, graph)| graph.name != term::QUOTED_GRAPH) {
            for predicate in graph.all_predicates() {
                let table = tables.get(predicate).copied();
                if !wanted.edges && table.is_none() {
                    continue;
                }
                let given = self.narrowed.as_ref().map(|narrowed| narrowed.wanted(at, predicate));
                let all = match given {
                    None | Some(Some(lookup::Wanted::All)) => self.stretches(graph, predicate)?,
                    Some(Some(some)) => vec![some.clone()],
                    Some(None) => continue,
                };
                let stretches = all.len() as u64;
                for stretch in all {
                    let part = PredicatePart { lake: self, graph, predicate, table, wanted, stretch, stretches };
                    parts.push(part.part());
                }
            }
        }
        if wanted.values {
            parts.push(empty_graphs(self));
        }
        Ok(parts)
    }

    fn about(&self) -> About {
        super::about::about(self)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        crate::lookup::neighbors(self, edge, node, side)
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        validate::validate(self, findings)
    }
}
