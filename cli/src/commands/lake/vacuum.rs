//! `lake vacuum`: removes what no snapshot needs.

use isomorph::Result;
use isomorph::formats::graphlake::{LeftLoad, VacuumOptions};
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
    load: Option<Load>,
}

/// Files that a load left.
#[derive(Debug, Serialize)]
struct Load {
    path: String,
    bytes: u64,
    young: bool,
}

/// Removes what no snapshot needs, or lists it.
///
/// # Errors
/// Any error of reading, writing or printing.
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
    let mut what = Vec::new();
    if !done.files.is_empty() || !done.snapshots.is_empty() {
        let (snapshots, files) = (done.snapshots.len() as u64, done.files.len() as u64);
        what.push(format!("{} and {}, {}", of(snapshots, "snapshot"), of(files, "file"), bytes(done.bytes)));
    }
    let left = |load: &LeftLoad| format!("{} left by a load in {}", bytes(load.bytes), load.path.display());
    what.extend(done.load.as_ref().filter(|load| !load.young).map(left));
    let what = what.join("; ");
    match what.is_empty() {
        true => screen.line("nothing", "nothing to remove"),
        false if dry_run => screen.line("would", &format!("remove {what}; --apply removes it")),
        false => screen.marked("removed", Some(Mark::Sound), &what),
    };
    if console.verbose {
        for name in &done.files {
            screen.line("", name);
        }
    }
    if done.young > 0 {
        screen.line("kept", &format!("{}: unreferenced, but a writer may still need them", of(done.young, "file")));
    }
    if let Some(load) = done.load.as_ref().filter(|load| load.young) {
        screen.line("kept", &format!("{}: lake load --resume could use it", left(load)));
    }
    console.show(&screen)?;
    console.document(&Document {
        path: &args.path,
        applied: args.apply,
        snapshots: &done.snapshots,
        files: &done.files,
        bytes: done.bytes,
        young_files: done.young,
        load: done.load.map(|LeftLoad { path, bytes, young }| Load { path: path.display().to_string(), bytes, young }),
    })?;
    Ok(Answer::Yes)
}
