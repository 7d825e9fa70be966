//! The snapshot as a source of model batches.

use std::collections::HashMap;

use isomorph_error::{Error, Findings, Result};
use isomorph_model::faces::Triples;
use isomorph_model::statistics::{Known, Statistics};
use isomorph_model::{About, Cost, EdgeOrder, Graph, NodeId, Part, Request, Side, Source, Tables};

use super::part::{PredicatePart, Wanted, empty_graphs};
use super::{GraphLake, Order};
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
        let asked = if self.narrowed.is_none() { self.asked(request)? } else { None };
        let relation = request.filter().and_then(lookup::Relation::of);
        let graphs = self.snapshot.graphs.iter().enumerate();
        for (at, graph) in graphs.filter(|(_, graph)| graph.name != term::QUOTED_GRAPH) {
            for predicate in graph.all_predicates() {
                let table = tables.get(predicate).copied();
                if !wanted.edges && table.is_none() {
                    continue;
                }
                if relation.as_ref().is_some_and(|relation| !relation.passes(predicate)) {
                    continue;
                }
                if let Some((order, stretch)) = asked.as_ref().and_then(|asked| asked.of(self, graph, predicate)) {
                    let (asked, stretches) = (asked.clone(), 1);
                    let part = PredicatePart {
                        lake: self,
                        graph,
                        predicate,
                        table,
                        wanted,
                        order,
                        stretch,
                        stretches,
                        _asked: asked,
                    };
                    parts.push(part.part());
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
                    let (order, asked) = (Order::Subject, None);
                    let part = PredicatePart {
                        lake: self,
                        graph,
                        predicate,
                        table,
                        wanted,
                        order,
                        stretch,
                        stretches,
                        _asked: asked,
                    };
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
        super::summary::about(self)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        crate::lookup::neighbors(self, edge, node, side)
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn triples(&self) -> Option<&dyn Triples> {
        Some(self)
    }

    /// What the snapshot states: of copies and deletions nothing is known before reading.
    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        let stated = match tables {
            Tables::Edges(0) | Tables::EdgeEnds(0) => self.graph.edges.first().and_then(|edge| edge.rows),
            _ => None,
        };
        Ok(Statistics { rows: stated.map_or(Known::Unknown, Known::Estimated), columns: Vec::new() })
    }

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        self.cost_of(tables, column)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        validate::validate(self, findings)
    }
}
