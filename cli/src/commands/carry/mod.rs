//! `carry`: what travels beside the data.

mod drop;
mod rebind;
mod show;

use isomorph::Result;
use isomorph::convert::Registry;

use super::Answer;
use crate::args::CarryCommand;
use crate::console::Console;

/// Does what is asked with a carry.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(command: &CarryCommand, formats: &Registry, console: &Console) -> Result<Answer> {
    match command {
        CarryCommand::Show(args) => show::run(args, formats, console),
        CarryCommand::Rebind(args) => rebind::run(args, formats, console),
        CarryCommand::Drop(args) => drop::run(args, formats, console),
    }
}
