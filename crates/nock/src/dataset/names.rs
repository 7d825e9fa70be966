//! Names of partition files: `part_<id>.parq`, as in the published library's examples.

use isomorph_error::{Error, Place, Result};
use isomorph_storage::Entry;
use isomorph_storage::parts::{has_sidecar, part_number};

use crate::rules;

/// The file format of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// A Parquet file.
    Parquet,
    /// A text file.
    Csv,
}

impl Format {
    /// Returns the format that a file's name indicates.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, suffix) = name.rsplit_once('.')?;
        if ["parq", "parquet", "pq"].iter().any(|known| suffix.eq_ignore_ascii_case(known)) {
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
    /// Its file format.
    pub format: Format,
}

/// Returns the partition number in `part_<id>.<suffix>`; leading zeros are accepted.
fn id_of(name: &str) -> Option<u64> {
    let (stem, _) = name.rsplit_once('.')?;
    let digits = stem.strip_prefix("part_")?;
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

/// The files of a directory that may be a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PartFiles {
    /// The partitions, in the order of their numbers.
    pub parts: Vec<PartFile>,
    /// Whether they are named as partitions.
    pub numbered: bool,
    /// Text files, each with the number of the Parquet file that is read instead.
    pub twins: Vec<PartFile>,
    /// Parquet and CSV files with other names.
    pub others: Vec<String>,
    /// The partitions that have their own sidecar.
    pub with_sidecar: Vec<String>,
}

/// Returns the partitions among the files of a directory, in the order of their numbers: the files called `part_<id>`; if
/// there are none, those that writers of tables number (`part-00000-….parquet`); if there are none, every Parquet and
/// CSV file, numbered in the order of their names. A text file with the same number as a Parquet file is its twin
/// (the published library's examples write both) and is skipped.
///
/// # Errors
/// Returns [`rules::PART_ID`] if two files are called `part_<id>` with the same number.
pub(crate) fn partitions(entries: &[Entry]) -> Result<PartFiles> {
    let files = entries.iter().filter(|entry| !entry.is_dir && !entry.name.starts_with(['.', '_']));
    let tables: Vec<(&str, Format)> =
        files.filter_map(|entry| Some((entry.name.as_str(), Format::of_name(&entry.name)?))).collect();
    let numbered_by = |number: fn(&str) -> Option<u64>| -> Vec<PartFile> {
        let parts = tables
            .iter()
            .filter_map(|&(name, format)| number(name).map(|id| PartFile { id, name: name.to_owned(), format }));
        parts.collect()
    };
    let mut found = PartFiles { parts: numbered_by(id_of), numbered: true, ..PartFiles::default() };
    let own = !found.parts.is_empty();
    if !own {
        found.parts = numbered_by(part_number);
    }
    found.parts.sort_by(|left, right| (left.id, left.format, &left.name).cmp(&(right.id, right.format, &right.name)));
    let mut last: Option<(u64, Format)> = None;
    let (twins, parts) = found.parts.into_iter().partition(|part| {
        let is_twin = last.is_some_and(|(id, format)| part.id == id && part.format != format);
        last = last.filter(|_| is_twin).or(Some((part.id, part.format)));
        is_twin
    });
    (found.twins, found.parts) = (twins, parts);
    match found.parts.windows(2).find(|pair| pair[0].id == pair[1].id) {
        Some(pair) if own => {
            let message = format!("{} and {} are both partition {}", pair[0].name, pair[1].name, pair[0].id);
            return Err(Error::broken(&rules::PART_ID, message).at(Place::file(pair[1].name.clone())));
        }
        // Table writers may give several files the same number: only their order counts.
        Some(_) => (0..).zip(&mut found.parts).for_each(|(id, part)| part.id = id),
        None => {}
    }
    if found.parts.is_empty() {
        let all = (0..).zip(&tables).map(|(id, &(name, format))| PartFile { id, name: name.to_owned(), format });
        found = PartFiles { parts: all.collect(), ..PartFiles::default() };
    }
    let known = |name: &str| found.parts.iter().chain(&found.twins).any(|part| part.name == name);
    found.others = tables.iter().filter(|(name, _)| !known(name)).map(|(name, _)| (*name).to_owned()).collect();
    let names = found.parts.iter().map(|part| part.name.as_str());
    found.with_sidecar = names.filter(|name| has_sidecar(entries, name)).map(str::to_owned).collect();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn found(names: &[&str]) -> Result<Vec<(u64, String)>> {
        let entries: Vec<Entry> =
            names.iter().map(|name| Entry { name: (*name).to_owned(), size: 1, is_dir: false }).collect();
        Ok(partitions(&entries)?.parts.into_iter().map(|part| (part.id, part.name)).collect())
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
    fn names_of_other_writers_are_numbered() {
        let parts = found(&["part.10.parquet", "part.2.parquet", "party.parq", "part1st.csv"]).unwrap();
        assert_eq!(parts, [(2, "part.2.parquet".into()), (10, "part.10.parquet".into())]);
        let parts = found(&["part-00000-a-c000.parquet", "part-00000-a-c001.parquet"]).unwrap();
        assert_eq!(parts, [(0, "part-00000-a-c000.parquet".into()), (1, "part-00000-a-c001.parquet".into())]);
    }

    #[test]
    fn a_text_twin_is_left_out_and_a_second_claim_is_an_error() {
        assert_eq!(found(&["part_0.csv", "part_0.parq"]).unwrap(), [(0, "part_0.parq".into())]);
        let error = found(&["part_0.parq", "part_00.parq"]).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "NOCK-PART-ID");
    }
}
