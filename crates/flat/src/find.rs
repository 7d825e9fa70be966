//! Finds the mapping of tables: a file, or what a convention makes of names and headers.

use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::Graph;
use isomorph_storage::{Blob, Location, Root, Scheme, limits};

use crate::conventions::{BrokenFile, encoding, guess_of, lone, note_unread, table_file, table_stream};
use crate::sql::{Script, TableOptions, parse};
use crate::workbook::{self, Sheets};
use crate::write::{Form, script};

/// The name of the mapping file that is written beside tables.
pub const MAPPING: &str = "graph.pgq";

/// The extension of mapping files.
const EXTENSION: &str = ".pgq";

/// A mapping, and where it comes from.
pub(crate) struct Found {
    /// The directory of the mapping file or the tables; a stream has none.
    pub root: Option<Root>,
    pub script: Script,
    /// The mapping file.
    pub file: Option<String>,
    /// What was recognised, and by what.
    pub recognised: Vec<(String, String)>,
    /// Tables that are no files of their own, by what the mapping calls their location: the sheets of a workbook.
    pub sheets: Vec<(String, Blob)>,
    /// Sheets that are no tables.
    pub broken: Vec<BrokenFile>,
    /// What was read as something else.
    pub findings: Findings,
}

/// Whether a name is that of a mapping file.
pub fn is_mapping(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(EXTENSION)
}

/// The mapping at `location`: a mapping file, a directory with one, a directory of tables that a convention explains, or a table of edges; `None` if it is none
/// of these.
///
/// # Errors
/// When it cannot be read, a mapping file is wrong, or a directory has several of them.
pub(crate) fn find(location: &Location) -> Result<Option<Found>> {
    find_for(location, is_file_of_workbook(location), Purpose::Graph)
}

/// What a mapping is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read the graph.
    Graph,
    /// To write a mapping file, which a shell may have created already, without a statement.
    Draft,
    /// The same, and a convention guesses what no name tells.
    Guess,
}

/// Whether a location is a file with the name of a workbook.
pub(crate) fn is_file_of_workbook(location: &Location) -> bool {
    workbook::is_workbook(location.file_name()) && !location.as_path().is_some_and(std::path::Path::is_dir)
}

/// The same, for a purpose; with `is_workbook`, the location is that of a workbook.
pub(crate) fn find_for(location: &Location, is_workbook: bool, purpose: Purpose) -> Result<Option<Found>> {
    let draft = purpose == Purpose::Guess;
    let name = location.file_name().to_owned();
    if is_workbook {
        return of_workbook(location, &name, draft);
    }
    if is_mapping(&name) && !location.as_path().is_some_and(std::path::Path::is_dir) {
        let directory =
            location.parent().ok_or_else(|| Error::usage("a file must have a directory").at(location.to_string()))?;
        return read(Root::open(&directory)?, name).map(Some);
    }
    if is_table(location) || location.scheme() == Scheme::Stream {
        return of_table(location, &name, draft);
    }
    if !location.scheme().has_listing() {
        return Ok(None);
    }
    let root = match Root::open(location) {
        Ok(root) => root,
        Err(error) if error.kind() == Kind::Usage => return Ok(None),
        Err(error) => return Err(error),
    };
    let files = root.list_dir("")?;
    let mut mappings: Vec<&str> =
        files.iter().filter(|file| !file.is_dir && is_mapping(&file.name)).map(|file| file.name.as_str()).collect();
    if purpose != Purpose::Graph {
        mappings.retain(|name| !is_blank(&root, name));
    }
    match mappings.as_slice() {
        [] => crate::conventions::guess(root, &files, draft),
        [one] => {
            let name = (*one).to_owned();
            read(root, name).map(Some)
        }
        _ if mappings.contains(&MAPPING) => read(root, MAPPING.to_owned()).map(Some),
        several => {
            let error = Error::usage("the directory has several mapping files").at(location.to_string());
            Err(error.hint(format!("name one of them: {}", several.join(", "))))
        }
    }
}

/// Whether a location is a file with the name of a table.
pub(crate) fn is_table(location: &Location) -> bool {
    encoding(location.file_name()).is_some()
        && location.scheme() != Scheme::Stream
        && !location.as_path().is_some_and(std::path::Path::is_dir)
        && !(location.scheme().has_listing() && location.as_path().is_none() && Root::open(location).is_ok())
}

/// The directory of a file; a stream has none.
fn directory(location: &Location) -> Result<Option<Root>> {
    if location.scheme() == Scheme::Stream {
        return Ok(None);
    }
    let directory = location.parent();
    let directory = directory.ok_or_else(|| Error::usage("a file must have a directory").at(location.to_string()))?;
    Root::open(&directory).map(Some)
}

/// The mapping of a file that is a table of edges alone.
fn of_table(location: &Location, name: &str, draft: bool) -> Result<Option<Found>> {
    let (root, blob) = (directory(location)?, Blob::open(location)?);
    let file = match location.scheme() {
        Scheme::Stream => Some(table_stream(&blob, name)?),
        _ => table_file(&blob, name)?,
    };
    let Some(file) = file else { return Ok(None) };
    let Some((script, recognised)) = lone(&file, draft)? else { return Ok(None) };
    let (sheets, findings) = (vec![(file.name, blob)], Findings::keeping(8));
    Ok(Some(Found { root, script, file: None, recognised, sheets, broken: Vec::new(), findings }))
}

