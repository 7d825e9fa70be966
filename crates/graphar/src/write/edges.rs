//! Writes one edge type in one order: every adjacency list with that alignment, with offsets, counts and properties.

use arrow_array::{Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Place, Result, index};
use isomorph_model::{EdgeBatch, EdgeOrder, EdgeType, Ends};
use isomorph_tables::Compression;
use std::sync::Arc;

use super::columns::{as_indexes, stored};
use super::options::MAX_VERTEX_CHUNK;
use super::sink::Files;
use super::table::{TableFile, TableSpec};
use super::types::stored_type;
use crate::info::{AdjListType, EdgeInfo};
use crate::layout::{ListLayout, chunk_count};
use crate::rules;
use crate::table::{OFFSET, SOURCE_INDEX, TARGET_INDEX};

struct Group {
    number: usize,
    spec: TableSpec,
    columns: Vec<(String, usize, DataType)>,
}

struct List {
    kind: AdjListType,
    layout: ListLayout,
    adj: TableSpec,
    offset: TableSpec,
    /// The files of the chunk that is being written: ends, then groups.
    open: Vec<TableFile>,
}

/// Writer of one edge type in one order.
pub(crate) struct EdgeWriter {
    by_source: bool,
    lists: Vec<List>,
    groups: Vec<Group>,
    part_size: u64,
    chunk_size: u64,
    /// Number of vertices of the aligned type and of the other type.
    vertices: (u64, u64),
    part: u64,
    rows_in_part: u64,
    /// Number of edges of each vertex of the part, and one entry more for the sum.
    degrees: Vec<i64>,
    last: u64,
}

impl EdgeWriter {
    /// Creates a writer of all lists of `ty` with this order; `vertices` are the numbers of source and destination vertices.
    ///
    /// # Errors
    /// As [`ListLayout::new`].
    pub fn new(
        ty: &EdgeType,
        info: &EdgeInfo,
        order: EdgeOrder,
        vertices: (u64, u64),
        compression: Compression,
    ) -> Result<Self> {
        let by_source = order == EdgeOrder::Source;
        let mut lists = Vec::new();
        for list in info.lists.iter().filter(|list| list.kind.by_source() == by_source) {
            let index = |name: &str| Field::new(name, DataType::Int64, true);
            let spec = |fields| TableSpec::new(fields, list.file_type.encoding(), compression);
            lists.push(List {
                kind: list.kind,
                layout: ListLayout::new(info, list)?,
                adj: spec(vec![index(SOURCE_INDEX), index(TARGET_INDEX)]),
                offset: spec(vec![index(OFFSET)]),
                open: Vec::new(),
            });
        }
        let mut groups = Vec::new();
        for (number, group) in info.groups.iter().enumerate() {
            let mut columns = Vec::new();
            for property in &group.properties {
                let at = ty.properties.iter().position(|own| own.name == property.name);
                let at = at.ok_or_else(|| Error::usage(format!("property {} not found", property.name)))?;
                let data_type =
                    ty.properties.get(at).map_or(DataType::Null, |own| stored_type(&own.data_type, group.file_type));
                columns.push((property.name.clone(), at, data_type));
            }
            let fields = columns.iter().map(|(name, _, data_type)| Field::new(name, data_type.clone(), true)).collect();
            groups.push(Group {
                number,
                spec: TableSpec::new(fields, group.file_type.encoding(), compression),
                columns,
            });
        }
        let part_size = if by_source { info.source_chunk_size } else { info.target_chunk_size };
        // The offsets of a part are counted in memory.
        if part_size > MAX_VERTEX_CHUNK {
            let message = format!("vertex chunks of {part_size} can be read, but not written");
            return Err(Error::unsupported(message).hint("isomorph convert --vertex-chunk 65536"));
        }
        Ok(EdgeWriter {
            by_source,
            lists,
            groups,
            part_size,
            chunk_size: info.chunk_size,
            vertices: if by_source { vertices } else { (vertices.1, vertices.0) },
            part: 0,
            rows_in_part: 0,
            degrees: Vec::new(),
            last: 0,
        })
    }

