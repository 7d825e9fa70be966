//! The result of a change to a store, as all commands print it.

use isomorph::Result;
use isomorph::formats::graphlake::Committed;
use serde::Serialize;

use crate::console::Console;
use crate::render::{Mark, of, thousands};

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

/// Prints what was committed: `done` is the verb, and `what` tells of what; or that there was nothing to do.
pub(in crate::commands) fn show(
    done: &str,
    commit: Option<&Committed>,
    what: impl FnOnce(&Committed) -> String,
    path: &str,
    console: &Console,
) -> Result<()> {
    let mut screen = console.screen();
    match commit {
        None => {
            screen.line("nothing", "no changes to make");
        }
        Some(commit) => {
            let text = format!("{} · version {} of {path}", what(commit), commit.version);
            screen.marked(done, Some(Mark::Sound), &text);
            if commit.lost > 0 {
                let others = of(u64::from(commit.lost), "other commit");
                screen.line("", &format!("applied after {others} made in the meantime"));
            }
        }
    }
    console.show(&screen)
}

/// What is added to a number of triples: those that are quoted.
pub(in crate::commands) fn quoted(commit: &Committed) -> String {
    if commit.quoted > 0 { format!(", plus {} quoted", thousands(commit.quoted)) } else { String::new() }
}

/// Formats a number of triples, and of the `some` among them for which `what` is true.
pub(super) fn noted(count: u64, some: u64, what: &str) -> String {
    let are = if some == 1 { "was" } else { "were" };
    if some > 0 { format!("{}, {some} {are} {what}", of(count, "triple")) } else { of(count, "triple") }
}
