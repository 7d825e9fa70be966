//! `lake insert` and `lake delete`: statements into a store, or out of it, at once.

use std::io::{self, Cursor, Read};

use isomorph::convert::{LakeEdit, edit_lake};
use isomorph::formats::graphlake::{Committed, push_quad};
use isomorph::{Error, Result};
use serde::Serialize;

use crate::args::LakeEditArgs;
use crate::commands::Answer;
use crate::commands::matching::{Prefixes, Query};
use crate::console::Console;
use crate::render::{Mark, of, thousands};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    statements: u64,
    inserted: u64,
    quoted: u64,
    again: Option<u64>,
    deleted: u64,
    missing: u64,
    lost: u32,
}

/// Inserts or deletes what stands on the command line, or on standard input.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &LakeEditArgs, edit: LakeEdit, console: &Console) -> Result<Answer> {
    let lake = super::open(&args.path, &args.change, &args.namespaces)?;
    let budget = args.change.resources.resources()?.budget;
    let statements: Box<dyn Read> = match args.statements.as_slice() {
        [] => Box::new(io::stdin().lock()),
        [dash] if dash == "-" => Box::new(io::stdin().lock()),
        given => Box::new(Cursor::new(lines(given, args, edit)?)),
    };
    let (reading, commit) = edit_lake(&lake, edit, statements, &budget)?;
    let mut screen = console.screen();
    match &commit {
        None => {
            screen.line("nothing", "there was nothing to be changed");
        }
        Some(commit) => {
            let (word, mut what) = match edit {
                LakeEdit::Insert => ("inserted", noted(commit.inserted, commit.again.unwrap_or(0), "there before")),
                LakeEdit::Delete => ("deleted", noted(commit.deleted, commit.missing, "not there")),
            };
            if commit.quoted > 0 {
                what.push_str(&format!(", and {} that they quote", thousands(commit.quoted)));
            }
            screen.marked(word, Some(Mark::Sound), &format!("{what} · version {} of {}", commit.version, args.path));
            super::tell_others(commit.lost, &mut screen);
        }
    };
    console.show(&screen)?;
    // Of triples that are not there to be deleted there is no commit.
    let none = Committed { again: Some(0), missing: reading.quads, ..Committed::default() };
    let done = commit.clone().unwrap_or(none);
    console.document(&Document {
        path: &args.path,
        version: commit.as_ref().map(|commit| commit.version),
        statements: reading.quads,
        inserted: done.inserted,
        quoted: done.quoted,
        again: done.again,
        deleted: done.deleted,
        missing: done.missing,
        lost: done.lost,
    })?;
    Ok(Answer::Yes)
}

/// So many triples, and what is to be said of some.
pub(super) fn noted(count: u64, some: u64, what: &str) -> String {
    let are = if some == 1 { "was" } else { "were" };
    if some > 0 { format!("{}, {some} {are} {what}", of(count, "triple")) } else { of(count, "triple") }
}

/// Statements of the command line as lines of N-Quads.
fn lines(given: &[String], args: &LakeEditArgs, edit: LakeEdit) -> Result<String> {
    let prefixes = Prefixes::new(&args.namespaces.iter().cloned().collect());
    let query = Query::parse(given, None, &prefixes)?;
    let mut lines = String::new();
    for asked in &query.patterns {
        let quad = asked.quad().ok_or_else(|| {
            let error = Error::usage(format!("{} is not a statement: it has variables", asked.text()));
            match edit {
                LakeEdit::Insert => error.hint("'<http://example.org/ann> a foaf:Person'    a statement"),
                LakeEdit::Delete => error.hint(format!(
                    "isomorph match {path} '{}' --nquads | isomorph lake delete {path}    delete all that fits",
                    asked.text(),
                    path = args.path
                )),
            }
        })?;
        push_quad(&mut lines, &quad);
        lines.push('\n');
    }
    Ok(lines)
}
