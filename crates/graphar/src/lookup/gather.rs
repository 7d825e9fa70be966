//! Reads rows of several chunks and returns them in the requested order.

use arrow_array::{ArrayRef, UInt64Array, new_empty_array};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Result};

/// The rows `rows` of chunk `chunk` of part `part`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub part: u64,
    pub chunk: u64,
    pub rows: std::ops::Range<u64>,
}

/// The order in which segments are read: chunk by chunk, each once, rows ascending.
pub(super) struct Order {
    /// Positions of the segments in reading order.
    read: Vec<usize>,
    /// For each row in the requested order, its position among the rows that were read; `None` if the two orders are the same.
    rows: Option<UInt64Array>,
}

impl Order {
    pub fn new(segments: &[Segment]) -> Self {
        let key = |at: &usize| segments.get(*at).map(|segment| (segment.part, segment.chunk, segment.rows.start));
        let mut read: Vec<usize> = (0..segments.len()).collect();
        if read.is_sorted_by_key(key) {
            return Order { read, rows: None };
        }
        read.sort_by_key(key);
        let mut starts = vec![0; segments.len()];
        let mut next = 0;
        for at in &read {
            starts[*at] = next;
            next += segments[*at].rows.end - segments[*at].rows.start;
        }
        let rows = segments.iter().zip(&starts).flat_map(|(segment, start)| {
            let rows = segment.rows.end - segment.rows.start;
            *start..*start + rows
        });
        Order { read, rows: Some(UInt64Array::from_iter_values(rows)) }
    }

    /// Calls `read` for each chunk, in order, with its part, its number and the rows to read.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn each(
        &self,
        segments: &[Segment],
        mut read: impl FnMut(u64, u64, &[std::ops::Range<u64>]) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        let mut ranges = Vec::new();
        while let Some(first) = self.read.get(at).and_then(|at| segments.get(*at)) {
            ranges.clear();
            while let Some(next) = self.read.get(at).and_then(|at| segments.get(*at)) {
                if (next.part, next.chunk) != (first.part, first.chunk) {
                    break;
                }
                ranges.push(next.rows.clone());
                at += 1;
            }
            read(first.part, first.chunk, &ranges)?;
        }
        Ok(())
    }

    /// Returns a column of the rows that were read, in the requested order.
    ///
    /// # Errors
    /// Returns an error if the pieces have different types.
    pub fn arrange(&self, pieces: &[ArrayRef], data_type: &DataType) -> Result<ArrayRef> {
        let failed = |error: arrow_schema::ArrowError| Error::malformed(error.to_string()).caused_by(error);
        let joined = match pieces {
            [] => new_empty_array(data_type),
            [one] => one.clone(),
            several => concat(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(failed)?,
        };
        match &self.rows {
            None => Ok(joined),
            Some(rows) => take(&joined, rows, None).map_err(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;

    #[test]
    fn rows_come_back_as_they_were_asked_for() {
        let segment = |chunk, rows| Segment { part: 0, chunk, rows };
        let segments = [segment(1, 5..7), segment(0, 3..4), segment(1, 0..1), segment(0, 3..4)];
        let order = Order::new(&segments);
        let mut pieces: Vec<ArrayRef> = Vec::new();
        let mut calls = Vec::new();
        order
            .each(&segments, |_, chunk, rows| {
                calls.push((chunk, rows.to_vec()));
                let values = rows.iter().cloned().flatten().map(|row| (chunk * 100 + row) as i64);
                pieces.push(Arc::new(Int64Array::from_iter_values(values)));
                Ok(())
            })
            .unwrap();
        assert_eq!(calls, [(0, vec![3..4, 3..4]), (1, vec![0..1, 5..7])]);
        let column = order.arrange(&pieces, &DataType::Int64).unwrap();
        assert_eq!(column.as_primitive::<Int64Type>().values().as_ref(), [105, 106, 3, 100, 3]);
    }
}
