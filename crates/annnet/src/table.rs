//! Tables of a graph: files, or tables in memory that replace them.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::Predicate;
use isomorph_model::statistics::ColumnStatistics;
use isomorph_storage::{Blob, Budget, Reservation};
use isomorph_tables::{Encoding, PageCache, ReadOptions, Selection, TableReader};

use crate::cells::Cells;
use crate::layout::lacks;
use crate::members::Members;
use crate::rules;

/// Unpacked pages of all graphs of the process, at most 128 MiB. Look-ups access a table of a million edges at random,
/// and such a table takes half of that. Only look-ups fill it.
static LOOK_UP_PAGES: LazyLock<PageCache> = LazyLock::new(|| PageCache::new(128 << 20));

/// The column of row numbers while rows are looked for.
const ROW: &str = "_isomorphRow";

/// A table of a graph.
#[derive(Clone)]
pub(crate) struct Table {
    /// Name of its file, for errors.
    pub name: String,
    source: Source,
}

#[derive(Clone)]
enum Source {
    /// Files, each with the number of its first row.
    Files(Arc<[(u64, TableReader)]>),
    Memory(RecordBatch),
}

impl Table {
    /// Opens a table: one file, or several files of a table that has grown.
    ///
    /// # Errors
    /// Returns an error if there is no file, a file is not Parquet, or its columns differ from those of the first.
    pub fn open(name: &str, files: Vec<Blob>) -> Result<Table> {
        let mut readers: Vec<(u64, TableReader)> = Vec::with_capacity(files.len());
        let mut start: u64 = 0;
        for blob in files {
            let place = blob.place();
            let options = ReadOptions { pages: LOOK_UP_PAGES.clone(), embedded_types: true, ..ReadOptions::default() };
            let reader =
                TableReader::open(blob, Encoding::Parquet, &options).map_err(|error| error.at(place.clone()))?;
            if let Some((_, first)) = readers.first() {
                same_columns(first.schema(), reader.schema()).map_err(|error| error.at(place))?;
            }
            // Parquet files always state their number of rows.
            let rows = reader.row_count().unwrap_or_default();
            let end = start.checked_add(rows).ok_or_else(|| too_many(name))?;
            readers.push((start, reader));
            start = end;
        }
        if let Some((_, first)) = readers.first().filter(|_| start > 0)
            && let Some(column) = lacks(name, |column| first.schema().column_with_name(column).is_some())
        {
            return Err(Cells::empty(name).missing(column));
        }
        match readers.is_empty() {
            true => Err(Error::broken(&rules::MEMBER, "the file is missing").at(Place::file(name))),
            false => Ok(Table { name: name.to_owned(), source: Source::Files(readers.into()) }),
        }
    }

    /// Opens a table if it exists. A table without columns, which older versions write if there are no rows, counts as
    /// missing.
    ///
    /// # Errors
    /// Returns the errors of [`Table::open`].
    pub fn find(members: &Members, name: &str) -> Result<Option<Table>> {
        if let Some(made) = members.made_table(name) {
            let table = |batch: &RecordBatch| Table { name: name.to_owned(), source: Source::Memory(batch.clone()) };
            return Ok(made.map(table));
        }
        let files = members.parts(name)?;
        if files.is_empty() {
            return Ok(None);
        }
        Ok(Some(Table::open(name, files)?).filter(|table| !table.schema().fields().is_empty()))
    }

    /// Opens a table that is required.
    ///
    /// # Errors
    /// Returns the errors of [`Table::open`], and an error if the table is missing.
    pub fn must(members: &Members, name: &str) -> Result<Table> {
        match members.made_table(name) {
            Some(_) => Table::find(members, name)?,
            None => Some(Table::open(name, members.parts(name)?)?),
        }
        .ok_or_else(|| Error::broken(&rules::MEMBER, "the file is missing").at(Place::file(name)))
    }

