//! `lake update`: a SPARQL update of a store, as one transaction.

use isomorph::Result;
use isomorph::formats::graphlake::Committed;
use isomorph_sparql::{QuestionOptions, Update, update_lake};
use serde::Serialize;

use crate::args::{LakeUpdateArgs, written_place};
use crate::commands::Answer;
use crate::commands::lake::{self, changed, changed::quoted};
use crate::console::Console;
use crate::input;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::of;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    deletes: u64,
    inserts: u64,
    lost: u64,
}

/// Evaluates an update, and commits it.
///
/// # Errors
/// Any error of reading, evaluating, writing or printing.
pub fn run(args: &LakeUpdateArgs, console: &Console) -> Result<Answer> {
    let interrupt = Interrupt::default();
    let text = input::query(args.update.as_deref(), args.file.as_deref(), std::iter::empty(), &interrupt)?;
    let options = QuestionOptions { base: args.base.clone(), prefixes: args.namespaces.clone(), params: Vec::new() };
    let update = Update::parse(&text, &options)?;
    let resources = args.change.resources.resources()?;
    let store = lake::open(&args.path, &args.change, &args.namespaces)?;
    let (mut opening, _) = lake::options(&resources);
    opening.namespaces = args.namespaces.iter().cloned().collect();
    opening.threads = resources.threads;
    let location = written_place(&args.path)?;
    let bars = Bars::new(interrupt);
    let done = update_lake(&store, &location, &opening, &update, args.timeout, &resources, &bars)?;
    let what = |commit: &Committed| {
        let (deleted, inserted) = (of(done.deletes, "triple"), of(done.inserts, "triple"));
        format!("deleted {deleted}; inserted {inserted}{}", quoted(commit))
    };
    changed::show("updated", done.commit.as_ref(), what, &args.path, console)?;
    console.document(&Document {
        path: &args.path,
        version: done.commit.as_ref().map(|commit| commit.version),
        deletes: done.deletes,
        inserts: done.inserts,
        lost: done.commit.as_ref().map_or(0, |commit| u64::from(commit.lost)) + done.repeated as u64,
    })?;
    Ok(Answer::Yes)
}
