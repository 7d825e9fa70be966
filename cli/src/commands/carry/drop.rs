//! `carry drop`: removes what travels beside the data.

use std::fs;

use isomorph::convert::Format;
use isomorph::convert::{carry, carry_of, home_of};
use isomorph::{Error, Location, Result};
use serde::Serialize;

use crate::args::CarryArgs;
use crate::commands::Answer;
use crate::console::Console;
use crate::render::Mark;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    removed: String,
}

/// Removes a carry.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &CarryArgs, console: &Console) -> Result<Answer> {
    let location = Location::parse(&args.path)?;
    carry_of(&location)?;
    let (home, directory) = home_of(&location, Format::at(&location)?);
    let document = carry::location_of(&home, directory)?;
    let path = document.as_path().ok_or_else(|| {
        Error::unsupported("a carry in an object store is not removed here")
            .at(document.to_string())
            .hint("remove the object with the tools of the store")
    })?;
    fs::remove_file(path).map_err(|error| Error::from(error).at(document.to_string()))?;
    if let Some(folder) = path.parent() {
        // The folder may hold something else, and then it stays.
        let _ = fs::remove_dir(folder);
    }
    let mut screen = console.screen();
    screen.marked("removed", Some(Mark::Sound), &format!("{document}; the data is as it was"));
    console.show(&screen)?;
    console.document(&Document { path: &args.path, removed: document.to_string() })?;
    Ok(Answer::Yes)
}
