//! One partition: a file with its columns, and the pieces that can be read side by side.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Place, Result};
use isomorph_storage::Blob;
use isomorph_tables::{CsvDialect, Encoding, ReadOptions, Selection, TableReader};

use super::Format;
use crate::Tolerance;
use crate::columns::{Column, ColumnSet};
use crate::layout::{EDGES, Layout};
use crate::rows::{Numbers, PROPS_FOOTER, Reading, Rows, Shape, explode, normalize};

/// Rows of a piece, about: larger row groups are read as several pieces, so that all cores have work.
const PIECE_ROWS: u64 = 1 << 19;

/// One file of a dataset.
pub(crate) struct Partition {
    /// Its number.
    pub id: u64,
    /// Its name, for places.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// How it is kept.
    pub format: Format,
    /// Its columns.
    pub layout: Layout,
    /// Number of rows, if the file says so. In the nested layout: of node rows.
    pub rows: Option<u64>,
    table: TableReader,
    /// Whether the values of a map of props are JSON texts.
    map_of_json: bool,
}

/// A part of a partition that is read on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Index of the partition.
    pub partition: usize,
    /// Rows of the file; nothing for a text file, which is read through.
    pub rows: Option<Range<u64>>,
}

/// What is read of a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Which of the nine columns.
    pub columns: ColumnSet,
    /// Whether further columns are read too.
    pub extras: bool,
    /// Rows of a batch at most.
    pub batch_rows: usize,
    /// Types.
    pub shape: &'a Shape,
    /// What happens to broken rows.
    pub tolerance: Tolerance,
}

impl Partition {
    /// Opens a file: reads its metadata, or its header line.
    ///
    /// # Errors
    /// When it is not a NOCK file.
    pub fn open(blob: Blob, id: u64, format: Format, tolerance: Tolerance) -> Result<Partition> {
        let (name, size) = (blob.name().to_owned(), blob.size());
        let table = match format {
            Format::Parquet => TableReader::open(blob, Encoding::Parquet, &ReadOptions::default())?,
            Format::Csv => open_text(&blob, tolerance)?,
        };
        let rows = table.row_count();
        let layout = Layout::of(table.schema(), rows.unwrap_or(1)).map_err(|error| error.at(name.as_str()))?;
        let map_of_json = table.footer_metadata().contains(&PROPS_FOOTER);
        Ok(Partition { id, name, size, format, layout, rows, table, map_of_json })
    }

    /// The pieces of this partition, which is number `partition`.
    pub fn pieces(&self, partition: usize) -> Vec<Piece> {
        if self.layout.empty {
            return Vec::new();
        }
        if self.rows.is_none() {
            return vec![Piece { partition, rows: None }];
        }
        let groups = (0..self.table.row_groups()).filter_map(|group| self.table.rows_of_group(group));
        groups
            .flat_map(|rows| split_evenly(rows, PIECE_ROWS))
            .map(|rows| Piece { partition, rows: Some(rows) })
            .collect()
    }

    /// Number of row groups.
    pub fn row_groups(&self) -> usize {
        self.table.row_groups()
    }

