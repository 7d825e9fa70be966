//! What `match` searches.

use isomorph::convert::matching::{Query, Searched};
use isomorph::convert::{Format, OpenOptions, Opened, Progress};
use isomorph::error::Findings;
use isomorph::formats::graphlake::GraphLake;
use isomorph::formats::rdf::{self, RdfText, Statements, Text};
use isomorph::model::Source as _;
use isomorph::storage::Resources;
use isomorph::{Error, Location, Result};

use crate::args::MatchArgs;
use crate::commands::{open_at, open_lake};
use crate::console::Console;

/// An opened graph, with as little reading as the request allows.
pub enum Source {
    /// A store, whose metadata is read.
    Store(Box<GraphLake>, Findings),
    /// A text, which is read as far as needed.
    Statements(Box<Statements>),
    /// A text whose duplicates are known, because it was read once.
    Text(Box<RdfText>),
    /// A graph of any other format.
    Graph(Box<Opened>),
}

impl Source {
    /// Opens the graph, and prints the findings of opening.
    ///
    /// # Errors
    /// If it cannot be opened, or an error is found and not accepted.
    pub fn open(
        args: &MatchArgs,
        location: &Location,
        options: &OpenOptions,
        query: &Query,
        resources: &Resources,
        console: &Console,
    ) -> Result<Self> {
        match options.from {
            Some(format) if format == Format::GRAPHLAKE => {
                if args.open.base.is_some() {
                    let error = Error::usage("--base applies to RDF texts and to graphs of nodes and edges");
                    return Err(error.at(location.to_string()));
                }
                let lake = open_lake(location, options, &args.open, resources, console)?;
                let findings = lake.about().findings;
                Ok(Source::Store(Box::new(lake), findings))
            }
            Some(format) if format == Format::RDF => {
                let mut own = options.get::<rdf::OpenOptions>().into_owned();
                own.read.budget = resources.budget.clone();
                // To return every triple of a pattern once, hashes of all need less than sorting those that match.
                let is_all = args.count || args.nquads && args.limit.is_none();
                if is_all && !args.estimate && query.patterns.len() == 1 {
                    (own.scratch, own.threads) = (Some(resources.scratch.clone()), resources.threads);
                    let text = RdfText::open(location, &own)?;
                    console.warn(&text.reading().findings);
                    return Ok(Source::Text(Box::new(text)));
                }
                let text = Text::open_as(location, own.syntax, own.packing)?;
                Ok(Source::Statements(Box::new(Statements::new(text, own.read))))
            }
            _ => Ok(Source::Graph(Box::new(open_at(location, options, console)?))),
        }
    }

    /// Whether it is a store.
    pub fn is_store(&self) -> bool {
        matches!(self, Source::Store(..))
    }

    /// What the patterns are matched in.
    pub fn searched<'g>(
        &'g self,
        base: Option<&'g str>,
        resources: &'g Resources,
        progress: &'g dyn Progress,
    ) -> Searched<'g> {
        match self {
            Source::Store(lake, _) => Searched::Store(lake),
            Source::Statements(statements) => Searched::Read(Box::new(statements.as_ref())),
            Source::Text(text) => Searched::Read(Box::new(text.as_ref())),
            Source::Graph(opened) => Searched::of(opened, base, resources, progress),
        }
    }

    /// The findings, after the patterns were matched; those of a text are printed only now.
    pub fn findings(&self, console: &Console) -> Findings {
        match self {
            Source::Store(_, findings) => findings.clone(),
            Source::Statements(statements) => {
                let findings = statements.reading().findings;
                console.warn(&findings);
                findings
            }
            Source::Text(text) => text.reading().findings.clone(),
            Source::Graph(opened) => opened.native.about().findings,
        }
    }

    /// The size of what must be read before anything is known, in bytes; `None` if there are look-ups.
    pub fn pass_bytes(&self) -> Option<u64> {
        match self {
            Source::Store(..) => None,
            Source::Statements(statements) => Some(statements.text().blob().size()),
            Source::Text(text) => Some(text.about().bytes),
            Source::Graph(opened) => Some(opened.native.about().bytes),
        }
    }
}
