//! Nodes that no file lists: the different ends of a table of edges, in the order of their first occurrence.
//!
//! The table of edges is opened first, and its ends are read as they will be read for edges. They are collected within the budget, beyond it in
//! temporary files, and are then a table of one column in a temporary file.

use std::collections::HashMap;
use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::type_name;
use isomorph_storage::parallel::{self, Ahead};
use isomorph_storage::{Scratch, ScratchFile};
use isomorph_tables::distinct::{DistinctBuilder, DistinctPiece, DistinctValues};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

use crate::keys::first_null;
use crate::open::OpenOptions;
use crate::opened_files::wider;
use crate::opening::{Opening, Roles, column};
use crate::sql::{Column, ColumnType, ExternalTable, Script, TableOptions};
use crate::table::{Piece, Table};

/// The name of the column with the keys, where nothing declares one.
pub(crate) const KEY: &str = "id";

/// Rows of a batch.
const ROWS: usize = 1 << 14;

/// Different values that one thread collects before it passes them on.
const WAITING: usize = 1 << 17;

/// Which ends are the rows of a table of nodes.
#[derive(Debug, Clone)]
pub(crate) struct EndsOf {
    /// The position of the table of edges, and those of its columns.
    pub table: usize,
    pub columns: Vec<usize>,
}

/// A file of keys, and how many there are.
pub(crate) struct KeyFile {
    pub file: ScratchFile,
    /// The first row that has no end, and its column.
    pub missing: Option<(u64, usize)>,
}

/// The type of keys that are ends of these types: integers of different widths are those of a width that holds all, integers and texts are
/// texts. The position of a type that no key has otherwise.
pub(crate) fn key_type(types: &[&DataType]) -> std::result::Result<DataType, usize> {
    let is_key = |own: &DataType| own.is_integer() || *own == DataType::Utf8;
    if let Some(at) = types.iter().position(|own| !is_key(own)) {
        return Err(at);
    }
    let (first, rest) = types.split_first().ok_or(0usize)?;
    let joined = rest.iter().try_fold((*first).clone(), |known, own| wider(&known, own));
    Ok(joined.filter(|own| own.is_integer()).unwrap_or(DataType::Utf8))
}

/// Keys as those of another type, which holds them: integers as wider ones or as texts.
///
/// # Errors
/// If the type does not hold one of them.
pub(crate) fn as_type(keys: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(keys, to, &strict).map_err(|error| Error::malformed(error.to_string()))
}

/// Puts the different values of some columns into a temporary file, as a table with the column `name`. A row in which one is missing adds none;
/// the first such row is told.
///
/// # Errors
/// If the table cannot be read, or a temporary file cannot be written.
pub(crate) fn collect(table: &Table, columns: &[usize], name: &str, options: &OpenOptions) -> Result<KeyFile> {
    let key = columns.first().and_then(|at| table.columns.get(*at)).map(|own| own.shown_type().clone());
    let key = key.ok_or_else(|| Error::usage("ends have no columns"))?;
    let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let builder = DistinctBuilder::new(key.is_integer(), &options.budget, &scratch)?;
    let read = |piece: Piece, give: &mut dyn FnMut((u64, usize)) -> Result<()>| {
        let mut own = builder.piece();
        let mut reading = table.read(&piece, columns, ROWS)?;
        while let Some((first, rows, ends)) = reading.next_batch()? {
            let missing = ends.iter().zip(columns).filter_map(|(end, at)| Some((first_null(end.as_ref())?, *at)));
            if let Some((row, column)) = missing.min() {
                give((first + row as u64, column))?;
            }
            add(&mut own, &ends, first, rows)?;
            if own.waiting() > WAITING {
                own.push()?;
            }
        }
        own.push()
    };
    let mut missing = None;
    let ahead = Ahead { pieces: 2, parts: options.threads };
    parallel::in_order(table.pieces(), options.threads, ahead, read, |found| {
        missing.get_or_insert(found);
        Ok(())
    })?;
    Ok(KeyFile { file: written(builder, name, &key, &scratch)?, missing })
}

