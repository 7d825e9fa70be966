//! `carry rebind`: binds what travels beside the data to the data as it is now.
//!
//! The data is read through the carry; only when its content is the content that the carry states are the new sizes and
//! hashes recorded.

use std::io::Write;

use isomorph::convert::carry::{self, Bound, Carry};
use isomorph::convert::{CarryUse, OpenOptions, Opened, digest, home_of};
use isomorph::storage::{Blob, FileHasher, Mode, Root, Staging};
use isomorph::{Error, Kind, Location, Result};
use serde::Serialize;

use crate::args::RebindArgs;
use crate::commands::Answer;
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Mark, of};

/// Bytes read at once.
const PIECE: u64 = 4 << 20;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    files: usize,
}

/// Binds a carry anew.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &RebindArgs, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let location = Location::parse(&args.path)?;
    let options = OpenOptions { carry: CarryUse::Schema, ..OpenOptions::default() };
    let opened = Opened::open(&location, &options)?;
    let nothing = || Error::new(Kind::NotFound, "nothing travels beside this data").at(args.path.as_str());
    let carry = opened.carry.clone().ok_or_else(nothing)?;
    let digests = digest(opened.graph.as_ref(), &resources, &Bars::new(Interrupt::default()))?.digests;
    if digests != carry.digests {
        let what = match digests.content == carry.digests.content {
            true => "order or schema",
            false => "content",
        };
        return Err(Error::new(
            Kind::StaleCarry,
            format!("this is not the graph any more that was carried: its {what} differs"),
        )
        .rule(&carry::CARRY_STALE)
        .at(args.path.as_str())
        .hint("isomorph convert PATH NEW --carry schema    use its names and types, and nothing else of it")
        .hint("isomorph carry drop PATH    the data as what it is"));
    }
    let (home, directory) = home_of(&location, opened.format);
    let bound = Carry { files: files(&home, directory)?, ..carry };
    let staging = Staging::file(&carry::location_of(&home, directory)?, Mode::Replace)?;
    let mut file = staging.create("")?;
    file.write_all(bound.to_json()?.as_bytes())?;
    file.finish()?;
    staging.commit(&[])?;

    let mut screen = console.screen();
    let text = format!("to {}: the graph is still the same", of(bound.files.len() as u64, "file"));
    screen.marked("bound", Some(Mark::Sound), &text);
    console.show(&screen)?;
    console.document(&Document { path: &args.path, files: bound.files.len() })?;
    Ok(Answer::Yes)
}

/// The files of the data as they are now.
fn files(home: &Location, directory: bool) -> Result<Vec<Bound>> {
    if !directory {
        return Ok(vec![bound(home.file_name(), &Blob::open(home)?)?]);
    }
    let root = Root::open(home)?;
    let ours = format!("{}/", carry::FOLDER);
    let names = root.list("")?.into_iter().map(|entry| entry.name).filter(|name| !name.starts_with(&ours));
    names.map(|name| bound(&name, &root.file(&name)?)).collect()
}

fn bound(name: &str, blob: &Blob) -> Result<Bound> {
    let mut hasher = FileHasher::new();
    let mut at = 0;
    while at < blob.size() {
        let end = blob.size().min(at + PIECE);
        hasher.update(&blob.read(at..end)?);
        at = end;
    }
    Ok(Bound::new(name, &hasher.finish()))
}
