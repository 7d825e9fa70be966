//! Writers of the arrays of both views.

use isomorph_error::{Error, Kind, Result};

use super::CHUNK;
use crate::write::{Output, WriteOptions};
use crate::zarr::{ArrayWriter, Number};

/// An array that collects numbers before they are written to their chunk.
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

/// `indptr`, `indices` and `data`. Entries arrive in the order of the rows (columns) that are compressed.
pub(super) struct Compressed {
    starts: Column<i64>,
    indices: Column<i32>,
    data: Column<f32>,
    /// Number of rows that have begun.
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

    /// Completes the arrays for this number of rows.
    pub fn finish(mut self, rows: u64, output: &mut Output<'_>) -> Result<()> {
        self.begin(rows, output)?;
        self.starts.finish(output)?;
        self.indices.finish(output)?;
        self.data.finish(output)
    }
}

/// Converts the number of a row or column to the type of the arrays.
pub(super) fn number(row: u64) -> Result<i32> {
    i32::try_from(row).map_err(|_| {
        Error::new(
            Kind::TooLarge,
            "the graph has more entities or edges than the 32-bit numbers of the cache can count",
        )
        .hint("omit --cache")
    })
}
