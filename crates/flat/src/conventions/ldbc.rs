//! Files of LDBC's generator: `person_0_0.csv` with nodes, `person_knows_person_0_0.csv` with edges, whose first columns are `Person.id` twice.

use isomorph_error::Result;

use super::{Guess, TableFile};
use crate::sql::{Hints, Properties, TableOptions};

/// The parts of a name without the numbers behind it; `None` where there are none.
fn parts(file: &TableFile) -> Option<Vec<&str>> {
    let mut parts: Vec<&str> = file.stem.split('_').collect();
    let is_number =
        |part: Option<&&str>| part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    for _ in 0..2 {
        if !is_number(parts.last()) {
            return None;
        }
        parts.pop();
    }
    (!parts.is_empty()).then_some(parts)
}

/// The type that a column `Person.id` names.
fn end(column: Option<&String>) -> Option<&str> {
    column.and_then(|name| name.strip_suffix(".id")).filter(|name| !name.is_empty())
}

pub(super) fn guess(files: &[TableFile]) -> Result<Option<Guess>> {
    let texts: Vec<(&TableFile, Vec<&str>)> =
        files.iter().filter(|file| file.delimiter.is_some()).filter_map(|file| Some((file, parts(file)?))).collect();
    let is_node =
        |(file, parts): &&(&TableFile, Vec<&str>)| parts.len() == 1 && file.columns.first().is_some_and(|c| c == "id");
    let is_edge = |(file, parts): &&(&TableFile, Vec<&str>)| {
        parts.len() == 3 && end(file.columns.first()).is_some() && end(file.columns.get(1)).is_some()
    };
    let nodes: Vec<_> = texts.iter().filter(is_node).collect();
    let edges: Vec<_> = texts.iter().filter(is_edge).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let mut guess = Guess::new("LDBC");
    for (file, parts) in nodes {
        let label = parts[0];
        let known = guess.script.graph.vertices.iter().position(|vertex| vertex.label == label);
        if let Some(known) = known {
            let other = guess.script.tables[known].location.clone();
            return Err(isomorph_error::Error::usage(format!("{other} and {} are parts of one table", file.name))
                .hint("make one file of them first, with one header"));
        }
        let options = TableOptions::default();
        let table = guess.table(file, options, Hints::default());
        guess.vertex(table, "id", label, Properties::All);
        guess.tell(file, format!("nodes {label}: key id"));
    }
    for (file, parts) in edges {
        let alias = |end: &str| {
            let found = guess.script.graph.vertices.iter().find(|vertex| vertex.label.eq_ignore_ascii_case(end));
            found.map(|vertex| vertex.alias.clone())
        };
        // The columns say the types; file names abbreviate none of them.
        let (Some(from), Some(to)) =
            (end(file.columns.first()).and_then(alias), end(file.columns.get(1)).and_then(alias))
        else {
            continue;
        };
        // Friendship is stored once and has no direction (LDBC SNB specification, "knows").
        let undirected = parts[1] == "knows" && from == to;
        let names =
            ["source", "target"].iter().map(|name| (*name).to_owned()).chain(file.columns.iter().skip(2).cloned());
        let hints = Hints { names: Some(names.collect()), ..Hints::default() };
        let options = TableOptions { undirected, by_position: true, ..TableOptions::default() };
        let table = guess.table(file, options, hints);
        guess.edge(table, [("source", &from), ("target", &to)], parts[1], Properties::All);
        let direction = if undirected { ", without a direction" } else { "" };
        guess.tell(file, format!("edges {} from the first column to the second{direction}", parts[1]));
    }
    Ok(Some(guess).filter(|guess| !guess.script.graph.edges.is_empty()))
}
