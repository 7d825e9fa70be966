//! Tables of a graph: files, or what stands for them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Blob, Budget, Reservation};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

use crate::cells::Cells;
use crate::members::Members;
use crate::rules;

/// A table of a graph.
#[derive(Clone)]
pub(crate) struct Table {
    /// Name of its file, for errors.
    pub name: String,
    source: Source,
}

#[derive(Clone)]
enum Source {
    File(TableReader),
    Memory(RecordBatch),
}

impl Table {
    /// Opens a table.
    ///
    /// # Errors
    /// When the file is no Parquet.
    pub fn open(blob: Blob) -> Result<Table> {
        let name = blob.name().to_owned();
        let reader = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default())
            .map_err(|error| error.at(Place::file(&name)))?;
        Ok(Table { name, source: Source::File(reader) })
    }

    /// Opens a table if it is there. One without columns, as older versions write for no rows, counts as missing.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn find(members: &Members, name: &str) -> Result<Option<Table>> {
        if let Some(made) = members.made_table(name) {
            let table = |batch: &RecordBatch| Table { name: name.to_owned(), source: Source::Memory(batch.clone()) };
            return Ok(made.map(table));
        }
        let table = members.try_file(name)?.map(Table::open).transpose()?;
        Ok(table.filter(|table| !table.schema().fields().is_empty()))
    }

    /// Opens a table that a graph is not without.
    ///
    /// # Errors
    /// As [`Table::open`], and when it is missing.
    pub fn must(members: &Members, name: &str) -> Result<Table> {
        match members.made_table(name) {
            Some(_) => Table::find(members, name)?,
            None => Some(Table::open(members.file(name)?)?),
        }
        .ok_or_else(|| Error::broken(&rules::MEMBER, "the file is missing").at(Place::file(name)))
    }

    pub fn schema(&self) -> SchemaRef {
        match &self.source {
            Source::File(reader) => Arc::clone(reader.schema()),
            Source::Memory(batch) => batch.schema(),
        }
    }

    pub fn rows(&self) -> u64 {
        match &self.source {
            Source::File(reader) => reader.row_count().unwrap_or_default(),
            Source::Memory(batch) => batch.num_rows() as u64,
        }
    }

    pub fn has(&self, column: &str) -> bool {
        self.schema().column_with_name(column).is_some()
    }

    /// The rows of each row group.
    pub fn groups(&self) -> Vec<Range<u64>> {
        match &self.source {
            Source::File(reader) => (0..reader.row_groups()).filter_map(|group| reader.rows_of_group(group)).collect(),
            Source::Memory(batch) => Some(0..batch.num_rows() as u64).into_iter().collect(),
        }
    }

    /// Those of `columns` that are there, in batches of at most `batch_rows` rows.
    ///
    /// # Errors
    /// When the file cannot be read. Errors of the data come from the iterator.
    pub fn batches(&self, columns: &[&str], rows: Range<u64>, batch_rows: usize) -> Result<TableBatches> {
        let columns: Vec<&str> = columns.iter().copied().filter(|column| self.has(column)).collect();
        let at = |error: Error| error.at(Place::file(&self.name));
        let batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send> = match &self.source {
            Source::File(reader) => {
                let selection = Selection::all().columns(columns).rows([rows]).batch_rows(batch_rows);
                Box::new(reader.batches(&selection).map_err(at)?)
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

    /// All of those of `columns` that are there; of all columns when none are named. What it takes is held.
    ///
    /// # Errors
    /// When the file cannot be read or does not fit the budget.
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
            _ => concat_batches(&schema, &batches).map_err(|error| {
                Error::new(isomorph_error::Kind::TooLarge, error.to_string()).at(Place::file(&self.name))
            })?,
        };
        Ok((Cells { name: self.name.clone(), batch }, held))
    }
}

/// Batches of a table; can be taken in any lengths.
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
    /// The next `rows` rows as one batch; fewer at the end of the table.
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
