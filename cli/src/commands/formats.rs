//! `formats`: which there are, and what works with each.

use isomorph::Result;
use isomorph::convert::{Format, Shape};
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
            read: true,
            write: true,
            shape: match format.shape() {
                Shape::Typed => "typed",
                Shape::Bundled => "bundled",
                Shape::Triples => "triples",
            },
            names: names(format),
            rules: format.rules().len(),
        }
    }
}

/// How files of a format are usually called.
fn names(format: Format) -> &'static [&'static str] {
    match format {
        Format::GraphAr => &["NAME.graph.yml", "DIRECTORY/"],
        Format::Nock => &["NAME.parq", "NAME.csv", "DIRECTORY/part_0.parq"],
        Format::Annnet => &["NAME.annnet", "DIRECTORY/structure/edges.parquet"],
        Format::DeepGnn => &["NAME.linear", "NAME.edgelist", "NAME.tsv", "NAME.json", "DIRECTORY/node_0_0.map"],
        Format::GraphLake => &["DIRECTORY/store.json", "NAME.lake"],
        Format::Rdf => &["NAME.nt", "NAME.nq", "NAME.ttl", "NAME.trig", "NAME.rdf", "NAME.jsonld"],
        _ => &[],
    }
}

/// Lists the formats.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(console: &Console) -> Result<Answer> {
    let documents = Format::ALL.map(Document::of);
    let mut table = Table::new([Column::stage(), Column::text(0), Column::text(0), Column::text(2), Column::text(1)]);
    for document in &documents {
        let shape = match document.shape {
            "typed" => "node and edge types with typed columns",
            "triples" => "resources and triples in named graphs",
            _ => "one table of nodes and edges, properties as JSON",
        };
        let works = if document.write { "reads, writes" } else { "reads" };
        table.row([document.id, document.name, works, shape, &document.names.join(", ")].map(Cell::from));
    }
    let mut screen = console.screen();
    screen.table(&table);
    console.show(&screen)?;
    console.document(&documents)?;
    Ok(Answer::Yes)
}
