//! An answer as columns for people.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::SchemaRef;
use isomorph::{Error, Result};

use crate::render::{Cell, Column, Palette, Table};

/// Rows that are aligned with each other; a longer answer is printed in several tables without a gap.
const ALIGNED: usize = 1000;

/// Prints rows as they come.
pub struct TableText {
    schema: SchemaRef,
    table: Table,
    rows: usize,
    /// Width of the terminal; pipes have none, and their lines are never cut.
    width: Option<usize>,
    palette: Palette,
}

impl TableText {
    pub fn new(schema: &SchemaRef, width: Option<usize>, palette: Palette) -> Self {
        let mut table = empty(schema);
        table.row(schema.fields().iter().map(|field| Cell::from(field.name())));
        TableText { schema: SchemaRef::clone(schema), table, rows: 0, width, palette }
    }

    /// Adds rows, and prints those that are aligned.
    ///
    /// # Errors
    /// If a value has no text, or `out` cannot be written.
    pub fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        let options = FormatOptions::default().with_null("–");
        let formatters = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let formatters = formatters.collect::<std::result::Result<Vec<_>, _>>().map_err(unshown)?;
        for row in 0..batch.num_rows() {
            let cells: Vec<Cell> = formatters
                .iter()
                .map(|formatter| Ok(Cell::from(formatter.value(row).try_to_string().map_err(unshown)?)))
                .collect::<Result<_>>()?;
            self.table.row(cells);
            self.rows += 1;
            if self.rows == ALIGNED {
                self.print(out)?;
            }
        }
        Ok(())
    }

    /// Prints the rest.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn print(&mut self, out: &mut dyn Write) -> Result<()> {
        let table = std::mem::replace(&mut self.table, empty(&self.schema));
        self.rows = 0;
        for line in table.lines(self.width, self.palette) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

fn empty(schema: &SchemaRef) -> Table {
    let columns = schema.fields().iter().enumerate().map(|(at, field)| {
        if field.data_type().is_numeric() {
            Column::number()
        } else {
            // The last column is cut first.
            Column::text(u8::try_from(at + 1).unwrap_or(u8::MAX))
        }
    });
    Table::new(columns.collect::<Vec<_>>())
}

fn unshown(error: arrow_schema::ArrowError) -> Error {
    Error::malformed("a value of the answer cannot be printed").caused_by(error)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringArray};

    use super::*;

    #[test]
    fn rows_beyond_a_table_follow_without_a_header() {
        let numbers = Int64Array::from_iter_values(0..2500);
        let names = StringArray::from_iter((0..2500).map(|at| (at % 2 == 0).then(|| format!("n{at}"))));
        let batch =
            RecordBatch::try_from_iter([("n", Arc::new(numbers) as _), ("name", Arc::new(names) as _)]).unwrap();
        let mut text = TableText::new(&batch.schema(), Some(20), Palette::Plain);
        let mut out = Vec::new();
        text.write(&batch, &mut out).unwrap();
        text.print(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2501);
        assert_eq!((lines[0], lines[1], lines[2]), ("  n   name", "  0   n0", "  1   –"));
        assert_eq!(lines[2500], "2499   –");
    }
}
