//! Joins rows of a table with the nodes that they belong to.

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use isomorph_error::{Error, Result, index};
use isomorph_model::Columns;
use isomorph_tables::sort::{EdgeStream, SortedBatch, SortedEdges};

use super::rows::Table;

/// Joins sorted rows of a table with the nodes of a type.
pub(super) struct NodeRows<'a> {
    stream: EdgeStream<'a>,
    /// Rows that were read and not yet used.
    current: Option<SortedBatch>,
    types: Vec<DataType>,
    matched: u64,
    without: u64,
}

impl<'a> NodeRows<'a> {
    /// Starts at the first node. `sorted` has at most one row for each node.
    pub fn new(sorted: &'a SortedEdges, table: &Table) -> Result<Self> {
        let types = table.properties().iter().map(|property| property.data_type.clone()).collect();
        Ok(NodeRows { stream: sorted.stream()?, current: None, types, matched: 0, without: 0 })
    }

    /// The columns of the `rows` nodes from `start`, which follow the nodes before; null for nodes without a row in the
    /// table.
    ///
    /// # Errors
    /// If a spilled run cannot be read.
    pub fn columns(&mut self, start: u64, rows: usize) -> Result<Columns> {
        let end = start + rows as u64;
        let mut places: Vec<Option<u32>> = vec![None; rows];
        let mut pieces: Vec<RecordBatch> = Vec::new();
        let mut taken = 0u32;
        while let Some(batch) = self.fill()? {
            let count = batch.aligned.values().partition_point(|row| *row < end);
            for row in batch.aligned.values().iter().take(count) {
                if let Some(place) = places.get_mut(index(*row - start)) {
                    *place = Some(taken);
                }
                taken += 1;
            }
            let length = batch.aligned.len();
            pieces.push(batch.payload.slice(0, count));
            self.current = (count < length).then(|| SortedBatch {
                aligned: batch.aligned.slice(count, length - count),
                other: batch.other.slice(count, length - count),
                payload: batch.payload.slice(count, length - count),
            });
            if self.current.is_some() {
                break;
            }
        }
        let matched = places.iter().flatten().count();
        self.matched += matched as u64;
        self.without += (rows - matched) as u64;
        let Some(first) = pieces.first() else {
            return Ok(self.types.iter().map(|ty| Some(new_null_array(ty, rows))).collect());
        };
        let all = concat_batches(&first.schema(), &pieces).map_err(broken)?;
        let places = UInt32Array::from(places);
        let column = |column: &ArrayRef| take(column.as_ref(), &places, None).map(Some).map_err(broken);
        all.columns().iter().map(column).collect()
    }

    /// The current rows, read if necessary.
    fn fill(&mut self) -> Result<Option<SortedBatch>> {
        match self.current.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.stream.next_batch(),
        }
    }

    /// Number of nodes that have a row in the table.
    pub fn matched(&self) -> u64 {
        self.matched
    }

    /// Number of nodes that have none.
    pub fn without(&self) -> u64 {
        self.without
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::malformed(format!("the rows of the table cannot be joined with their nodes: {error}"))
}
