//! `lake log`: what each snapshot changed.

use chrono::{DateTime, SecondsFormat};
use isomorph::Result;
use isomorph::formats::graphlake::{Event, GraphEvent, Lake, What};
use serde::Serialize;

use crate::args::{LakeLogArgs, whole_store};
use crate::commands::Answer;
use crate::console::Console;
use crate::render::{Cell, Column, Table, bytes, of, thousands};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    version: i64,
    id: &'a str,
    timestamp: i64,
    time: Option<String>,
    graphs: u64,
    triples: u64,
    exact: bool,
    records: u64,
    deletions: u64,
    files: u64,
    bytes: u64,
    /// The version with which it is compared.
    after: Option<i64>,
    changes: Vec<Change<'a>>,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    graph: Option<&'a str>,
    what: &'static str,
    inserted: u64,
    /// `None` for a dropped graph: its files are removed without counting their triples.
    deleted: Option<u64>,
    removed_files: u64,
}

/// Prints the newest snapshots of a store.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &LakeLogArgs, console: &Console) -> Result<Answer> {
    let (opening, writing) = super::options(&args.resources.resources()?);
    let lake = Lake::open(&whole_store(&args.path)?, &opening, &writing)?;
    let events = lake.log(args.limit.get())?;
    let mut table = Table::new([
        Column::stage(),
        Column::text(2),
        Column::text(0),
        Column::number(),
        Column::number(),
        Column::number(),
    ]);
    for event in events.iter().rev() {
        let cells = [
            event.version.to_string(),
            time(event.timestamp).unwrap_or_else(|| event.timestamp.to_string()),
            changes(event),
            format!("{}{}", if event.exact { "" } else { "≤ " }, of(event.triples, "triple")),
            of(event.files, "file"),
            bytes(event.bytes),
        ];
        table.row(cells.map(Cell::from));
    }
    let mut screen = console.screen();
    if events.is_empty() {
        screen.line("nothing", "the store has no snapshots yet");
    }
    screen.table(&table);
    console.show(&screen)?;
    console.document(&events.iter().rev().map(document).collect::<Vec<_>>())?;
    Ok(Answer::Yes)
}

/// Formats a time.
fn time(milliseconds: i64) -> Option<String> {
    Some(DateTime::from_timestamp_millis(milliseconds)?.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Describes the changes of a snapshot.
fn changes(event: &Event) -> String {
    let named = |change: &GraphEvent| {
        let graph = change.graph.as_deref().unwrap_or("the default graph");
        match change.what {
            What::Dropped => format!("dropped {graph}"),
            What::Compacted => format!("merged files of {graph}"),
            What::Created if change.inserted == 0 => format!("created {graph}"),
            _ => {
                let mut words = Vec::new();
                if change.inserted > 0 {
                    words.push(format!("+{}", thousands(change.inserted)));
                }
                if change.deleted > 0 {
                    words.push(format!("−{}", thousands(change.deleted)));
                }
                if words.is_empty() {
                    words.push("changed".to_owned());
                }
                format!("{} in {graph}", words.join(" "))
            }
        }
    };
    let Some(after) = event.after else { return "unknown: the previous version has been removed".to_owned() };
    let what = match event.changes.as_slice() {
        [] => "nothing".to_owned(),
        [one] => named(one),
        [one, rest @ ..] => format!("{}, and {}", named(one), of(rest.len() as u64, "more graph")),
    };
    if event.version.checked_sub(1) == Some(after) { what } else { format!("{what}, since version {after}") }
}

fn document(event: &Event) -> Document<'_> {
    let what = |change: &GraphEvent| match change.what {
        What::Created => "created",
        What::Dropped => "dropped",
        What::Compacted => "compacted",
        What::Changed => "changed",
    };
    let changes = event.changes.iter().map(|one| Change {
        graph: one.graph.as_deref(),
        what: what(one),
        inserted: one.inserted,
        deleted: (one.what != What::Dropped).then_some(one.deleted),
        removed_files: one.removed,
    });
    Document {
        version: event.version,
        id: &event.id,
        timestamp: event.timestamp,
        time: time(event.timestamp),
        graphs: event.graphs,
        triples: event.triples,
        exact: event.exact,
        records: event.records,
        deletions: event.deletions,
        files: event.files,
        bytes: event.bytes,
        after: event.after,
        changes: changes.collect(),
    }
}
