//! The isomorph command as a library, for programs that add a format to it: see [`main`] and `examples/seventh`.

mod allocator;
#[cfg_attr(not(feature = "cypher"), expect(dead_code, reason = "answers of queries"))]
mod answer;
mod args;
mod commands;
mod console;
mod input;
mod interrupt;
mod progress;
mod render;
mod report;
mod rules;
#[cfg(all(test, feature = "query"))]
mod same_answer;
mod stdio;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use isomorph::convert::Registry;

use crate::args::{Cli, Flags};
use crate::console::Console;

/// Runs a command line with these formats. The first item of `line` is the name of the command.
///
/// Call this first in a process: it sets up the allocator and the output of panics.
pub fn main(formats: &Registry, line: impl IntoIterator<Item = OsString>) -> ExitCode {
    allocator::keep_little();
    isomorph::tables::quiet_fenced_panics();
    isomorph::install_network();
    let words: Vec<OsString> = line.into_iter().collect();
    let parsed = args::command(formats).try_get_matches_from(&words);
    let (cli, line) = match parsed.and_then(|line| Ok((Cli::from_arg_matches(&line)?, line))) {
        Ok(parsed) => parsed,
        Err(error) => return usage::report(&error, &words),
    };
    render::colour(cli.color);
    let console = Console { json: cli.json, verbose: cli.verbose, aside: false };
    match commands::run(&cli.command, formats, &console) {
        Ok(answer) => answer.into(),
        Err(error) if console::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error, &Flags::of(&line), cli.command.path(), cli.command.outcome());
            ExitCode::from(error.kind().exit_code())
        }
    }
}
