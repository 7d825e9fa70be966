//! `sidecar drop`: removes the sidecar.

use isomorph::Result;
use isomorph::convert::{Registry, sidecar};
use serde::Serialize;

use crate::args::{SidecarArgs, snapshot_of};
use crate::commands::Answer;
use crate::console::Console;
use crate::render::Mark;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    removed: String,
}

/// Removes a sidecar.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &SidecarArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    // A store has one sidecar for all snapshots.
    let (location, _) = snapshot_of(&args.path)?;
    let document = sidecar::remove(&location, formats)?;
    let mut screen = console.screen();
    screen.marked("removed", Some(Mark::Sound), &format!("{document}; the data is unchanged"));
    console.show(&screen)?;
    console.document(&Document { path: &args.path, removed: document.to_string() })?;
    Ok(Answer::Yes)
}
