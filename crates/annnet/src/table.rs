//! Tables as they are, columns as they are wanted.
//!
//! The same column comes as `large_string` from Polars, as `string` from pyarrow, as Parquet's type Null where it is
//! null throughout, and as doubles where pandas had integers with gaps. Here it becomes one type.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, RecordBatchOptions, StringArray,
    new_null_array,
};
use arrow_schema::{DataType, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::{list_of, type_name};
use isomorph_storage::{Blob, Budget, Reservation};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

use crate::members::Members;
use crate::rules;

/// A table of a graph.
#[derive(Clone)]
pub(crate) struct Table {
    /// Name of its file, for errors.
    pub name: String,
    reader: TableReader,
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
        Ok(Table { name, reader })
    }

    /// Opens a table if it is there. One without columns, as older versions write for no rows, counts as missing.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn find(members: &Members, name: &str) -> Result<Option<Table>> {
        let table = members.try_file(name)?.map(Table::open).transpose()?;
        Ok(table.filter(|table| !table.schema().fields().is_empty()))
    }

    pub fn schema(&self) -> &SchemaRef {
        self.reader.schema()
    }

    pub fn rows(&self) -> u64 {
        self.reader.row_count().unwrap_or_default()
    }

    pub fn has(&self, column: &str) -> bool {
        self.schema().column_with_name(column).is_some()
    }

    /// The rows of each row group.
    pub fn groups(&self) -> Vec<Range<u64>> {
        (0..self.reader.row_groups()).filter_map(|group| self.reader.rows_of_group(group)).collect()
    }

    /// Those of `columns` that are there, in batches of at most `batch_rows` rows.
    ///
    /// # Errors
    /// When the file cannot be read. Errors of the data come from the iterator.
    pub fn batches(&self, columns: &[&str], rows: Range<u64>, batch_rows: usize) -> Result<TableBatches> {
        let columns: Vec<&str> = columns.iter().copied().filter(|column| self.has(column)).collect();
        let selection = Selection::all().columns(columns).rows([rows]).batch_rows(batch_rows);
        let batches = self.reader.batches(&selection).map_err(|error| error.at(Place::file(&self.name)))?;
        Ok(TableBatches { name: self.name.clone(), batches: Box::new(batches), rest: None })
    }

    /// All of those of `columns` that are there; of all columns when none are named. What it takes is held.
    ///
    /// # Errors
    /// When the file cannot be read or does not fit the budget.
    pub fn read(&self, columns: &[&str], budget: &Budget) -> Result<(Cells, Reservation)> {
        let all: Vec<&str> = self.schema().fields().iter().map(|field| field.name().as_str()).collect();
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
                let fields = columns.iter().filter_map(|name| self.schema().field_with_name(name).ok().cloned());
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

/// Rows of a table, whose columns can be had as what they should be.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub name: String,
    pub batch: RecordBatch,
}

impl Cells {
    /// Rows of nothing.
    pub fn empty(name: &str) -> Cells {
        let options = RecordBatchOptions::new().with_row_count(Some(0));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
        Cells {
            name: name.to_owned(),
            batch: batch.unwrap_or_else(|_| RecordBatch::new_empty(Arc::new(Schema::empty()))),
        }
    }

    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn wrong(&self, column: &str, found: &DataType, wanted: &str) -> Error {
        let message = format!("the column holds {}, which is no {wanted}", type_name(found));
        Error::broken(&rules::COLUMN, message).at(Place::file(&self.name).in_field(column))
    }

    fn cast(&self, column: &str, cells: &ArrayRef, to: &DataType, wanted: &str) -> Result<ArrayRef> {
        let options = arrow_cast::CastOptions { safe: false, ..arrow_cast::CastOptions::default() };
        arrow_cast::cast_with_options(cells, to, &options)
            .map_err(|error| self.wrong(column, cells.data_type(), wanted).caused_by(error))
    }

