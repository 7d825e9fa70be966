//! One partition: a file with its columns, and the pieces that can be read in parallel.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take_record_batch;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_model::Predicate;
use isomorph_storage::Blob;
use isomorph_tables::{CsvDialect, Encoding, ReadOptions, Selection, TableReader, TextType};

use super::{Format, Named};
use crate::Tolerance;
use crate::columns::{Column, ColumnSet, index_columns};
use crate::layout::{EDGES, Layout};
use crate::node_rows::KeptPiece;
use crate::rows::{Numbers, PROPS_FOOTER, Reading, Rows, Shape, explode, normalize};

/// The column of row numbers during look-ups.
const ROW: &str = "_isomorphRow";

/// One file of a dataset.
pub(crate) struct Partition {
    /// Its number.
    pub id: u64,
    /// Its name, for the places of errors.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its file format.
    pub format: Format,
    /// Its columns.
    pub layout: Layout,
    /// Number of rows, if the file states it. In the nested layout, the number of node rows.
    pub rows: Option<u64>,
    table: TableReader,
    /// The bytes of a text file.
    pub text: Option<Blob>,
    /// Whether the values of a map of props are JSON texts.
    pub map_of_json: bool,
    /// Whether a text file begins with a byte-order mark.
    pub has_mark: bool,
}

/// A part of a partition that can be read independently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Index of the partition.
    pub partition: usize,
    /// Rows of the file; `None` for a text file, which is read completely.
    pub rows: Option<Range<u64>>,
}

/// The further columns that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extras {
    /// None.
    None,
    /// All of them.
    All,
    /// Those with these names.
    Named(Arc<[String]>),
}

/// The columns of a piece that are read, and how.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<'a> {
    /// The columns among the nine.
    pub columns: ColumnSet,
    /// The further columns that are also read.
    pub extras: Extras,
    /// Whether edge rows get the numbers stated in the file, also nested ones; otherwise only the sign may be valid.
    pub stated_ids: bool,
    /// Maximum number of rows in a batch.
    pub batch_rows: usize,
    /// The types of columns.
    pub shape: &'a Shape,
    /// How invalid rows are treated.
    pub tolerance: Tolerance,
}

impl Partition {
    /// Opens a file: reads its metadata or header line.
    ///
    /// # Errors
    /// Returns an error if it is not a NOCK file.
    pub fn open(blob: Blob, id: u64, format: Format, tolerance: Tolerance) -> Result<Partition> {
        let (name, size) = (blob.name().to_owned(), blob.size());
        let has_mark = format == Format::Csv && blob.size() >= 3 && blob.read(0..3)?.as_ref() == b"\xef\xbb\xbf";
        let text = (format == Format::Csv).then(|| blob.clone());
        let table = match format {
            Format::Parquet => open_table(blob, &name)?,
            Format::Csv => open_text(&blob, tolerance)?,
        };
        let rows = table.row_count();
        let mut layout = Layout::of(table.schema(), rows.unwrap_or(1)).map_err(|error| error.at(name.as_str()))?;
        // Columns that pandas declares as its index are not part of the graph.
        let metadata = table.footer_metadata().into_iter().find(|(key, _)| *key == "pandas");
        let stated = metadata.map(|(_, text)| index_columns(text)).unwrap_or_default();
        layout.indexes.retain(|name| !stated.contains(name));
        let map_of_json = table.footer_metadata().contains(&PROPS_FOOTER);
        Ok(Partition { id, name, size, format, layout, rows, table, text, map_of_json, has_mark })
    }

    /// Returns the pieces of this partition, which has the index `partition`: about `piece_rows` rows each.
    pub fn pieces(&self, partition: usize, piece_rows: u64) -> Vec<Piece> {
        if self.layout.empty {
            return Vec::new();
        }
        if self.rows.is_none() {
            return vec![Piece { partition, rows: None }];
        }
        let groups = (0..self.table.row_groups()).filter_map(|group| self.table.rows_of_group(group));
        groups
            .flat_map(|rows| split_evenly(rows, piece_rows))
            .map(|rows| Piece { partition, rows: Some(rows) })
            .collect()
    }

    /// Checks the Arrow schema embedded in the file's footer: it is not used here, but other readers need it.
    ///
    /// # Errors
    /// Returns an error if the schema is damaged, or if its types differ from the file's.
    pub fn check_embedded(&self) -> Result<()> {
        self.table.check_embedded().map_err(|error| error.at(self.name.as_str()))
    }

    /// Whether bounds may tell where in the file a name is.
    pub fn has_bounds(&self) -> bool {
        self.rows.is_some() && self.layout.nested.is_none()
    }

    /// Number of row groups.
    pub fn row_groups(&self) -> usize {
        self.table.row_groups()
    }

