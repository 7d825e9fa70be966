//! Neo4j's admin import: what a column is stands in its header.
//!
//! Source: the Operations Manual of Neo4j 5, "Import", "CSV header format".

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};
use isomorph_model::type_name::list_of;
use isomorph_tables::Encoding;

use super::{BrokenFile, Guess, TableFile, encoding};
use crate::sql::{Column, ColumnType, Hints, Joined, Properties, Script, TableOptions};

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

/// The ranges of the integers of columns that have less than 64 bits, as the import reads them.
fn ranges(columns: &[String], own: &[Header<'_>]) -> Vec<(String, RangeInclusive<i64>, &'static str)> {
    let of = |(name, header): (&String, &Header<'_>)| {
        let lower = header.what.to_ascii_lowercase();
        let (range, called) = match lower.strip_suffix("[]").unwrap_or(&lower) {
            "byte" => (i8::MIN.into()..=i8::MAX.into(), "byte"),
            "short" => (i16::MIN.into()..=i16::MAX.into(), "short"),
            "int" => (i32::MIN.into()..=i32::MAX.into(), "int"),
            _ => return None,
        };
        Some((name.clone(), range, called))
    };
    columns.iter().zip(own).filter_map(of).collect()
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

/// The files that continue a table whose first file has its header: by their names, `movies-part2.csv` of `movies.csv`, and `movies.csv` and
/// `movies-1.csv` of `movies-header.csv`. The manual names them one by one on the command line, which a directory does not have.
fn parts<'f>(files: &'f [TableFile], broken: &'f [BrokenFile]) -> BTreeMap<&'f str, Vec<String>> {
    let texts = || files.iter().filter(|file| file.delimiter.is_some());
    let is_first = |file: &TableFile| headers(file).iter().any(|own| own.is_id() || own.is("START_ID"));
    let is_csv = |file: &&BrokenFile| matches!(encoding(&file.name), Some((_, Encoding::Csv)));
    let others = texts().filter(|file| !is_first(file)).map(|file| (file.name.as_str(), file.stem.as_str()));
    let others = others.chain(broken.iter().filter(is_csv).map(|file| (file.name.as_str(), file.stem.as_str())));
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, stem) in others {
        let continues = |file: &&TableFile| {
            let (base, is_header) = base_of(&file.stem);
            stem.strip_prefix(base).is_some_and(|rest| {
                rest.starts_with(['-', '_', '.'])
                    || rest.starts_with(|c: char| c.is_ascii_digit())
                    || is_header && rest.is_empty()
            })
        };
        if let Some(first) =
            texts().filter(|file| is_first(file)).filter(continues).max_by_key(|file| base_of(&file.stem).0.len())
        {
            all.entry(&first.name).or_default().push(name.to_owned());
        }
    }
    all.values_mut().for_each(|names| names.sort_unstable());
    all
}

/// The name of a table without the word that says that a file has only its header, and whether it has that.
fn base_of(stem: &str) -> (&str, bool) {
    let lower = stem.to_ascii_lowercase();
    let ending =
        ["-header", "_header", ".header"].iter().find(|ending| lower.ends_with(**ending) && lower.len() > ending.len());
    ending.map_or((stem, false), |ending| (&stem[..stem.len() - ending.len()], true))
}

/// The columns that make the id of a node together: the import joins their texts (`IdValueBuilder` of Neo4j 5).
fn joined(file: &TableFile, own: &[Header<'_>]) -> Result<Option<Joined>> {
    let ids: Vec<usize> = (0..own.len()).filter(|at| own[*at].is_id()).collect();
    if ids.len() < 2 {
        return Ok(None);
    }
    let space = own[ids[0]].space;
    if let Some(other) = ids.iter().find(|at| own[**at].space != space) {
        let what =
            format!("the columns {} and {} are :ID of two id spaces", file.columns[ids[0]], file.columns[*other]);
        return Err(Error::unsupported(what).at(file.name.as_str()).hint("give the parts of an id one space"));
    }
    let mut column = if space.is_empty() { ":ID".to_owned() } else { format!(":ID({space})") };
    while file.columns.contains(&column) {
        column.insert(0, '_');
    }
    Ok(Some(Joined { column, of: ids.iter().map(|at| file.columns[*at].clone()).collect() }))
}

pub(super) fn guess(files: &[TableFile], broken: &[BrokenFile]) -> Result<Option<Guess>> {
    let parts = parts(files, broken);
    let continued = |file: &TableFile, options: TableOptions| {
        let parts = parts.get(file.name.as_str()).cloned().unwrap_or_default();
        TableOptions { first_header: !parts.is_empty(), parts, ..options }
    };
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
        let joined = joined(file, &own)?;
        let Some(key) = own.iter().position(Header::is_id) else { continue };
        let labels = only_one(file, &own, "LABEL")?.map(|at| file.columns[at].clone());
        let space = own[key].space;
        let label = own[key].option("label").filter(|label| !label.is_empty());
        if joined.is_none() {
            ids.extend(own[key].id_type(file, &file.columns[key])?.map(|data_type| (space.to_owned(), data_type)));
        }
        let label = label.or(Some(space).filter(|space| !space.is_empty())).unwrap_or(base_of(&file.stem).0).to_owned();
        let options = TableOptions { labels: labels.clone(), joined: joined.clone(), ..options() };
        let options = continued(file, options);
        let table = guess.table(file, options, hints(file, &own));
        if let Some((other, _)) = spaces.insert(space.to_owned(), (table.clone(), file.name.clone())) {
            let name = if space.is_empty() { "without a name".to_owned() } else { space.to_owned() };
            let what = format!(
                "the tables {other} and {table} have ids in one space, {name}: an edge does not say in which of them it ends"
            );
            return Err(Error::usage(what)
                .hint("give each table an id space of its own: personId:ID(Person), :START_ID(Person)"));
        }
        declare(&mut guess, file, &own, &ids)?;
        let key_name = joined.as_ref().map_or(&file.columns[key], |joined| &joined.column);
        let mut listed = properties(file, &own, joined.as_ref().map_or(key, |_| usize::MAX));
        if let (Properties::Listed(all), Some(joined)) = (&mut listed, &joined) {
            // Parts of an id with names are properties.
            let part = |at: usize| (file.columns[at].clone(), own[at].name.to_owned());
            let named = (0..own.len()).filter(|at| joined.of.contains(&file.columns[*at]) && !own[*at].name.is_empty());
            all.splice(0..0, named.map(part));
        }
        guess.vertex(table, key_name, &label, listed);
        let of = labels.map_or_else(String::new, |name| format!(", labels {name}"));
        let by = joined.map_or_else(|| file.columns[key].clone(), |joined| joined.of.join(" and "));
        guess.tell(file, format!("nodes {label}: key {by}{of}{}{}", kept_as_text(&own), continued_by(&parts, file)));
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
        let options = continued(file, TableOptions { relation: relation.clone(), ..options() });
        let table = guess.table(file, options, hints(file, &own));
        declare(&mut guess, file, &own, &ids)?;
        let ends = [(file.columns[source].as_str(), from.as_str()), (file.columns[target].as_str(), to.as_str())];
        let stem = base_of(&file.stem).0;
        guess.edge(table, ends, stem, properties(file, &own, usize::MAX));
        let of = relation.map_or_else(|| format!("relation {stem}"), |_| "an edge type for each :TYPE".to_owned());
        let of = format!("{of}{}{}", kept_as_text(&own), continued_by(&parts, file));
        guess.tell(file, format!("edges from {} to {}: {of}", file.columns[source], file.columns[target]));
    }
    Ok(Some(guess))
}

/// What is told of the files that continue a table.
fn continued_by(parts: &BTreeMap<&str, Vec<String>>, file: &TableFile) -> String {
    parts.get(file.name.as_str()).map_or_else(String::new, |parts| format!("; continued in {}", parts.join(", ")))
}

/// Fails where a file may be a part of a table whose name does not say of which.
///
/// # Errors
/// [`isomorph_error::Kind::Unsupported`] for the first file without a role.
pub(super) fn refuse_parts(script: &Script, files: &[TableFile], broken: &[&str]) -> Result<()> {
    let options = script.tables.iter().map(|table| TableOptions::of(table, "")).collect::<Result<Vec<_>>>()?;
    let is_part = |name: &str| options.iter().any(|own| own.parts.iter().any(|part| part == name));
    let is_read = |name: &str| script.tables.iter().any(|table| table.location == name) || is_part(name);
    let texts = files.iter().filter(|file| file.delimiter.is_some()).map(|file| file.name.as_str());
    let Some(other) = texts.chain(broken.iter().copied()).find(|name| !is_read(name)) else { return Ok(()) };
    let headers: Vec<&str> = script.tables.iter().map(|table| table.location.as_str()).collect();
    let what = format!(
        "{other} has neither an :ID nor a :START_ID and an :END_ID in its first line, which may be data, and its name is that of no table with a header"
    );
    Err(Error::unsupported(what)
        .at(other)
        .hint(format!(
            "name the files of a table alike: people-header.csv, people.csv, people-2.csv (headers have {})",
            headers.join(", ")
        ))
        .hint("move the file elsewhere if it is no part of the graph")
        .hint("write a mapping file, graph.pgq, that says which tables are meant"))
}

fn hints(file: &TableFile, own: &[Header<'_>]) -> Hints {
    Hints { ranges: ranges(&file.columns, own), ..Hints::default() }
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