    pub fn schema(&self) -> SchemaRef {
        match &self.source {
            Source::Files(files) => {
                files.first().map_or_else(|| Arc::new(Schema::empty()), |(_, reader)| Arc::clone(reader.schema()))
            }
            Source::Memory(batch) => batch.schema(),
        }
    }

    pub fn rows(&self) -> u64 {
        match &self.source {
            Source::Files(files) => {
                files.last().map_or(0, |(start, reader)| start + reader.row_count().unwrap_or_default())
            }
            Source::Memory(batch) => batch.num_rows() as u64,
        }
    }

    /// Checks that the Arrow schemas embedded in its files can be read.
    ///
    /// # Errors
    /// Returns an error if one is damaged.
    pub fn check_embedded(&self) -> Result<()> {
        let Source::Files(files) = &self.source else { return Ok(()) };
        let at = |error: Error| error.at(Place::file(&self.name));
        files.iter().try_for_each(|(_, reader)| reader.check_embedded().map_err(at))
    }

    pub fn has(&self, column: &str) -> bool {
        self.schema().column_with_name(column).is_some()
    }

    /// Returns the row ranges of the row groups.
    pub fn groups(&self) -> Vec<Range<u64>> {
        match &self.source {
            Source::Files(files) => files
                .iter()
                .flat_map(|(start, reader)| {
                    let groups = (0..reader.row_groups()).filter_map(|group| reader.rows_of_group(group));
                    groups.map(move |rows| start + rows.start..start + rows.end)
                })
                .collect(),
            Source::Memory(batch) => Some(0..batch.num_rows() as u64).into_iter().collect(),
        }
    }

    /// Reads those of `columns` that exist, in batches of at most `batch_rows` rows.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read. Errors in the data come from the iterator.
    pub fn batches(&self, columns: &[&str], rows: Range<u64>, batch_rows: usize) -> Result<TableBatches> {
        let columns: Vec<&str> = columns.iter().copied().filter(|column| self.has(column)).collect();
        let at = |error: Error| error.at(Place::file(&self.name));
        let batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send> = match &self.source {
            Source::Files(files) => {
                let mut parts = Vec::new();
                for (start, reader) in files.iter() {
                    let end = start + reader.row_count().unwrap_or_default();
                    let (from, to) = (rows.start.max(*start), rows.end.min(end));
                    if from < to || files.len() == 1 {
                        let own = from - start..to.max(from) - start;
                        let selection =
                            Selection::all().columns(columns.iter().copied()).rows([own]).batch_rows(batch_rows);
                        parts.push(reader.batches(&selection).map_err(at)?);
                    }
                }
                match parts.len() {
                    1 => Box::new(parts.swap_remove(0)),
                    _ => {
                        let own = self.schema();
                        let schema: Vec<_> = columns.iter().filter_map(|name| own.field_with_name(name).ok()).collect();
                        let schema = Arc::new(Schema::new(schema.into_iter().cloned().collect::<Vec<_>>()));
                        Box::new(parts.into_iter().flatten().map(move |batch| as_first(batch?, &schema)))
                    }
                }
            }
            Source::Memory(batch) => {
                let positions: Vec<usize> =
                    columns.iter().filter_map(|name| batch.schema().index_of(name).ok()).collect();
                let all = batch.project(&positions).map_err(|error| at(Error::malformed(error.to_string())))?;
                let (start, end) = (rows.start as usize, (rows.end as usize).min(all.num_rows()));
                let slices = (start..end)
                    .step_by(batch_rows.max(1))
                    .map(move |at| Ok(all.slice(at, batch_rows.max(1).min(end - at))));
                Box::new(slices.collect::<Vec<_>>().into_iter())
            }
        };
        Ok(TableBatches { name: self.name.clone(), batches, rest: None })
    }

    /// What the footers say of a column; nothing is known of a table in memory.
    ///
    /// # Errors
    /// When a footer is not sound.
    pub fn column_statistics(&self, column: &str) -> Result<ColumnStatistics> {
        let Source::Files(files) = &self.source else { return Ok(ColumnStatistics::default()) };
        let at = |error: Error| error.at(Place::file(&self.name));
        files.iter().try_fold(ColumnStatistics::of_no_rows(), |all, (_, reader)| {
            Ok(all.with(reader.column_statistics(column).map_err(at)?))
        })
    }

