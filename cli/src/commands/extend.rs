//! `extend`: adds to a graph without rewriting what is there.

use isomorph::convert::{Added, GroupOptions, TableColumns, add_columns, add_list};
use isomorph::formats::graphar::info::FileType;
use isomorph::tables::Compression;
use isomorph::{Error, Location, Result};
use serde::Serialize;

use super::Answer;
use crate::args::ExtendArgs;
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Cell, Column, Mark, Table, bytes, duration, of, thousands};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    properties: &'a [String],
    adjacency: Option<&'static str>,
    rows: u64,
    without: u64,
    files: u64,
    bytes: u64,
    seconds: f64,
}

/// Adds columns of a table, or an adjacency list.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &ExtendArgs, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let location = Location::parse(&args.path)?;
    let interrupt = Interrupt::listen()?;
    let bars = Bars::new(interrupt.clone());
    let added = match (&args.table, args.adj_list) {
        (Some(table), _) => {
            let columns =
                TableColumns { file: Location::parse(table)?, by: args.by.clone(), columns: args.columns.clone() };
            let options = GroupOptions {
                file_type: args.file_type.unwrap_or(FileType::Parquet),
                compression: args.compression.unwrap_or(Compression::Zstd(1)),
            };
            add_columns(&location, &args.ty, &columns, options, &resources, &bars)
        }
        (None, Some(kind)) => add_list(&location, &args.ty, kind, &resources, &bars),
        (None, None) => Err(Error::usage("nothing is named that is to be added")),
    };
    drop(bars);
    let added = interrupt.outcome(added)?;
    show(args, &added, console)?;
    console.document(&Document {
        path: &args.path,
        ty: &added.ty,
        properties: &added.properties,
        adjacency: args.adj_list.map(|kind| kind.word()),
        rows: added.rows,
        without: added.without,
        files: added.files,
        bytes: added.bytes,
        seconds: added.seconds,
    })?;
    Ok(Answer::Yes)
}

fn show(args: &ExtendArgs, added: &Added, console: &Console) -> Result<()> {
    let mut screen = console.screen();
    let what = match args.adj_list {
        Some(kind) => format!("adjacency list {}", kind.word()),
        None => added.properties.join(", "),
    };
    let rows = match (args.adj_list, added.without) {
        (Some(_), _) => of(added.rows, "edge"),
        (None, 0) => of(added.rows, "node"),
        (None, without) => format!("{}, null for {} more", of(added.rows, "node"), thousands(without)),
    };
    let mut table = Table::new([Column::stage(), Column::text(0), Column::text(1), Column::text(2)]);
    table.row(["added", &added.ty, &what, &rows].map(Cell::from));
    screen.table(&table);
    let size = format!("{}, {}", of(added.files, "file"), bytes(added.bytes));
    screen.marked(
        "wrote",
        Some(Mark::Sound),
        &format!("{} ({size}) in {}; no other file was touched", args.path, duration(added.seconds)),
    );
    console.show(&screen)
}
