//! How a store is opened.

use std::collections::BTreeMap;
use std::str::FromStr;

use isomorph_error::{Error, Result};
use isomorph_storage::Budget;

/// Which snapshot of a store is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum At {
    /// The one with the greatest version.
    #[default]
    Current,
    /// The one of this version.
    Version(i64),
    /// The one that was current at this time, in milliseconds since 1970.
    Time(i64),
    /// The one of this id.
    Id(String),
}

/// A version (`7`), a time in milliseconds (`@1700000060000`), or an id (`snapshot7`).
impl FromStr for At {
    type Err = Error;

    fn from_str(text: &str) -> Result<At> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
        if let Some(time) = text.strip_prefix('@') {
            let time = number(time).map(At::Time);
            return time.ok_or_else(|| Error::usage("the time is no number of milliseconds").hint("@1700000060000"));
        }
        match number(text) {
            Some(version) => Ok(At::Version(version)),
            None if text.is_empty() => Err(Error::usage("no snapshot is named")),
            None => Ok(At::Id(text.to_owned())),
        }
    }
}

/// What happens to input that breaks rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tolerance {
    /// Warnings are errors.
    Strict,
    /// What can only be meant in one way is read.
    #[default]
    Normal,
    /// Files that are not in order are sorted in memory too, and unknown versions of the format are tried.
    Lenient,
}

/// Options of [`crate::GraphLake::open`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The snapshot.
    pub at: At,
    /// What happens to input that breaks rules.
    pub tolerance: Tolerance,
    /// What short prefixes of foreign stores stand for.
    pub namespaces: BTreeMap<String, String>,
    /// Reads tombstones as the words of the specification have them: a deleted triple stays deleted, also when it was
    /// added again later.
    pub naive: bool,
    /// Snapshots of at most this many records are read once when they are opened, so that the description is exact: which
    /// predicates have literals, and how many triples there are.
    pub survey_up_to: u64,
    /// Memory for files that must be sorted, and for quoted triples.
    pub budget: Budget,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            at: At::Current,
            tolerance: Tolerance::Normal,
            namespaces: BTreeMap::new(),
            naive: false,
            survey_up_to: 1_000_000,
            budget: Budget::default(),
        }
    }
}
