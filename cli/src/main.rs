//! The isomorph command.

mod allocator;
mod args;
mod commands;
mod console;
mod filter;
mod input;
mod interrupt;
mod progress;
mod render;
mod report;
mod rules;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Cli, Flags};
use crate::console::Console;

fn main() -> ExitCode {
    allocator::keep_little();
    isomorph::tables::quiet_fenced_panics();
    let line = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&line).unwrap_or_else(|error| error.exit());
    let console = Console { json: cli.json, verbose: cli.verbose };
    match commands::run(&cli.command, &console) {
        Ok(answer) => answer.into(),
        Err(error) if console::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error, &Flags::of(&line), cli.command.path(), cli.command.outcome());
            ExitCode::from(error.kind().exit_code())
        }
    }
}
