//! Tables as a graph: a file for each type of nodes and of edges (CSV, Parquet, Arrow IPC, JSON lines), and a mapping file in the syntax of
//! SQL/PGQ that says which graph they are. Without a mapping file, the conventions of other tools are recognised.
//!
//! See the README of the crate.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod cells;
mod conventions;
mod directions;
mod ends;
mod find;
mod found_types;
mod hints;
mod key_by_values;
mod keys;
mod lenient;
mod locations;
mod maps;
pub mod neo4j;
mod open;
mod opened_files;
mod opening;
mod parts;
mod plain;
mod reading;
pub mod rules;
mod source;
pub mod sql;
mod survey;
mod table;
mod whole_floats;
mod workbook;
mod write;

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Blob, Location, Scheme};
use isomorph_tables::Encoding;

pub use capability::{CSV, JSON, KGX, NEO4J, TYPED, holds};
pub use find::{MAPPING, is_mapping};
pub use open::{OpenOptions, Tables};
pub use plain::PlainTable;
pub use workbook::is_workbook;
pub use write::{Form, TablesWriter, WriteOptions, check_workbook};

/// What the tables at `location` are, as far as names and first lines tell, if they are a graph. The encoding is that of the first one.
///
/// # Errors
/// When the location cannot be read.
pub fn detect(location: &Location) -> Result<Option<Form>> {
    if find::is_file_of_workbook(location) {
        return Ok(workbook::begins(&Blob::open(location)?)?.then_some(Form::Workbook));
    }
    if find::is_table(location) || location.scheme() == Scheme::Stream {
        return detect_table(location);
    }
    let of = |found: find::Found| {
        let encoding = found.script.tables.first()?.encoding;
        Some(match encoding {
            _ if neo4j::is_meant(&found.script) => Form::Neo4j,
            Encoding::JsonLines if found.file.is_none() && is_kgx(&found.script) => Form::Kgx,
            _ => Form::Tables(encoding),
        })
    };
    match find::find(location) {
        Ok(found) => Ok(found.and_then(of)),
        // What is wrong with a mapping file or a table, its reader says best; so do several candidates.
        Err(error) if matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge | Kind::Usage) => {
            Ok(Some(Form::Tables(Encoding::Csv)))
        }
        Err(error) => Err(error),
    }
}

/// What a file that is a table of edges alone is; CSV is an edge list, and names that could mean several columns are none.
fn detect_table(location: &Location) -> Result<Option<Form>> {
    match find::find(location) {
        Ok(found) => Ok(found.and_then(|found| found.script.tables.first().map(|table| table.encoding)))
            .map(|encoding| encoding.filter(|own| *own != Encoding::Csv).map(Form::Tables)),
        Err(error) if matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge | Kind::Usage) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether a directory is a table of edges alone, so that it is no graph if others are in it.
///
/// # Errors
/// When it cannot be read.
pub fn is_table_alone(directory: &Location) -> Result<bool> {
    let found = find::find(directory).map_err(|error| hints::with_paths(error, directory))?;
    Ok(found.is_some_and(|found| found.file.is_none() && found.sheets.is_empty() && has_ends(&found.script)))
}

/// The files of which a directory is one table of edges, if they are parts of it.
///
/// # Errors
/// When it cannot be read.
pub fn parts_of_table(directory: &Location) -> Result<Vec<String>> {
    let found = find::find(directory).map_err(|error| hints::with_paths(error, directory))?;
    let tables = found.filter(|found| found.file.is_none()).map(|found| found.script.tables).unwrap_or_default();
    let mut all = Vec::new();
    for table in &tables {
        let parts = sql::TableOptions::of(table, "")?.parts;
        all.extend(std::iter::once(table.location.clone()).chain(parts).filter(|name| conventions::is_part(name)));
    }
    Ok(all)
}

/// Whether a table of nodes is that of the ends of edges.
fn has_ends(script: &sql::Script) -> bool {
    script.tables.iter().any(|table| table.options.contains_key(ends::OPTION))
}

/// Whether a name is that of a table: `edges.parquet`, `edges.jsonl.gz`.
pub fn is_table(name: &str) -> bool {
    conventions::encoding(name).is_some()
}

/// Why a file that is a table is no graph, with its columns and what to do; `None` for other files.
pub fn unrecognised(location: &Location) -> Option<Error> {
    let is_table = match location.scheme() {
        // Of texts, others know more.
        Scheme::Stream => conventions::is_binary_table(location),
        _ => find::is_table(location),
    };
    if !is_table {
        return None;
    }
    match find::find(location) {
        // What other formats may have is theirs.
        Ok(None) if conventions::has_other_ends(location) => None,
        Ok(None) => Some(hints::with_paths(open::not_recognised(location), location)),
        Ok(Some(_)) => None,
        Err(error) => Some(hints::with_paths(error, location)),
    }
}

/// The files of JSON lines of KGX.
const OF_KGX: [&str; 2] = ["nodes.jsonl", "edges.jsonl"];

/// Whether a convention has found the two tables of KGX under the names that are written.
fn is_kgx(script: &sql::Script) -> bool {
    let is_role = |option: &str, column: &str| {
        let mut options = script.tables.iter().flat_map(|table| &table.options);
        options.any(|(name, value)| name == option && value == column)
    };
    let mut locations = script.tables.iter().map(|table| table.location.as_str());
    locations.all(|name| OF_KGX.contains(&name))
        && is_role("isomorph.labels", "category")
        && is_role("isomorph.relation", "predicate")
}

/// Whether all files of a directory are JSON lines of KGX.
///
/// # Errors
/// When a file cannot be read.
pub fn owns_kgx(directory: &Location, names: &[&str]) -> Result<bool> {
    Ok(names.iter().all(|name| OF_KGX.contains(name)) && detect(directory)? == Some(Form::Kgx))
}

/// Whether all files of a directory belong to one graph of tables: its mapping file and what this names. `names` lists the directory.
///
/// # Errors
/// When the mapping file cannot be read.
pub fn owns(directory: &Location, names: &[&str]) -> Result<bool> {
    if !names.contains(&MAPPING) {
        return Ok(false);
    }
    let Some(found) = find::find(directory)? else { return Ok(false) };
    let is_named = |name: &&str| found.script.tables.iter().any(|table| table.location == **name);
    Ok(names.iter().all(|name| *name == MAPPING || is_named(name)))
}

/// The mapping of the tables at `location` as the text of a mapping file, which says what a convention has recognised.
///
/// # Errors
/// When the location is none that a mapping file or a convention makes a graph of, or cannot be read. Texts are read once.
pub fn mapping_of(location: &Location) -> Result<String> {
    let tables = Tables::draft(location, OpenOptions::default()).map_err(hints::without_init)?;
    let mut text = String::new();
    for (what, fact) in tables.recognised() {
        text.push_str(&format!("-- {what}: {fact}\n"));
    }
    text.push('\n');
    text.push_str(&tables.script().to_string());
    Ok(text)
}
