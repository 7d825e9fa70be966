//! Finds where the edges of a vertex begin and end.

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::{Error, Place, Result};
use isomorph_storage::Root;
use isomorph_tables::{Encoding, Selection, TableReader};

use super::Lookups;
use crate::counts::read_count;
use crate::layout::{check_chunks, chunk_count};
use crate::rules;
use crate::table::{List, OFFSET, check_offsets, missing, offset_fields, offset_values};

/// Number of offsets that are read at once: one page of the files that isomorph writes.
const BLOCK: u64 = 4096;

/// The edges of a vertex.
#[derive(Debug, Clone)]
pub(super) struct Span {
    /// Their rows, counted across the chunks of their part.
    pub rows: Range<u64>,
    /// The same, extended by the edge before and the edge after, if they exist.
    read: Range<u64>,
}

impl Span {
    /// Returns the rows extended by the edge before and the edge after, if they exist.
    pub fn with_neighbors(&self) -> Range<u64> {
        self.read.clone()
    }

    /// Splits the span into pieces of at most `rows` edges, at least one piece; the first includes the edge before, the last the one after.
    pub fn pieces(self, rows: u64) -> impl Iterator<Item = Span> {
        let Span { rows: all, read } = self;
        let count = (all.end - all.start).div_ceil(rows).max(1);
        (0..count).map(move |at| {
            let start = all.start + at * rows;
            let end = all.end.min(start + rows);
            let from = if at == 0 { read.start } else { start };
            let to = if at + 1 == count { read.end } else { end };
            Span { rows: start..end, read: from..to }
        })
    }
}

impl Lookups {
    /// Returns the rows of part `part` of an ordered list, counted across its chunks, with the edges of its vertex `vertex`,
    /// which is counted within the part.
    ///
    /// # Errors
    /// Returns [`rules::FILE_MISSING`], [`rules::OFFSET_ROWS`], [`rules::OFFSET_FALLS`], [`rules::OFFSET_END`], or an error of
    /// reading.
    pub(super) fn edges_of(&self, root: &Root, list: &List, part: u64, vertex: u64) -> Result<Span> {
        let path = list.layout.offset(part);
        let parquet = list.encoding == Encoding::Parquet;
        let (block, at) = if parquet { (vertex / BLOCK, vertex % BLOCK) } else { (0, vertex) };
        let key = (path, block);
        let offsets = match self.offsets.get(&key) {
            Some(offsets) => offsets,
            None => {
                let offsets = self.load(root, list, &key.0, parquet.then_some(block))?;
                self.offsets.keep(key.clone(), Arc::clone(&offsets), offsets.len());
                offsets
            }
        };
        let path = key.0;
        let at = usize::try_from(at).unwrap_or(usize::MAX - 1);
        let place = || Place::file(&path).row(vertex);
        let (Some(&begin), Some(&end)) = (offsets.get(at), offsets.get(at + 1)) else {
            return Err(Error::broken(&rules::OFFSET_ROWS, format!("vertex {vertex} has no offset")).at(place()));
        };
        if begin < 0 || begin > end {
            return Err(Error::broken(&rules::OFFSET_FALLS, format!("offsets fall from {begin} to {end}")).at(place()));
        }
        let (begin, end) = (begin.unsigned_abs(), end.unsigned_abs());
        let edges = self.count(root, list, part)?;
        if end > edges {
            let message = format!("offset is {end}, but the part has {edges} edges");
            return Err(Error::broken(&rules::OFFSET_END, message).at(place()));
        }
        let read = begin.saturating_sub(1)..end.saturating_add(1).min(edges);
        Ok(Span { rows: begin..end, read })
    }

    /// Returns the number of vertices stated for a list.
    ///
    /// # Errors
    /// Returns [`rules::FILE_MISSING`], or an error of reading a count.
    pub(super) fn aligned(&self, root: &Root, list: &List) -> Result<u64> {
        self.kept_count(root, list.layout.vertex_count())
    }

    fn kept_count(&self, root: &Root, path: String) -> Result<u64> {
        if let Some(count) = self.counts.get(&path) {
            return Ok(count);
        }
        let count = read_count(root, &path)?.ok_or_else(|| missing(&path))?;
        self.counts.keep(path, count, 1);
        Ok(count)
    }

    /// Returns the number of edges in a part, without reading the counts of other parts.
    pub(super) fn count(&self, root: &Root, list: &List, part: u64) -> Result<u64> {
        let path = list.layout.edge_count(part);
        let count = self.kept_count(root, path.clone())?;
        check_chunks(chunk_count(count, list.chunk_size), "the edge count").map_err(|error| error.at(path))?;
        Ok(count)
    }

    /// Loads the offsets of a block and the next offset, or all offsets.
    fn load(&self, root: &Root, list: &List, path: &str, block: Option<u64>) -> Result<Arc<[i64]>> {
        let reader = self.reader(root, path, list.encoding, || offset_fields(list.encoding))?;
        check_offsets(&reader, path)?;
        match block {
            Some(block) => {
                let rows = reader.row_count().unwrap_or_default();
                let from = (block * BLOCK).min(rows);
                let to = (from + BLOCK + 1).min(rows);
                let batch =
                    reader.read_rows(&[OFFSET], std::slice::from_ref(&(from..to))).map_err(|error| error.at(path))?;
                offset_values(batch.column(0), path).map(|offsets| offsets.as_ref().into())
            }
            None => all(&reader, list, path),
        }
    }
}

/// Reads all offsets of a part: at most one more than a part has vertices.
fn all(reader: &TableReader, list: &List, path: &str) -> Result<Arc<[i64]>> {
    let mut offsets = Vec::new();
    for batch in reader.batches(&Selection::all().columns([OFFSET])).map_err(|error| error.at(path))? {
        offsets.extend_from_slice(&offset_values(batch.map_err(|error| error.at(path))?.column(0), path)?);
        if offsets.len() as u64 > list.part_size.saturating_add(1) {
            return Err(Error::broken(&rules::OFFSET_ROWS, "more offsets than the chunk size allows").at(path));
        }
    }
    Ok(offsets.into())
}