    /// Returns whether any node row is a shadow row. Rows are read only if statistics do not exclude it.
    ///
    /// # Errors
    /// Returns an error if the column cannot be read.
    pub fn has_foreign_rows(&self) -> Result<bool> {
        use isomorph_model::Comparison;
        let edges_nested = self.layout.nested.is_some();
        if !self.layout.has_values(Column::Shadow) {
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

    /// Returns whether the other columns of `piece` can be read without those already in memory, and whether that saves reading.
    pub fn can_go_without(&self, piece: &Piece) -> bool {
        piece.rows.is_some() && self.layout.nested.is_none()
    }

    /// Reads the rows of a piece, batch by batch, in normalised form. Columns in `kept` are not read again.
    ///
    /// # Errors
    /// Returns an error with file and row if the file cannot be read or a row is invalid.
    pub fn read<'a>(
        &'a self,
        piece: &Piece,
        kept: Option<KeptPiece>,
        wanted: &Wanted<'a>,
    ) -> Result<impl Iterator<Item = Result<Rows>> + Send + use<'a>> {
        let batches: Box<dyn Iterator<Item = Result<(RecordBatch, Numbers)>> + Send> =
            match kept.zip(piece.rows.clone()) {
                Some((kept, rows)) => Box::new(self.beside(rows, kept, wanted)?),
                None => {
                    let selection = Selection::all().batch_rows(wanted.batch_rows);
                    Box::new(self.batches(piece, wanted.columns, &wanted.extras, selection)?)
                }
            };
        let reading = self.reading(wanted);
        Ok(batches.map(move |batch| {
            let (batch, numbers) = batch?;
            normalize(&batch, numbers, &reading).map_err(|error| error.at(Place::file(&self.name)))
        }))
    }

    /// Reads the columns of `rows` that are not kept, and joins them with the kept ones.
    fn beside(
        &self,
        rows: Range<u64>,
        mut kept: KeptPiece,
        wanted: &Wanted<'_>,
    ) -> Result<impl Iterator<Item = Result<(RecordBatch, Numbers)>> + Send + use<>> {
        let mut names = self.column_names(wanted.columns, &wanted.extras);
        names.retain(|name| !Column::named(name).is_some_and(|column| kept.has(column)));
        let mut first = rows.start;
        let mut others = match names.is_empty() {
            true => None,
            false => {
                let selection = Selection::all().columns(names).batch_rows(wanted.batch_rows).rows([rows]);
                Some((self.table.batches(&selection)?, None))
            }
        };
        let mut next = move || match &mut others {
            None => Ok(kept.next()),
            Some((batches, left)) => {
                while left.as_ref().is_none_or(|left: &RecordBatch| left.num_rows() == 0) {
                    match batches.next() {
                        Some(batch) => *left = Some(batch?),
                        None => return Ok(None),
                    }
                }
                left.as_mut().map(|left| kept.beside(left)).transpose()
            }
        };
        Ok(std::iter::from_fn(move || {
            let batch = next().transpose()?.map(|batch| {
                let numbers = Numbers::From(first);
                first += batch.num_rows() as u64;
                (batch, numbers)
            });
            Some(batch)
        }))
    }