/// The mapping of what was written of `graph` as JSON lines of KGX.
pub(crate) fn written_as_kgx(location: &Location, graph: &Graph) -> Result<Found> {
    let script = script(graph, Form::Kgx)?;
    let recognised = vec![("tables".to_owned(), "by the names of KGX".to_owned())];
    let (root, findings) = (Some(Root::open(location)?), Findings::keeping(8));
    Ok(Found { root, script, file: None, recognised, sheets: Vec::new(), broken: Vec::new(), findings })
}

/// The mapping of a workbook: its own sheet with one, or what the other sheets are by a convention.
fn of_workbook(location: &Location, name: &str, draft: bool) -> Result<Option<Found>> {
    let (root, blob) = (directory(location)?, Blob::open(location)?);
    if !workbook::begins(&blob)? {
        return Ok(None);
    }
    let Sheets { mapping, tables, mut broken, mut findings } = workbook::sheets(name, &blob)?;
    let names: Vec<String> = tables.iter().map(|(file, _)| file.stem.clone()).collect();
    let (files, blobs): (Vec<_>, Vec<_>) = tables.into_iter().unzip();
    let sheets: Vec<(String, Blob)> = files.iter().map(|file| file.name.clone()).zip(blobs).collect();
    let told = ("workbook".to_owned(), format!("{name}: {}", names.join(", ")));
    if let Some(text) = mapping {
        let file = format!("{name}#{MAPPING}");
        let script = of_sheets(parse(&text, &file)?, name, &file)?;
        let recognised = vec![told, ("tables".to_owned(), format!("by the sheet {MAPPING}"))];
        return Ok(Some(Found { root, script, file: Some(file), recognised, sheets, broken, findings }));
    }
    let is_whole = broken.is_empty();
    let all: Vec<String> =
        sheets.iter().map(|(name, _)| name.clone()).chain(broken.iter().map(|own| own.name.clone())).collect();
    let alone = |draft: bool| match files.as_slice() {
        [only] if is_whole => lone(only, draft),
        _ => Ok(None),
    };
    let mut guess = if draft { None } else { alone(false)? };
    if guess.is_none() {
        guess = guess_of(&files, &mut broken, draft)?;
    }
    // A sheet that is no table may be one of the graph's.
    if guess.is_none() && !is_whole {
        return Err(broken.swap_remove(0).error());
    }
    if guess.is_none() {
        guess = alone(draft)?;
    }
    let Some((script, mut recognised)) = guess else {
        let what = format!("no convention makes a graph of the sheets {}", names.join(", "));
        return Err(Error::unsupported(what)
            .at(location.to_string())
            .hint("call the sheets nodes and edges, with columns id, source and target")
            .hint("or write one sheet of edges, with columns source and target")
            .hint(format!(
                "write a mapping file, graph.pgq: LOCATION '{name}#{}'",
                names.first().map_or("SHEET", String::as_str)
            )));
    };
    recognised.insert(0, told);
    note_unread(&script, all.iter().map(String::as_str), &mut findings)?;
    Ok(Some(Found { root, script, file: None, recognised, sheets, broken, findings }))
}

/// The mapping of the workbook `name` with full locations: there, `#people` is a sheet of the same workbook.
fn of_sheets(mut script: Script, name: &str, file: &str) -> Result<Script> {
    let whole = |location: &mut String| {
        if location.starts_with('#') {
            location.insert_str(0, name);
        }
    };
    for table in &mut script.tables {
        whole(&mut table.location);
        let mut options = TableOptions::of(table, file)?;
        options.parts.iter_mut().for_each(whole);
        table.options = options.written();
    }
    Ok(script)
}

impl Found {
    /// The directory below which files are.
    ///
    /// # Errors
    /// If there is none, because the tables are a stream.
    pub fn root(&self) -> Result<&Root> {
        self.root.as_ref().ok_or_else(|| Error::usage("a stream has no other files"))
    }
}

/// Whether a mapping file has no statement: `isomorph import init DIRECTORY > DIRECTORY/graph.pgq` begins with such a file.
fn is_blank(root: &Root, name: &str) -> bool {
    let text = root.read(name, limits::MANIFEST_BYTES).ok();
    text.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok()).is_some_and(crate::sql::is_blank)
}

fn read(root: Root, name: String) -> Result<Found> {
    let bytes = root.read(&name, limits::MANIFEST_BYTES)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Error::broken(&crate::rules::MAPPING, "the file is not UTF-8").at(name.as_str()))?;
    let script = parse(text, &name)?;
    let recognised = vec![("tables".to_owned(), format!("by the mapping file {name}"))];
    let root = Some(root);
    let (sheets, broken, findings) = (Vec::new(), Vec::new(), Findings::keeping(8));
    Ok(Found { root, script, file: Some(name), recognised, sheets, broken, findings })
}
