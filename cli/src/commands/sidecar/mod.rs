//! `sidecar`: shows, rebinds or removes the sidecar.

mod drop;
mod rebind;
mod show;

use isomorph::Result;
use isomorph::convert::Registry;

use super::Answer;
use crate::args::SidecarCommand;
use crate::console::Console;

/// Runs a subcommand.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(command: &SidecarCommand, formats: &Registry, console: &Console) -> Result<Answer> {
    match command {
        SidecarCommand::Show(args) => show::run(args, formats, console),
        SidecarCommand::Rebind(args) => rebind::run(args, formats, console),
        SidecarCommand::Drop(args) => drop::run(args, formats, console),
    }
}
