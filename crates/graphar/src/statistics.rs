//! What is known of a table without reading its rows: counts, and the footers of its chunks.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::Narrowing;
use isomorph_model::statistics::{ColumnStatistics, Known, Statistics};
use isomorph_storage::Root;

use crate::GraphAr;
use crate::layout::chunk_count;
use crate::read::EdgeScan;
use crate::table::{Chunk, Group, SOURCE_INDEX, TARGET_INDEX, Target, open_chunk};

/// Files that are opened at most.
const FILES: u64 = 256;

/// A file of a table: its path, and the rows that it should have.
type File = (String, u64);

/// What the files of a group say.
struct Said {
    /// Whether each states the rows that it should have.
    confirms: bool,
    columns: Vec<(String, ColumnStatistics)>,
}

impl GraphAr {
    /// What is known of the nodes of a type.
    ///
    /// # Errors
    /// When a chunk is missing, or its footer is not sound.
    pub(crate) fn node_statistics(&self, ty: usize) -> Result<Statistics> {
        let table = self.vertex_table(ty)?;
        let (rows, chunks) = (table.rows()?, table.chunks()?);
        let mut all = Statistics { rows: Known::Estimated(rows), columns: Vec::new() };
        if chunks.saturating_mul(table.groups.len() as u64) > FILES {
            return Ok(all);
        }
        let (mut confirms, mut contradicts) = (false, false);
        for group in &table.groups {
            let path = |chunk| Ok((table.layout.chunk(group.number, chunk), table.chunk_rows(chunk)?));
            let said = said(&table.root, group, (0..chunks).map(path), true)?;
            confirms |= said.confirms;
            contradicts |= !said.confirms && !group.encoding.is_text();
            all.columns.extend(said.columns);
        }
        if confirms && !contradicts {
            all.rows = Known::Exact(rows);
        }
        Ok(all)
    }

    /// What is known of the edges of a type.
    ///
    /// # Errors
    /// As [`GraphAr::node_statistics`].
    pub(crate) fn edge_statistics(&self, ty: usize) -> Result<Statistics> {
        let table = self.edge_table(ty)?;
        let Some(list) = table.lists.first() else { return Ok(Statistics::default()) };
        let counts = list.counts()?;
        let rows = counts.total()?;
        let chunks = || {
            (0u64..).zip(&counts.edges).flat_map(|(part, edges)| {
                (0..chunk_count(*edges, list.chunk_size))
                    .map(move |chunk| (part, chunk, list.chunk_rows(*edges, chunk)))
            })
        };
        let mut all = Statistics { rows: Known::Estimated(rows), columns: Vec::new() };
        let files: u64 = counts.edges.iter().map(|edges| chunk_count(*edges, list.chunk_size)).sum();
        if files.saturating_mul(table.groups.len() as u64 + 1) > FILES || list.encoding.is_text() {
            return Ok(all);
        }
        // Edges of other vertices than there are cannot be read.
        let mut confirms = self.edge_scan(ty, list, None, 1).is_ok();
        // Ends are stored as rows of nodes: nothing is known of them as keys but what they take.
        let mut ends = [Known::Exact(0_u64); 2];
        for (part, chunk, rows) in chunks() {
            let adj = open_chunk(&table.root, &list.layout.adj(part, chunk), list.encoding, EdgeScan::adj_fields())?;
            confirms &= adj.row_count() == Some(rows);
            for (bytes, name) in ends.iter_mut().zip([SOURCE_INDEX, TARGET_INDEX]) {
                *bytes = bytes.with(adj.column_statistics(name)?.bytes, u64::saturating_add);
            }
        }
        for (bytes, name) in ends.into_iter().zip([Narrowing::SOURCE, Narrowing::TARGET]) {
            all.columns.push((name.to_owned(), ColumnStatistics { bytes, ..ColumnStatistics::default() }));
        }
        for group in &table.groups {
            let path = |(part, chunk, rows)| Ok((list.layout.chunk(group.number, part, chunk), rows));
            all.columns.extend(said(&table.root, group, chunks().map(path), false)?.columns);
        }
        if confirms {
            all.rows = Known::Exact(rows);
        }
        Ok(all)
    }
}

/// What the files of a group say of its columns, as far as these are shown as they are stored.
fn said(root: &Root, group: &Group, files: impl Iterator<Item = Result<File>>, indexed: bool) -> Result<Said> {
    let mut columns = vec![ColumnStatistics::of_no_rows(); group.columns.len()];
    let mut confirms = !group.encoding.is_text();
    if confirms {
        for file in files {
            let (path, rows) = file?;
            let chunk = Chunk::open(root, path, group.encoding, Arc::clone(&group.columns), indexed)?;
            confirms &= chunk.reader.row_count() == Some(rows);
            for (all, column) in columns.iter_mut().zip(group.columns.iter()) {
                let is_shown = chunk
                    .reader
                    .schema()
                    .field_with_name(&column.name)
                    .is_ok_and(|field| *field.data_type() == column.data_type);
                let own =
                    if is_shown { chunk.reader.column_statistics(&column.name)? } else { ColumnStatistics::default() };
                *all = std::mem::take(all).with(own);
            }
        }
    }
    let name = |target: Target, name: &str| match target {
        Target::Key => Narrowing::KEY.to_owned(),
        Target::Property(_) => name.to_owned(),
    };
    let known = group.columns.iter().zip(columns).filter(|_| confirms);
    Ok(Said { confirms, columns: known.map(|(column, known)| (name(column.target, &column.name), known)).collect() })
}
