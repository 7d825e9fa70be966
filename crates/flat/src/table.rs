//! A table in a file: its columns, as they are stored and as they are shown.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Kind, Place, Result, did_you_mean};
use isomorph_model::{Property, ValueKind};
use isomorph_storage::{Blob, limits};
use isomorph_tables::{Batches, CsvDialect, Encoding, ReadOptions, Selection, TableReader};

use crate::cells::{Split, split};
use crate::sql::{Column, ColumnType, ExternalTable, TableOptions};
use crate::survey::{Found, survey};

/// An opened table.
pub(crate) struct Table {
    /// Its name in the mapping.
    pub name: String,
    /// What the mapping says of it.
    pub options: TableOptions,
    /// Its file.
    pub blob: Blob,
    pub encoding: Encoding,
    reader: TableReader,
    pub columns: Vec<TableColumn>,
    pub rows: u64,
    /// The values of the column of relations, where there is one, and their numbers of rows.
    pub relations: Vec<(String, u64)>,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableColumn {
    /// Its name in the file.
    pub name: String,
    /// Its type, as it is shown.
    pub ty: ColumnType,
    pub required: bool,
    /// How a text cell becomes a list.
    split: Option<Split>,
}

impl TableColumn {
    /// The property that the column is.
    pub fn property(&self, name: &str) -> Property {
        Property {
            kind: self.ty.kind.clone(),
            nullable: !self.required,
            cardinality: self.ty.cardinality,
            ..Property::new(name, self.ty.data_type.clone())
        }
    }
}

impl Table {
    /// Opens the file of `declared`. A text whose columns are not declared is read once, to find their types; any other text to count its
    /// rows. `keys` are columns with keys, of which the types are integers or text, and `unit` the types of those that other tables decide.
    ///
    /// # Errors
    /// When the file cannot be read, or has other columns than those that are declared.
    pub fn open(
        declared: &ExternalTable,
        options: TableOptions,
        blob: Blob,
        known: &HashMap<String, DataType>,
        keys: &[String],
        file: &str,
    ) -> Result<Table> {
        let encoding = declared.encoding;
        let mut read = ReadOptions { packed: true, csv: dialect(declared, &options, &blob)?, ..ReadOptions::default() };
        let missing = |name: &str, of: &Schema| {
            let names: Vec<&str> = of.fields().iter().map(|field| field.name().as_str()).collect();
            let near = did_you_mean(name, names.iter().copied());
            let error = declared.at.error(file, format!("the table {} has no column {name:?}{near}", declared.name));
            error.hint(format!("its columns: {}", names.join(", ")))
        };
        let mut columns: Vec<TableColumn> = declared
            .columns
            .iter()
            .map(|column| TableColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                required: column.required,
                split: None,
            })
            .collect();
        let mut counted = None;
        if encoding.is_text() {
            if columns.is_empty() {
                let wanted = options.relation.as_deref();
                let Found { columns: found, rows, relations } = survey(&blob, encoding, &read, wanted)?;
                columns = found
                    .into_iter()
                    .map(|(name, ty)| TableColumn { name, ty, required: false, split: None })
                    .collect();
                counted = Some((rows, relations));
                for column in &mut columns {
                    let is_key = keys.contains(&column.name);
                    if is_key && !column.ty.data_type.is_integer() {
                        column.ty = ColumnType::plain(DataType::Utf8);
                    }
                    column.ty = known.get(&column.name).cloned().map_or(column.ty.clone(), ColumnType::plain);
                    if let Some((_, ty)) = declared.hints.types.iter().find(|(name, _)| *name == column.name) {
                        column.ty = ty.clone();
                    }
                }
            }
            if encoding == Encoding::Csv {
                for column in &mut columns {
                    if let DataType::List(item) = &column.ty.data_type {
                        column.split = Some(Split::new(item.data_type(), options.array_delimiter)?);
                    }
                }
            }
            if encoding == Encoding::JsonLines {
                let raw = columns.iter().filter(|column| column.ty.kind == ValueKind::Json);
                read.raw_json = raw.map(|column| column.name.clone()).collect();
            }
            read.schema = Some(Arc::new(stored(&columns)));
        } else if !columns.is_empty() {
            read.schema = Some(Arc::new(stored(&columns)));
        }
        let reader = TableReader::open(blob.clone(), encoding, &read)?;
        if !encoding.is_text() {
            let own = reader.schema();
            if let Some(column) = columns.iter().find(|column| own.field_with_name(&column.name).is_err()) {
                return Err(missing(&column.name, own));
            }
            columns = own
                .fields()
                .iter()
                .map(|field| {
                    let said = columns.iter().find(|column| column.name == *field.name());
                    let ty = said.map_or_else(|| ColumnType::plain(field.data_type().clone()), |said| said.ty.clone());
                    let required = !field.is_nullable() || said.is_some_and(|said| said.required);
                    TableColumn { name: field.name().clone(), ty, required, split: None }
                })
                .collect();
            if let Some(twice) = repeated(&columns) {
                return Err(Error::malformed(format!("two columns are called {twice:?}")).at(blob.place()));
            }
        }
        let mut table = Table {
            name: declared.name.clone(),
            options,
            blob,
            encoding,
            rows: reader.row_count().unwrap_or_default(),
            reader,
            columns,
            relations: Vec::new(),
        };
        for option in [&table.options.labels, &table.options.relation, &table.options.directed].into_iter().flatten() {
            if table.find(option).is_none() {
                return Err(missing(option, &stored(&table.columns)));
            }
        }
        match counted {
            Some((rows, relations)) => (table.rows, table.relations) = (rows, relations),
            None => table.count()?,
        }
        Ok(table)
    }

