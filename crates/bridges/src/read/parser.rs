//! The six parsers as one.

use std::io;

use isomorph_error::{Error, Place, Result};
use oxjsonld::{JsonLdParseError, JsonLdParser, ReaderJsonLdParser};
use oxrdf::{GraphName, Quad};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser, ReaderRdfXmlParser};
use oxttl::nquads::ReaderNQuadsParser;
use oxttl::ntriples::ReaderNTriplesParser;
use oxttl::trig::ReaderTriGParser;
use oxttl::turtle::ReaderTurtleParser;
use oxttl::{NQuadsParser, NTriplesParser, TriGParser, TurtleParseError, TurtleParser};

use super::guard::Guarded;
use super::literals::{Literals, Shift};
use crate::Syntax;

/// A parser over a guarded text.
pub(super) enum Parser<'a> {
    NTriples(ReaderNTriplesParser<Guarded<'a>>),
    NQuads(ReaderNQuadsParser<Guarded<'a>>),
    Turtle(ReaderTurtleParser<Guarded<'a>>),
    TriG(ReaderTriGParser<Guarded<'a>>),
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
    pub(super) fn new(syntax: Syntax, text: Guarded<'a>, base: Option<&str>) -> Result<Self> {
        // Also where the syntax has no relative IRIs: what is asked for makes no sense there either.
        base.map_or(Ok(()), check_base)?;
        let unsound = |error: oxrdf::IriParseError| unsound(base.unwrap_or_default(), &error);
        Ok(match syntax {
            Syntax::NTriples => Parser::NTriples(NTriplesParser::new().for_reader(text)),
            Syntax::NQuads => Parser::NQuads(NQuadsParser::new().for_reader(text)),
            Syntax::Turtle => {
                let parser = TurtleParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Parser::Turtle(parser.map_err(unsound)?.for_reader(text))
            }
            Syntax::TriG => {
                let parser = TriGParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Parser::TriG(parser.map_err(unsound)?.for_reader(text))
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
        let in_default = |triple: oxrdf::Triple| triple.in_graph(GraphName::DefaultGraph);
        Some(match self {
            Parser::NTriples(parser) => parser.next()?.map(in_default).map_err(of_turtle),
            Parser::NQuads(parser) => parser.next()?.map_err(of_turtle),
            Parser::Turtle(parser) => parser.next()?.map(in_default).map_err(of_turtle),
            Parser::TriG(parser) => parser.next()?.map_err(of_turtle),
            Parser::RdfXml(parser, shift) => {
                let next = parser.next()?;
                next.map(in_default).map_err(|error| match error {
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
            Parser::Turtle(parser) => parser.prefixes().map(owned).collect(),
            Parser::TriG(parser) => parser.prefixes().map(owned).collect(),
            Parser::RdfXml(parser, _) => parser.prefixes().map(owned).collect(),
            Parser::JsonLd(parser) => parser.prefixes().map(owned).collect(),
        }
    }

    /// The base where the parser stands.
    pub(super) fn base(&self) -> Option<String> {
        let base = match self {
            Parser::NTriples(_) | Parser::NQuads(_) => None,
            Parser::Turtle(parser) => parser.base_iri(),
            Parser::TriG(parser) => parser.base_iri(),
            Parser::RdfXml(parser, _) => parser.base_iri(),
            Parser::JsonLd(parser) => parser.base_iri(),
        };
        base.map(str::to_owned)
    }
}

fn of_turtle(error: TurtleParseError) -> Fault {
    match error {
        TurtleParseError::Io(error) => Fault::Input(error),
        TurtleParseError::Syntax(error) => {
            let start = error.location().start;
            Fault::Syntax(sentence(error.message()), Where::At(at(start.line, start.column, start.offset)))
        }
    }
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
