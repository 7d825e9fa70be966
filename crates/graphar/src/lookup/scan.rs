//! Look-up of edges without offsets: the part, or the whole list, is read.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph_error::{Error, Result, index};
use isomorph_model::{Literal, Predicate};
use isomorph_tables::{Selection, TableReader};

use super::edges::{Found, check_rows};
use super::gather::Segment;
use crate::GraphAr;
use crate::layout::chunk_count;
use crate::read::{EdgeScan, indexes};
use crate::rules;
use crate::table::{EdgeTable, List, SOURCE_INDEX, TARGET_INDEX};

const ROW: &str = "_isomorphRow";

impl GraphAr {
    /// Finds edges by reading the ends in every chunk that can contain an edge of one of `vertices`.
    pub(super) fn by_scan(
        &self,
        edge: usize,
        table: &EdgeTable,
        list: &List,
        vertices: &[u64],
        by_source: bool,
    ) -> Result<Found> {
        let counts = list.counts()?;
        let column = if by_source { SOURCE_INDEX } else { TARGET_INDEX };
        let mut segments = Vec::new();
        let mut starts = vec![0];
        let mut total = 0;
        for vertex in vertices {
            let parts = match list.kind.by_source() == by_source {
                true => vertex / list.part_size..vertex / list.part_size + 1,
                false => 0..counts.edges.len() as u64,
            };
            for part in parts {
                let edges = counts.edges.get(index(part)).copied().unwrap_or_default();
                for chunk in 0..chunk_count(edges, list.chunk_size) {
                    let path = list.layout.adj(part, chunk);
                    let reader = self.lookups.reader(&table.root, &path, list.encoding, EdgeScan::adj_fields)?;
                    let expected = list.chunk_rows(edges, chunk);
                    check_rows(&path, reader.row_count(), expected)?;
                    for row in rows_with(&reader, column, *vertex, expected).map_err(|error| error.at(path.as_str()))? {
                        segments.push(Segment { part, chunk, rows: row..row + 1 });
                        total += 1;
                    }
                }
            }
            starts.push(total);
        }
        Ok(Found { starts, ..self.read_segments(edge, table, list, &segments, None)? })
    }
}

/// Returns the rows of an adjacency chunk of `expected` rows whose end in `column` is `vertex`.
fn rows_with(reader: &TableReader, column: &str, vertex: u64, expected: u64) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    // The number of rows in a text file is known only at its end, so all of it is read.
    if reader.row_count().is_none() {
        let mut rows = 0u64;
        for batch in reader.batches(&Selection::all().columns([column]))? {
            let batch = batch?;
            let ends = indexes(batch.column(0), column, rows)?.values();
            let own = ends.iter().enumerate().filter(|(_, end)| u64::try_from(**end) == Ok(vertex));
            found.extend(own.map(|(row, _)| rows + row as u64));
            rows += batch.num_rows() as u64;
        }
        if rows != expected {
            let message = format!("found {rows} rows, but the counts require {expected}");
            return Err(Error::broken(&rules::COUNT_ROWS, message));
        }
        return Ok(found);
    }
    let is_end = Predicate::equal(column, Literal::Int(i128::from(vertex)));
    for batch in reader.batches(&Selection::all().columns::<&str>([]).row_numbers(ROW).filter(is_end))? {
        let batch = batch?;
        let rows = batch.column_by_name(ROW).and_then(|rows| rows.as_primitive_opt::<Int64Type>());
        found.extend(rows.into_iter().flat_map(|rows| rows.values()).map(|row| row.unsigned_abs()));
    }
    Ok(found)
}
