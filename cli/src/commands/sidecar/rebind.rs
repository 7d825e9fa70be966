//! `sidecar rebind`: binds the sidecar to the data as it is now.
//!
//! The data is read through the sidecar. The new sizes and hashes are recorded only if the content equals that in the
//! sidecar.

use isomorph::Result;
use isomorph::convert::{Registry, sidecar};
use serde::Serialize;

use crate::args::{RebindArgs, snapshot_of};
use crate::commands::Answer;
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Mark, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    files: usize,
}

/// Rebinds a sidecar.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &RebindArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    // A store has one sidecar for all snapshots.
    let (location, _) = snapshot_of(&args.path)?;
    let bound = sidecar::rebind(&location, formats, &resources, &Bars::new(Interrupt::default()))?;
    let mut screen = console.screen();
    let text = format!("to {}: the graph is unchanged", of(bound.files.len() as u64, "file"));
    screen.marked("bound", Some(Mark::Sound), &text);
    console.show(&screen)?;
    console.document(&Document { path: &args.path, files: bound.files.len() })?;
    Ok(Answer::Yes)
}
