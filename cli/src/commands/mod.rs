//! The commands, one file each.

mod convert;
mod diff;
mod digest;
mod dump;
mod explain;
mod extend;
mod formats;
mod import;
mod info;
mod lake;
mod manual;
mod matching;
mod neighbors;
mod sample;
mod serve;
mod sidecar;
mod validate;

use isomorph::storage::Resources;
use std::process::ExitCode;

use isomorph::convert::{OpenOptions, Opened, Progress, Registry};
use isomorph::dataset::Selection;
use isomorph::{Location, Result};

use crate::args::{Command, OpenArgs};
use crate::console::Console;
use crate::render::{Screen, of};

/// What a command answers when nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes: sound, equal, done.
    Yes,
    /// No: not sound, different.
    No,
}

impl Answer {
    /// Yes, if `yes`.
    pub fn yes_if(yes: bool) -> Self {
        if yes { Answer::Yes } else { Answer::No }
    }
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => ExitCode::SUCCESS,
            Answer::No => ExitCode::from(1),
        }
    }
}

/// Does what the command line says.
///
/// # Errors
/// Whatever went wrong; nothing is printed of it yet.
pub fn run(command: &Command, formats: &Registry, console: &Console) -> Result<Answer> {
    match command {
        Command::Info(args) => info::run(args, formats, console),
        Command::Convert(args) => convert::run(args, formats, console),
        Command::Validate(args) => validate::run(args, formats, console),
        Command::Diff(args) => diff::run(args, formats, console),
        Command::Digest(args) => digest::run(args, formats, console),
        Command::Dump(args) => dump::run(args, formats, console),
        Command::Neighbors(args) => neighbors::run(args, formats, console),
        Command::Match(args) => matching::run(args, formats, console),
        Command::Sample(args) => sample::run(args, formats, console),
        Command::Serve(command) => serve::run(command, formats, console),
        Command::Extend(args) => extend::run(args, formats, console),
        Command::Lake(command) => lake::run(command, console),
        Command::Sidecar(command) => sidecar::run(command, formats, console),
        Command::Explain(args) => explain::run(args, formats, console),
        Command::Import(command) => import::run(command, console),
        Command::Formats => formats::run(formats, console),
        Command::Completions(args) => manual::completions(args, formats, console),
        Command::Man(args) => manual::man(args, formats, console),
    }
}

/// Opens the graph at `path`, as [`open_at`] does.
fn open(path: &str, args: &OpenArgs, formats: &Registry, resources: &Resources, console: &Console) -> Result<Opened> {
    let (location, options) = args.place(path, formats, resources)?;
    open_at(&location, &options, console)
}

/// What a selection leaves of a graph; the graph itself where it leaves all. If edges are to be counted, with the number of those that it
/// leaves out because they lose an end.
fn select(
    opened: Opened,
    selection: &Selection,
    count: bool,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(Opened, Option<u64>)> {
    if selection.is_everything() {
        return Ok((opened, None));
    }
    let selecting = opened.select(selection, count, resources, progress)?;
    Ok((selecting.opened, selecting.dangling))
}

/// Tells how many edges a selection leaves out because they lose an end.
fn show_dangling(screen: &mut Screen, dangling: Option<u64>, selection: &Selection, part: &Opened) {
    let Some(edges) = dangling.filter(|edges| *edges > 0) else { return };
    let edges = of(edges, "edge");
    // Ends that are no rows cannot be told from nodes that are left out.
    let can_be_kept = !part.graph.graph().nodes.iter().any(|ty| ty.implied);
    let text = match (selection.keep_dangling, can_be_kept) {
        (true, _) => format!("{edges} left out because both ends are"),
        (false, false) => format!("{edges} left out because an end is"),
        (false, true) => format!("{edges} left out because an end is; --keep-dangling keeps those that have one end"),
    };
    screen.line("selected", &text);
}

/// Opens a graph for whoever reads it, and tells what opening found; errors among that end it, unless `--lenient` lets them pass.
fn open_at(location: &Location, options: &OpenOptions, console: &Console) -> Result<Opened> {
    let opened = Opened::open(location, options)?;
    console.warn(&opened.native.about().findings);
    Ok(opened)
}

/// Makes sure, before all of a graph is read, that it still is what its sidecar was made for; tells what `lenient` lets pass.
fn check_whole(
    opened: &Opened,
    lenient: bool,
    resources: &Resources,
    progress: &dyn Progress,
    console: &Console,
) -> Result<()> {
    console.warn(&opened.check_whole(lenient, resources, progress)?);
    Ok(())
}
