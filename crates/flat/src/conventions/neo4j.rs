//! Neo4j's admin import: what a column is stands in its header.
//!
//! Source: the Operations Manual of Neo4j 5, "Import", "CSV header format".

use std::collections::BTreeMap;

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};
use isomorph_model::type_name::list_of;

use super::{Guess, TableFile};
use crate::sql::{Column, ColumnType, Hints, Properties, Script, TableOptions};

/// What a column is where it is no property.
const ROLES: &[&str] = &["ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"];

/// What divides the items of arrays and labels.
const ARRAY: char = ';';

/// What a field of a header says: a name, and what the column is.
struct Header<'a> {
    name: &'a str,
    /// `ID`, `LABEL`, `int`, `string[]`, …; empty where nothing is said.
    what: &'a str,
    /// The space of ids, in parentheses.
    space: &'a str,
    /// What braces say, as `label:Person`.
    braces: &'a str,
}

impl<'a> Header<'a> {
    fn of(field: &'a str) -> Header<'a> {
        let (field, braces) =
            field.split_once('{').map_or((field, ""), |(field, rest)| (field, rest.trim_end_matches('}')));
        let (name, what) = field.rsplit_once(':').unwrap_or((field, ""));
        let (what, space) = what.split_once('(').map_or((what, ""), |(what, rest)| (what, rest.trim_end_matches(')')));
        Header { name, what, space, braces }
    }

    /// What the braces say under a name.
    fn option(&self, wanted: &str) -> Option<&'a str> {
        self.braces.split(',').find_map(|one| {
            let (name, said) = one.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| said.trim())
        })
    }

    /// The type of ids, if it is no text.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for a type that ids of Neo4j do not have.
    fn id_type(&self, file: &TableFile, field: &str) -> Result<Option<DataType>> {
        match self.option("id-type").map(str::to_ascii_lowercase).as_deref() {
            None | Some("string") => Ok(None),
            Some("int" | "long") => Ok(Some(DataType::Int64)),
            Some(other) => Err(Error::unsupported(format!("the ids of {field} have the type {other}"))
                .at(file.name.as_str())
                .hint("{id-type:long}, {id-type:int}, {id-type:string}")),
        }
    }

    /// Whether this is the column's type or role: Neo4j does not tell upper from lower case.
    fn is(&self, word: &str) -> bool {
        self.what.eq_ignore_ascii_case(word)
    }

    /// Whether the column has the ids of nodes. A name in front of `:id` may be a prefix of another tool.
    fn is_id(&self) -> bool {
        self.what == "ID" || self.name.is_empty() && self.is("ID")
    }

    /// The type of the values.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for a type that Neo4j does not have, and for times in a time zone that cells do not name.
    fn ty(&self, file: &TableFile, field: &str) -> Result<ColumnType> {
        let lower = self.what.to_ascii_lowercase();
        let (what, is_list) = lower.strip_suffix("[]").map_or((lower.as_str(), false), |what| (what, true));
        let data_type = match what {
            _ if ROLES.iter().any(|role| self.is(role)) => DataType::Utf8,
            "int" | "long" | "short" | "byte" => DataType::Int64,
            "float" | "double" => DataType::Float64,
            "boolean" => DataType::Boolean,
            "date" if !is_list => DataType::Date32,
            "localdatetime" if !is_list => DataType::Timestamp(TimeUnit::Nanosecond, None),
            "datetime" if !is_list => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            // Points, times and spans have no counterpart, and lists have only plain items.
            "" | "string" | "char" | "point" | "date" | "time" | "localtime" | "datetime" | "localdatetime"
            | "duration" => DataType::Utf8,
            _ => {
                let what =
                    format!("the column {field} has the type {}, which Neo4j's admin import does not have", self.what);
                return Err(Error::unsupported(what)
                    .at(file.name.as_str())
                    .hint("int, long, float, double, boolean, byte, short, char, string, point, date, localtime, time, localdatetime, datetime, duration, with [] for arrays")
                    .hint("NAME:IGNORE    leave the column out"));
            }
        };
        let zone = self.option("timezone");
        let is_utc = |zone: &str| ["", "Z", "UTC", "Etc/UTC", "GMT", "+00:00", "+0000", "+00"].contains(&zone);
        if let Some(zone) = zone.filter(|zone| matches!(what, "datetime" | "time") && !is_utc(zone)) {
            let what = format!("the column {field} has times of the zone {zone} in cells that do not name it");
            return Err(Error::unsupported(what).at(file.name.as_str()).hint(
                "write the offset in each cell, 2020-01-01T00:00:00+01:00, and {timezone:UTC} or nothing in the header",
            ));
        }
        let is_list = is_list || self.is("LABEL");
        Ok(ColumnType::plain(if is_list { list_of(data_type) } else { data_type }))
    }
}