    /// The rows of a range for which a filter is true, ascending; nothing where that is not worth asking: of a table in memory, of more than half
    /// of the rows, and where columns do not compare.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn rows_where(&self, filter: &Predicate, within: Range<u64>) -> Result<Option<Vec<u64>>> {
        let Source::Files(files) = &self.source else { return Ok(None) };
        let at = |error: Error| error.at(Place::file(&self.name));
        let most = (within.end - within.start) / 2;
        let mut found = Vec::new();
        for (start, reader) in files.iter() {
            let end = start + reader.row_count().unwrap_or_default();
            let (from, to) = (within.start.max(*start), within.end.min(end));
            if from >= to {
                continue;
            }
            let own = from - start..to - start;
            let selection = Selection::all().columns::<&str>([]).rows([own]).row_numbers(ROW);
            let batches = match reader.batches(&selection.filter(filter.clone())) {
                // What does not compare is refused by who applies the filter to all that comes.
                Err(error) if matches!(error.kind(), Kind::Usage | Kind::NotFound) => return Ok(None),
                batches => batches.map_err(at)?,
            };
            for batch in batches {
                let batch = batch.map_err(at)?;
                let rows = batch.column_by_name(ROW).and_then(|rows| rows.as_primitive_opt::<Int64Type>());
                found.extend(rows.into_iter().flat_map(|rows| rows.values()).map(|row| start + row.unsigned_abs()));
                if found.len() as u64 > most {
                    return Ok(None);
                }
            }
        }
        Ok(Some(found))
    }

    /// Those of `columns` that are there, of some rows, which ascend: for look-ups, by the pages that hold them.
    ///
    /// # Errors
    /// Returns an error if the rows do not exist, or the file cannot be read.
    pub fn read_rows(&self, columns: &[&str], rows: &[Range<u64>]) -> Result<Cells> {
        let columns: Vec<&str> = columns.iter().copied().filter(|column| self.has(column)).collect();
        let at = |error: Error| error.at(Place::file(&self.name));
        let mut found = match &self.source {
            Source::Files(files) => {
                let mut found = Vec::new();
                for (start, reader) in files.iter() {
                    let end = start + reader.row_count().unwrap_or_default();
                    let own = rows.iter().map(|rows| rows.start.max(*start)..rows.end.min(end));
                    let own: Vec<Range<u64>> =
                        own.filter(|own| own.start < own.end).map(|own| own.start - start..own.end - start).collect();
                    if !own.is_empty() {
                        found.push(reader.read_rows(&columns, &own).map_err(at)?);
                    }
                }
                found
            }
            Source::Memory(_) => {
                let mut found = Vec::new();
                for range in rows {
                    for cells in self.batches(&columns, range.clone(), usize::MAX)? {
                        found.push(cells?.batch);
                    }
                }
                found
            }
        };
        let wanted: u64 = rows.iter().map(|rows| rows.end.saturating_sub(rows.start)).sum();
        let batch = match found.len() {
            1 => found.swap_remove(0),
            _ => {
                let schema = found.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
                concat_batches(&schema, &found).map_err(|error| at(Error::malformed(error.to_string())))?
            }
        };
        match batch.num_rows() as u64 == wanted {
            true => Ok(Cells { name: self.name.clone(), batch }),
            false => Err(at(Error::usage("row numbers are out of range"))),
        }
    }

    /// Reads all rows of those of `columns` that exist, or of all columns if none are named. Its memory is reserved in
    /// the budget.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or exceeds the budget.
    pub fn read(&self, columns: &[&str], budget: &Budget) -> Result<(Cells, Reservation)> {
        let own = self.schema();
        let all: Vec<&str> = own.fields().iter().map(|field| field.name().as_str()).collect();
        let columns = if columns.is_empty() { all.as_slice() } else { columns };
        let mut held = budget.reserve(0)?;
        let mut batches = Vec::new();
        let mut schema = None;
        for batch in self.batches(columns, 0..self.rows(), 1 << 16)? {
            let batch = batch?.batch;
            held.grow(batch.get_array_memory_size() as u64).map_err(|error| error.at(Place::file(&self.name)))?;
            schema.get_or_insert_with(|| batch.schema());
            batches.push(batch);
        }
        let schema = match schema {
            Some(schema) => schema,
            None => {
                let fields = columns.iter().filter_map(|name| own.field_with_name(name).ok().cloned());
                Arc::new(Schema::new(fields.collect::<Vec<_>>()))
            }
        };
        let batch = match batches.len() {
            1 => batches.swap_remove(0),
            _ => concat_batches(&schema, &batches)
                .map_err(|error| Error::new(Kind::TooLarge, error.to_string()).at(Place::file(&self.name)))?,
        };
        Ok((Cells { name: self.name.clone(), batch }, held))
    }
}

