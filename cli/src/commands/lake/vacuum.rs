//! `lake vacuum`: what no snapshot needs is removed.

use isomorph::Result;
use isomorph::formats::graphlake::VacuumOptions;
use serde::Serialize;

use crate::args::LakeVacuumArgs;
use crate::commands::Answer;
use crate::console::Console;
use crate::render::{Mark, bytes, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    applied: bool,
    snapshots: &'a [i64],
    files: &'a [String],
    bytes: u64,
    young_files: u64,
}

/// Removes what no snapshot needs, or says what that would be.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &LakeVacuumArgs, console: &Console) -> Result<Answer> {
    let lake = super::open(&args.path, &args.change, &[])?;
    let keep_last = match (args.keep_last, args.keep_for) {
        (Some(count), _) => usize::try_from(count).unwrap_or(usize::MAX),
        (None, Some(_)) => 1,
        (None, None) => usize::MAX,
    };
    let (keep_for, grace, dry_run) = (args.keep_for, args.grace, !args.apply);
    let done = lake.vacuum(&VacuumOptions { keep_last, keep_for, grace, dry_run })?;
    let mut screen = console.screen();
    let word = if dry_run { "would" } else { "removed" };
    let what = format!(
        "{} and {}, {}",
        of(done.snapshots.len() as u64, "snapshot"),
        of(done.files.len() as u64, "file"),
        bytes(done.bytes)
    );
    match done.files.is_empty() && done.snapshots.is_empty() {
        true => screen.line("nothing", "there is nothing to be removed"),
        false if dry_run => screen.line(word, &format!("remove {what}; --apply does it")),
        false => screen.marked(word, Some(Mark::Sound), &what),
    };
    if console.verbose {
        for name in &done.files {
            screen.line("", name);
        }
    }
    if done.young > 0 {
        screen.line("kept", &format!("{} that no snapshot names and that may still be wanted", of(done.young, "file")));
    }
    console.show(&screen)?;
    console.document(&Document {
        path: &args.path,
        applied: args.apply,
        snapshots: &done.snapshots,
        files: &done.files,
        bytes: done.bytes,
        young_files: done.young,
    })?;
    Ok(Answer::Yes)
}
