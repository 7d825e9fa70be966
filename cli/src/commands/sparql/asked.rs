//! Where a query comes from, and the graph that it is about.

use std::io::Read;

use isomorph::convert::{Format, Registry, sound};
use isomorph::error::Findings;
use isomorph::formats::graphlake::{self, GraphLake};
use isomorph::formats::rdf::{self, Text};
use isomorph::model::Source;
use isomorph::storage::Resources;
use isomorph::{Error, Result};
use isomorph_sparql::{Question, TripleIndex, load, load_text, load_triples};

use crate::args::{OpenArgs, SparqlArgs};
use crate::commands::{open_at, without_remedy};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::stdio::DASH;

/// The longest query that is read, in bytes; see `isomorph_sparql`.
const LONGEST: u64 = 16 << 20;

/// The text of a query or an update: an argument, a file, or standard input.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub fn text(argument: Option<&str>, file: Option<&str>) -> Result<String> {
    let read = |mut input: &mut dyn Read, name: &str| {
        let mut bytes = Vec::new();
        (&mut input)
            .take(LONGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::from(error).at(name.to_owned()))?;
        String::from_utf8(bytes).map_err(|_| Error::malformed("the query is not UTF-8").at(name.to_owned()))
    };
    match (argument, file) {
        (Some(DASH), _) | (None, Some(DASH)) => read(&mut std::io::stdin().lock(), "standard input"),
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(path)) => {
            let mut file = std::fs::File::open(path).map_err(|error| Error::from(error).at(path.to_owned()))?;
            read(&mut file, path)
        }
        (None, None) => Err(Error::usage("no query was given")),
    }
}

/// Loads what the query can read.
///
/// # Errors
/// If the graph cannot be opened or read, or does not fit into memory.
pub fn graph(
    args: &SparqlArgs,
    question: &Question,
    formats: &Registry,
    resources: &Resources,
    console: &Console,
) -> Result<TripleIndex> {
    // Namespaces apply to the query for every format, and the base to relative IRIs in it; so they are not checked as
    // flags of a format.
    let open = OpenArgs { namespaces: Vec::new(), base_of_result: true, ..args.open.clone() };
    let (location, options) = open.place(&args.path, formats, resources)?;
    // A command that only reads is ended by the system's signals.
    let bars = Bars::new(Interrupt::default());
    let wanted = question.wanted();
    match options.from {
        Some(format) if format == Format::RDF => {
            let own = options.get::<rdf::OpenOptions>().into_owned();
            let text = Text::open_as(&location, own.syntax, own.packing)?;
            let read = rdf::ReadOptions { budget: resources.budget.clone(), ..own.read };
            let (index, reading) = load_text(&text, &read, wanted, resources, &bars)?;
            console.warn(&reading.findings);
            Ok(index)
        }
        Some(format) if format == Format::GRAPHLAKE => {
            let options = graphlake::OpenOptions {
                // A look-up does not need what a description needs.
                survey_up_to: 0,
                namespaces: args.open.namespaces.iter().cloned().collect(),
                budget: resources.budget.clone(),
                threads: resources.threads,
                ..options.get::<graphlake::OpenOptions>().into_owned()
            };
            let lake = GraphLake::open(&location, &options)?;
            warn(&lake.about().findings, args.open.lenient, console)?;
            load_triples(&lake, &wanted.into(), resources, &bars)
        }
        _ => {
            let opened = open_at(&location, &options, console)?;
            load(&opened, args.open.base.as_deref(), wanted, resources, &bars).map_err(without_remedy)
        }
    }
}

/// Findings of opening reach the user, and errors among them stop the command, unless they are accepted.
fn warn(findings: &Findings, lenient: bool, console: &Console) -> Result<()> {
    if !lenient {
        sound(findings)?;
    }
    console.warn(findings);
    Ok(())
}
