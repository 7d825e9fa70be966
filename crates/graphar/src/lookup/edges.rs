//! Look-up of the outgoing or incoming edges of a vertex.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::DataType;
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Batch, Columns, EdgeBatch, Narrowing, Part, Side, part};

use super::gather::{Order, Segment};
use super::offsets::Span;
use crate::info::AdjListType;
use crate::read::{EdgeScan, edge_batch, first_outside, indexes};
use crate::table::{Chunk, Column, EdgeTable, List, SOURCE_INDEX, TARGET_INDEX, Target, rows_error};
use crate::{GraphAr, rules};

/// The edges of several vertices.
#[derive(Debug, Clone)]
pub struct Neighbors {
    /// The edges with all properties, grouped by vertex in the requested order.
    pub edges: EdgeBatch,
    /// The row of `edges` where those of each vertex begin, followed by the number of edges.
    pub starts: Vec<usize>,
}

impl Neighbors {
    /// Returns the rows of `edges` that belong to the vertex at `position` in the request.
    pub fn of(&self, position: usize) -> Range<usize> {
        let start = self.starts.get(position).copied().unwrap_or_default();
        start..self.starts.get(position + 1).copied().unwrap_or(start).max(start)
    }
}

/// Rejects a chunk whose stated number of rows differs from the counts.
pub(super) fn check_rows(path: &str, stated: Option<u64>, expected: u64) -> Result<()> {
    match stated {
        Some(stated) if stated != expected => {
            let message = format!("found {stated} rows, but the counts require {expected}");
            Err(Error::broken(&rules::COUNT_ROWS, message).at(path))
        }
        _ => Ok(()),
    }
}

/// The rows of edges, and the position where those of each vertex begin.
pub(super) struct Found {
    pub source: ArrayRef,
    pub target: ArrayRef,
    pub properties: Columns,
    pub starts: Vec<usize>,
}

impl Found {
    /// Converts the rows to edges of type `ty`.
    fn neighbors(self, ty: usize) -> Result<Neighbors> {
        let (source, target) = (indexes(&self.source, SOURCE_INDEX, 0)?, indexes(&self.target, TARGET_INDEX, 0)?);
        Ok(Neighbors { edges: edge_batch(ty, source, target, self.properties), starts: self.starts })
    }

    /// Keeps only the rows `keep`, with these starts.
    fn only(self, keep: &UInt64Array, starts: Vec<usize>) -> Result<Self> {
        if keep.len() == self.source.len() {
            return Ok(Found { starts, ..self });
        }
        let of = |column: &ArrayRef| {
            take(column, keep, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
        };
        let properties = self.properties.iter().map(|column| column.as_ref().map(of).transpose());
        Ok(Found {
            source: of(&self.source)?,
            target: of(&self.target)?,
            properties: properties.collect::<Result<_>>()?,
            starts,
        })
    }
}

/// Maximum number of rows in a batch of the edges of one vertex.
const BATCH_ROWS: u64 = 1 << 14;

/// A resolved request for edges: how they are found.
struct Asked<'a> {
    table: &'a EdgeTable,
    list: &'a List,
    by_source: bool,
    by_offsets: bool,
}

impl GraphAr {
    /// Returns the edges of type `edge` that leave (or reach) the vertices `rows`, which may repeat and be in any order.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] for a vertex that does not exist; the rule of offsets or edges that is violated; or an error of
    /// reading.
    pub fn neighbors_batch(&self, edge: usize, rows: &[u64], side: Side) -> Result<Neighbors> {
        let asked = self.asked(edge, rows, side)?;
        let Asked { table, list, by_source, .. } = asked;
        let found = match asked.by_offsets {
            true => self.spans(table, list, rows).and_then(|spans| self.of_spans(edge, table, list, &spans, None)),
            false => self.by_scan(edge, table, list, rows, by_source),
        };
        found.map_err(|error| table.with_other_lists(error, list))?.neighbors(edge)
    }