    /// The column `name` as it is; nothing when it is not there.
    pub fn raw(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name)
    }

    /// A column of text; null throughout when it is not there.
    pub fn text(&self, name: &str) -> Result<StringArray> {
        let cells = match self.raw(name) {
            None => return Ok(StringArray::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Utf8 => Ok(cells.as_string::<i32>().clone()),
            DataType::Null => Ok(StringArray::new_null(cells.len())),
            DataType::LargeUtf8 | DataType::Dictionary(_, _) => {
                Ok(self.cast(name, cells, &DataType::Utf8, "text")?.as_string::<i32>().clone())
            }
            other => Err(self.wrong(name, other, "text")),
        }
    }

    /// A column of integers; null throughout when it is not there. Doubles are taken when they are whole.
    pub fn integers(&self, name: &str) -> Result<Int64Array> {
        let cells = match self.raw(name) {
            None => return Ok(Int64Array::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Int64 => Ok(cells.as_primitive::<Int64Type>().clone()),
            DataType::Null => Ok(Int64Array::new_null(cells.len())),
            other if other.is_integer() => {
                Ok(self.cast(name, cells, &DataType::Int64, "integer")?.as_primitive::<Int64Type>().clone())
            }
            other if other.is_floating() => {
                let floats = self.cast(name, cells, &DataType::Float64, "integer")?;
                let floats = floats.as_primitive::<Float64Type>();
                let whole = |value: f64| value.trunc() == value && value.abs() < 9.0e15;
                if floats.iter().flatten().any(|value| !value.is_nan() && !whole(value)) {
                    return Err(self.wrong(name, other, "integer"));
                }
                // pandas writes NaN where an integer is missing.
                Ok(floats.iter().map(|value| value.filter(|value| !value.is_nan()).map(|value| value as i64)).collect())
            }
            other => Err(self.wrong(name, other, "integer")),
        }
    }

    /// A column of floats; null throughout when it is not there.
    pub fn floats(&self, name: &str) -> Result<Float64Array> {
        let cells = match self.raw(name) {
            None => return Ok(Float64Array::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Float64 => Ok(cells.as_primitive::<Float64Type>().clone()),
            DataType::Null => Ok(Float64Array::new_null(cells.len())),
            other if other.is_floating() || other.is_integer() => {
                Ok(self.cast(name, cells, &DataType::Float64, "number")?.as_primitive::<Float64Type>().clone())
            }
            other => Err(self.wrong(name, other, "number")),
        }
    }

    /// A column of booleans; null throughout when it is not there.
    pub fn booleans(&self, name: &str) -> Result<BooleanArray> {
        let cells = match self.raw(name) {
            None => return Ok(BooleanArray::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Boolean => Ok(cells.as_boolean().clone()),
            DataType::Null => Ok(BooleanArray::new_null(cells.len())),
            other => Err(self.wrong(name, other, "boolean")),
        }
    }

    /// A column of lists of text; null throughout when it is not there.
    pub fn lists(&self, name: &str) -> Result<ListArray> {
        let wanted = list_of(DataType::Utf8);
        let none = || new_null_array(&wanted, self.rows()).as_list::<i32>().clone();
        let Some(cells) = self.raw(name) else { return Ok(none()) };
        match cells.data_type() {
            DataType::Null => Ok(none()),
            DataType::List(item) | DataType::LargeList(item)
                if matches!(item.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Null) =>
            {
                Ok(self.cast(name, cells, &wanted, "list of text")?.as_list::<i32>().clone())
            }
            other => Err(self.wrong(name, other, "list of text")),
        }
    }

    /// A column of ids, without nulls.
    pub fn ids(&self, name: &str, rule: &'static isomorph_error::Rule) -> Result<StringArray> {
        if self.raw(name).is_none() {
            return Err(self.missing(name));
        }
        let ids = self.text(name)?;
        match ids.nulls().and_then(|nulls| (0..ids.len()).find(|&row| nulls.is_null(row))) {
            None => Ok(ids),
            Some(row) => {
                let place = Place::file(&self.name).row(row as u64).in_field(name);
                Err(Error::broken(rule, "the id is missing").at(place))
            }
        }
    }

    /// The error for a column that is not there.
    pub fn missing(&self, name: &str) -> Error {
        Error::broken(&rules::COLUMN, "the column is missing").at(Place::file(&self.name).in_field(name))
    }
}
