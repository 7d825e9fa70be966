//! The command that writes a mapping file, in hints: with the paths that are meant, and without itself.

use isomorph_error::Error;
use isomorph_storage::Location;

use crate::find::{MAPPING, is_table};

/// What such hints begin with, and the words that stand for paths.
const COMMAND: &str = "isomorph import init ";
const OF_DIRECTORY: &str = "DIRECTORY > DIRECTORY/graph.pgq";

/// The hint for a file that is a table.
pub(crate) const INIT_FILE: &str = "isomorph import init DIRECTORY > DIRECTORY/graph.pgq    write a mapping file, and correct SOURCE KEY and DESTINATION KEY";

/// A path as a shell reads it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    match !path.is_empty() && !path.starts_with('-') && path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

/// The same error with other hints.
fn rehinted(error: Error, hint: impl Fn(&str) -> Option<String>) -> Error {
    if !error.hints().any(|own| own.starts_with(COMMAND)) {
        return error;
    }
    let mut same = Error::new(error.kind(), error.message()).at(error.place().clone());
    if let Some(rule) = error.broken_rule() {
        same = same.rule(rule);
    }
    let hints: Vec<String> = error
        .hints()
        .filter_map(|own| if own.starts_with(COMMAND) { hint(own) } else { Some(own.to_owned()) })
        .collect();
    hints.into_iter().fold(same, Error::hint)
}

/// The error with the paths of the tables at `location`; the mapping file is in their directory, as its locations are relative to that.
pub(crate) fn with_paths(error: Error, location: &Location) -> Error {
    let is_file = is_table(location) || location.as_path().is_some_and(std::path::Path::is_file);
    let directory = if is_file { location.parent() } else { Some(location.clone()) };
    let Some(directory) = directory.as_ref().and_then(Location::as_path) else { return error };
    let Some(tables) = location.as_path() else { return error };
    let mapping = directory.join(MAPPING);
    let paths = format!("{} > {}", quoted(&tables.display().to_string()), quoted(&mapping.display().to_string()));
    rehinted(error, |own| Some(own.replacen(OF_DIRECTORY, &paths, 1)))
}

/// The error without the advice to run the command that has failed.
pub(crate) fn without_init(error: Error) -> Error {
    rehinted(error, |_| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_tables_and_quoted() {
        let home = Location::from_path(std::path::Path::new("/x/my tables"));
        let error = Error::usage("a").at("b").hint("rename").hint(INIT_FILE);
        let shown = with_paths(error, &home);
        let expected = "isomorph import init '/x/my tables' > '/x/my tables/graph.pgq'    write a mapping file, and correct SOURCE KEY and DESTINATION KEY";
        assert_eq!(shown.hints().collect::<Vec<_>>(), ["rename", expected]);
        assert_eq!((shown.message(), shown.place().file.as_deref()), ("a", Some("b")));
        let file = Location::from_path(std::path::Path::new("/x/edges.parquet"));
        let error = with_paths(Error::usage("a").hint(INIT_FILE), &file);
        assert!(error.hints().any(|hint| hint.starts_with("isomorph import init /x/edges.parquet > /x/graph.pgq  ")));
        assert_eq!(without_init(error).hints().count(), 0);
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