/// Whether values of this type of Neo4j are kept as text, because graphs have no such type, or no lists of it.
fn is_kept_as_text(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let (item, is_list) = lower.strip_suffix("[]").map_or((lower.as_str(), false), |item| (item, true));
    matches!(item, "point" | "time" | "localtime" | "duration")
        || is_list && matches!(item, "date" | "datetime" | "localdatetime")
}

/// The type that the field of a header gives to a property of this name, if its values are kept as text: with its options.
pub(crate) fn kept_type<'a>(field: &'a str, name: &str) -> Option<&'a str> {
    let word = field.strip_prefix(name)?.strip_prefix(':')?;
    is_kept_as_text(Header::of(field).what).then_some(word)
}

/// Whether a field of a header says that the column has the ids of nodes.
pub(crate) fn is_id(field: &str) -> bool {
    Header::of(field).is_id()
}

/// The only column of a role.
///
/// # Errors
/// [`isomorph_error::Kind::Unsupported`] for several: Neo4j joins them.
fn only_one(file: &TableFile, own: &[Header<'_>], role: &str) -> Result<Option<usize>> {
    let mut all = (0..own.len()).filter(|at| own[*at].is(role));
    match (all.next(), all.next()) {
        (Some(first), Some(second)) => {
            let what = format!("the columns {} and {} are both :{role}", file.columns[first], file.columns[second]);
            Err(Error::unsupported(what).at(file.name.as_str()).hint(format!(
                "make one column :{role} of them, and keep its parts as properties where they are needed"
            )))
        }
        (first, _) => Ok(first),
    }
}

fn headers(file: &TableFile) -> Vec<Header<'_>> {
    file.columns.iter().map(|field| Header::of(field)).collect()
}

pub(super) fn guess(files: &[TableFile]) -> Result<Option<Guess>> {
    let texts = files.iter().filter(|file| file.delimiter.is_some());
    let has = |file: &TableFile, word: &str| headers(file).iter().any(|header| header.is(word));
    let has_id = |file: &TableFile| headers(file).iter().any(Header::is_id);
    let nodes: Vec<&TableFile> = texts.clone().filter(|file| has_id(file)).collect();
    let edges: Vec<&TableFile> = texts.filter(|file| has(file, "START_ID") && has(file, "END_ID")).collect();
    if nodes.is_empty() {
        return Ok(None);
    }
    let mut guess = Guess::new("Neo4j's admin import");
    guess.is_neo4j = true;
    let mut spaces: BTreeMap<String, (String, String)> = BTreeMap::new();
    // The types of ids that are no text, by space.
    let mut ids: BTreeMap<String, DataType> = BTreeMap::new();
    for file in nodes {
        let own = headers(file);
        let Some(key) = only_one(file, &own, "ID")? else { continue };
        let labels = only_one(file, &own, "LABEL")?.map(|at| file.columns[at].clone());
        let space = own[key].space;
        let label = own[key].option("label").filter(|label| !label.is_empty());
        ids.extend(own[key].id_type(file, &file.columns[key])?.map(|data_type| (space.to_owned(), data_type)));
        let label = label.or(Some(space).filter(|space| !space.is_empty())).unwrap_or(&file.stem).to_owned();
        let options = TableOptions { labels: labels.clone(), ..options() };
        let table = guess.table(file, options, Hints::default());
        if let Some((other, _)) = spaces.insert(space.to_owned(), (table.clone(), file.name.clone())) {
            let name = if space.is_empty() { "without a name".to_owned() } else { space.to_owned() };
            let what = format!(
                "the tables {other} and {table} have ids in one space, {name}: an edge does not say in which of them it ends"
            );
            return Err(Error::usage(what)
                .hint("give each table an id space of its own: personId:ID(Person), :START_ID(Person)"));
        }
        declare(&mut guess, file, &own, &ids)?;
        guess.vertex(table, &file.columns[key], &label, properties(file, &own, key));
        let of = labels.map_or_else(String::new, |name| format!(", labels {name}"));
        guess.tell(file, format!("nodes {label}: key {}{of}{}", file.columns[key], kept_as_text(&own)));
    }
    for file in edges {
        let own = headers(file);
        let one = |role: &str| only_one(file, &own, role);
        let (Some(source), Some(target)) = (one("START_ID")?, one("END_ID")?) else { continue };
        let relation = one("TYPE")?.map(|at| file.columns[at].clone());
        let table_of = |end: usize| {
            let space = own[end].space;
            spaces.get(space).map(|(table, _)| table.clone()).ok_or_else(|| {
                let known: Vec<&str> = spaces.keys().map(String::as_str).collect();
                Error::usage(format!("{} ends in the id space {space:?}, which no table of nodes has", file.name))
                    .hint(format!("known are {}", known.join(", ")))
            })
        };
        let (from, to) = (table_of(source)?, table_of(target)?);
        let options = TableOptions { relation: relation.clone(), ..options() };
        let table = guess.table(file, options, Hints::default());
        declare(&mut guess, file, &own, &ids)?;
        let ends = [(file.columns[source].as_str(), from.as_str()), (file.columns[target].as_str(), to.as_str())];
        guess.edge(table, ends, &file.stem, properties(file, &own, usize::MAX));
        let of =
            relation.map_or_else(|| format!("relation {}", file.stem), |_| "an edge type for each :TYPE".to_owned());
        let of = format!("{of}{}", kept_as_text(&own));
        guess.tell(file, format!("edges from {} to {}: {of}", file.columns[source], file.columns[target]));
    }
    Ok(Some(guess))
}

