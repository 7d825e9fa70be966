//! The arrays of both views in the making.

use isomorph_error::{Error, Kind, Result};

use super::CHUNK;
use crate::write::{Output, WriteOptions};
use crate::zarr::{ArrayWriter, Number};

/// An array that gathers numbers before they go to their chunk.
pub(super) struct Column<T> {
    array: ArrayWriter<T>,
    pending: Vec<T>,
}

impl<T: Number> Column<T> {
    pub fn create(group: &str, name: &str, options: &WriteOptions) -> Result<Self> {
        let array = ArrayWriter::create(&format!("{group}/{name}"), CHUNK, options)?;
        Ok(Column { array, pending: Vec::new() })
    }

    pub fn push(&mut self, number: T, output: &mut Output<'_>) -> Result<()> {
        self.pending.push(number);
        if self.pending.len() as u64 == CHUNK.get() { self.flush(output) } else { Ok(()) }
    }

    fn flush(&mut self, output: &mut Output<'_>) -> Result<()> {
        self.array.push(&self.pending, output)?;
        self.pending.clear();
        Ok(())
    }

    pub fn finish(mut self, output: &mut Output<'_>) -> Result<()> {
        self.flush(output)?;
        self.array.finish(output).map(drop)
    }
}

/// `indptr`, `indices` and `data`: entries come in the order of the rows (columns) that they are compressed by.
pub(super) struct Compressed {
    starts: Column<i64>,
    indices: Column<i32>,
    data: Column<f32>,
    /// Rows that have begun.
    begun: u64,
    entries: i64,
}

impl Compressed {
    pub fn create(group: &str, options: &WriteOptions) -> Result<Self> {
        Ok(Compressed {
            starts: Column::create(group, "indptr", options)?,
            indices: Column::create(group, "indices", options)?,
            data: Column::create(group, "data", options)?,
            begun: 0,
            entries: 0,
        })
    }

    /// Begins all rows up to and including this one.
    pub fn begin(&mut self, row: u64, output: &mut Output<'_>) -> Result<()> {
        while self.begun <= row {
            self.starts.push(self.entries, output)?;
            self.begun += 1;
        }
        Ok(())
    }

    pub fn add(&mut self, row: u64, index: u64, value: f32, output: &mut Output<'_>) -> Result<()> {
        self.begin(row, output)?;
        self.indices.push(number(index)?, output)?;
        self.data.push(value, output)?;
        self.entries += 1;
        Ok(())
    }

    /// Ends the arrays of so many rows.
    pub fn finish(mut self, rows: u64, output: &mut Output<'_>) -> Result<()> {
        self.begin(rows, output)?;
        self.starts.finish(output)?;
        self.indices.finish(output)?;
        self.data.finish(output)
    }
}

/// A row or column as the arrays have it.
pub(super) fn number(row: u64) -> Result<i32> {
    i32::try_from(row).map_err(|_| {
        Error::new(Kind::TooLarge, "the cache has 32 bits for the numbers of entities and edges, and there are more")
            .hint("leave out --cache")
    })
}
