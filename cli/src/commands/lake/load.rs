//! `lake load`: loads RDF files into a store.

use std::time::Instant;

use isomorph::convert::{LakeLoad, LakeStream, LakeText, load_lake};
use isomorph::{Error, Location, Result};
use serde::Serialize;

use crate::args::{LakeLoadArgs, epoch_or_environment, file_place, written_place};
use crate::commands::Answer;
use crate::console::Console;
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Mark, bytes, duration, of, rate};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    created: bool,
    quads: u64,
    triples: u64,
    blank_prefix: Option<&'a str>,
    skipped: u64,
    files: u64,
    bytes: u64,
    /// Quads that an earlier load had already read.
    found: u64,
    seconds: f64,
}

/// Loads files into a store.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &LakeLoadArgs, console: &Console) -> Result<Answer> {
    let started = Instant::now();
    let resources = args.change.resources.resources()?;
    let interrupt = Interrupt::listen()?;
    let load = LakeLoad {
        texts: texts(&args.texts, &interrupt)?,
        syntax: args.syntax,
        graph: args.graph.clone(),
        base: args.base.clone(),
        lenient: args.lenient,
        blank_map: args.blank_map.as_deref().map(file_place).transpose()?,
        no_id_filters: args.no_id_filters,
        epoch: epoch_or_environment(args.change.epoch)?,
        resume: args.resume,
    };
    let location = written_place(&args.path)?;
    let bars = Bars::new(interrupt.clone());
    let loaded = load_lake(&location, &load, &resources, &bars);
    drop(bars);
    let loaded = interrupt.outcome(loaded)?;
    let seconds = started.elapsed().as_secs_f64();
    console.warn(&loaded.findings);
    let found = match &loaded.found {
        Some(_) if loaded.finished_before => loaded.quads,
        found => found.as_ref().map_or(0, |found| found.quads),
    };
    let mut screen = console.screen();
    let earlier = loaded.found.clone().unwrap_or_default();
    if let Some(because) = &earlier.discarded {
        screen.line("restart", &format!("the files of an earlier load cannot be used: {because}"));
    } else if loaded.finished_before {
        screen.line("found", "an earlier load that had finished, except for its report");
    } else if earlier.runs > 0 {
        let runs = of(earlier.runs, "sorted run");
        screen.line("found", &format!("{} of an earlier load, in {runs}", of(earlier.quads, "quad")));
    }
    let read = format!("{} from {}", of(loaded.quads, "quad"), of(args.texts.len() as u64, "file"));
    screen.line("loaded", &format!("{read}   {}", rate(loaded.quads.saturating_sub(found), seconds)));
    if let Some(prefix) = &loaded.blank_prefix {
        screen.line(
            "renamed",
            &format!("blank nodes, to _:{prefix}LABEL, so that they differ from those of other loads"),
        );
    }
    let commit = loaded.commit.clone().unwrap_or_default();
    match &loaded.commit {
        None => screen.line("nothing", "nothing to load"),
        Some(_) => {
            let made = if loaded.created { ", a new store" } else { "" };
            let size = format!("{}, {}", of(commit.files, "file"), bytes(commit.bytes));
            let text = format!("version {} of {}{made} ({size}) in {}", commit.version, args.path, duration(seconds));
            screen.marked("wrote", Some(Mark::Sound), &text)
        }
    };
    console.show(&screen)?;
    console.document(&Document {
        path: &args.path,
        version: loaded.commit.as_ref().map(|commit| commit.version),
        created: loaded.created,
        quads: loaded.quads,
        triples: commit.inserted,
        blank_prefix: loaded.blank_prefix.as_deref(),
        skipped: loaded.skipped,
        files: commit.files,
        bytes: commit.bytes,
        found,
        seconds,
    })?;
    Ok(Answer::Yes)
}

/// Returns the files to read; `-` is standard input.
pub(super) fn texts(words: &[String], interrupt: &Interrupt) -> Result<Vec<LakeText>> {
    if words.iter().filter(|word| *word == "-").count() > 1 {
        return Err(Error::usage("standard input can be read only once").hint("give - once"));
    }
    let text = |word: &String| match word.as_str() {
        "-" => Ok(LakeText::Stream(LakeStream::new("standard input", Box::new(Input::new(interrupt.clone())?)))),
        word => Location::parse(word).map(LakeText::At),
    };
    words.iter().map(text).collect()
}