    /// Returns the batches of a piece for `selection`, as they are in the file; nested rows are flattened.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn batches(
        &self,
        piece: &Piece,
        columns: ColumnSet,
        extras: &Extras,
        selection: Selection,
    ) -> Result<impl Iterator<Item = Result<(RecordBatch, Numbers)>> + Send + use<'_>> {
        let mut selection = selection.columns(self.column_names(columns, extras));
        let mut first = 0;
        if let Some(rows) = &piece.rows {
            selection = selection.rows([rows.clone()]);
            first = rows.start;
        }
        Ok(self.table.batches(&selection)?.map(move |batch| {
            let batch = batch?;
            let start = first;
            first += batch.num_rows() as u64;
            match self.layout.nested {
                None => Ok((batch, Numbers::From(start))),
                Some(_) => {
                    explode(&batch, start, columns, self.map_of_json).map_err(|error| error.at(Place::file(&self.name)))
                }
            }
        }))
    }

    fn reading<'a>(&self, wanted: &Wanted<'a>) -> Reading<'a> {
        let Wanted { shape, tolerance, stated_ids, .. } = *wanted;
        Reading { shape, tolerance, map_of_json: self.map_of_json, stated_ids }
    }

    /// The rows of a piece for which `filter` is true, by their numbers in it, ascending; nothing where that is not worth asking. Its columns
    /// are the names of nodes and further columns: other conditions are left out.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn passing(&self, piece: &Piece, filter: &Predicate, shape: &Shape) -> Result<Option<Vec<u64>>> {
        let Some(within) = piece.rows.as_ref().filter(|_| self.layout.nested.is_none()) else { return Ok(None) };
        // Columns that are cast before they are visible are compared afterwards.
        let is_shown = |name: &str| {
            [Column::SrcName, Column::RelName, Column::DstName]
                .iter()
                .any(|column| column.name() == name && self.layout.has(*column))
                || self.layout.extras.iter().any(|extra| extra.name == name && shape.extras.contains(extra))
        };
        let Some(own) = filter.known_part(&mut |name| is_shown(name).then(|| name.to_owned())) else { return Ok(None) };
        let selection = Selection::all().columns::<&str>([]).rows([within.clone()]).row_numbers(ROW);
        let batches = match self.table.batches(&selection.filter(own)) {
            // A comparison that is not supported is rejected where the filter is applied to all rows.
            Err(error) if error.kind() == Kind::Usage => return Ok(None),
            batches => batches?,
        };
        let mut rows = Vec::new();
        for batch in batches {
            let batch = batch?;
            let numbers = batch.column_by_name(ROW).and_then(|column| column.as_primitive_opt::<Int64Type>());
            let numbers = numbers.map(|numbers| numbers.values().as_ref()).unwrap_or_default();
            rows.extend(numbers.iter().map(|row| row.unsigned_abs().saturating_sub(within.start)));
        }
        let is_most = rows.len() as u64 * 2 > within.end - within.start;
        Ok((!is_most).then_some(rows))
    }

    /// Reads the rows of `piece` with the numbers `rows`, which are ascending and unique.
    ///
    /// # Errors
    /// As [`Partition::read`].
    pub fn rows_at<'a>(
        &'a self,
        piece: &Piece,
        rows: Vec<u64>,
        wanted: &Wanted<'a>,
    ) -> Result<Box<dyn Iterator<Item = Result<Rows>> + Send + 'a>> {
        let reading = self.reading(wanted);
        let at_file = |error: Error| error.at(Place::file(&self.name));
        let selection = Selection::all().batch_rows(wanted.batch_rows);
        if let Some(within) = piece.rows.as_ref().filter(|_| self.layout.nested.is_none()) {
            let runs = runs(rows.iter().map(|row| within.start + row));
            let names = self.column_names(wanted.columns, &wanted.extras);
            let batches = self.table.batches(&selection.columns(names).rows(runs))?;
            let mut numbers = rows.into_iter().map(|row| row + within.start).collect::<Vec<_>>().into_iter();
            return Ok(Box::new(batches.map(move |batch| {
                let batch = batch?;
                let numbers = Numbers::Listed(numbers.by_ref().take(batch.num_rows()).collect());
                normalize(&batch, numbers, &reading).map_err(at_file)
            })));
        }
        let (mut first, mut rows) = (0, rows.into_iter().peekable());
        Ok(Box::new(self.batches(piece, wanted.columns, &wanted.extras, selection)?.map(move |batch| {
            let (batch, numbers) = batch?;
            let end = first + batch.num_rows() as u64;
            let here = std::iter::from_fn(|| rows.next_if(|&row| row < end));
            let here: Vec<usize> = here.map(|row| index(row - first)).collect();
            first = end;
            let picked = here.iter().map(|&row| row as u64).collect::<UInt64Array>();
            let batch = take_record_batch(&batch, &picked)
                .map_err(|error| Error::malformed(format!("rows cannot be selected: {error}")))?;
            let numbers = Numbers::Listed(here.into_iter().map(|row| numbers.at(row)).collect());
            normalize(&batch, numbers, &reading).map_err(at_file)
        })))
    }

    /// Returns the names of the columns to read. Node name and edge number are always among them.
    fn column_names(&self, wanted: ColumnSet, extras: &Extras) -> Vec<&str> {
        let always = [Column::SrcName, Column::EdgeId];
        let columns = Column::ALL
            .into_iter()
            .filter(|&column| self.layout.has(column) && (wanted.has(column) || always.contains(&column)));
        let mut names: Vec<&str> = columns.map(Column::name).collect();
        if self.layout.nested.is_some() {
            names.push(EDGES);
        }
        let is_wanted = |name: &str| match extras {
            Extras::None => false,
            Extras::All => true,
            Extras::Named(names) => names.iter().any(|wanted| wanted == name),
        };
        names.extend(self.layout.extras.iter().map(|extra| extra.name.as_str()).filter(|name| is_wanted(name)));
        names
    }

    /// Reads the rows with one name, batch by batch. Row groups and pages whose statistics exclude it are not read. The
    /// rows are node rows for [`Named::Node`], and edge rows for the other variants.
    ///
    /// # Errors
    /// As [`Partition::read`].
    pub fn named<'a>(
        &'a self,
        named: Named<'_>,
        wanted: Wanted<'a>,
    ) -> Result<impl Iterator<Item = Result<Rows>> + Send + 'a> {
        let nested = self.layout.nested.is_some();
        let compared = named.column();
        let columns = match named {
            Named::Target(_) => wanted.columns.with(Column::DstName),
            Named::Node(_) | Named::Source(_) => wanted.columns,
        };
        let mut selection = Selection::all()
            .columns(self.column_names(columns, &wanted.extras))
            .batch_rows(wanted.batch_rows)
            .row_numbers(ROW_NUMBER);
        selection = match (named, nested) {
            (Named::Target(_), true) => selection,
            (Named::Node(name) | Named::Source(name), true) => {
                selection.filter(Predicate::equal(Column::SrcName.name(), name))
            }
            (_, false) => selection.filter(named.condition()),
        };
        let is_there = !self.layout.empty && (nested || self.layout.has_values(compared));
        let batches = is_there.then(|| self.table.batches(&selection)).transpose()?;
        // Nested rows are filtered again, row by row.
        let (kind, name) = (named.kind(), named.name().to_owned());
        let picked = move |batch: Result<RecordBatch>| {
            self.picked(&batch?, kind(&name), columns, &wanted).map_err(|error| error.at(Place::file(&self.name)))
        };
        Ok(batches.into_iter().flatten().map(picked).filter(|found| found.as_ref().map_or(true, |found| found.len > 0)))
    }

    fn picked(&self, batch: &RecordBatch, named: Named<'_>, columns: ColumnSet, wanted: &Wanted<'_>) -> Result<Rows> {
        let numbers = batch.column_by_name(ROW_NUMBER).and_then(|column| column.as_primitive_opt::<Int64Type>());
        let numbers = numbers.ok_or_else(|| Error::malformed("rows have no row numbers"))?;
        let numbers: Vec<u64> = numbers.values().iter().map(|number| number.unsigned_abs()).collect();
        if self.layout.nested.is_none() {
            return normalize(batch, Numbers::Listed(numbers), &self.reading(wanted));
        }
        let (flat, owners) = explode(batch, 0, columns, self.map_of_json)?;
        let mask = named.mask(&flat)?;
        let flat = filter_record_batch(&flat, &mask)
            .map_err(|error| Error::malformed(format!("nested rows cannot be filtered: {error}")))?;
        let owner = |row: usize| numbers.get(index(owners.at(row))).copied().unwrap_or_default();
        let numbers = mask.values().set_indices().map(owner).collect();
        normalize(&flat, Numbers::Listed(numbers), &self.reading(wanted))
    }
}

