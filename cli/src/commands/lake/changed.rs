//! The result of a change to a store, as all commands print it.

use isomorph::formats::graphlake::Committed;
use serde::Serialize;

use crate::render::{Mark, Screen, of, thousands};

/// Part of the documents of these commands; see `docs/cli-json.md`.
#[derive(Debug, Serialize)]
pub(super) struct Counts {
    inserted: u64,
    quoted: u64,
    again: Option<u64>,
    deleted: u64,
    missing: u64,
    lost: u32,
}

impl Counts {
    /// Returns the numbers of a commit; without a commit, none of the `deletes` triples to delete existed.
    pub(super) fn of(commit: Option<&Committed>, deletes: u64) -> Self {
        let none = Committed { again: Some(0), missing: deletes, ..Committed::default() };
        let &Committed { inserted, quoted, again, deleted, missing, lost, .. } = commit.unwrap_or(&none);
        Counts { inserted, quoted, again, deleted, missing, lost }
    }
}

/// Prints what was committed: `done` is the verb, and `what` the number of triples.
pub(in crate::commands) fn show(done: &str, mut what: String, commit: &Committed, path: &str, screen: &mut Screen) {
    if commit.quoted > 0 {
        what.push_str(&format!(", plus {} quoted", thousands(commit.quoted)));
    }
    screen.marked(done, Some(Mark::Sound), &format!("{what} · version {} of {path}", commit.version));
    super::tell_others(commit.lost, screen);
}

/// Formats a number of triples, and of the `some` among them for which `what` is true.
pub(super) fn noted(count: u64, some: u64, what: &str) -> String {
    let are = if some == 1 { "was" } else { "were" };
    if some > 0 { format!("{}, {some} {are} {what}", of(count, "triple")) } else { of(count, "triple") }
}
