//! A table in a file: its columns, as they are stored and as they are shown.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Findings, Kind, Place, Result, did_you_mean};
use isomorph_model::{Property, ValueKind};
use isomorph_storage::{Blob, limits};
use isomorph_tables::rules::{TEXT_VALUE, TIME_UNIT};
use isomorph_tables::{Batches, CsvDialect, Encoding, ReadOptions, Selection, TableReader};

use crate::cells::{Split, integers, split};
use crate::sql::{Column, ColumnType, ExternalTable, TableOptions};
use crate::survey::{Found, header, survey};

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
    by_name: HashMap<String, usize>,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableColumn {
    /// Its name in the file.
    pub name: String,
    /// Its type, as it is shown.
    pub ty: ColumnType,
    pub required: bool,
    /// Whether the mapping declares other columns of the table, but not this one.
    pub undeclared: bool,
    stored: Stored,
}

/// How the cells of a column are stored.
#[derive(Debug, Clone)]
enum Stored {
    /// As they are shown.
    AsShown,
    /// As texts that become lists.
    Lists(Split),
    /// As texts that are the integers of keys.
    Keys,
}

impl TableColumn {
    fn new(name: String, ty: ColumnType, required: bool) -> Self {
        TableColumn { name, ty, required, undeclared: false, stored: Stored::AsShown }
    }

