//! Conventions by which tables say without a mapping file which graph they are. Only names and first lines are looked at; what is recognised is
//! a mapping like any other, and is told.

mod by_type;
mod files;
mod ldbc;
mod lone;
mod neo4j;
mod pairs;
mod table_names;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Blob, Entry, Location, Root, Scheme};
use isomorph_tables::Encoding;

use crate::find::Found;
use crate::rules;
use crate::sql::{At, Edge, End, ExternalTable, Hints, Properties, PropertyGraph, Script, TableOptions, Vertex};
pub(crate) use files::{BrokenFile, TableFile, delimiter, encoding, is_part, table_file, table_stream};
pub(crate) use lone::lone;
pub(crate) use neo4j::{is_id, kept_type};
pub(crate) use pairs::INIT;

/// The most tables, and columns of each, that a message names.
const SHOWN: usize = 8;

/// What a convention makes of files: the mapping, and what is told of it.
pub(crate) struct Guess {
    pub script: Script,
    pub recognised: Vec<(String, String)>,
    /// Whether headers are those of Neo4j.
    is_neo4j: bool,
}

/// The mapping that a convention has found, and what is told of it: subject and fact of each line.
pub(crate) type Recognised = (Script, Vec<(String, String)>);

/// What a convention makes of files, if they follow it.
type Convention = fn(&[TableFile]) -> Result<Option<Guess>>;

/// The graph that the files of a directory are by a convention, if they are one.
///
/// # Errors
/// When several files could have the same role, or a file cannot be read; with `draft`, columns that no name tells are guessed, for a
/// mapping that a person corrects.
pub(crate) fn guess(root: Root, entries: &[Entry], draft: bool) -> Result<Option<Found>> {
    let (files, mut broken) = files::tables(&root, entries)?;
    let is_whole = broken.iter().all(|file| file.is_empty);
    let empty = broken.iter().filter(|file| file.is_empty).map(|file| file.name.clone()).collect();
    let all = files.iter().map(|file| &file.name).chain(broken.iter().map(|file| &file.name));
    let names: Vec<String> = all.cloned().collect();
    let mut guess = guess_of(&files, &mut broken, draft)?;
    if guess.is_none() && is_whole {
        guess = lone::only_table(files, empty, draft).map_or(Ok(None), |file| lone(&file, draft))?;
    }
    let mut findings = Findings::keeping(8);
    if let Some((script, _)) = &guess {
        note_unread(script, names.iter().map(String::as_str), &mut findings)?;
    }
    let root = Some(root);
    Ok(guess.map(|(script, recognised)| Found {
        root,
        script,
        file: None,
        recognised,
        sheets: Vec::new(),
        broken: Vec::new(),
        findings,
    }))
}

/// The tables of a directory with their columns, for messages; a few of them, and none where it cannot be read.
pub(crate) fn described(location: &Location) -> Vec<String> {
    let read = || {
        let root = Root::open(location)?;
        let entries = root.list_dir("")?;
        files::tables(&root, &entries)
    };
    let of =
        |file: files::TableFile| format!("{} ({})", file.name, few(&mut file.columns.into_iter(), SHOWN).join(", "));
    read().map_or_else(|_| Vec::new(), |(tables, _)| few(&mut tables.into_iter().map(of), SHOWN))
}

/// The names of the columns of a file, for messages; a few of them, and none where it cannot be read.
pub(crate) fn columns_of(location: &Location) -> Vec<String> {
    let columns = file_at(location).map(|file| file.columns).unwrap_or_default();
    few(&mut columns.into_iter(), SHOWN)
}

/// Whether a file has ends of edges that only another format has.
pub(crate) fn has_other_ends(location: &Location) -> bool {
    file_at(location).is_some_and(|file| lone::is_other(&file))
}

/// Whether a stream is a table that is no text.
pub(crate) fn is_binary_table(stream: &Location) -> bool {
    let encoding = Blob::open(stream).and_then(|blob| files::encoding_of(&blob));
    encoding.is_ok_and(|encoding| !encoding.is_text())
}

fn file_at(location: &Location) -> Option<TableFile> {
    let blob = Blob::open(location).ok()?;
    match location.scheme() {
        Scheme::Stream => table_stream(&blob, location.file_name()).ok(),
        _ => table_file(&blob, location.file_name()).ok().flatten(),
    }
}

/// The first of many, and a sign that there are more.
fn few(all: &mut dyn Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut shown: Vec<String> = all.take(most + 1).collect();
    if shown.len() > most {
        shown.truncate(most);
        shown.push("…".to_owned());
    }
    shown
}

