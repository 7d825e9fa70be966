//! Determines from their names whether the files of a directory are the parts of one table or text.

use isomorph_error::{Error, Place, Rule};

use crate::{COMPANION_SUFFIX, Entry, Location};

/// The maximum number of files that an error lists.
const LISTED: usize = 12;

/// Returns the number in a file name that writers of tables give to the parts of a table: `part.0.parquet`,
/// `part-00000-….parquet`, `part_3.tsv`, `part-00000`.
pub fn part_number(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("part")?;
    let rest = rest.strip_prefix(['_', '-', '.']).unwrap_or(rest);
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(digits);
    let ends = after.is_empty() || after.starts_with(['_', '-', '.']);
    digits.parse().ok().filter(|_| ends)
}

/// Whether the `entries` of its directory contain a sidecar for the file `name`; if so, the file is a graph by itself.
pub fn has_sidecar(entries: &[Entry], name: &str) -> bool {
    let of_name = |entry: &Entry| entry.name.strip_suffix(COMPANION_SUFFIX) == Some(name);
    entries.iter().any(|entry| entry.is_dir && of_name(entry))
}

/// Returns the error for files that are not the parts of one graph.
pub fn unrelated(rule: &'static Rule, location: &Location, files: &[&str], why: &str) -> Error {
    let error = Error::broken(rule, format!("the files in this directory are not one graph: {why}"))
        .at(Place::file(location.to_string()));
    files.iter().take(LISTED).fold(error, |error, file| {
        let file = location.join(file).map_or_else(|_| (*file).to_owned(), |file| file.to_string());
        error.hint(format!("{file}    only this graph"))
    })
}
