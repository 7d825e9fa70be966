//! A table of edges alone, whose names of columns tell the ends: the nodes are their different values.

use isomorph_error::Result;
use isomorph_tables::Encoding;

use super::pairs::{NO_ENDS, directions, named_ends, normal};
use super::{Recognised, TableFile, encoding, guess_of, is_part};
use crate::ends::KEY;

/// Ends of files of which all columns have names of their own, so that one without the others is damaged.
const OTHERS: [&str; 2] = ["src_name", "dst_name"];

/// What tables of nodes and of edges are called in the mapping.
const NODES: &str = "nodes";
const EDGES: &str = "edges";

/// Whether a table has ends of such a file.
pub(super) fn is_other(file: &TableFile) -> bool {
    OTHERS.iter().any(|name| file.has(name))
}

/// The graph that a table is, if names of columns tell which are ends; with `draft`, else the first two columns that can be.
///
/// # Errors
/// When the names could mean several columns.
pub(crate) fn lone(file: &TableFile, draft: bool) -> Result<Option<Recognised>> {
    if is_other(file) {
        return Ok(None);
    }
    let named = match named_ends(file) {
        Err(_) if draft => None,
        found => found?,
    };
    // Alone, these are times as likely as nodes.
    let are_times = |(source, target): &(&str, &str)| {
        ["start", "begin"].contains(&normal(source).as_str()) && normal(target) == "end"
    };
    let named = named.filter(|pair| !are_times(pair));
    let may_be_end = |name: &&str| !NO_ENDS.contains(&normal(name).as_str());
    let first_two = || {
        let mut all = file.columns.iter().map(String::as_str).filter(may_be_end);
        all.next().zip(all.next()).filter(|_| draft)
    };
    let Some((source, target)) = named.or_else(first_two) else { return Ok(None) };
    let ends = vec![source.to_owned(), target.to_owned()];
    // Where nothing tells, the two columns are all that conventions see.
    let columns = match named {
        Some(_) => file.columns.clone(),
        None => ends.iter().cloned().chain(directions(file)).collect(),
    };
    let edges = TableFile { stem: EDGES.to_owned(), columns, ..file.clone() };
    let nodes = TableFile {
        stem: NODES.to_owned(),
        delimiter: None,
        columns: vec![KEY.to_owned()],
        cells: Vec::new(),
        parts: Vec::new(),
        ends,
        ..file.clone()
    };
    let Some((script, recognised)) = guess_of(&[nodes, edges], &mut Vec::new(), named.is_none())? else {
        return Ok(None);
    };
    // A convention may have looked at ends of other names.
    let (from, to) =
        script.graph.edges.first().map_or((source, target), |edge| (&edge.source.column, &edge.target.column));
    let why = if named.is_some() { "by the names of columns" } else { "the first two columns: to be checked" };
    let direction = if recognised.iter().any(|(_, what)| what.ends_with("with a direction")) {
        ", all with a direction"
    } else {
        ""
    };
    let told = vec![
        ("tables".to_owned(), "one table of edges, whose ends are the nodes".to_owned()),
        (NODES.to_owned(), format!("the different values of {from} and {to}, in the order of the rows")),
        (file.name.clone(), format!("edges from {from} to {to}, {why}{direction}")),
    ];
    Ok(Some((script, told)))
}

/// The table that all files of a directory are, if they are called parts of one; a file of CSV that is not called so is an edge list of its own. `empty` are
/// files without bytes. Whether the others have the same columns, in any order, is seen when they are read.
pub(super) fn only_table(mut files: Vec<TableFile>, empty: Vec<String>, draft: bool) -> Option<TableFile> {
    files.extend(empty.into_iter().filter_map(|name| {
        let (stem, encoding) = encoding(&name)?;
        Some(TableFile::new(name, stem, encoding, None, Vec::new()))
    }));
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let are_parts = files.iter().all(|file| is_part(&file.name));
    let lead = files.iter().find(|file| !file.columns.is_empty()).or(files.first())?;
    let is_alone = files.len() == 1 && (draft || lead.encoding != Encoding::Csv || lead.name.ends_with('/'));
    let are_alike = files.iter().all(|file| file.encoding == lead.encoding);
    if !(is_alone || are_parts && are_alike) {
        return None;
    }
    let mut names = files.iter().map(|file| file.name.clone());
    let name = names.next()?;
    Some(TableFile { name, parts: names.collect(), ..lead.clone() })
}
