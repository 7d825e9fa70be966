//! The rows that `--lenient` sets aside: listed in a file next to the output.

use std::io::Write;

use isomorph::convert::Opened;
use isomorph::error::Finding;
use isomorph::storage::{Mode, Staging};
use isomorph::{Error, Result};
use serde::Serialize;

use crate::args::{ConvertArgs, written_place};

/// What the name of an output gets.
const SUFFIX: &str = ".set-aside.jsonl";

/// A line of the file.
#[derive(Serialize)]
struct Line<'a> {
    file: Option<&'a str>,
    line: Option<u64>,
    row: Option<u64>,
    /// The byte where the record begins, in files that have no rows.
    offset: Option<u64>,
    column: Option<&'a str>,
    rule: &'a str,
    reason: &'a str,
}

/// The name of the file.
pub fn name(args: &ConvertArgs) -> String {
    format!("{}{SUFFIX}", args.destination.trim_end_matches('/'))
}

/// The rows of a graph that opening set aside.
pub fn rows(opened: &Opened) -> Vec<Finding> {
    opened.format.set_aside(opened.native.as_ref()).to_vec()
}

/// Writes the file, one JSON object for each row. Returns false if there are none: a list of an output that was replaced goes.
///
/// # Errors
/// If it cannot be written; it must not exist, unless the output may be replaced.
pub fn write(rows: &[Finding], args: &ConvertArgs) -> Result<bool> {
    let place = written_place(&name(args))?;
    if rows.is_empty() {
        return match (args.replace, place.as_path()) {
            (true, Some(old)) if old.is_file() => std::fs::remove_file(old).map(|()| false).map_err(Error::from),
            _ => Ok(false),
        };
    }
    let mode = if args.replace { Mode::Replace } else { Mode::CreateNew };
    let staging = Staging::file(&place, mode)?;
    let mut out = std::io::BufWriter::new(staging.create("")?);
    for Finding { rule, message, place } in rows {
        let line = Line {
            file: place.file.as_deref(),
            line: place.line,
            row: place.row,
            offset: place.offset,
            column: place.field.as_deref(),
            rule: rule.id,
            reason: message,
        };
        serde_json::to_writer(&mut out, &line).map_err(|error| Error::malformed(error.to_string()))?;
        out.write_all(b"\n")?;
    }
    out.into_inner().map_err(|error| Error::from(error.into_error()))?.finish()?;
    staging.commit(&[])?;
    Ok(true)
}
