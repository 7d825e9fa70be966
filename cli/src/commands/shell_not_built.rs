//! `shell` of a command without the query engine.

use isomorph::convert::Registry;
use isomorph::{Error, Result};

use super::Answer;
use crate::args::ShellArgs;
use crate::console::Console;

/// Of another command: cargo's.
const BUILD: &str = "cargo install --path cli    build the command with the engine";

/// The error of a command without the engine.
///
/// # Errors
/// Always.
pub fn run(args: &ShellArgs, _: &Registry, _: &Console) -> Result<Answer> {
    let ShellArgs { path, language, flags: _ } = args;
    let asked = format!("isomorph {} {path} was built without the query engine", language.command());
    Err(Error::unsupported(asked).hint(BUILD))
}