    /// The edges of type `edge` that leave (or reach) the vertex `row`, a batch of bounded size after another where they are found by
    /// offsets: then properties that `narrowing` does not want are not read.
    ///
    /// # Errors
    /// As [`GraphAr::neighbors_batch`].
    pub(crate) fn neighbors_of(
        &self,
        edge: usize,
        row: u64,
        side: Side,
        narrowing: Option<Narrowing>,
    ) -> Result<Box<dyn Part + '_>> {
        let asked = self.asked(edge, &[row], side)?;
        if !asked.by_offsets {
            return Ok(part::edges(vec![self.neighbors_batch(edge, &[row], side)?.edges]));
        }
        let Asked { table, list, .. } = asked;
        let explained = move |error| table.with_other_lists(error, list);
        let spans = self.spans(table, list, &[row]).map_err(explained)?;
        let count = spans.iter().map(|(_, _, span)| span.rows.end - span.rows.start).sum();
        let pieces = spans
            .into_iter()
            .flat_map(|(vertex, part, span)| span.pieces(BATCH_ROWS).map(move |piece| (vertex, part, piece)));
        let batch = move |piece| -> Result<EdgeBatch> {
            let found = self.of_spans(edge, table, list, &[piece], narrowing.as_ref()).map_err(explained)?;
            Ok(found.neighbors(edge)?.edges)
        };
        let batches = pieces.map(batch).filter(|batch| batch.as_ref().map_or(true, |batch| batch.rows > 0));
        Ok(part::of(Some(count), batches.map(|batch| batch.map(Batch::Edges))))
    }

    /// A resolved request for edges: how they are found.
    fn asked(&self, edge: usize, rows: &[u64], side: Side) -> Result<Asked<'_>> {
        let table = self.edge_table(edge)?;
        let (ty, by_source) = match side {
            Side::Out => (table.shown.source, true),
            Side::In => (table.shown.target, false),
        };
        self.check_exist(ty, rows)?;
        let list = table
            .list(AdjListType::new(true, by_source))
            .or_else(|| table.list(AdjListType::new(false, by_source)))
            .or(table.lists.first())
            .ok_or_else(|| Error::broken(&rules::META_LIST_NONE, format!("{} has no lists", table.info.name())))?;
        let by_offsets = list.kind.ordered() && list.kind.by_source() == by_source;
        self.check_aligned(table, list).map_err(|error| table.with_other_lists(error, list))?;
        Ok(Asked { table, list, by_source, by_offsets })
    }

    /// Rejects rows beyond the number of vertices.
    pub(super) fn check_exist(&self, ty: usize, rows: &[u64]) -> Result<()> {
        let table = self.vertex_table(ty)?;
        let count = table.rows()?;
        match rows.iter().find(|row| **row >= count) {
            None => Ok(()),
            Some(row) => {
                let message = format!("{} has {count} vertices; row {row} does not exist", table.info.ty);
                Err(Error::new(Kind::NotFound, message))
            }
        }
    }

    /// Finds the edges of vertices through the offsets of an ordered list: the vertex, its part, and the rows in it.
    fn spans(&self, table: &EdgeTable, list: &List, vertices: &[u64]) -> Result<Vec<(u64, u64, Span)>> {
        let span = |vertex: &u64| {
            let part = vertex / list.part_size;
            Ok((*vertex, part, self.lookups.edges_of(&table.root, list, part, vertex % list.part_size)?))
        };
        vertices.iter().map(span).collect()
    }

    /// The edges of spans. Those before and after the edges of a vertex are read with them: offsets that leave out some of its edges
    /// show in nothing else.
    fn of_spans(
        &self,
        edge: usize,
        table: &EdgeTable,
        list: &List,
        spans: &[(u64, u64, Span)],
        narrowing: Option<&Narrowing>,
    ) -> Result<Found> {
        let mut segments = Vec::with_capacity(spans.len());
        for (_, part, span) in spans {
            let read = span.with_neighbors();
            let mut from = read.start;
            while from < read.end {
                let chunk = from / list.chunk_size;
                let first = chunk.saturating_mul(list.chunk_size);
                let to = read.end.min(first.saturating_add(list.chunk_size));
                segments.push(Segment { part: *part, chunk, rows: from - first..to - first });
                from = to;
            }
        }
        let found = self.read_segments(edge, table, list, &segments, narrowing)?;
        let by_source = list.kind.by_source();
        let (column, name) = if by_source { (&found.source, SOURCE_INDEX) } else { (&found.target, TARGET_INDEX) };
        let values = indexes(column, name, 0)?.values();
        let mut starts = Vec::with_capacity(spans.len() + 1);
        starts.push(0);
        let (mut keep, mut at) = (Vec::new(), 0);
        for (vertex, part, span) in spans {
            let (vertex, part) = (*vertex, *part);
            for row in span.with_neighbors() {
                let own = values.get(at).copied().unwrap_or_default().cast_unsigned();
                let fits = match row {
                    before if before < span.rows.start => own < vertex,
                    after if after >= span.rows.end => own > vertex,
                    _ => own == vertex,
                };
                if !fits {
                    let Range { start, end } = span.rows;
                    let message =
                        format!("edge belongs to vertex {own}, but vertex {vertex} has the offsets {start} and {end}");
                    let place = Place::file(list.layout.adj(part, row / list.chunk_size)).row(row % list.chunk_size);
                    return Err(Error::broken(&rules::OFFSET_DEGREE, message).at(place));
                }
                if span.rows.contains(&row) {
                    keep.push(at as u64);
                }
                at += 1;
            }
            starts.push(keep.len());
        }
        found.only(&UInt64Array::from(keep), starts)
    }

    /// Rejects a list whose vertex count differs from that of the vertex type, as a scan does.
    fn check_aligned(&self, table: &EdgeTable, list: &List) -> Result<()> {
        let ty = if list.kind.by_source() { table.shown.source } else { table.shown.target };
        let (own, vertices) = (self.lookups.aligned(&table.root, list)?, self.vertex_table(ty)?.rows()?);
        if own == vertices {
            return Ok(());
        }
        let message = format!("vertex count is {own}, but the vertex type has {vertices} vertices");
        Err(Error::broken(&rules::COUNT_ALIGNED, message).at(Place::file(list.layout.vertex_count())))
    }

    /// Reads segments of a list with the properties that are shown, in their order; no others than `narrowing` wants.
    pub(super) fn read_segments(
        &self,
        edge: usize,
        table: &EdgeTable,
        list: &List,
        segments: &[Segment],
        narrowing: Option<&Narrowing>,
    ) -> Result<Found> {
        let wants = |position: usize| narrowing.is_none_or(|narrowing| narrowing.wants(position));
        let is_wanted = |column: &&Column| matches!(column.target, Target::Property(position) if wants(position));
        let order = Order::new(segments);
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); table.shown.properties.len()];
        order.each(segments, |part, chunk, rows| {
            let path = list.layout.adj(part, chunk);
            let reader = self.lookups.reader(&table.root, &path, list.encoding, EdgeScan::adj_fields)?;
            let expected = list.chunk_rows(self.lookups.count(&table.root, list, part)?, chunk);
            check_rows(&path, reader.row_count(), expected)?;
            // The number of rows in a text file is known only at its end.
            let read = reader.read_rows(&[SOURCE_INDEX, TARGET_INDEX], rows);
            let batch = read.map_err(|error| rows_error(error, &path))?;
            self.check_ends(table, &path, batch.column(0), batch.column(1), rows)?;
            sources.push(batch.column(0).clone());
            targets.push(batch.column(1).clone());
            for group in &table.groups {
                let wanted: Arc<[Column]> = match narrowing {
                    None => Arc::clone(&group.columns),
                    Some(_) => group.columns.iter().filter(is_wanted).cloned().collect(),
                };
                if narrowing.is_some() && wanted.is_empty() {
                    continue;
                }
                let path = list.layout.chunk(group.number, part, chunk);
                let fields = || group.columns.iter().filter_map(|column| column.field(group.encoding)).collect();
                let reader = self.lookups.reader(&table.root, &path, group.encoding, fields)?;
                check_rows(&path, reader.row_count(), expected)?;
                let chunk = Chunk::of_reader(path, reader, Arc::clone(&wanted))?;
                for (column, array) in wanted.iter().zip(chunk.read_rows(rows)?) {
                    if let Target::Property(position) = column.target {
                        columns[position].push(array);
                    }
                }
            }
            Ok(())
        })?;
        let shown = &self.graph.edges.get(edge).map(|edge| edge.properties.as_slice()).unwrap_or_default();
        let properties: Result<Columns> = columns
            .iter()
            .zip(shown.iter())
            .enumerate()
            .map(|(at, (pieces, property))| match wants(at) {
                true => order.arrange(pieces, &property.data_type).map(Some),
                false => Ok(None),
            })
            .collect();
        Ok(Found {
            source: order.arrange(&sources, &DataType::Int64)?,
            target: order.arrange(&targets, &DataType::Int64)?,
            properties: properties?,
            starts: Vec::new(),
        })
    }

    /// Rejects ends that are not existing vertices.
    fn check_ends(
        &self,
        table: &EdgeTable,
        path: &str,
        source: &ArrayRef,
        target: &ArrayRef,
        rows: &[Range<u64>],
    ) -> Result<()> {
        let ends = [(source, SOURCE_INDEX, table.shown.source), (target, TARGET_INDEX, table.shown.target)];
        for (column, name, ty) in ends {
            let first = rows.first().map_or(0, |rows| rows.start);
            let values = indexes(column, name, first).map_err(|error| error.at(Place::file(path)))?.values();
            let count = self.vertex_table(ty)?.rows()?;
            if let Some(at) = first_outside(values, 0, count) {
                let message = format!("edge refers to vertex {}, but there are {count} vertices", values[at]);
                return Err(Error::broken(&rules::EDGE_DANGLING, message).at(Place::file(path).in_field(name)));
            }
        }
        Ok(())
    }
}