    /// Whether any node row is that of a foreign node. Rows are read only where statistics do not exclude it.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn has_foreign_rows(&self) -> Result<bool> {
        use isomorph_tables::{Comparison, Predicate};
        let edges_nested = self.layout.nested.is_some();
        if !self.layout.has(Column::Shadow) || self.layout.empty {
            return Ok(false);
        }
        let foreign = Predicate::compare(Column::Shadow.name(), Comparison::GreaterOrEqual, 0i64);
        let node = Predicate::compare(Column::EdgeId.name(), Comparison::Less, 0i64);
        let filter = if edges_nested { foreign } else { Predicate::And(vec![foreign, node]) };
        let selection = Selection::all().columns([Column::Shadow.name()]).filter(filter);
        for batch in self.table.batches(&selection)? {
            if batch?.num_rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a piece, batch by batch.
    ///
    /// # Errors
    /// When the file cannot be read or a row is broken, with file and row; or when `take` returns an error.
    pub fn read(&self, piece: &Piece, wanted: &Wanted<'_>, take: &mut dyn FnMut(Rows) -> Result<()>) -> Result<()> {
        let mut selection = Selection::all().columns(self.column_names(wanted)).batch_rows(wanted.batch_rows);
        let mut first = 0;
        if let Some(rows) = &piece.rows {
            selection = selection.rows([rows.clone()]);
            first = rows.start;
        }
        for batch in self.table.batches(&selection)? {
            let batch = batch?;
            let rows = batch.num_rows() as u64;
            let normal = self.normalized(&batch, first, wanted);
            take(normal.map_err(|error| error.at(Place::file(&self.name)))?)?;
            first += rows;
        }
        Ok(())
    }

    fn normalized(&self, batch: &RecordBatch, first: u64, wanted: &Wanted<'_>) -> Result<Rows> {
        if self.layout.nested.is_none() {
            return normalize(batch, Numbers::From(first), &self.reading(wanted));
        }
        let (flat, numbers) = explode(batch, first, wanted.columns, self.map_of_json)?;
        normalize(&flat, numbers, &self.reading(wanted))
    }

    fn reading<'a>(&self, wanted: &Wanted<'a>) -> Reading<'a> {
        Reading { shape: wanted.shape, tolerance: wanted.tolerance, map_of_json: self.map_of_json }
    }

    /// Names of the columns to read. Name and number are always among them.
    fn column_names(&self, wanted: &Wanted<'_>) -> Vec<&str> {
        let always = [Column::SrcName, Column::EdgeId];
        let columns = Column::ALL
            .into_iter()
            .filter(|&column| self.layout.has(column) && (wanted.columns.has(column) || always.contains(&column)));
        let mut names: Vec<&str> = columns.map(Column::name).collect();
        if self.layout.nested.is_some() {
            names.push(EDGES);
        }
        if wanted.extras {
            names.extend(self.layout.extras.iter().map(|extra| extra.name.as_str()));
        }
        names
    }

    /// The rows that pass `filter`, with their numbers in the file: batches of the columns of `wanted`.
    ///
    /// # Errors
    /// As [`Partition::read`]; the nested layout has no rows to filter.
    pub fn matching(
        &self,
        filter: isomorph_tables::Predicate,
        wanted: &Wanted<'_>,
        take: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()> {
        if self.layout.nested.is_some() {
            return Err(Error::unsupported("nested edge rows cannot be filtered")
                .at(Place::file(&self.name))
                .hint("isomorph convert PATH NEW.parq writes flat rows"));
        }
        let selection = Selection::all()
            .columns(self.column_names(wanted))
            .batch_rows(wanted.batch_rows)
            .filter(filter)
            .row_numbers(ROW_NUMBER);
        for batch in self.table.batches(&selection)? {
            let batch = batch?;
            let numbers = batch.column_by_name(ROW_NUMBER).and_then(|column| column.as_primitive_opt::<Int64Type>());
            let numbers = numbers.ok_or_else(|| Error::malformed("rows came without their numbers"))?;
            let numbers = numbers.values().iter().map(|number| number.unsigned_abs()).collect();
            let rows = normalize(&batch, Numbers::Listed(numbers), &self.reading(wanted));
            take(rows.map_err(|error| error.at(Place::file(&self.name)))?)?;
        }
        Ok(())
    }
}

/// Opens a text file: the nine columns, as far as its header has them, with their types; others as text.
fn open_text(blob: &Blob, tolerance: Tolerance) -> Result<TableReader> {
    let mut csv = CsvDialect { keep_other_columns: true, ..CsvDialect::nock() };
    let untyped = ReadOptions { csv: csv.clone(), ..ReadOptions::declared(Arc::new(Schema::empty())) };
    let header = TableReader::open(blob.clone(), Encoding::Csv, &untyped)?;
    let types = header.schema().fields().iter().filter_map(|field| {
        let data_type = match Column::named(field.name())? {
            Column::EdgeId | Column::Shadow => DataType::Int64,
            Column::Truth => DataType::Float64,
            Column::IsRdf => DataType::Boolean,
            _ => DataType::Utf8,
        };
        Some(Field::new(field.name(), data_type, true))
    });
    let declared = Arc::new(Schema::new(types.collect::<Vec<_>>()));
    if tolerance == Tolerance::Lenient {
        csv = csv.lenient();
    }
    TableReader::open(blob.clone(), Encoding::Csv, &ReadOptions { csv, ..ReadOptions::declared(declared) })
}

/// Name of the column of row numbers that look-ups ask for: no column of a file is called so.
const ROW_NUMBER: &str = "\u{0}row";

/// Ranges of about `most` rows each, as even as possible.
fn split_evenly(rows: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let length = rows.end - rows.start;
    let parts = length.div_ceil(most.max(1));
    let at = move |part: u64| rows.start + (u128::from(length) * u128::from(part) / u128::from(parts.max(1))) as u64;
    (0..parts).map(move |part| at(part)..at(part + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_groups_are_split_evenly() {
        let parts: Vec<_> = split_evenly(10..21, 4).collect();
        assert_eq!(parts, [10..13, 13..17, 17..21]);
        assert_eq!(split_evenly(5..5, 4).count(), 0);
        assert_eq!(split_evenly(5..6, 4).collect::<Vec<_>>(), [5..6]);
    }
}
