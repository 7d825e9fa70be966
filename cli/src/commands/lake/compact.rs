//! `lake compact`: merges small files.

use std::time::Instant;

use isomorph::Result;
use isomorph::formats::graphlake::{CompactMode, Tolerance};
use serde::Serialize;

use crate::args::LakeCompactArgs;
use crate::commands::Answer;
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::render::{Mark, bytes, duration, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    predicates: u64,
    merged_files: u64,
    forgotten_deletions: u64,
    left_predicates: u64,
    revived_triples: u64,
    triples: u64,
    files: u64,
    bytes: u64,
    seconds: f64,
}

/// Merges files of a store.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &LakeCompactArgs, console: &Console) -> Result<Answer> {
    let started = Instant::now();
    let tolerance = if args.lenient { Tolerance::Lenient } else { Tolerance::Normal };
    let lake = super::open_as(&args.path, &args.change, &args.namespaces, tolerance)?;
    let interrupt = Interrupt::listen()?;
    let mode = if args.full { CompactMode::Full } else { CompactMode::Tiers };
    let done = interrupt.outcome(lake.compact(mode, &|_| interrupt.check()))?;
    let seconds = started.elapsed().as_secs_f64();
    let mut screen = console.screen();
    match &done.commit {
        None => {
            screen.line("nothing", "nothing to merge");
        }
        Some(commit) => {
            let what = format!("{} of {}", of(done.merged, "file"), of(done.predicates, "predicate"));
            let forgotten = match done.forgotten {
                0 => String::new(),
                count => format!("; {} removed", of(count, "deletion record")),
            };
            screen.line("merged", &format!("{what} into {}, {}{forgotten}", commit.files, bytes(commit.bytes)));
            let text = format!("version {} of {} in {}", commit.version, args.path, duration(seconds));
            screen.marked("wrote", Some(Mark::Sound), &text);
        }
    }
    if done.revived > 0 {
        let what = of(done.revived, "triple");
        let text = format!("--naive also finds {what}, because deletions no newer than their triple were removed");
        screen.line("revived", &text);
    }
    if done.left > 0 {
        let what = of(done.left, "predicate");
        screen.line(
            "left",
            &format!("{what} whose files other writers kept replacing: run again when there are fewer writers"),
        );
    }
    console.show(&screen)?;
    let commit = done.commit.clone().unwrap_or_default();
    console.document(&Document {
        path: &args.path,
        version: done.commit.as_ref().map(|commit| commit.version),
        predicates: done.predicates,
        merged_files: done.merged,
        forgotten_deletions: done.forgotten,
        left_predicates: done.left,
        revived_triples: done.revived,
        triples: commit.inserted + commit.quoted,
        files: commit.files,
        bytes: commit.bytes,
        seconds,
    })?;
    Ok(Answer::Yes)
}