/// The mapping that tables have by a convention, and what is told of it.
///
/// # Errors
/// As [`guess`].
pub(crate) fn guess_of(files: &[TableFile], broken: &mut Vec<BrokenFile>, draft: bool) -> Result<Option<Recognised>> {
    if files.is_empty() && broken.is_empty() {
        return Ok(None);
    }
    // What only its own files have comes first.
    let conventions: [Convention; 3] = [pairs::kgx, pairs::gephi, ldbc::guess];
    let mut guess = neo4j::guess(files, broken)?;
    for convention in conventions {
        guess = match guess {
            None => convention(files)?,
            found => found,
        };
    }
    if let Some(guess) = guess.as_ref().filter(|guess| guess.is_neo4j) {
        let broken = broken.iter().filter(|file| matches!(encoding(&file.name), Some((_, Encoding::Csv))));
        neo4j::refuse_parts(&guess.script, files, &broken.map(|file| file.name.as_str()).collect::<Vec<_>>())?;
    }
    let names: Vec<String> = broken.iter().map(|file| file.name.clone()).collect();
    if guess.is_none() {
        // Two tables by their names, one of which cannot be read, are not two other graphs.
        if let Some(at) = pairs::broken(files, broken) {
            return Err(broken.swap_remove(at).error());
        }
        guess = pairs::plain(files, draft)?;
    }
    if guess.is_none() {
        guess = by_type::guess(files, draft)?;
        // A table that cannot be read may be one of the graph's.
        if guess.is_some() && !broken.is_empty() {
            return Err(broken.swap_remove(0).error());
        }
    }
    let Some(Guess { script, mut recognised, .. }) = guess else { return Ok(None) };
    let all = files.iter().map(|file| file.name.as_str()).chain(names.iter().map(String::as_str));
    let left = unread(&script, all)?;
    if !left.is_empty() {
        recognised.push(("not read".to_owned(), left.join(", ")));
    }
    Ok(Some((script, recognised)))
}

/// Notes the tables with these names that a mapping does not read.
///
/// # Errors
/// When an option of the mapping is wrong.
pub(crate) fn note_unread<'a>(
    script: &Script,
    names: impl Iterator<Item = &'a str>,
    findings: &mut Findings,
) -> Result<()> {
    for name in unread(script, names)? {
        findings.push(&rules::UNREAD, "the table is no part of the graph: nothing tells its role", Place::file(name));
    }
    Ok(())
}

/// The tables with these names that no table of a mapping reads.
fn unread<'a>(script: &Script, names: impl Iterator<Item = &'a str>) -> Result<Vec<&'a str>> {
    let options = script.tables.iter().map(|table| TableOptions::of(table, "")).collect::<Result<Vec<_>>>()?;
    let read = script.tables.iter().map(|table| table.location.as_str());
    let read: Vec<&str> = read.chain(options.iter().flat_map(|own| own.parts.iter().map(String::as_str))).collect();
    Ok(names.filter(|name| !read.contains(name)).collect())
}

/// The only file of a role.
///
/// # Errors
/// When there are several.
fn only<'a>(role: &str, candidates: &[&'a TableFile]) -> Result<Option<&'a TableFile>> {
    match candidates {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let names: Vec<&str> = several.iter().map(|file| file.name.as_str()).collect();
            Err(Error::usage(format!("several tables could be the {role}: {}", names.join(", ")))
                .hint("remove all but one from the directory")
                .hint("write a mapping file, graph.pgq, that says which is meant"))
        }
    }
}

impl Guess {
    fn new(convention: &str) -> Self {
        let script =
            Script { graph: PropertyGraph { name: "g".to_owned(), ..PropertyGraph::default() }, ..Script::default() };
        let recognised = vec![("tables".to_owned(), format!("by the convention of {convention}"))];
        Guess { script, recognised, is_neo4j: false }
    }

    fn table(&mut self, file: &TableFile, options: TableOptions, hints: Hints) -> String {
        let mut name = file.stem.clone();
        while self.script.tables.iter().any(|table| table.name.eq_ignore_ascii_case(&name)) {
            name.push('_');
        }
        let parts = if file.parts.is_empty() { options.parts } else { file.parts.clone() };
        let options = TableOptions { parts, ends: file.ends.clone(), ..options };
        let delimiter = options.delimiter.or(file.delimiter.filter(|byte| *byte != b','));
        self.script.tables.push(ExternalTable {
            name: name.clone(),
            columns: Vec::new(),
            encoding: file.encoding,
            location: file.name.clone(),
            options: TableOptions { delimiter, ..options }.written(),
            hints: Hints { cells: file.cells.clone(), ..hints },
            at: At::default(),
        });
        name
    }

    fn vertex(&mut self, table: String, key: &str, label: &str, properties: Properties) {
        let key = Some(key.to_owned());
        let vertex =
            Vertex { alias: table.clone(), table, key, label: label.to_owned(), properties, at: At::default() };
        self.script.graph.vertices.push(vertex);
    }

    /// Edges between the tables of nodes with these aliases.
    fn edge(&mut self, table: String, ends: [(&str, &str); 2], label: &str, properties: Properties) {
        let end = |(column, references): (&str, &str)| End {
            column: column.to_owned(),
            references: references.to_owned(),
            referenced: self
                .script
                .graph
                .vertices
                .iter()
                .find(|known| known.alias == references)
                .and_then(|v| v.key.clone()),
            at: At::default(),
        };
        let [source, target] = ends.map(end);
        let edge = Edge { table, key: None, source, target, label: label.to_owned(), properties, at: At::default() };
        self.script.graph.edges.push(edge);
    }

    fn tell(&mut self, file: &TableFile, what: String) {
        self.recognised.push((file.name.clone(), what));
    }
}