    /// Whether a mapping file can say its type.
    pub fn is_declarable(&self) -> bool {
        crate::sql::has_name(&self.ty)
    }

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
    /// rows. `keys` are columns with keys, of which the types are integers or text, and `known` the types of those that other tables decide.
    /// What is read in part is added to `findings`.
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
        findings: &mut Findings,
    ) -> Result<Table> {
        let encoding = declared.encoding;
        let mut options = options;
        let mut read = ReadOptions {
            packed: true,
            csv: dialect(declared, &options, &blob)?,
            refuse_zones: true,
            embedded_types: true,
            ..ReadOptions::default()
        };
        let missing = |name: &str, of: &Schema| {
            let names: Vec<&str> = of.fields().iter().map(|field| field.name().as_str()).collect();
            let near = did_you_mean(name, names.iter().copied());
            let error = declared.at.error(file, format!("the table {} has no column {name:?}{near}", declared.name));
            error.hint(format!("its columns: {}", names.join(", ")))
        };
        let mut columns: Vec<TableColumn> = declared
            .columns
            .iter()
            .map(|column| TableColumn::new(column.name.clone(), column.ty.clone(), column.required))
            .collect();
        let (mut counted, mut others) = (None, Vec::new());
        if encoding.is_text() {
            if columns.is_empty() {
                let wanted = options.relation.as_deref();
                let Found { columns: found, rows, relations } = survey(&blob, encoding, &read, wanted)?;
                columns = found.into_iter().map(|(name, ty)| TableColumn::new(name, ty, false)).collect();
                counted = Some((rows, relations));
                for column in &mut columns {
                    let is_key = keys.contains(&column.name);
                    if is_key && !column.ty.data_type.is_integer() {
                        column.ty = ColumnType::plain(DataType::Utf8);
                    }
                    if let Some(key) = known.get(&column.name) {
                        // What does not look like an integer, `01`, is not the key 1.
                        let is_text =
                            encoding == Encoding::Csv && key.is_integer() && !column.ty.data_type.is_integer();
                        column.ty = ColumnType::plain(key.clone());
                        column.stored = if is_text { Stored::Keys } else { Stored::AsShown };
                    }
                    if let Some((_, ty)) = declared.hints.types.iter().find(|(name, _)| *name == column.name) {
                        (column.ty, column.stored) = (ty.clone(), Stored::AsShown);
                    }
                }
                let of = |column: &&TableColumn| Some(&column.name) == declared.hints.directed.as_ref();
                let directed = columns.iter().find(of).filter(|own| own.ty.data_type == DataType::Boolean);
                options.directed = options.directed.or(directed.map(|column| column.name.clone()));
            } else {
                let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                let is_other = |name: &String| !names.contains(name.as_str());
                if encoding == Encoding::JsonLines {
                    let Found { columns: found, rows, relations } =
                        survey(&blob, encoding, &read, options.relation.as_deref())?;
                    counted = Some((rows, relations));
                    others = found.into_iter().map(|(name, _)| name).filter(is_other).collect();
                } else if read.csv.names.is_none() {
                    others = header(&blob, &read)?.into_iter().filter(is_other).collect();
                }
            }
            if encoding == Encoding::Csv {
                for column in &mut columns {
                    if let DataType::List(item) = &column.ty.data_type {
                        column.stored = Stored::Lists(Split::new(item.data_type(), options.array_delimiter)?);
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
            let there: HashSet<&str> = own.fields().iter().map(|field| field.name().as_str()).collect();
            if let Some(column) = columns.iter().find(|column| !there.contains(column.name.as_str())) {
                return Err(missing(&column.name, own));
            }
            let all: HashMap<&str, &TableColumn> = columns.iter().map(|own| (own.name.as_str(), own)).collect();
            let of = |field: &Arc<Field>| {
                let said = all.get(field.name().as_str());
                let ty = said.map_or_else(|| ColumnType::plain(field.data_type().clone()), |said| said.ty.clone());
                let required = !field.is_nullable() || said.is_some_and(|said| said.required);
                let undeclared = !all.is_empty() && said.is_none();
                TableColumn { undeclared, ..TableColumn::new(field.name().clone(), ty, required) }
            };
            columns = own.fields().iter().map(of).collect();
            if let Some(twice) = repeated(&columns) {
                return Err(Error::malformed(format!("two columns are called {twice:?}")).at(blob.place()));
            }
            let of = |column: &&TableColumn| Some(&column.name) == declared.hints.directed.as_ref();
            let directed = columns.iter().find(of).filter(|own| own.ty.data_type == DataType::Boolean);
            options.directed = options.directed.or(directed.map(|column| column.name.clone()));
        }
        if !file.is_empty() {
            unread(findings, &others, &blob, &declared.name);
        }
        let mut by_name = HashMap::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            by_name.entry(column.name.clone()).or_insert(at);
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
            by_name,
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
        if let Some(exact) = self.by_name.get(name) {
            return Some(*exact);
        }
        let mut near = (0..self.columns.len()).filter(|at| self.columns[*at].name.eq_ignore_ascii_case(name));
        near.next().filter(|_| near.next().is_none())
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
        let batch = self.batches.next().transpose().map_err(|error| match error.broken_rule() == Some(&TIME_UNIT) {
            true => error.hint(
                "declare the column as TIMESTAMP(6) in a mapping file: isomorph import init DIRECTORY > graph.pgq",
            ),
            false => error,
        });
        let Some(batch) = batch? else { return Ok(None) };
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
        let at = |row: usize| self.table.place_of(first + row as u64).in_field(own.name.clone());
        let column = match &own.stored {
            Stored::AsShown => Arc::clone(column),
            Stored::Lists(how) => {
                split(column, how).map_err(|(row, reason)| Error::broken(&TEXT_VALUE, reason).at(at(row)))?
            }
            Stored::Keys => integers(column, &own.ty.data_type).map_err(|row| {
                let text: String =
                    column.as_string_opt::<i32>().map_or("", |texts| texts.value(row)).chars().take(40).collect();
                let what = format!(
                    "the edge ends in {text:?}, which is no key: the keys are integers, without zeros in front"
                );
                Error::broken(&crate::rules::END, what).at(at(row))
            })?,
        };
        if own.required && column.null_count() > 0 {
            let row = (0..column.len()).find(|row| column.is_null(*row)).unwrap_or_default();
            return Err(Error::broken(&TEXT_VALUE, "a required value is missing").at(at(row)));
        }
        if own.ty.kind == ValueKind::Json {
            let texts = column.as_string_opt::<i32>().into_iter().flat_map(|texts| texts.iter().enumerate());
            for (row, text) in texts.filter_map(|(row, text)| Some((row, text?))) {
                isomorph_model::json::check(text).map_err(|error| {
                    Error::broken(&TEXT_VALUE, format!("the cell is declared as JSON: {}", error.message())).at(at(row))
                })?;
            }
        }
        Ok(column)
    }
}

/// The schema as which a file is read.
fn stored(columns: &[TableColumn]) -> Schema {
    let field = |column: &TableColumn| {
        let data_type = match column.stored {
            Stored::Lists(_) | Stored::Keys => DataType::Utf8,
            Stored::AsShown => column.ty.data_type.clone(),
        };
        Field::new(&column.name, data_type, !column.required)
    };
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

/// Notes columns of a file that are not declared and so not read.
pub(crate) fn unread(findings: &mut Findings, names: &[String], blob: &Blob, table: &str) {
    if names.is_empty() {
        return;
    }
    let shown: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more =
        if names.len() > shown.len() { format!(" and {} more", names.len() - shown.len()) } else { String::new() };
    let what = format!("not read, because the table {table} does not declare them: {}{more}", shown.join(", "));
    findings.push(&crate::rules::COLUMN, what, blob.place());
}

fn repeated(columns: &[TableColumn]) -> Option<&str> {
    let mut seen = HashSet::new();
    columns.iter().map(|column| column.name.as_str()).find(|name| !seen.insert(*name))
}

/// The dialect of a CSV file.
fn dialect(declared: &ExternalTable, options: &TableOptions, blob: &Blob) -> Result<CsvDialect> {
    let mut dialect =
        CsvDialect { has_header: !options.headless, literal_quotes: options.literal_quotes, ..CsvDialect::default() };
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
