//! `lake insert` and `lake delete`: statements into a store, or out of it, at once.

use std::io::{self, Cursor, Read};

use isomorph::Result;
use isomorph::convert::{LakeEdit, edit_lake};
use serde::Serialize;

use crate::args::LakeEditArgs;
use crate::commands::Answer;
use crate::console::Console;
use crate::render::{Mark, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    statements: u64,
    inserted: u64,
    deleted: u64,
}

/// Inserts or deletes what stands on the command line, or on standard input.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &LakeEditArgs, edit: LakeEdit, console: &Console) -> Result<Answer> {
    let lake = super::open(&args.path, &args.change)?;
    let budget = args.change.resources.resources()?.budget;
    let statements: Box<dyn Read> = match args.statements.as_slice() {
        [] => Box::new(io::stdin().lock()),
        [dash] if dash == "-" => Box::new(io::stdin().lock()),
        given => Box::new(Cursor::new(given.iter().map(|one| line(one)).collect::<String>())),
    };
    let (reading, commit) = edit_lake(&lake, edit, statements, &budget)?;
    let mut screen = console.screen();
    let (word, count) = match (edit, &commit) {
        (LakeEdit::Insert, Some(commit)) => ("inserted", commit.inserted),
        (LakeEdit::Delete, Some(commit)) => ("deleted", commit.deleted),
        (_, None) => ("nothing", 0),
    };
    match &commit {
        None => screen.line(word, "there was nothing to be changed"),
        Some(commit) => {
            let text = format!("{} · version {} of {}", of(count, "triple"), commit.version, args.path);
            screen.marked(word, Some(Mark::Sound), &text)
        }
    };
    console.show(&screen)?;
    let done = commit.clone().unwrap_or_default();
    console.document(&Document {
        path: &args.path,
        version: commit.as_ref().map(|commit| commit.version),
        statements: reading.quads,
        inserted: done.inserted,
        deleted: done.deleted,
    })?;
    Ok(Answer::Yes)
}

/// A statement as a line of N-Quads: whoever types one need not end it.
fn line(statement: &str) -> String {
    let statement = statement.trim_end();
    if statement.ends_with('.') { format!("{statement}\n") } else { format!("{statement} .\n") }
}
