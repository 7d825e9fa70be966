//! `lake init`: an empty store.

use isomorph::Result;
use isomorph::convert::Resources;
use isomorph::formats::graphlake::Lake;
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

/// Makes a store without snapshots.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &LakeInitArgs, console: &Console) -> Result<Answer> {
    let (opening, writing) = super::options(&Resources::of_this_machine()?);
    Lake::create(&written_place(&args.path)?, &opening, &writing)?;
    let mut screen = console.screen();
    screen.marked("wrote", Some(Mark::Sound), &format!("{}, a store without snapshots", args.path));
    console.show(&screen)?;
    console.document(&Document { path: &args.path })?;
    Ok(Answer::Yes)
}
