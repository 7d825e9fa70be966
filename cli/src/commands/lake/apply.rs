//! `lake apply`: deletes and inserts statements in one transaction.

use isomorph::convert::change_lake;
use isomorph::formats::graphlake::Committed;
use isomorph::{Error, Result};
use serde::Serialize;

use super::changed::{self, Counts, noted, quoted};
use super::load::texts;
use crate::args::LakeApplyArgs;
use crate::commands::Answer;
use crate::console::Console;
use crate::interrupt::Interrupt;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    deletes: u64,
    inserts: u64,
    #[serde(flatten)]
    counts: Counts,
}

/// Deletes the statements of some files and inserts those of others, in one transaction.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &LakeApplyArgs, console: &Console) -> Result<Answer> {
    let is_input = |words: &[String]| words.iter().any(|word| word == "-");
    if is_input(&args.deletes) && is_input(&args.inserts) {
        return Err(Error::usage("standard input can be read only once").hint("give - once"));
    }
    let lake = super::open(&args.path, &args.change, &args.namespaces)?;
    let budget = args.change.resources.resources()?.budget;
    let interrupt = Interrupt::listen()?;
    let (deletes, inserts) = (texts(&args.deletes, &interrupt)?, texts(&args.inserts, &interrupt)?);
    let changes = interrupt.outcome(change_lake(&lake, &deletes, &inserts, args.syntax, &budget))?;
    let what = |commit: &Committed| {
        let inserted = noted(commit.inserted, commit.again.unwrap_or(0), "already present");
        let deleted = noted(commit.deleted, commit.missing, "not present");
        format!("deleted {deleted}; inserted {inserted}{}", quoted(commit))
    };
    changed::show("applied", changes.commit.as_ref(), what, &args.path, console)?;
    console.document(&Document {
        path: &args.path,
        version: changes.commit.as_ref().map(|commit| commit.version),
        deletes: changes.deletes,
        inserts: changes.inserts,
        counts: Counts::of(changes.commit.as_ref(), changes.deletes),
    })?;
    Ok(Answer::Yes)
}
