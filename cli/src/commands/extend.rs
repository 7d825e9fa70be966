//! `extend`: adds to a graph without rewriting existing files.

use isomorph::Result;
use isomorph::convert::{
    Added, Extended, Extension, GroupOptions, Registry, TableColumns, add_columns, add_list, extend_annnet,
};
use isomorph::formats::annnet::update::Updated;
use isomorph::formats::graphar::info::FileType;
use isomorph::tables::Compression;
use serde::Serialize;

use super::Answer;
use crate::args::{ExtendArgs, epoch_or_environment, file_place};
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

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct AnnnetDocument<'a> {
    path: &'a str,
    vertices: u64,
    edges: u64,
    graph_version: Option<i64>,
    removed: &'a [String],
    views: bool,
    whole: bool,
    files: u64,
    bytes: u64,
    graph_bytes: Option<u64>,
    seconds: f64,
}

/// Adds columns of a table or an adjacency list to GraphAr; or vertices, edges, attributes, a slice or a history entry
/// to annnet.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &ExtendArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let location = file_place(&args.path)?;
    let interrupt = Interrupt::listen()?;
    let bars = Bars::new(interrupt.clone());
    let (graphar, ty) = (&args.graphar, args.graphar.ty.as_deref().unwrap_or_default());
    let added = match (&graphar.table, graphar.adj_list) {
        (Some(table), _) => {
            let columns =
                TableColumns { file: file_place(table)?, by: graphar.by.clone(), columns: args.columns.clone() };
            let options = GroupOptions {
                file_type: graphar.file_type.unwrap_or(FileType::Parquet),
                compression: graphar.compression.unwrap_or(Compression::Zstd(1)),
            };
            add_columns(&location, ty, &columns, options, formats, &resources, &bars)
        }
        (None, Some(kind)) => add_list(&location, ty, kind, formats, &resources, &bars),
        (None, None) => {
            let done = extension(args).and_then(|own| extend_annnet(&location, &own, formats, &resources, &bars));
            drop(bars);
            let done = interrupt.outcome(done)?;
            return show_annnet(args, &done, console);
        }
    };
    drop(bars);
    let added = interrupt.outcome(added)?;
    show(args, &added, console)?;
    console.document(&Document {
        path: &args.path,
        ty: &added.ty,
        properties: &added.properties,
        adjacency: args.graphar.adj_list.map(|kind| kind.word()),
        rows: added.rows,
        without: added.without,
        files: added.files,
        bytes: added.bytes,
        seconds: added.seconds,
    })?;
    Ok(Answer::Yes)
}

/// Returns what to add to an annnet graph.
fn extension(args: &ExtendArgs) -> Result<Extension> {
    let own = &args.annnet;
    let file = |text: &Option<String>| text.as_deref().map(file_place).transpose();
    Ok(Extension {
        vertices: file(&own.vertices)?,
        edges: file(&own.edges)?,
        table: own.attributes.as_ref().map(|(kind, file)| file_place(file).map(|file| (*kind, file))).transpose()?,
        slice: own.slice.as_ref().map(|(name, file)| file_place(file).map(|file| (name.clone(), file))).transpose()?,
        history: own.history.as_deref().map(entry),
        views: own.cache,
        columns: args.columns.clone().unwrap_or_default(),
        epoch: epoch_or_environment(own.epoch)?,
    })
}

/// Returns an entry of the history: text that is not a JSON object becomes a note.
fn entry(text: &str) -> String {
    match text.trim_start().starts_with('{') {
        true => text.to_owned(),
        false => serde_json::json!({ "op": "note", "note": text }).to_string(),
    }
}

fn show_annnet(args: &ExtendArgs, done: &Extended, console: &Console) -> Result<Answer> {
    let mut screen = console.screen();
    let mut table = Table::new([Column::stage(), Column::text(0), Column::text(1)]);
    if let Some(own) = &done.updated {
        let version = format!("version {}", own.graph_version);
        table.row(["changed", &what_changed(args, own).join(", "), &version].map(Cell::from));
    }
    if done.views.is_some() {
        table.row(["built", "views for look-ups", "cache/csr.zarr, cache/csc.zarr"].map(Cell::from));
    }
    screen.table(&table);
    let (changed, views) = (done.updated.clone().unwrap_or_default(), done.views.unwrap_or_default());
    let (files, size) = (changed.files + views.files, changed.bytes + views.bytes);
    let rest = match &done.updated {
        Some(own) if own.whole => "; archives are rewritten completely".to_owned(),
        Some(own) => format!("; of a graph of {}", bytes(own.graph_bytes)),
        None => String::new(),
    };
    let written = format!("{}, {}{rest}", of(files, "file"), bytes(size));
    screen.marked("wrote", Some(Mark::Sound), &format!("{} ({written}) in {}", args.path, duration(done.seconds)));
    // Views that were rebuilt are not listed as removed.
    let gone: Vec<String> =
        changed.removed.iter().filter(|path| *path != "cache" || done.views.is_none()).cloned().collect();
    for path in &gone {
        screen.marked("removed", None, &format!("{path}, now out of date"));
        if path == "cache" {
            screen.line("", &format!("isomorph extend {} --cache rebuilds it", args.path));
        }
    }
    console.show(&screen)?;
    console.document(&AnnnetDocument {
        path: &args.path,
        vertices: changed.vertices,
        edges: changed.edges,
        graph_version: done.updated.as_ref().map(|own| own.graph_version),
        removed: &gone,
        views: done.views.is_some(),
        whole: changed.whole,
        files,
        bytes: size,
        graph_bytes: done.updated.as_ref().map(|own| own.graph_bytes),
        seconds: done.seconds,
    })?;
    Ok(Answer::Yes)
}

/// Returns a description of the changes.
fn what_changed(args: &ExtendArgs, own: &Updated) -> Vec<String> {
    let mut what: Vec<String> = Vec::new();
    if args.annnet.vertices.is_some() {
        what.push(of(own.vertices, "node"));
    }
    if args.annnet.edges.is_some() {
        what.push(of(own.edges, "edge"));
    }
    if let Some((_, file)) = &args.annnet.attributes {
        what.push(format!("attributes of {file}"));
    }
    if let Some((name, _)) = &args.annnet.slice {
        what.push(format!("slice {name}"));
    }
    if args.annnet.history.is_some() {
        what.push("an entry of the history".to_owned());
    }
    what
}

fn show(args: &ExtendArgs, added: &Added, console: &Console) -> Result<()> {
    let mut screen = console.screen();
    let what = match args.graphar.adj_list {
        Some(kind) => format!("adjacency list {}", kind.word()),
        None => added.properties.join(", "),
    };
    let rows = match (args.graphar.adj_list, added.without) {
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
        &format!("{} ({size}) in {}; other files unchanged", args.path, duration(added.seconds)),
    );
    console.show(&screen)
}
