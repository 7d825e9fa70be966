//! The number of live triples of a predicate in a graph, if a writer that knew it has stated it.
//!
//! Numbers of records are upper bounds: a triple may be in several files, and deleted triples stay in files until a
//! compaction. Therefore a partition states the number of live triples, next to the names of its files: `living_count`,
//! of which `living_literal_count` have a literal as object, and `living_of`, a hash of the ids of the files that were
//! counted. A writer that changes the files without knowing these names keeps them, the hash no longer matches, and the
//! numbers are ignored.

use std::collections::HashMap;

use serde_json::{Map, Value};
use twox_hash::XxHash64;

use super::{DataFile, Files, NamedGraph};

const COUNT: &str = "living_count";
const LITERALS: &str = "living_literal_count";
const OF: &str = "living_of";

/// The number of live triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Living {
    /// All of them.
    pub triples: u64,
    /// Those with a literal as object.
    pub literals: u64,
}

impl Living {
    /// The triples of files without duplicates and deletions.
    pub(crate) fn in_files<'a>(files: impl IntoIterator<Item = &'a DataFile>) -> Option<Living> {
        files.into_iter().try_fold(Living::default(), |sum, file| {
            Some(sum.plus(Living { triples: file.triple_count, literals: file.literal_count? }))
        })
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Living) -> Living {
        Living {
            triples: self.triples.saturating_add(other.triples),
            literals: self.literals.saturating_add(other.literals),
        }
    }

    /// The numbers that the members of a partition state for files with these ids.
    pub(crate) fn stated<'a>(members: &Map<String, Value>, ids: impl IntoIterator<Item = &'a str>) -> Option<Living> {
        let count = |name: &str| members.get(name)?.as_u64();
        let living = Living { triples: count(COUNT)?, literals: count(LITERALS)? };
        let of = members.get(OF)?.as_str()?;
        (living.literals <= living.triples && of == digest(ids)).then_some(living)
    }

    /// Whether the members of a partition were computed from files with these ids.
    pub(crate) fn was_stated_of<'a>(members: &Map<String, Value>, ids: impl IntoIterator<Item = &'a str>) -> bool {
        members.get(OF).and_then(Value::as_str).is_some_and(|of| of == digest(ids))
    }

    /// Writes what is known of files with these ids into the members of a partition.
    pub(crate) fn state<'a>(
        known: Option<Living>,
        members: &mut Map<String, Value>,
        ids: impl IntoIterator<Item = &'a str>,
    ) {
        members.retain(|name, _| ![COUNT, LITERALS, OF].contains(&name.as_str()));
        if let Some(living) = known {
            members.insert(COUNT.to_owned(), living.triples.into());
            members.insert(LITERALS.to_owned(), living.literals.into());
            members.insert(OF.to_owned(), digest(ids).into());
        }
    }
}

/// A hash of the ids of files, whatever the order in which they are listed.
fn digest<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    use std::hash::Hasher;
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_unstable();
    let mut hasher = XxHash64::with_seed(0);
    for id in ids {
        hasher.write(id.as_bytes());
        hasher.write(b"\n");
    }
    format!("xxh64:{:016x}", hasher.finish())
}

/// The number of live triples of each predicate that has files, given their predicate and id and whether they hold
/// deletions; `None` if only reading tells.
pub(crate) fn of<'a>(
    files: impl Iterator<Item = (&'a str, &'a str, bool)>,
    predicates: &[(String, String)],
    partitions: &[(String, Files)],
) -> HashMap<&'a str, Option<Living>> {
    let mut all: HashMap<&str, (Vec<&str>, bool)> = HashMap::new();
    for (predicate, id, is_tombstone) in files {
        let (ids, some) = all.entry(predicate).or_default();
        ids.push(id);
        *some |= !is_tombstone;
    }
    let partitions: HashMap<&str, &Map<String, Value>> =
        partitions.iter().map(|(id, files)| (id.as_str(), &files.extra)).collect();
    let index: HashMap<&str, &str> =
        predicates.iter().map(|(predicate, id)| (predicate.as_str(), id.as_str())).collect();
    let of = |predicate: &str, (ids, some): (Vec<&str>, bool)| match some {
        true => Living::stated(partitions.get(index.get(predicate)?)?, ids),
        // Deletions alone delete nothing.
        false => Some(Living::default()),
    };
    all.into_iter().map(|(predicate, ids)| (predicate, of(predicate, ids))).collect()
}

impl NamedGraph {
    /// The number of live triples of each predicate that has files; `None` if only reading tells.
    pub fn living(&self) -> HashMap<&str, Option<Living>> {
        let files = self.files();
        of(
            files.map(|(list, file)| (file.predicate.as_str(), file.id.as_str(), list == "tombstone_files")),
            &self.predicates,
            &self.partitions,
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_said_counts_for_the_files_that_it_was_said_of() {
        let mut members = Map::new();
        let living = Living { triples: 7, literals: 2 };
        Living::state(Some(living), &mut members, ["b", "a"]);
        assert_eq!(Living::stated(&members, ["a", "b"]), Some(living));
        assert_eq!(Living::stated(&members, ["a", "b", "c"]), None);
        assert_eq!(Living::stated(&members, ["a"]), None);
        members.insert(LITERALS.to_owned(), 8.into());
        assert_eq!(Living::stated(&members, ["a", "b"]), None, "more literals than triples");
        members.insert(LITERALS.to_owned(), (-1).into());
        assert_eq!(Living::stated(&members, ["a", "b"]), None);
        members.insert("of others".to_owned(), 1.into());
        Living::state(None, &mut members, ["a", "b"]);
        assert_eq!(members.keys().collect::<Vec<_>>(), ["of others"]);
    }
}
