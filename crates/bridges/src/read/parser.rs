//! The six parsers as one.

use std::io;

use isomorph_error::{Error, Place, Result};
use oxjsonld::{JsonLdParseError, JsonLdParser, ReaderJsonLdParser};
use oxrdf::{GraphName, Quad};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser, ReaderRdfXmlParser};
use oxttl::nquads::LowLevelNQuadsParser;
use oxttl::ntriples::LowLevelNTriplesParser;
use oxttl::trig::LowLevelTriGParser;
use oxttl::turtle::LowLevelTurtleParser;
use oxttl::{NQuadsParser, NTriplesParser, TriGParser, TurtleParser, TurtleSyntaxError};

use super::ReadOptions;
use super::guard::Guarded;
use super::literals::{Literals, Shift};
use super::pushed::Pushed;
use crate::Syntax;

/// A parser over a guarded text.
pub(super) enum Parser<'a> {
    NTriples(Pushed<'a, LowLevelNTriplesParser>),
    NQuads(Pushed<'a, LowLevelNQuadsParser>),
    Turtle(Pushed<'a, LowLevelTurtleParser>),
    TriG(Pushed<'a, LowLevelTriGParser>),
    RdfXml(Box<ReaderRdfXmlParser<Literals<Guarded<'a>>>>, Shift),
    JsonLd(Box<ReaderJsonLdParser<Guarded<'a>>>),
}

/// Where a text is broken, as far as the parser knows.
pub(super) enum Where {
    /// There.
    At(Place),
    /// In what ends before this byte.
    Before(u64),
    /// Where it stands.
    Here,
}

/// Why there is no quad.
pub(super) enum Fault {
    /// The text cannot be read on.
    Input(io::Error),
    /// It is broken: what is wrong, and where.
    Syntax(String, Where),
}

/// Tries whether relative IRIs can be relative to `base`.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`] when it is no absolute IRI.
pub fn check_base(base: &str) -> Result<()> {
    oxrdf::NamedNode::new(base).map(drop).map_err(|error| unsound(base, &error))
}

fn unsound(base: &str, error: &oxrdf::IriParseError) -> Error {
    Error::usage(format!("the base {base:?} is no absolute IRI: {error}")).hint("--base http://example.org/")
}

impl<'a> Parser<'a> {
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] when the base is no absolute IRI.
    pub(super) fn new(syntax: Syntax, text: Guarded<'a>, options: &ReadOptions) -> Result<Self> {
        let (base, budget) = (options.base.as_deref(), &options.budget);
        // Also where the syntax has no relative IRIs: what is asked for makes no sense there either.
        base.map_or(Ok(()), check_base)?;
        let unsound = |error: oxrdf::IriParseError| unsound(base.unwrap_or_default(), &error);
        Ok(match syntax {
            Syntax::NTriples => Parser::NTriples(Pushed::new(NTriplesParser::new().low_level(), text, budget)?),
            Syntax::NQuads => Parser::NQuads(Pushed::new(NQuadsParser::new().low_level(), text, budget)?),
            Syntax::Turtle => {
                let parser = TurtleParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Parser::Turtle(Pushed::new(parser.map_err(unsound)?.low_level(), text, budget)?)
            }
            Syntax::TriG => {
                let parser = TriGParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Parser::TriG(Pushed::new(parser.map_err(unsound)?.low_level(), text, budget)?)
            }
            Syntax::RdfXml => {
                let parser = RdfXmlParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                let shift = Shift::default();
                let text = Literals::new(text, &shift);
                Parser::RdfXml(Box::new(parser.map_err(unsound)?.for_reader(text)), shift)
            }
            Syntax::JsonLd => {
                let parser = JsonLdParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Parser::JsonLd(Box::new(parser.map_err(unsound)?.for_reader(text)))
            }
        })
    }

    /// The next quad.
    pub(super) fn next(&mut self) -> Option<Result<Quad, Fault>> {
        Some(match self {
            Parser::NTriples(parser) => of_turtle(parser.next()?),
            Parser::NQuads(parser) => of_turtle(parser.next()?),
            Parser::Turtle(parser) => of_turtle(parser.next()?),
            Parser::TriG(parser) => of_turtle(parser.next()?),
            Parser::RdfXml(parser, shift) => {
                let next = parser.next()?;
                next.map(|triple| triple.in_graph(GraphName::DefaultGraph)).map_err(|error| match error {
                    RdfXmlParseError::Io(error) => Fault::Input(error),
                    RdfXmlParseError::Syntax(error) => {
                        let end = parser.buffer_position().saturating_add_signed(-shift.get());
                        Fault::Syntax(sentence(&error.to_string()), Where::Before(end))
                    }
                })
            }
            Parser::JsonLd(parser) => parser.next()?.map_err(|error| match error {
                JsonLdParseError::Io(error) => Fault::Input(error),
                JsonLdParseError::Syntax(error) => {
                    let place = error.location().map(|place| place.start);
                    let place = place.map(|start| Where::At(at(start.line, start.column, start.offset)));
                    let message = error.to_string();
                    let message = match message.split_once(": ") {
                        // The place is said beside the message.
                        Some((before, message)) if before.starts_with("Parser error at line") => message,
                        _ if message.contains("LoadDocumentCallback") => {
                            "a context is named by its URL, and none is fetched"
                        }
                        _ => &message,
                    };
                    Fault::Syntax(sentence(message), place.unwrap_or(Where::Here))
                }
            }),
        })
    }

    /// Prefixes that are known where the parser stands.
    pub(super) fn prefixes(&self) -> Vec<(String, String)> {
        let owned = |(name, iri): (&str, &str)| (name.to_owned(), iri.to_owned());
        match self {
            Parser::NTriples(_) | Parser::NQuads(_) => Vec::new(),
            Parser::Turtle(parser) => parser.parser.prefixes().map(owned).collect(),
            Parser::TriG(parser) => parser.parser.prefixes().map(owned).collect(),
            Parser::RdfXml(parser, _) => parser.prefixes().map(owned).collect(),
            Parser::JsonLd(parser) => parser.prefixes().map(owned).collect(),
        }
    }

    /// The base where the parser stands.
    pub(super) fn base(&self) -> Option<String> {
        let base = match self {
            Parser::NTriples(_) | Parser::NQuads(_) => None,
            Parser::Turtle(parser) => parser.parser.base_iri(),
            Parser::TriG(parser) => parser.parser.base_iri(),
            Parser::RdfXml(parser, _) => parser.base_iri(),
            Parser::JsonLd(parser) => parser.base_iri(),
        };
        base.map(str::to_owned)
    }
}

fn of_turtle(next: io::Result<Result<Quad, TurtleSyntaxError>>) -> Result<Quad, Fault> {
    next.map_err(Fault::Input)?.map_err(|error| {
        let start = error.location().start;
        Fault::Syntax(sentence(error.message()), Where::At(at(start.line, start.column, start.offset)))
    })
}

/// A place from numbers that begin with 0.
fn at(line: u64, column: u64, offset: u64) -> Place {
    Place::default().line(line + 1).offset(offset).in_field(format!("column {}", column + 1))
}

/// A message as ours are: one line, lower case, no full stop, and not without end.
fn sentence(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    let mut chars = line.chars();
    // XML and IRI stay what they are.
    let is_word = line.chars().nth(1).is_none_or(|second| !second.is_ascii_uppercase());
    let first = chars.next().map(|c| if is_word { c.to_ascii_lowercase() } else { c });
    let mut text: String = first.into_iter().chain(chars.by_ref().take(300)).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}
