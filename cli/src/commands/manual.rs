//! `completions` and `man`: generated from the arguments.

use std::io::Write;

use clap_mangen::Man;
use isomorph::convert::Registry;
use isomorph::{Error, Result};

use super::Answer;
use crate::args::{CompletionsArgs, ManArgs, command};
use crate::console::Console;

/// Prints the completions of a shell.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn completions(args: &CompletionsArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(formats), "isomorph", &mut script);
    console.write(|out| out.write_all(&script))?;
    Ok(Answer::Yes)
}

/// Prints a manual page.
///
/// # Errors
/// Returns an error if there is no such command, or standard output cannot be written.
pub fn man(args: &ManArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let mut command = command(formats);
    command.build();
    let mut page = &command;
    for name in &args.command {
        page = page
            .find_subcommand(name)
            .ok_or_else(|| Error::usage(format!("there is no command {name}")).hint("isomorph help"))?;
    }
    console.write(|out| Man::new(page.clone()).render(out))?;
    Ok(Answer::Yes)
}