/// Adds the ends of rows in which none is missing. The position of an end is its row times the number of columns, plus its place.
fn add(own: &mut DistinctPiece<'_>, ends: &[ArrayRef], first: u64, rows: usize) -> Result<()> {
    let is_whole = |row: &usize| ends.iter().all(|end| end.is_valid(*row));
    let place = |row: usize, at: usize| (first + row as u64) * ends.len() as u64 + at as u64;
    let lost = || Error::usage("ends are no keys");
    if own.has_integers() {
        let numbers = ends.iter().map(bits).collect::<Result<Vec<_>>>()?;
        for row in (0..rows).filter(is_whole) {
            for (at, numbers) in numbers.iter().enumerate() {
                own.integer(place(row, at), numbers.value(row));
            }
        }
        return Ok(());
    }
    let texts = ends.iter().map(|end| end.as_string_opt::<i32>().ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
    for row in (0..rows).filter(is_whole) {
        for (at, texts) in texts.iter().enumerate() {
            own.text(place(row, at), texts.value(row));
        }
    }
    Ok(())
}

/// Integers of any width as their 64 bits.
fn bits(keys: &ArrayRef) -> Result<UInt64Array> {
    if keys.data_type().is_signed_integer() {
        let wide = as_type(keys, &DataType::Int64)?;
        return Ok(wide.as_primitive::<Int64Type>().unary(i64::cast_unsigned));
    }
    Ok(as_type(keys, &DataType::UInt64)?.as_primitive::<UInt64Type>().clone())
}

/// Writes keys of type `key`.
fn written(builder: DistinctBuilder, name: &str, key: &DataType, scratch: &Scratch) -> Result<ScratchFile> {
    let distinct = builder.finish()?;
    let schema = Arc::new(Schema::new(vec![Field::new(name, key.clone(), false)]));
    let out = BufWriter::new(scratch.create()?);
    let mut writer = TableWriter::create(out, Encoding::Arrow, &schema, &WriteOptions::default())?;
    let mut stream = distinct.stream()?;
    while let Some(values) = stream.next_values()? {
        let keys: ArrayRef = match values {
            DistinctValues::Texts(texts) => texts,
            DistinctValues::Integers(all) if key.is_signed_integer() => as_type(
                &(Arc::new(Int64Array::from_iter_values(all.into_iter().map(u64::cast_signed))) as ArrayRef),
                key,
            )?,
            DistinctValues::Integers(all) => as_type(&(Arc::new(UInt64Array::from(all)) as ArrayRef), key)?,
        };
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![keys]);
        writer.write(&batch.map_err(|error| Error::malformed(error.to_string()))?)?;
    }
    let (out, _) = writer.finish()?;
    out.into_inner().map_err(|error| Error::from(error.into_error()))
}

impl Opening {
    /// Opens a table whose rows are the different ends of a table of edges, and that table. With `lenient`, its rows come when those that are
    /// wrong are set aside.
    ///
    /// # Errors
    /// When the mapping has no such table of edges or columns, their types are none of keys, or they cannot be read.
    pub fn table_of_ends(
        &mut self,
        declared: &ExternalTable,
        options: TableOptions,
        script: &Script,
        file: &str,
    ) -> Result<usize> {
        let is_listed = |table: &&ExternalTable| !table.options.contains_key(OPTION);
        let same = |table: &&ExternalTable| table.location == declared.location && table.encoding == declared.encoding;
        let edges = script.tables.iter().filter(is_listed).find(same).ok_or_else(|| {
            let what = format!(
                "no table of edges is declared with the location {}, of which {} has ends",
                declared.location, declared.name
            );
            declared
                .at
                .error(file, what)
                .hint(format!("CREATE EXTERNAL TABLE edges … LOCATION '{}'", declared.location))
        })?;
        let roles = Roles { known: &HashMap::new(), keys: &options.ends, are_of_nodes: false };
        let table = self.table(&edges.name, declared.at, script, &roles, file)?;
        let own = self.opened.get(table).ok_or_else(|| Error::usage("a table is not open"))?;
        let columns =
            options.ends.iter().map(|name| column(own, name, declared.at, file)).collect::<Result<Vec<_>>>()?;
        let named = |at: usize| own.columns.get(at).map_or("", |column| column.name.as_str());
        let types: Vec<&DataType> = columns.iter().map(|at| &own.columns[*at].ty.data_type).collect();
        let found = key_type(&types).map_err(|at| {
            let (name, ty) = (named(columns[at]), type_name(types[at]));
            let why = own.told_fraction(types[at]);
            let what = format!("keys are integers or text, and {name} of the table {} is of type {ty}{why}", own.name);
            declared.at.error(file, what).hint(format!("change the column {name} to integers or text"))
        })?;
        let key = key_column(declared, found, file)?;
        for at in &columns {
            let end = &mut self.opened[table].columns[*at];
            let is_other = end.key_type.as_ref().is_some_and(|known| *known != key.ty.data_type);
            if is_other {
                let what = format!("{} is an end of nodes of two types of keys", end.name);
                return Err(declared.at.error(file, what));
            }
            end.key_type = Some(key.ty.data_type.clone()).filter(|ty| *ty != end.ty.data_type);
        }
        let edges = &self.opened[table];
        let (name, place) = (key.name.clone(), edges.place().file.unwrap_or_default());
        let mut nodes = Table::of_ends(&declared.name, options, EndsOf { table, columns: columns.clone() }, edges, key);
        if !self.options.lenient {
            let KeyFile { file: keys, missing } = collect(edges, &columns, &name, &self.options)?;
            if let Some((row, column)) = missing {
                self.findings.note(Err(edges.no_end(row, column)))?;
            }
            nodes.fill(keys, &place)?;
        }
        Ok(self.add(&declared.name, nodes))
    }
}

