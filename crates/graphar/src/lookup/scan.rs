//! Edges of vertices where no offsets lead to them: the part, or everything, is read.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph_error::Result;
use isomorph_tables::{Literal, Predicate, Selection};

use super::edges::Found;
use super::gather::Segment;
use crate::GraphAr;
use crate::layout::chunk_count;
use crate::read::EdgeScan;
use crate::table::{EdgeTable, List, SOURCE_INDEX, TARGET_INDEX};

const ROW: &str = "_isomorphRow";

impl GraphAr {
    /// By reading the ends of every chunk that can hold an edge of one of `vertices`.
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
                let edges = counts.edges.get(part as usize).copied().unwrap_or_default();
                for chunk in 0..chunk_count(edges, list.chunk_size) {
                    let path = list.layout.adj(part, chunk);
                    let reader = self.lookups.reader(&table.root, &path, list.encoding, EdgeScan::adj_fields)?;
                    let is_end = Predicate::equal(column, Literal::Int(i128::from(*vertex)));
                    let selection = Selection::all().columns::<&str>([]).row_numbers(ROW).filter(is_end);
                    for batch in reader.batches(&selection).map_err(|error| error.at(path.as_str()))? {
                        let batch = batch.map_err(|error| error.at(path.as_str()))?;
                        let rows = batch.column_by_name(ROW).and_then(|rows| rows.as_primitive_opt::<Int64Type>());
                        for row in rows.map(|rows| rows.values().as_ref()).unwrap_or_default() {
                            let row = row.unsigned_abs();
                            segments.push(Segment { part, chunk, rows: row..row + 1 });
                            total += 1;
                        }
                    }
                }
            }
            starts.push(total);
        }
        Ok(Found { starts, ..self.read_segments(edge, table, list, &segments)? })
    }
}
