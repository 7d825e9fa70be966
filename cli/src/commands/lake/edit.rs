//! `lake insert` and `lake delete`: change single statements in one transaction.

use std::io::{self, Cursor, Read};

use isomorph::convert::matching::{Prefixes, Query};
use isomorph::convert::{LakeEdit, edit_lake};
use isomorph::formats::graphlake::{Committed, push_quad};
use isomorph::{Error, Result};
use serde::Serialize;

use super::changed::{self, Counts, noted, quoted};
use crate::args::LakeEditArgs;
use crate::commands::Answer;
use crate::console::Console;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    version: Option<i64>,
    statements: u64,
    #[serde(flatten)]
    counts: Counts,
}

/// Inserts or deletes the statements on the command line or on standard input.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &LakeEditArgs, edit: LakeEdit, console: &Console) -> Result<Answer> {
    let lake = super::open(&args.path, &args.change, &args.namespaces)?;
    let budget = args.change.resources.resources()?.budget;
    let statements: Box<dyn Read> = match args.statements.as_slice() {
        [] => Box::new(io::stdin().lock()),
        [dash] if dash == "-" => Box::new(io::stdin().lock()),
        given => Box::new(Cursor::new(lines(given, args, edit)?)),
    };
    let (reading, commit) = edit_lake(&lake, edit, statements, &budget)?;
    let what = |commit: &Committed| {
        let what = match edit {
            LakeEdit::Insert => noted(commit.inserted, commit.again.unwrap_or(0), "already present"),
            LakeEdit::Delete => noted(commit.deleted, commit.missing, "not present"),
        };
        what + &quoted(commit)
    };
    let done = if edit == LakeEdit::Insert { "inserted" } else { "deleted" };
    changed::show(done, commit.as_ref(), what, &args.path, console)?;
    console.document(&Document {
        path: &args.path,
        version: commit.as_ref().map(|commit| commit.version),
        statements: reading.quads,
        counts: Counts::of(commit.as_ref(), reading.quads),
    })?;
    Ok(Answer::Yes)
}

/// Returns the statements of the command line as N-Quads.
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
                    "isomorph match {path} '{}' --nquads | isomorph lake delete {path}    delete all matches",
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
