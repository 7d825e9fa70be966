//! Names of partition files: `part_<id>.parq`, by custom of the published library's examples.

use isomorph_error::{Error, Place, Result};
use isomorph_storage::Entry;

use crate::rules;

/// How a partition is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// A Parquet file.
    Parquet,
    /// A text file.
    Csv,
}

impl Format {
    /// The format that a file's name promises.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, suffix) = name.rsplit_once('.')?;
        if suffix.eq_ignore_ascii_case("parq") || suffix.eq_ignore_ascii_case("parquet") {
            Some(Format::Parquet)
        } else if suffix.eq_ignore_ascii_case("csv") {
            Some(Format::Csv)
        } else {
            None
        }
    }
}

/// A file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartFile {
    /// Number of the partition.
    pub id: u64,
    /// Its name, relative to the directory.
    pub name: String,
    /// How it is kept.
    pub format: Format,
}

/// The partition number in `part_<id>.<suffix>`; zeros in front are accepted.
fn id_of(name: &str) -> Option<u64> {
    let (stem, _) = name.rsplit_once('.')?;
    let digits = stem.strip_prefix("part_")?;
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

/// The partitions among the files of a directory, in the order of their numbers. Where no file is called
/// `part_<id>`, every Parquet and CSV file is a partition, numbered in the order of their names. A text file beside
/// a Parquet file of the same number is its twin (the published library's examples write both) and is left out.
///
/// # Errors
/// [`rules::PART_ID`] when two files claim one number.
pub(crate) fn partitions(entries: &[Entry]) -> Result<Vec<PartFile>> {
    let files = entries.iter().filter(|entry| !entry.is_dir && !entry.name.starts_with(['.', '_']));
    let named: Vec<(&str, Format)> =
        files.filter_map(|entry| Some((entry.name.as_str(), Format::of_name(&entry.name)?))).collect();
    let mut parts: Vec<PartFile> = named
        .iter()
        .filter_map(|&(name, format)| Some(PartFile { id: id_of(name)?, name: name.to_owned(), format }))
        .collect();
    if parts.is_empty() {
        let numbered = named.iter().enumerate();
        return Ok(numbered
            .map(|(id, &(name, format))| PartFile { id: id as u64, name: name.to_owned(), format })
            .collect());
    }
    parts.sort_by(|left, right| (left.id, left.format, &left.name).cmp(&(right.id, right.format, &right.name)));
    parts.dedup_by(|later, first| later.id == first.id && later.format != first.format);
    if let Some(pair) = parts.windows(2).find(|pair| pair[0].id == pair[1].id) {
        let message = format!("{} and {} are both partition {}", pair[0].name, pair[1].name, pair[0].id);
        return Err(Error::broken(&rules::PART_ID, message).at(Place::file(pair[1].name.clone())));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn found(names: &[&str]) -> Result<Vec<(u64, String)>> {
        let entries: Vec<Entry> =
            names.iter().map(|name| Entry { name: (*name).to_owned(), size: 1, is_dir: false }).collect();
        Ok(partitions(&entries)?.into_iter().map(|part| (part.id, part.name)).collect())
    }

    #[test]
    fn numbers_come_from_names() {
        let parts = found(&["part_10.parq", "part_002.parquet", "README.md", "part_x.parq", ".part_3.parq"]).unwrap();
        assert_eq!(parts, [(2, "part_002.parquet".into()), (10, "part_10.parq".into())]);
    }

    #[test]
    fn any_names_will_do() {
        let parts = found(&["b.csv", "a.parq", "notes.txt"]).unwrap();
        assert_eq!(parts, [(0, "b.csv".into()), (1, "a.parq".into())]);
    }

    #[test]
    fn a_text_twin_is_left_out_and_a_second_claim_is_an_error() {
        assert_eq!(found(&["part_0.csv", "part_0.parq"]).unwrap(), [(0, "part_0.parq".into())]);
        let error = found(&["part_0.parq", "part_00.parq"]).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "NOCK-PART-ID");
    }
}
