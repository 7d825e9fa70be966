//! `lake init`: creates an empty store.

use isomorph::formats::graphlake::{Lake, detect};
use isomorph::storage::Resources;
use isomorph::{Kind, Result};
use serde::Serialize;

use crate::args::{LakeInitArgs, written_place};
use crate::commands::Answer;
use crate::console::Console;
use crate::render::Mark;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
}

/// Creates a store without snapshots.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &LakeInitArgs, console: &Console) -> Result<Answer> {
    let (opening, writing) = super::options(&Resources::of_this_machine()?);
    let place = written_place(&args.path)?;
    Lake::create(&place, &opening, &writing).map_err(|error| match error.kind() {
        Kind::AlreadyExists if detect(&place).unwrap_or(false) => {
            error.hint("isomorph lake log PATH    show the existing store")
        }
        _ => error,
    })?;
    let mut screen = console.screen();
    screen.marked("wrote", Some(Mark::Sound), &format!("{}, an empty store", args.path));
    console.show(&screen)?;
    console.document(&Document { path: &args.path })?;
    Ok(Answer::Yes)
}
