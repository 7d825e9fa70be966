//! What a change of a store came to, as every command that makes one tells it.

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
    /// Those of a commit; without one nothing of the `deletes` triples that were to be deleted was there.
    pub(super) fn of(commit: Option<&Committed>, deletes: u64) -> Self {
        let none = Committed { again: Some(0), missing: deletes, ..Committed::default() };
        let &Committed { inserted, quoted, again, deleted, missing, lost, .. } = commit.unwrap_or(&none);
        Counts { inserted, quoted, again, deleted, missing, lost }
    }
}

/// Says what was committed: `done` to the triples that `what` counts.
pub(super) fn show(done: &str, mut what: String, commit: &Committed, path: &str, screen: &mut Screen) {
    if commit.quoted > 0 {
        what.push_str(&format!(", and {} that they quote", thousands(commit.quoted)));
    }
    screen.marked(done, Some(Mark::Sound), &format!("{what} · version {} of {path}", commit.version));
    super::tell_others(commit.lost, screen);
}

/// So many triples, and what is to be said of some.
pub(super) fn noted(count: u64, some: u64, what: &str) -> String {
    let are = if some == 1 { "was" } else { "were" };
    if some > 0 { format!("{}, {some} {are} {what}", of(count, "triple")) } else { of(count, "triple") }
}
