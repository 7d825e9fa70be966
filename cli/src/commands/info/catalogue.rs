//! A directory that is not a graph itself: lists the graphs in it.

use isomorph::Result;
use isomorph::convert::Catalogue;
use serde::Serialize;

use crate::console::Console;
use crate::render::{Cell, Column, Table, of, thousands};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    format: Option<&'a str>,
    graphs: Vec<GraphDocument>,
    skipped: usize,
}

#[derive(Debug, Serialize)]
struct GraphDocument {
    path: String,
    format: &'static str,
}

/// Lists the graphs in the directory `path`.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn show(path: &str, catalogue: &Catalogue, console: &Console) -> Result<()> {
    let mut screen = console.screen();
    let count = of(catalogue.graphs.len() as u64, "graph");
    screen.plain(&format!("directory   {count}   not a graph itself"), None);
    let mut table = Table::new([Column::text(1), Column::text(2)]);
    for graph in &catalogue.graphs {
        table.row([Cell::from(graph.location.to_string().as_str()), Cell::from(graph.format.name())]);
    }
    screen.table(&table);
    if catalogue.skipped > 0 {
        let skipped = thousands(catalogue.skipped as u64);
        screen.line("skipped", &format!("{skipped} entries: the directory has too many to inspect"));
    }
    console.show(&screen)?;
    let graphs = catalogue.graphs.iter();
    let graphs = graphs.map(|graph| GraphDocument { path: graph.location.to_string(), format: graph.format.id() });
    console.document(&Document { path, format: None, graphs: graphs.collect(), skipped: catalogue.skipped })
}