    /// The columns as a mapping file declares them.
    pub fn declared(&self) -> Vec<Column> {
        let column = |own: &TableColumn| Column { name: own.name.clone(), ty: own.ty.clone(), required: own.required };
        self.columns.iter().map(column).collect()
    }

    /// Counts rows and relations where nothing has said them.
    fn count(&mut self) -> Result<()> {
        let relation = self.options.relation.clone();
        if !self.encoding.is_text() && relation.is_none() {
            return Ok(());
        }
        let mut relations = crate::survey::Relations::default();
        let mut rows = 0;
        for batch in self.reader.batches(&Selection::all().columns(relation))? {
            let batch = batch?;
            rows += batch.num_rows() as u64;
            if let Some(column) = batch.columns().first() {
                relations.see(column.as_ref());
            }
        }
        (self.rows, self.relations) = (rows, relations.finish());
        Ok(())
    }

    /// The position of a column: the one of this name, else the only one that differs in upper and lower case.
    pub fn find(&self, name: &str) -> Option<usize> {
        let exact = self.columns.iter().position(|column| column.name == name);
        let mut near = (0..self.columns.len()).filter(|at| self.columns[*at].name.eq_ignore_ascii_case(name));
        exact.or_else(|| near.next().filter(|_| near.next().is_none()))
    }

    /// Pieces of the file that can be read on their own, with their rows.
    pub fn pieces(&self) -> Vec<Piece> {
        let of = |group: usize| self.reader.rows_of_group(group).map(|rows| Piece { group: Some(group), rows });
        match (0..self.reader.row_groups()).map(of).collect::<Option<Vec<_>>>() {
            Some(pieces) => pieces.into_iter().filter(|piece| !piece.rows.is_empty()).collect(),
            None => vec![Piece { group: None, rows: 0..self.rows }],
        }
    }

    /// Reads the columns at `positions` of a piece.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&self, piece: &Piece, positions: &[usize], rows: usize) -> Result<Reading<'_>> {
        let mut distinct: Vec<usize> = positions.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let names = distinct.iter().filter_map(|at| self.columns.get(*at)).map(|column| column.name.clone());
        let mut selection = Selection::all().columns(names).batch_rows(rows);
        if let Some(group) = piece.group {
            selection = selection.row_groups(group..group + 1);
        }
        let places = positions.iter().map(|at| distinct.binary_search(at).unwrap_or_default()).collect();
        let batches = self.reader.batches(&selection)?;
        Ok(Reading { table: self, batches, positions: positions.to_vec(), places, row: piece.rows.start })
    }

    /// Where a row stands.
    pub fn place_of(&self, row: u64) -> Place {
        let place = self.blob.place().row(row);
        match self.reader.line_of(row) {
            Ok(Some(line)) => place.line(line),
            _ => place,
        }
    }
}

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    group: Option<usize>,
    pub rows: std::ops::Range<u64>,
}

