//! The files of a table: one, those of a directory (`people/`), or those that a pattern names (`people/part-*.csv`).

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Entry, Root, check_relative};
use isomorph_tables::Encoding;

use crate::conventions::encoding;
use crate::rules;

/// The most files of a table.
const MOST: usize = 10_000;

/// Whether a location is a pattern.
pub(crate) fn is_pattern(location: &str) -> bool {
    location.contains(['*', '?'])
}

/// The names of the files that `location` says, a directory or a pattern, in the order of their names.
///
/// # Errors
/// [`Kind::NotFound`] if there are none, [`rules::PARTS`] if they are not alike, and if the directory cannot be listed.
pub(crate) fn named(root: &Root, location: &str, wanted: Encoding) -> Result<Vec<String>> {
    let (directory, pattern) = match location.strip_suffix('/') {
        Some(directory) => (directory, "*"),
        None if is_pattern(location) => location.rsplit_once('/').unwrap_or(("", location)),
        None => (location, "*"),
    };
    if is_pattern(directory) {
        return Err(Error::unsupported("a pattern may be only in the last part of a location").at(location));
    }
    if !directory.is_empty() {
        check_relative(directory)?;
    }
    let mut found = Vec::new();
    for entry in root.list_dir(directory)? {
        let name = last(&entry.name);
        if is_hidden(name) || !matches(pattern, name) {
            continue;
        }
        let odd = match encoding(name) {
            _ if entry.is_dir => "a directory, and tables in directories of directories are not read",
            Some((_, own)) if own == wanted => {
                found.push(entry.name);
                continue;
            }
            _ => "no file of the same encoding",
        };
        return Err(Error::broken(&rules::PARTS, format!("{} is {odd}", entry.name)).at(location));
    }
    found.sort_unstable();
    match found.len() {
        0 => Err(Error::new(Kind::NotFound, "there are no files of the table").at(location)),
        count if count > MOST => Err(Error::new(Kind::TooLarge, "a table has more than 10,000 files").at(location)),
        _ => Ok(found),
    }
}

/// The encoding of the files of a directory, and the first of them; `None` if these are no parts of a table.
///
/// # Errors
/// If the directory cannot be listed.
pub(crate) fn of_directory(root: &Root, directory: &Entry) -> Result<Option<(String, Encoding)>> {
    let mut files: Vec<Entry> = root.list_dir(&directory.name)?;
    files.retain(|entry| !is_hidden(last(&entry.name)));
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let of = |entry: &Entry| encoding(last(&entry.name)).map(|(_, encoding)| encoding).filter(|_| !entry.is_dir);
    // A file without bytes has no columns.
    let Some(first) = files.iter().find(|entry| entry.size > 0).or(files.first()) else { return Ok(None) };
    let Some(encoding) = of(first) else { return Ok(None) };
    let are_alike = files.len() <= MOST && files.iter().all(|entry| of(entry) == Some(encoding));
    Ok(are_alike.then(|| (first.name.clone(), encoding)))
}

/// The name of a file without its directory.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a file is none of the data: `_SUCCESS` and `.part-0.crc` of Spark.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['_', '.'])
}

/// Whether a name matches a pattern, in which `*` is any text and `?` any character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Where the last `*` is, and how much of the name it is taken for.
    let (mut at, mut own, mut star) = (0, 0, None);
    while own < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, own));
                at += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(own) => (at, own) = (at + 1, own + 1),
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, own) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_matched() {
        for (pattern, name) in [
            ("*", "a.csv"),
            ("part-*.csv", "part-0000.csv"),
            ("part-?.csv", "part-1.csv"),
            ("*a*b*", "xaxbx"),
            ("a*a", "aba"),
            ("a", "a"),
            ("**", ""),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("part-?.csv", "part-12.csv"), ("*.csv", "a.csv.gz"), ("a*a", "a"), ("", "a"), ("?", "")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
