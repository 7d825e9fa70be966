//! The six parsers behind one interface.

use std::io;
use std::rc::Rc;

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
use super::corrections::{Mend, misread, undotted};
use super::feed::Pushed;
use super::guard::Guarded;
use super::plain::{PREFIX, Plain, Positions};
use crate::Syntax;

/// A parser over a guarded text.
pub(super) struct Parser<'a> {
    below: Below<'a>,
    mend: Mend,
    /// The base of the text when it was last checked, and whether it has dot segments.
    base: String,
    dotted: bool,
}

/// The parser itself.
enum Below<'a> {
    NTriples(Pushed<'a, LowLevelNTriplesParser>),
    NQuads(Pushed<'a, LowLevelNQuadsParser>),
    Turtle(Pushed<'a, LowLevelTurtleParser>),
    TriG(Pushed<'a, LowLevelTriGParser>),
    RdfXml(Box<ReaderRdfXmlParser<Plain<Guarded<'a>>>>, Rc<Positions>),
    JsonLd(Box<ReaderJsonLdParser<Guarded<'a>>>),
}

/// The end of the parser's message for a value of `rdf:bagID`, which it gets for each (see [`super::plain`]), and ours.
const OF_BAG: &str = " is not a valid rdf:bagID value";
const NO_BAG: &str = "rdf:bagID is not part of RDF/XML since 2004: state the members of a bag as rdf:li or rdf:_1";

/// The position of an error, as far as the parser knows.
pub(super) enum Where {
    /// At this place.
    At(Place),
    /// In the token that ends before this byte.
    Before(u64),
    /// At the current position.
    Here,
}

/// The reason why there is no quad.
pub(super) enum Fault {
    /// The text cannot be read further.
    Input(io::Error),
    /// The text is malformed: the reason, and the position.
    Syntax(String, Where),
}

/// Checks whether relative IRIs can be relative to `base`.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if it is not an absolute IRI.
pub fn check_base(base: &str) -> Result<()> {
    oxrdf::NamedNode::new(base).map(drop).map_err(|error| unsound(base, &error))
}

fn unsound(base: &str, error: &oxrdf::IriParseError) -> Error {
    Error::usage(format!("the base {base:?} is not an absolute IRI: {error}")).hint("--base http://example.org/")
}

impl<'a> Parser<'a> {
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the base is not an absolute IRI.
    pub(super) fn new(syntax: Syntax, text: Guarded<'a>, options: &ReadOptions) -> Result<Self> {
        let (base, budget) = (options.base.as_deref(), &options.budget);
        // Also if the syntax has no relative IRIs: such a base makes no sense there either.
        base.map_or(Ok(()), check_base)?;
        let unsound = |error: oxrdf::IriParseError| unsound(options.base.as_deref().unwrap_or_default(), &error);
        let mend = Mend::of(syntax, base);
        let given = mend.base(base);
        let base = given.as_deref();
        let below = match syntax {
            Syntax::NTriples => Below::NTriples(Pushed::new(NTriplesParser::new().low_level(), text, budget)?),
            Syntax::NQuads => Below::NQuads(Pushed::new(NQuadsParser::new().low_level(), text, budget)?),
            Syntax::Turtle => {
                let parser = TurtleParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Below::Turtle(Pushed::new(parser.map_err(unsound)?.low_level(), text, budget)?)
            }
            Syntax::TriG => {
                let parser = TriGParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Below::TriG(Pushed::new(parser.map_err(unsound)?.low_level(), text, budget)?)
            }
            Syntax::RdfXml => {
                let parser = RdfXmlParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                let positions = Rc::default();
                let text = Plain::new(text, &positions, base);
                Below::RdfXml(Box::new(parser.map_err(unsound)?.for_reader(text)), positions)
            }
            Syntax::JsonLd => {
                let parser = JsonLdParser::new();
                let parser = base.map_or_else(|| Ok(parser.clone()), |base| parser.clone().with_base_iri(base));
                Below::JsonLd(Box::new(parser.map_err(unsound)?.for_reader(text)))
            }
        };
        Ok(Parser { below, mend, base: String::new(), dotted: false })
    }

    /// The next quad.
    pub(super) fn next(&mut self) -> Option<Result<Quad, Fault>> {
        let quad = match self.below.next()? {
            Ok(quad) => quad,
            fault => return Some(fault),
        };
        if let Some(base) = self.below.base()
            && base != self.base
        {
            (self.dotted, self.base) = (undotted(base).is_some(), base.to_owned());
        }
        if self.dotted
            && let Some((better, iri)) = misread(&self.base, &quad)
        {
            let base = &self.base;
            let message =
                format!("the base {base:?} has dot segments, and {iri:?} may be relative to it: write {better:?}");
            return Some(Err(Fault::Syntax(message, self.below.here())));
        }
        Some(self.mend.quad(quad).map_err(|message| Fault::Syntax(message, self.below.here())))
    }

    /// The prefixes that are known at the position of the parser.
    pub(super) fn prefixes(&self) -> Vec<(String, String)> {
        let prefixes = self.below.prefixes().into_iter();
        prefixes.filter_map(|(name, iri)| self.mend.iri(&iri).map(|iri| (name, iri))).collect()
    }

    /// The base at the position of the parser, in its original spelling.
    pub(super) fn own_base(&self) -> Option<String> {
        self.below.base().and_then(|base| self.mend.iri(base))
    }

    /// The base at the position of the parser, without dot segments, so that it can be written next to whole IRIs and
    /// read again.
    pub(super) fn base(&self) -> Option<String> {
        let base = self.below.base().and_then(|base| self.mend.iri(base))?;
        Some(undotted(&base).unwrap_or(base))
    }
}

impl Below<'_> {
    /// The position of an error that the parser did not detect.
    fn here(&self) -> Where {
        match self {
            Below::RdfXml(..) | Below::JsonLd(_) => Where::Here,
            // Only the parser knows the line, and it does not report it.
            _ => Where::At(Place::default()),
        }
    }

    fn next(&mut self) -> Option<Result<Quad, Fault>> {
        Some(match self {
            Below::NTriples(parser) => of_turtle(parser.next()?),
            Below::NQuads(parser) => of_turtle(parser.next()?),
            Below::Turtle(parser) => of_turtle(parser.next()?),
            Below::TriG(parser) => of_turtle(parser.next()?),
            Below::RdfXml(parser, positions) => {
                let next = parser.next()?;
                next.map(|triple| triple.in_graph(GraphName::DefaultGraph)).map_err(|error| match error {
                    RdfXmlParseError::Io(error) => Fault::Input(error),
                    RdfXmlParseError::Syntax(error) => {
                        let end = positions.read(parser.buffer_position());
                        let message = match error.to_string() {
                            own if own.ends_with(OF_BAG) => NO_BAG.to_owned(),
                            own => sentence(&own),
                        };
                        Fault::Syntax(message, Where::Before(end))
                    }
                })
            }
            Below::JsonLd(parser) => parser.next()?.map_err(|error| match error {
                JsonLdParseError::Io(error) => Fault::Input(error),
                JsonLdParseError::Syntax(error) => {
                    let place = error.location().map(|place| place.start);
                    let place = place.map(|start| Where::At(at(start.line, start.column, start.offset)));
                    let message = error.to_string();
                    let message = match message.split_once(": ") {
                        // The place is reported separately.
                        Some((before, message)) if before.starts_with("Parser error at line") => message,
                        _ if message.contains("LoadDocumentCallback") => {
                            "a context is given by URL, and contexts are not fetched"
                        }
                        _ => &message,
                    };
                    Fault::Syntax(sentence(message), place.unwrap_or(Where::Here))
                }
            }),
        })
    }

    fn prefixes(&self) -> Vec<(String, String)> {
        let owned = |(name, iri): (&str, &str)| (name.to_owned(), iri.to_owned());
        match self {
            Below::NTriples(_) | Below::NQuads(_) => Vec::new(),
            Below::Turtle(parser) => parser.parser.prefixes().map(owned).collect(),
            Below::TriG(parser) => parser.parser.prefixes().map(owned).collect(),
            Below::RdfXml(parser, _) => parser.prefixes().filter(|(name, _)| *name != PREFIX).map(owned).collect(),
            Below::JsonLd(parser) => parser.prefixes().map(owned).collect(),
        }
    }

    fn base(&self) -> Option<&str> {
        match self {
            Below::NTriples(_) | Below::NQuads(_) => None,
            Below::Turtle(parser) => parser.parser.base_iri(),
            Below::TriG(parser) => parser.parser.base_iri(),
            Below::RdfXml(parser, _) => parser.base_iri(),
            Below::JsonLd(parser) => parser.base_iri(),
        }
    }
}

fn of_turtle(next: io::Result<Result<Quad, TurtleSyntaxError>>) -> Result<Quad, Fault> {
    next.map_err(Fault::Input)?.map_err(|error| {
        let start = error.location().start;
        Fault::Syntax(sentence(error.message()), Where::At(at(start.line, start.column, start.offset)))
    })
}

/// A place from numbers that start at 0.
fn at(line: u64, column: u64, offset: u64) -> Place {
    Place::default().line(line + 1).offset(offset).in_field(format!("column {}", column + 1))
}

/// A message in our style: one line, lower case, no full stop, limited length.
fn sentence(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    let mut chars = line.chars();
    // XML and IRI are unchanged.
    let is_word = line.chars().nth(1).is_none_or(|second| !second.is_ascii_uppercase());
    let first = chars.next().map(|c| if is_word { c.to_ascii_lowercase() } else { c });
    let mut text: String = first.into_iter().chain(chars.by_ref().take(300)).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}
