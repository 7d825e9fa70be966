//! Where a query comes from, and the graph that it is about.

use std::sync::Arc;

use isomorph::convert::{Format, Registry};
use isomorph::formats::rdf::{self, Text};
use isomorph::{Error, Kind, Result};
use isomorph_sparql::{Question, TripleIndex, Wanted, load, load_text, load_triples};

use crate::args::{OpenArgs, SparqlArgs};
use crate::commands::session::Session;
use crate::commands::{open_lake, without_remedy};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;

/// What the queries of a session have loaded.
#[derive(Default)]
pub struct Loaded {
    index: Option<(Wanted, Arc<TripleIndex>)>,
}

/// Loads what the query can read, unless the session has it. In a session, other formats than GraphLake, which has indexes, are loaded as a whole for the second
/// query, if they fit into memory: each pass reads all of them.
///
/// # Errors
/// If the graph cannot be opened or read, or does not fit into memory.
pub fn graph(
    args: &SparqlArgs,
    question: &Question,
    formats: &Registry,
    console: &Console,
    session: &mut Session,
) -> Result<Arc<TripleIndex>> {
    let wanted = question.wanted();
    if let Some((loaded, index)) = &session.triples.index
        && loaded.covers(&wanted)
    {
        return Ok(Arc::clone(index));
    }
    let is_second = session.triples.index.take().is_some() && session.format(&args.path) != Some(Format::GRAPHLAKE);
    let mut load = |wanted: &Wanted| loaded(args, wanted.clone(), formats, console, session);
    let (wanted, index) = match is_second.then(|| load(&Wanted::all())) {
        Some(Err(error)) if error.kind() != Kind::TooLarge => return Err(error),
        Some(Ok(all)) => (Wanted::all(), all),
        _ => {
            let index = load(&wanted)?;
            (wanted, index)
        }
    };
    let index = Arc::new(index);
    session.triples.index = Some((wanted, Arc::clone(&index)));
    Ok(index)
}

fn loaded(
    args: &SparqlArgs,
    wanted: Wanted,
    formats: &Registry,
    console: &Console,
    session: &mut Session,
) -> Result<TripleIndex> {
    // Namespaces apply to the query for every format, and the base to relative IRIs in it; so they are not checked as
    // flags of a format.
    let open = OpenArgs { namespaces: Vec::new(), base_of_result: true, ..args.open.clone() };
    let resources = &session.resources(&args.resources)?;
    // A command that only reads is ended by the system's signals.
    let bars = Bars::new(session.interrupt(|| Ok(Interrupt::default()))?);
    let (location, options) = open.place(&args.path, formats, resources)?;
    match options.from {
        Some(format) if format == Format::RDF => {
            let own = options.get::<rdf::OpenOptions>().into_owned();
            let text = Text::open_as(&location, own.syntax, own.packing)?;
            let read = rdf::ReadOptions { budget: resources.budget.clone(), ..own.read };
            let (index, reading) = load_text(&text, &read, wanted, resources, &bars)?;
            console.warn(&reading.findings);
            Ok(index)
        }
        Some(format) if format == Format::GRAPHLAKE && session.is_of_queries() => {
            // The snapshot that queries in other languages read.
            let graph = session.graph(&args.path, &args.open, formats, resources, console)?;
            let stored = graph.opened().native.triples();
            let stored = stored.ok_or_else(|| Error::unsupported("a store without triples").at(args.path.clone()))?;
            load_triples(stored, &wanted.into(), resources, &bars)
        }
        Some(format) if format == Format::GRAPHLAKE => {
            let lake = open_lake(&location, &options, &args.open, resources, console)?;
            load_triples(&lake, &wanted.into(), resources, &bars)
        }
        _ => {
            let graph = session.graph(&args.path, &open, formats, resources, console)?;
            load(graph.opened(), args.open.base.as_deref(), wanted, resources, &bars).map_err(without_remedy)
        }
    }
}