    /// Adds edges, which must be sorted by their aligned end.
    ///
    /// # Errors
    /// Returns [`rules::EDGE_ORDER`], [`rules::EDGE_DANGLING`], or an error of conversion or writing.
    pub fn write(&mut self, files: &Files<'_>, batch: &EdgeBatch) -> Result<()> {
        let (Ends::Rows(source), Ends::Rows(target)) = (&batch.source, &batch.target) else {
            return Err(Error::usage("the ends of edges must be rows"));
        };
        let (aligned, other) = if self.by_source { (source, target) } else { (target, source) };
        self.check(aligned, other)?;
        let adj = vec![as_indexes(source), as_indexes(target)];
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let mut arrays = Vec::with_capacity(group.columns.len());
            for (name, at, data_type) in &group.columns {
                arrays.push(stored(batch.properties.get(*at).and_then(Option::as_ref), batch.rows, data_type, name)?);
            }
            groups.push(group.spec.batch(arrays, batch.rows)?);
        }
        let mut columns = Vec::with_capacity(self.lists.len());
        for list in &self.lists {
            let adj = list.adj.batch(adj.clone(), batch.rows)?;
            columns.push(std::iter::once(adj).chain(groups.iter().cloned()).collect::<Vec<_>>());
        }
        let values = aligned.values();
        let mut done = 0;
        while let Some(first) = values.get(done) {
            self.go_to(files, first / self.part_size)?;
            let end = (self.part + 1).saturating_mul(self.part_size);
            let rows = values[done..].partition_point(|vertex| *vertex < end);
            self.count(&values[done..done + rows]);
            self.write_rows(files, &columns, done, rows)?;
            done += rows;
        }
        Ok(())
    }

    fn check(&mut self, aligned: &UInt64Array, other: &UInt64Array) -> Result<()> {
        let error =
            |rule, row: usize, message: String| Error::broken(rule, message).at(Place::default().row(row as u64));
        let values = aligned.values();
        let falls =
            |row: usize| format!("{} follows {}", values[row], if row == 0 { self.last } else { values[row - 1] });
        if values.first().is_some_and(|first| *first < self.last) {
            return Err(error(&rules::EDGE_ORDER, 0, falls(0)));
        }
        if let Some(row) = values.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(error(&rules::EDGE_ORDER, row + 1, falls(row + 1)));
        }
        for (values, count) in [(values, self.vertices.0), (other.values(), self.vertices.1)] {
            if values.iter().fold(false, |any, vertex| any | (*vertex >= count)) {
                let row = values.iter().position(|vertex| *vertex >= count).unwrap_or_default();
                return Err(error(&rules::EDGE_DANGLING, row, format!("edge to vertex {} of {count}", values[row])));
            }
        }
        self.last = values.last().copied().unwrap_or(self.last);
        Ok(())
    }

    /// Counts the edges of each vertex of the part.
    fn count(&mut self, aligned: &[u64]) {
        if self.degrees.is_empty() {
            self.degrees.resize(index(self.part_size) + 1, 0);
        }
        let low = self.part * self.part_size;
        for vertex in aligned {
            if let Some(degree) = self.degrees.get_mut(index(vertex - low)) {
                *degree += 1;
            }
        }
    }

    fn write_rows(&mut self, files: &Files<'_>, columns: &[Vec<RecordBatch>], start: usize, rows: usize) -> Result<()> {
        let mut done = 0;
        while done < rows {
            let within = self.rows_in_part % self.chunk_size;
            if within == 0 {
                self.begin_chunk(files)?;
            }
            let room = usize::try_from(self.chunk_size - within).unwrap_or(usize::MAX);
            let piece = room.min(rows - done);
            for (list, columns) in self.lists.iter_mut().zip(columns) {
                for (file, batch) in list.open.iter_mut().zip(columns) {
                    file.push(files.encoder, batch.slice(start + done, piece))?;
                }
            }
            done += piece;
            self.rows_in_part += piece as u64;
        }
        Ok(())
    }

    fn begin_chunk(&mut self, files: &Files<'_>) -> Result<()> {
        self.close_chunk(files)?;
        let chunk = self.rows_in_part / self.chunk_size;
        for list in &mut self.lists {
            list.open.push(files.table(&list.layout.adj(self.part, chunk), &list.adj)?);
            for group in &self.groups {
                list.open.push(files.table(&list.layout.chunk(group.number, self.part, chunk), &group.spec)?);
            }
        }
        Ok(())
    }

    fn close_chunk(&mut self, files: &Files<'_>) -> Result<()> {
        self.lists.iter_mut().flat_map(|list| list.open.drain(..)).try_for_each(|file| file.close(files.encoder))
    }

    /// Ends the parts before `part`, including empty ones.
    fn go_to(&mut self, files: &Files<'_>, part: u64) -> Result<()> {
        while self.part < part {
            self.end_part(files)?;
        }
        Ok(())
    }

    /// Ends the part that is being written: its last chunk, its offsets and its count.
    fn end_part(&mut self, files: &Files<'_>) -> Result<()> {
        self.close_chunk(files)?;
        let rows = index(self.part_size) + 1;
        let mut degrees = std::mem::take(&mut self.degrees);
        degrees.resize(rows, 0);
        // Each offset is the number of edges of the preceding vertices; the last is the total.
        let mut before = 0;
        for degree in &mut degrees {
            let own = std::mem::replace(degree, before);
            before += own;
        }
        let offsets = Arc::new(Int64Array::from(degrees));
        for list in &self.lists {
            if list.kind.ordered() {
                let mut file = files.table(&list.layout.offset(self.part), &list.offset)?;
                file.push(files.encoder, list.offset.batch(vec![offsets.clone()], rows)?)?;
                file.close(files.encoder)?;
            }
            files.count(&list.layout.edge_count(self.part), self.rows_in_part)?;
        }
        self.part += 1;
        self.rows_in_part = 0;
        Ok(())
    }

    /// Writes the remaining parts and the vertex counts.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn finish(&mut self, files: &Files<'_>) -> Result<()> {
        self.go_to(files, chunk_count(self.vertices.0, self.part_size))?;
        self.lists.iter().try_for_each(|list| files.count(&list.layout.vertex_count(), self.vertices.0))
    }
}
