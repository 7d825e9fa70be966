//! Edges by a set of vertices at one end, as a part of a scan.

use std::collections::VecDeque;
use std::sync::Arc;

use isomorph_error::{Error, Place, Result};
use isomorph_model::{Cost, EdgeOrder, Narrowing, Part, Request, Set, Tables, part};

use crate::info::AdjListType;
use crate::read::{Asked, EdgePart, EdgeScan, Spans};
use crate::table::{EdgeTable, List, SOURCE_INDEX, TARGET_INDEX};
use crate::{GraphAr, rules};

/// The vertices at one end of edges that are asked for, and the list that is read.
pub(crate) struct AskedEdges<'a> {
    pub list: &'a List,
    /// The vertices are sources.
    by_source: bool,
    vertices: Set,
}

/// The list by which the edges of vertices on one side are found best.
fn best_list(table: &EdgeTable, by_source: bool) -> Option<&List> {
    let aligned = |ordered| table.list(AdjListType::new(ordered, by_source));
    aligned(true).or_else(|| aligned(false)).or(table.lists.first())
}

impl GraphAr {
    /// What a scan of edges asks for by an end, if it does; in an order, the list of that order is read.
    ///
    /// # Errors
    /// When there is no such list.
    pub(crate) fn asked_edges(&self, ty: usize, request: &Request) -> Result<Option<AskedEdges<'_>>> {
        let table = self.edge_table(ty)?;
        let sides = [(Narrowing::SOURCE_ROW, true), (Narrowing::TARGET_ROW, false)];
        let asked = sides.into_iter().find_map(|(name, by_source)| Some((request.filter()?.set_of(name)?, by_source)));
        let Some((vertices, by_source)) = asked else { return Ok(None) };
        let list = match request.order {
            EdgeOrder::Any => best_list(table, by_source),
            order => Some(table.list_in_order(order)?),
        };
        Ok(list.map(|list| AskedEdges { list, by_source, vertices: vertices.clone() }))
    }

    /// The parts of a scan that give these edges: of an ordered list of that side those that the offsets name, of others those that a look at
    /// the ends finds.
    ///
    /// # Errors
    /// As for a scan.
    pub(crate) fn found_edges<'a>(
        &'a self,
        scan: &Arc<EdgeScan<'a>>,
        asked: AskedEdges<'a>,
        parts: &mut Vec<Box<dyn Part + 'a>>,
    ) -> Result<()> {
        let AskedEdges { list, by_source, vertices } = asked;
        if list.kind.by_source() != by_source || !list.kind.ordered() {
            let column = if by_source { SOURCE_INDEX } else { TARGET_INDEX };
            let is_aligned = list.kind.by_source() == by_source;
            let rows: Vec<u64> = vertices.rows().collect();
            let has_any = |part: u64| {
                let first = scan.first_vertex(part);
                let next = rows.get(rows.partition_point(|row| *row < first));
                next.is_some_and(|row| row - first < list.part_size)
            };
            for (part, _, chunk) in self.chunks_of(scan)? {
                if !is_aligned || has_any(part) {
                    let asked = Asked::Ends(column, vertices.clone());
                    parts.push(EdgePart { asked, ..chunk }.part());
                }
            }
            return Ok(());
        }
        let count = if by_source { scan.vertices.0 } else { scan.vertices.1 };
        let rows: Vec<u64> = vertices.rows().take_while(|row| *row < count).collect();
        for of_part in rows.chunk_by(|one, other| one / list.part_size == other / list.part_size) {
            let (scan, of_part) = (Arc::clone(scan), of_part.to_vec());
            let open = move || self.edges_in_part(&scan, &of_part);
            parts.push(part::opened(None, open, |chunks: &mut VecDeque<Box<dyn Part + 'a>>| {
                while let Some(chunk) = chunks.front_mut() {
                    match chunk.next() {
                        Some(batch) => return batch.map(Some),
                        None => chunks.pop_front(),
                    };
                }
                Ok(None)
            }));
        }
        Ok(())
    }

    /// The chunks with the edges of some vertices of one part, which ascend.
    fn edges_in_part<'a>(&'a self, scan: &Arc<EdgeScan<'a>>, vertices: &[u64]) -> Result<VecDeque<Box<dyn Part + 'a>>> {
        let (table, list) = (scan.table, scan.list);
        let number = vertices.first().map_or(0, |vertex| vertex / list.part_size);
        let mut spans = Spans::default();
        for vertex in vertices {
            let span = self.lookups.edges_of(&table.root, list, number, vertex % list.part_size);
            let span = span.map_err(|error| table.with_other_lists(error, list))?;
            let read = span.with_neighbors();
            if spans
                .vertices
                .last()
                .is_some_and(|(_, before): &(u64, std::ops::Range<u64>)| before.end > span.rows.start)
            {
                let message = format!("the edges of vertex {vertex} begin before those of a vertex before it end");
                let place = Place::file(list.layout.offset(number)).row(vertex % list.part_size);
                return Err(table.with_other_lists(Error::broken(&rules::OFFSET_FALLS, message).at(place), list));
            }
            match spans.rows.last_mut() {
                Some(last) if last.end >= read.start => last.end = last.end.max(read.end),
                _ => spans.rows.push(read),
            }
            spans.vertices.push((*vertex, span.rows));
        }
        let spans = Arc::new(spans);
        let mut chunks = VecDeque::new();
        for (_, number, chunk) in self.chunks_in(scan, number)? {
            let first = number.saturating_mul(list.chunk_size);
            if spans.within(first..first.saturating_add(chunk.rows)).next().is_some() {
                let asked = Asked::Spans(Arc::clone(&spans));
                chunks.push_back(EdgePart { asked, ..chunk }.part());
            }
        }
        Ok(chunks)
    }

    /// What it costs to find rows by a column.
    pub(crate) fn cost_of(&self, tables: Tables, column: &str) -> Cost {
        match (tables, column) {
            (Tables::Nodes(_) | Tables::NodeKeys(_), Narrowing::ROW) => Cost::INDEX,
            (Tables::Nodes(ty) | Tables::NodeKeys(ty), _) => {
                Cost::pass(self.graph.nodes.get(ty).and_then(|ty| ty.rows))
            }
            (Tables::Edges(ty) | Tables::EdgeEnds(ty), _) => {
                let has = |kind| self.edges.get(ty).is_some_and(|table| table.list(kind).is_some());
                let is_ordered = match column {
                    Narrowing::SOURCE_ROW => has(AdjListType::OrderedBySource),
                    Narrowing::TARGET_ROW => has(AdjListType::OrderedByDest),
                    _ => false,
                };
                let rows = self.graph.edges.get(ty).and_then(|ty| ty.rows);
                if is_ordered { Cost::INDEX } else { Cost::pass(rows) }
            }
            _ => Cost::pass(None),
        }
    }
}
