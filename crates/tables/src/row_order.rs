//! Returns rows in a requested order from a source that yields them in its own order.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use isomorph_error::{Error, Result};

use crate::convert;

/// Requested ranges of rows, and the same rows sorted and without repetition.
pub(crate) struct RowOrder {
    asked: Vec<Range<u64>>,
    sorted: Vec<Range<u64>>,
}

impl RowOrder {
    /// Takes ranges that may overlap and be in any order.
    pub(crate) fn new(rows: &[Range<u64>]) -> Self {
        let asked: Vec<Range<u64>> = rows.iter().filter(|range| range.start < range.end).cloned().collect();
        let mut by_start = asked.clone();
        by_start.sort_unstable_by_key(|range| range.start);
        let mut sorted: Vec<Range<u64>> = Vec::with_capacity(by_start.len());
        for range in by_start {
            match sorted.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => sorted.push(range),
            }
        }
        RowOrder { asked, sorted }
    }

    /// Returns the sorted ranges without repetition.
    pub(crate) fn sorted(&self) -> &[Range<u64>] {
        &self.sorted
    }

    /// Arranges `batches`, which contain the sorted rows, in the requested order.
    pub(crate) fn arrange(&self, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch> {
        let failed = |error: ArrowError| Error::malformed(error.to_string()).caused_by(error);
        let batch = concat_batches(schema, batches).map_err(failed)?;
        if self.asked == self.sorted {
            return Ok(batch);
        }
        let mut starts = Vec::with_capacity(self.sorted.len());
        let mut total = 0;
        for range in &self.sorted {
            starts.push(total);
            total += range.end - range.start;
        }
        let indices = self.asked.iter().flat_map(|range| {
            let holder = self.sorted.partition_point(|sorted| sorted.start <= range.start).saturating_sub(1);
            let first = starts[holder] + (range.start - self.sorted[holder].start);
            first..first + (range.end - range.start)
        });
        let indices = UInt64Array::from_iter_values(indices);
        let columns =
            batch.columns().iter().map(|column| take(column, &indices, None)).collect::<Result<Vec<ArrayRef>, _>>();
        convert::batch(columns.map_err(failed)?, &Arc::clone(schema), indices.values().len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;

    #[test]
    fn rows_come_as_they_were_asked_for() {
        let order = RowOrder::new(&[7..9, 0..2, 8..10, 4..4, 1..3]);
        assert_eq!(order.sorted(), [0..3, 7..10]);
        let rows: Vec<i64> = order.sorted().iter().flat_map(|range| range.start as i64..range.end as i64).collect();
        let batch = RecordBatch::try_from_iter([("row", Arc::new(Int64Array::from(rows)) as ArrayRef)]).unwrap();
        let arranged = order.arrange(&batch.schema(), &[batch.slice(0, 4), batch.slice(4, 2)]).unwrap();
        assert_eq!(arranged.column(0).as_primitive::<Int64Type>().values(), &[7, 8, 0, 1, 8, 9, 1, 2]);
    }
}
