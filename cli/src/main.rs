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

use clap::Parser;

use crate::args::Cli;
use crate::console::Console;

fn main() -> ExitCode {
    allocator::keep_little();
    isomorph::tables::quiet_fenced_panics();
    let cli = Cli::parse();
    let console = Console { json: cli.json, verbose: cli.verbose };
    match commands::run(&cli.command, &console) {
        Ok(answer) => answer.into(),
        Err(error) if console::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error, cli.command.path(), cli.command.outcome());
            ExitCode::from(error.kind().exit_code())
        }
    }
}