/// Checks that a further file of a table has the same columns as the first, in any order and width.
fn same_columns(first: &Schema, other: &Schema) -> Result<()> {
    let missing = |one: &Schema, all: &Schema| {
        one.fields().iter().find(|field| all.column_with_name(field.name()).is_none()).map(|field| field.name().clone())
    };
    match missing(first, other).or_else(|| missing(other, first)) {
        None => Ok(()),
        Some(name) => Err(Error::broken(&rules::COLUMN, format!("not all files of the table have the column {name}"))),
    }
}

/// Converts the columns of a batch to the schema of the first file.
fn as_first(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let wrong = |error: arrow_schema::ArrowError| Error::broken(&rules::COLUMN, error.to_string()).caused_by(error);
    let options = arrow_cast::CastOptions { safe: false, ..arrow_cast::CastOptions::default() };
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let column = |field: &Arc<arrow_schema::Field>| match batch.column_by_name(field.name()) {
        Some(column) if column.data_type() == field.data_type() => Ok(Arc::clone(column)),
        Some(column) => arrow_cast::cast_with_options(column, field.data_type(), &options).map_err(wrong),
        None => Ok(new_null_array(field.data_type(), batch.num_rows())),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows).map_err(wrong)
}

fn too_many(name: &str) -> Error {
    Error::new(Kind::TooLarge, "the table has more than 2^64 rows").at(Place::file(name))
}

/// Batches of a table, which can be taken in any lengths.
pub(crate) struct TableBatches {
    name: String,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    rest: Option<RecordBatch>,
}

impl Iterator for TableBatches {
    type Item = Result<Cells>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rest.take() {
            Some(rest) => Ok(rest),
            None => self.batches.next()?,
        };
        Some(match batch {
            Ok(batch) => Ok(Cells { name: self.name.clone(), batch }),
            Err(error) => Err(error.at(Place::file(&self.name))),
        })
    }
}

impl TableBatches {
    /// Returns the next `rows` rows as one batch; fewer at the end of the table.
    pub fn take_rows(&mut self, rows: usize) -> Result<Option<Cells>> {
        let mut found: Vec<RecordBatch> = Vec::new();
        let mut missing = rows;
        while missing > 0 {
            let Some(cells) = self.next().transpose()? else { break };
            let own = cells.batch.num_rows();
            if own > missing {
                self.rest = Some(cells.batch.slice(missing, own - missing));
                found.push(cells.batch.slice(0, missing));
                break;
            }
            missing -= own;
            found.push(cells.batch);
        }
        let batch = match found.len() {
            0 => return Ok(None),
            1 => found.swap_remove(0),
            _ => concat_batches(&found[0].schema(), &found)
                .map_err(|error| Error::malformed(error.to_string()).at(Place::file(&self.name)))?,
        };
        Ok(Some(Cells { name: self.name.clone(), batch }))
    }
}
