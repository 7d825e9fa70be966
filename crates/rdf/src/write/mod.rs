//! Writes quads as a text of any syntax, in the order of arrival.

mod check;
mod jsonld;
mod prefixes;
mod sink;
mod turtle;
mod xml;

use std::io::Write;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Quad;
use isomorph_model::ntriples;

use self::jsonld::JsonLdWriter;
use self::prefixes::Prefixes;
use self::turtle::TurtleWriter;
use self::xml::XmlWriter;
use crate::Syntax;

pub use sink::TextSink;

/// Number of bytes that are collected before they are written.
const BUFFER: usize = 64 << 10;

/// How a text is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Prefixes and their IRIs, for Turtle, TriG and RDF/XML. Names that a syntax does not allow are ignored.
    pub prefixes: Vec<(String, String)>,
    /// The base to state in Turtle, TriG and RDF/XML. IRIs are written in full nevertheless.
    pub base: Option<String>,
    /// Whether the text must be RDF 1.1: triple terms and texts with a base direction, which RDF has since 1.2, are refused.
    pub rdf_1_1: bool,
}

/// Writes quads one after another.
///
/// Statements about one subject are written together where they come together; nothing is held back, so that any number
/// of quads can be written. N-Triples and N-Quads are canonical line by line, as RDF 1.2 says it.
///
/// ```
/// use isomorph_rdf::{QuadWriter, Syntax, WriteOptions};
/// use isomorph_model::faces::{Object, Quad};
///
/// let options = WriteOptions { prefixes: vec![("ex".into(), "http://example.org/".into())], base: None, rdf_1_1: false };
/// let mut writer = QuadWriter::new(Syntax::Turtle, Vec::new(), &options)?;
/// let (subject, predicate) = ("http://example.org/a", "http://example.org/knows");
/// for object in ["http://example.org/b", "_:c"] {
///     writer.push(&Quad { subject, predicate, object: Object::Term(object), graph: None })?;
/// }
/// let text = String::from_utf8(writer.finish()?)?;
/// assert_eq!(text, "@prefix ex: <http://example.org/> .\n\nex:a ex:knows ex:b , _:c .\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct QuadWriter<W: Write> {
    out: W,
    text: String,
    syntax: Syntax,
    form: Form,
    rdf_1_1: bool,
    quads: u64,
}

enum Form {
    Lines,
    Turtle(TurtleWriter),
    Xml(XmlWriter),
    JsonLd(JsonLdWriter),
}

impl<W: Write> QuadWriter<W> {
    /// Starts a text.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(syntax: Syntax, out: W, options: &WriteOptions) -> Result<Self> {
        let mut text = String::with_capacity(BUFFER + BUFFER / 4);
        let form = match syntax {
            Syntax::NTriples | Syntax::NQuads => Form::Lines,
            Syntax::Turtle | Syntax::TriG => {
                Form::Turtle(TurtleWriter::begin(&mut text, Prefixes::new(options), options.base.as_deref()))
            }
            Syntax::RdfXml => Form::Xml(XmlWriter::begin(&mut text, Prefixes::new(options), options.base.as_deref())),
            Syntax::JsonLd => Form::JsonLd(JsonLdWriter::begin(&mut text)),
        };
        Ok(QuadWriter { out, text, syntax, form, rdf_1_1: options.rdf_1_1, quads: 0 })
    }

    /// Writes a quad.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`] if the syntax cannot express it: a named graph without support for graphs, a triple
    /// term as subject, a label or a predicate that is not a valid name there; or if it must be RDF 1.1 and is not; also if
    /// the text cannot be written.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        if quad.graph.is_some() {
            self.syntax.check_graphs()?;
        }
        check::quad(quad)?;
        if self.rdf_1_1 {
            check::rdf_1_1(quad)?;
        }
        match &mut self.form {
            Form::Lines => {
                ntriples::push_quad(&mut self.text, quad);
                self.text.push('\n');
            }
            Form::Turtle(writer) => writer.push(&mut self.text, quad),
            Form::Xml(writer) => writer.push(&mut self.text, quad)?,
            Form::JsonLd(writer) => writer.push(&mut self.text, quad)?,
        }
        self.quads += 1;
        if self.text.len() >= BUFFER {
            self.out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    /// The output, with everything written so far except the last pieces.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Number of quads that were written.
    pub fn quads(&self) -> u64 {
        self.quads
    }

    /// Ends the text and returns the output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W> {
        match self.form {
            Form::Lines => {}
            Form::Turtle(writer) => writer.finish(&mut self.text),
            Form::Xml(writer) => writer.finish(&mut self.text),
            Form::JsonLd(writer) => writer.finish(&mut self.text),
        }
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl Syntax {
    /// Checks, before a text is written, whether it can have named graphs.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`] if it cannot.
    pub fn check_graphs(self) -> Result<()> {
        if self.has_graphs() {
            return Ok(());
        }
        Err(Error::new(Kind::WouldLose, format!("{self} does not support named graphs"))
            .hint("use N-Quads, TriG or JSON-LD: .nq, .trig or .jsonld"))
    }

    /// The same for a predicate: in RDF/XML it must end in an XML name.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`] if it does not.
    pub fn check_predicate(self, predicate: &str) -> Result<()> {
        if self == Syntax::RdfXml { xml::split(predicate).map(|_| ()) } else { Ok(()) }
    }
}