/// The option of such a table.
pub(crate) const OPTION: &str = "isomorph.ends";

/// The only column of a table of ends whose keys are of type `found`.
///
/// # Errors
/// When others are declared, or a type that does not hold the keys.
fn key_column(declared: &ExternalTable, found: DataType, file: &str) -> Result<Column> {
    match declared.columns.as_slice() {
        [] => Ok(Column { name: KEY.to_owned(), ty: ColumnType::plain(found), required: true }),
        [own] if own.ty == ColumnType::plain(own.ty.data_type.clone()) => {
            let of = &own.ty.data_type;
            let holds = *of == DataType::Utf8 || of.is_integer() && wider(of, &found).as_ref() == Some(of);
            match holds {
                true => Ok(Column { required: true, ..own.clone() }),
                false => {
                    let what = format!(
                        "{} is declared as {}, and the ends of edges are of type {}",
                        own.name,
                        type_name(of),
                        type_name(&found)
                    );
                    Err(declared.at.error(file, what))
                }
            }
        }
        _ => {
            let what = format!("the rows of {} are ends of edges: it has one column, the key", declared.name);
            Err(declared.at.error(file, what).hint(format!("CREATE EXTERNAL TABLE {} (id BIGINT) …", declared.name)))
        }
    }
}

impl Table {
    /// The error for a row without an end.
    pub fn no_end(&self, row: u64, column: usize) -> Error {
        let name = self.columns.get(column).map(|own| own.name.clone()).unwrap_or_default();
        let place: Place = self.place_of(row).in_field(name);
        Error::broken(&crate::rules::END, "the edge has no end").at(place).hint(crate::keys::SET_ASIDE)
    }
}

#[cfg(test)]
mod tests {
    use DataType as T;

    use super::*;

    #[test]
    fn keys_hold_the_ends_of_all_columns() {
        for (ends, key) in [
            (&[T::Int64, T::Int64][..], Ok(T::Int64)),
            (&[T::Int8, T::Int32], Ok(T::Int32)),
            (&[T::UInt8, T::UInt32], Ok(T::UInt32)),
            (&[T::UInt32, T::Int32], Ok(T::Int64)),
            (&[T::UInt64, T::Int64], Ok(T::Utf8)),
            (&[T::Int64, T::Utf8], Ok(T::Utf8)),
            (&[T::Utf8, T::Utf8], Ok(T::Utf8)),
            (&[T::Utf8], Ok(T::Utf8)),
            (&[T::Int64, T::Float64], Err(1)),
            (&[T::Boolean, T::Utf8], Err(0)),
        ] {
            assert_eq!(key_type(&ends.iter().collect::<Vec<_>>()), key, "{ends:?}");
        }
    }
}
