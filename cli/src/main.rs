//! The isomorph command.

mod allocator;
mod args;
mod commands;
mod console;
mod input;
mod interrupt;
mod progress;
mod render;
mod report;
mod rules;
mod stdio;
mod usage;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Cli, Flags};
use crate::console::Console;

fn main() -> ExitCode {
    allocator::keep_little();
    isomorph::tables::quiet_fenced_panics();
    let parsed = Cli::command().try_get_matches().and_then(|line| Ok((Cli::from_arg_matches(&line)?, line)));
    let (cli, line) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage::report(&error),
    };
    render::colour(cli.color);
    let console = Console { json: cli.json, verbose: cli.verbose, aside: false };
    match commands::run(&cli.command, &console) {
        Ok(answer) => answer.into(),
        Err(error) if console::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error, &Flags::of(&line), cli.command.path(), cli.command.outcome());
            ExitCode::from(error.kind().exit_code())
        }
    }
}
