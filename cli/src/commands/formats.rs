//! `formats`: the supported formats, and what isomorph can do with them.

use isomorph::Result;
use isomorph::convert::{Format, Registry, Shape};
use serde::Serialize;

use super::Answer;
use crate::console::Console;
use crate::render::{Cell, Column, Table};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document {
    id: &'static str,
    name: &'static str,
    read: bool,
    write: bool,
    shape: &'static str,
    names: &'static [&'static str],
    rules: usize,
}

impl Document {
    fn of(format: Format) -> Self {
        Document {
            id: format.id(),
            name: format.name(),
            read: format.traits().is_read,
            write: true,
            shape: match format.shape() {
                Shape::Typed => "typed",
                Shape::Bundled => "bundled",
                Shape::Triples => "triples",
            },
            names: format.traits().usual_names,
            rules: format.traits().rules.len(),
        }
    }
}

/// Lists the formats.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(formats: &Registry, console: &Console) -> Result<Answer> {
    let documents: Vec<Document> = formats.all().iter().copied().map(Document::of).collect();
    let mut table = Table::new([Column::stage(), Column::text(0), Column::text(0), Column::text(2), Column::text(1)]);
    for document in &documents {
        let shape = match document.shape {
            "typed" => "node and edge types with typed columns",
            "triples" => "resources and triples in named graphs",
            _ => "one table of nodes and edges, properties as JSON",
        };
        let works = match (document.read, document.write) {
            (true, true) => "reads, writes",
            (true, false) => "reads",
            (false, _) => "writes",
        };
        table.row([document.id, document.name, works, shape, &document.names.join(", ")].map(Cell::from));
    }
    let mut screen = console.screen();
    screen.table(&table);
    console.show(&screen)?;
    console.document(&documents)?;
    Ok(Answer::Yes)
}