/// Fails where a table of nodes or relationships may be in several files: a header in a file of its own, or parts without one.
///
/// # Errors
/// [`isomorph_error::Kind::Unsupported`] for the first file without a role.
pub(super) fn refuse_parts(script: &Script, files: &[TableFile], broken: &[&str]) -> Result<()> {
    let is_read = |name: &str| script.tables.iter().any(|table| table.location == name);
    let texts = files.iter().filter(|file| file.delimiter.is_some()).map(|file| file.name.as_str());
    let Some(other) = texts.chain(broken.iter().copied()).find(|name| !is_read(name)) else { return Ok(()) };
    let headers: Vec<&str> = script.tables.iter().map(|table| table.location.as_str()).collect();
    let what = format!(
        "{other} has neither an :ID nor a :START_ID and an :END_ID in its first line, which may be data: headers in files of their own and tables in several files are not read"
    );
    Err(Error::unsupported(what)
        .at(other)
        .hint(format!(
            "cat HEADER.csv {other} > NEW.csv    make one file with its header of each table (headers have {})",
            headers.join(", ")
        ))
        .hint("move the file elsewhere if it is no part of the graph")
        .hint("write a mapping file, graph.pgq, that says which tables are meant"))
}

fn options() -> TableOptions {
    TableOptions { array_delimiter: Some(ARRAY), ..TableOptions::default() }
}

/// What is told of columns whose values are kept as text.
fn kept_as_text(own: &[Header<'_>]) -> String {
    let all: Vec<String> = own
        .iter()
        .filter(|header| is_kept_as_text(header.what))
        .map(|header| format!("{}:{}", header.name, header.what))
        .collect();
    if all.is_empty() { String::new() } else { format!("; {} as text", all.join(", ")) }
}

/// Declares the columns of the last table as its header does.
fn declare(guess: &mut Guess, file: &TableFile, own: &[Header<'_>], ids: &BTreeMap<String, DataType>) -> Result<()> {
    let columns = file.columns.iter().zip(own).filter(|(_, header)| !header.is("IGNORE"));
    let column = |(name, header): (&String, &Header<'_>)| {
        let id = ids.get(header.space).filter(|_| header.is_id() || header.is("START_ID") || header.is("END_ID"));
        let ty = id.map_or_else(|| header.ty(file, name), |data_type| Ok(ColumnType::plain(data_type.clone())))?;
        Ok(Column { name: name.clone(), ty, required: false })
    };
    if let Some(table) = guess.script.tables.last_mut() {
        table.columns = columns.map(column).collect::<Result<_>>()?;
    }
    Ok(())
}

/// The columns that are properties, by their names without types. The key has its own name, where the header gives one.
fn properties(file: &TableFile, own: &[Header<'_>], key: usize) -> Properties {
    let is_property = |header: &Header<'_>| !ROLES.iter().any(|role| header.is(role));
    let all = own.iter().enumerate().zip(&file.columns);
    let stays = all.filter(|((at, header), _)| *at == key || is_property(header));
    let name = |((at, header), column): ((usize, &Header<'_>), &String)| match header.name {
        "" if at == key => (column.clone(), "id".to_owned()),
        name => (column.clone(), name.to_owned()),
    };
    Properties::Listed(stays.map(name).collect())
}