/// Columns of a piece as they are read.
pub(crate) struct Reading<'a> {
    table: &'a Table,
    batches: Batches,
    positions: Vec<usize>,
    /// For each position the column of a batch.
    places: Vec<usize>,
    row: u64,
}

impl Reading<'_> {
    /// The next rows: the number of the first one, their count, and the columns in the order of the positions.
    ///
    /// # Errors
    /// When they cannot be read, or a cell is none of its type.
    pub fn next_batch(&mut self) -> Result<Option<(u64, usize, Vec<ArrayRef>)>> {
        let Some(batch) = self.batches.next().transpose()? else { return Ok(None) };
        let first = self.row;
        self.row += batch.num_rows() as u64;
        let columns = self.positions.iter().zip(&self.places);
        let columns = columns.map(|(at, place)| self.column(&batch, *at, *place, first)).collect::<Result<_>>()?;
        Ok(Some((first, batch.num_rows(), columns)))
    }

    fn column(&self, batch: &RecordBatch, at: usize, place: usize, first: u64) -> Result<ArrayRef> {
        let lost = || Error::usage("a batch lacks a column");
        let own = self.table.columns.get(at).ok_or_else(lost)?;
        let column = batch.columns().get(place).ok_or_else(lost)?;
        let column = match &own.split {
            None => Arc::clone(column),
            Some(how) => split(column, how).map_err(|(row, reason)| {
                let place = self.table.place_of(first + row as u64).in_field(own.name.clone());
                Error::broken(&isomorph_tables::rules::TEXT_VALUE, reason).at(place)
            })?,
        };
        if own.required && column.null_count() > 0 {
            let row = (0..column.len()).find(|row| column.is_null(*row)).unwrap_or_default();
            let place = self.table.place_of(first + row as u64).in_field(own.name.clone());
            return Err(Error::broken(&isomorph_tables::rules::TEXT_VALUE, "a required value is missing").at(place));
        }
        Ok(column)
    }
}

/// The schema as which a file is read.
fn stored(columns: &[TableColumn]) -> Schema {
    let field = |column: &TableColumn| {
        let data_type = match column.split {
            Some(_) => DataType::Utf8,
            None => column.ty.data_type.clone(),
        };
        Field::new(&column.name, data_type, !column.required)
    };
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

fn repeated(columns: &[TableColumn]) -> Option<&str> {
    let mut seen = std::collections::HashSet::new();
    columns.iter().map(|column| column.name.as_str()).find(|name| !seen.insert(*name))
}

/// The dialect of a CSV file.
fn dialect(declared: &ExternalTable, options: &TableOptions, blob: &Blob) -> Result<CsvDialect> {
    let mut dialect = CsvDialect { has_header: !options.headless, ..CsvDialect::default() };
    dialect.null_words.extend(options.null.clone());
    if declared.hints.names.is_some() {
        dialect.names.clone_from(&declared.hints.names);
    } else if options.by_position || options.headless {
        if declared.columns.is_empty() {
            let what = format!("the columns of {} have to be declared: nothing else names them", declared.name);
            return Err(Error::new(Kind::Usage, what).at(blob.place()));
        }
        dialect.names = Some(declared.columns.iter().map(|column| column.name.clone()).collect());
    }
    if declared.columns.len() > limits::COLUMNS {
        return Err(Error::new(Kind::TooLarge, "a table has too many columns").at(blob.place()));
    }
    if let Some(delimiter) = options.delimiter {
        dialect.separator = delimiter;
    }
    Ok(dialect)
}
