//! The commands, one file each.

mod carry;
mod convert;
mod diff;
mod digest;
mod dump;
mod explain;
mod extend;
mod formats;
mod info;
mod lake;
mod manual;
mod matching;
mod neighbors;
mod sample;
mod serve;
mod validate;

use isomorph::storage::Resources;
use std::process::ExitCode;

use isomorph::convert::{OpenOptions, Opened, Progress};
use isomorph::{Location, Result};

use crate::args::{Command, OpenArgs, SelectArgs};
use crate::console::Console;

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
pub fn run(command: &Command, console: &Console) -> Result<Answer> {
    match command {
        Command::Info(args) => info::run(args, console),
        Command::Convert(args) => convert::run(args, console),
        Command::Validate(args) => validate::run(args, console),
        Command::Diff(args) => diff::run(args, console),
        Command::Digest(args) => digest::run(args, console),
        Command::Dump(args) => dump::run(args, console),
        Command::Neighbors(args) => neighbors::run(args, console),
        Command::Match(args) => matching::run(args, console),
        Command::Sample(args) => sample::run(args, console),
        Command::Serve(command) => serve::run(command, console),
        Command::Extend(args) => extend::run(args, console),
        Command::Lake(command) => lake::run(command, console),
        Command::Carry(command) => carry::run(command, console),
        Command::Explain(args) => explain::run(args, console),
        Command::Formats => formats::run(console),
        Command::Completions(args) => manual::completions(args, console),
        Command::Man(args) => manual::man(args, console),
    }
}

/// Opens the graph at `path`, as [`open_at`] does.
fn open(path: &str, args: &OpenArgs, select: &SelectArgs, resources: &Resources, console: &Console) -> Result<Opened> {
    let (location, options) = args.place(path, select, resources)?;
    open_at(&location, &options, console)
}

/// Opens a graph for whoever reads it, and tells what opening found; errors among that end it, unless `--lenient` lets them pass.
fn open_at(location: &Location, options: &OpenOptions, console: &Console) -> Result<Opened> {
    let opened = Opened::open(location, options)?;
    console.warn(&opened.native.about().findings);
    Ok(opened)
}

/// Makes sure, before all of a graph is read, that it still is what its carry was made for; tells what `lenient` lets pass.
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