/// Relations and labels are read as dictionaries: they have few distinct values, which need not be copied into every row.
/// Other text is read as views into its pages: it is copied once, when node rows and edge rows are separated.
fn with_words() -> ReadOptions {
    let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = [Column::RelName, Column::Labels].map(|column| Field::new(column.name(), words.clone(), true));
    ReadOptions { text: TextType::Utf8View, ..ReadOptions::declared(Arc::new(Schema::new(fields.to_vec()))) }
}

/// Opens a Parquet file.
///
/// # Errors
/// Returns an error if it is not a Parquet file, or if labels or relations are not text.
fn open_table(blob: Blob, name: &str) -> Result<TableReader> {
    TableReader::open(blob.clone(), Encoding::Parquet, &with_words()).map_err(|error| {
        // A type other than text is reported like that of any other column.
        let plain = ReadOptions::declared(Arc::new(Schema::empty()));
        let plain = TableReader::open(blob, Encoding::Parquet, &plain);
        let layout = plain.map(|table| Layout::of(table.schema(), table.row_count().unwrap_or(1)));
        layout.ok().and_then(Result::err).map_or(error, |error| error.at(name))
    })
}

/// Opens a text file: the nine columns that its header has, with their types; others as text.
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

/// Name of the column of row numbers that look-ups request: no column of a file has this name.
const ROW_NUMBER: &str = "\u{0}row";

/// Combines consecutive numbers into ranges.
fn runs(rows: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for row in rows {
        match runs.last_mut().filter(|run| run.end == row) {
            Some(run) => run.end = row + 1,
            None => runs.push(row..row + 1),
        }
    }
    runs
}

/// Divides rows into ranges of about `most` rows each, as even as possible.
#[expect(clippy::cast_possible_truncation, reason = "a share of the length")]
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
    fn rows_that_follow_each_other_are_read_together() {
        assert_eq!(runs([3, 4, 5, 7].into_iter()), [3..6, 7..8]);
        assert_eq!(runs(std::iter::empty()), []);
    }

    #[test]
    fn large_groups_are_split_evenly() {
        let parts: Vec<_> = split_evenly(10..21, 4).collect();
        assert_eq!(parts, [10..13, 13..17, 17..21]);
        assert_eq!(split_evenly(5..5, 4).count(), 0);
        assert_eq!(split_evenly(5..6, 4).next(), Some(5..6));
    }
}
