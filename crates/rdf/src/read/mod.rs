//! Reading a text of any syntax as a stream of quads.

mod corrections;
mod feed;
mod guard;
mod labels;
mod lenient;
mod literals;
mod parser;
mod remaining;
mod stream;
mod terms;
mod version;

use std::cell::RefCell;
use std::io::{Cursor, Read};

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::faces::Quad;
use isomorph_storage::{Blob, Budget, Location};
use isomorph_tables::fenced;

pub(crate) use self::guard::LONGEST_STRING;
use self::guard::{Guarded, Watch};
use self::labels::{Labels, Seen};
pub use self::parser::check_base;
use self::parser::{Fault, Parser, Where};
pub use self::remaining::Piece;
pub(crate) use self::remaining::changed;
pub use self::stream::read_stream;
use self::terms::Terms;
use self::version::Unversioned;
use crate::packing::Packing;
use crate::{Syntax, lines, rules};

/// Bytes of a file that are looked at to tell its syntax.
const LOOK: u64 = 64 << 10;

/// A byte order mark, which is no part of the text behind it (Unicode, section 23.8).
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Findings of each rule that are kept when broken statements are skipped.
const KEPT: usize = 8;

/// How a text is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// What relative IRIs are relative to, where the text does not say it itself.
    pub base: Option<String>,
    /// Leave out what is broken, and count it: lines; statements and directives, with what depends on these; of RDF/XML elements inside
    /// `rdf:RDF`; of JSON-LD members of the array that is the text or its `@graph`. A text of these two that is no such thing, or is not
    /// well-formed, ends at the first mistake all the same; so does one of Turtle or TriG where nothing tells where the broken statement ends.
    /// The error says how much was read before.
    pub lenient: bool,
    /// Memory for labels of blank nodes; a text of JSON-LD may be as long as a quarter of it, and read leniently an element of RDF/XML
    /// or a statement of Turtle or TriG as long as a sixteenth.
    pub budget: Budget,
    /// What becomes of nodes without a label.
    pub unlabelled: Unlabelled,
}

/// What becomes of blank nodes that have no label in the text: `[]` in Turtle, objects without `@id` in JSON-LD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Unlabelled {
    /// They are called `anon0`, `anon1` and so on.
    #[default]
    Numbered,
    /// They are called by this and a number, so that they are no node of anything else. Whoever gives it sees to it that nothing
    /// else begins so; labels of the text stay as they are.
    Called(String),
    /// They are an error: what is read names nodes of something else, and a node without a label is none of them.
    Refused,
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Quads that were handed over, equal ones each time.
    pub quads: u64,
    /// Mistakes that were skipped.
    pub skipped: u64,
    /// Prefixes of the text and what they stand for, in the order of their names.
    pub prefixes: Vec<(String, String)>,
    /// What relative IRIs at the end of the text are relative to.
    pub base: Option<String>,
    /// What was skipped, as [`rules::SKIPPED`]: the first places.
    pub findings: Findings,
}

/// Takes quads.
pub type Take<'t> = dyn FnMut(Quad<'_>) -> Result<()> + 't;

/// A file with a text of RDF.
///
/// ```no_run
/// use isomorph_rdf::{ReadOptions, Text};
/// use isomorph_storage::Location;
///
/// let text = Text::open(&Location::parse("people.ttl.gz")?, None)?;
/// let reading = text.read(&ReadOptions::default(), &mut |quad| {
///     println!("{} {}", quad.subject, quad.predicate);
///     Ok(())
/// })?;
/// println!("{} quads of {}", reading.quads, text.syntax());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Text {
    blob: Blob,
    syntax: Syntax,
    packing: Packing,
}

impl Text {
    /// Opens a file. Without a `syntax` its name tells it, or its first bytes.
    ///
    /// # Errors
    /// When there is no file, or nothing tells the syntax.
    pub fn open(location: &Location, syntax: Option<Syntax>) -> Result<Text> {
        Text::open_as(location, syntax, None)
    }

    /// The same of a file whose name does not tell how it is packed.
    ///
    /// # Errors
    /// As [`Text::open`].
    pub fn open_as(location: &Location, syntax: Option<Syntax>, packing: Option<Packing>) -> Result<Text> {
        let blob = Blob::open(location)?;
        let packing = packing.map_or_else(|| packing_of(&blob), Ok)?;
        let syntax = match syntax.or_else(|| Syntax::of_name(blob.name())) {
            Some(syntax) => syntax,
            None => Syntax::of_bytes(&begin(&blob, packing)?).ok_or_else(|| {
                untold("neither its name nor its beginning tells which syntax of RDF this is").at(blob.place())
            })?,
        };
        Ok(Text { blob, syntax, packing })
    }

    /// Its syntax.
    pub fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// How it is packed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The file.
    pub fn blob(&self) -> &Blob {
        &self.blob
    }

    /// Reads everything and hands it over, quad by quad, in the order of the text.
    ///
    /// # Errors
    /// [`rules::SYNTAX`] with line and column where the text is broken, [`rules::LIMIT`] where it is too much,
    /// [`isomorph_error::Kind::Conflict`] when the file changed meanwhile, and the errors of `take`.
    pub fn read(&self, options: &ReadOptions, take: &mut Take<'_>) -> Result<Reading> {
        self.read_by(options, |input, place| match lines::is_of_lines(self.syntax) {
            true => {
                let (mut taker, part) = (take, lines::Part::all(place));
                let read = lines::read_here(
                    input,
                    self.syntax,
                    options,
                    &part,
                    &mut taker,
                    &|take, quad| take(quad),
                    &|_, _| Ok(()),
                );
                read.map(|(reading, _)| reading)
            }
            false => read_of(input, self.syntax, options, place, take),
        })
    }

    /// Reads everything and hands it to `takers`: each has a thread of its own where the syntax is one of lines and the budget has
    /// room, and gets parts of the text that are left to chance, each part in its order. Else the first taker gets everything.
    ///
    /// # Errors
    /// As [`Text::read`]; of several mistakes the first in the text is told.
    pub fn read_shared<T: Send>(
        &self,
        options: &ReadOptions,
        takers: &mut [T],
        take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
    ) -> Result<Reading> {
        self.read_pieces(options, &[], takers, take, &|_, _| Ok(()))
    }

    /// A mistake with a nearer place: the parser of JSON-LD tells none of what is no mistake of JSON itself. The text is read once more,
    /// piece by piece, up to the one that is wrong.
    fn nearer(&self, error: Error, options: &ReadOptions) -> Error {
        let is_far = error.broken_rule() == Some(&rules::SYNTAX) && error.place().field.is_none();
        if self.syntax != Syntax::JsonLd || !is_far || options.lenient {
            return error;
        }
        let options = ReadOptions { lenient: true, ..options.clone() };
        let reading = self
            .packing
            .reader(&self.blob)
            .and_then(|mut input| read_of(&mut input, self.syntax, &options, &Place::default(), &mut |_| Ok(())));
        // A second reading that fails tells nothing more: the first error stands.
        let findings = reading.map(|reading| reading.findings).unwrap_or_default();
        match findings.by_rule().flat_map(|(_, kept)| kept).next() {
            Some(first) => Error::broken(&rules::SYNTAX, first.message.clone()).at(first.place.clone()),
            None => error,
        }
    }

    fn read_by(
        &self,
        options: &ReadOptions,
        read: impl FnOnce(&mut dyn Read, &Place) -> Result<Reading>,
    ) -> Result<Reading> {
        let mut input = self.packing.reader(&self.blob)?;
        let place = self.blob.place();
        let reading = read(&mut input, &place).map_err(|error| self.nearer(error, options).at(place))?;
        self.blob.check_unchanged()?;
        Ok(reading)
    }
}

/// Nothing tells a syntax.
fn untold(message: &str) -> Error {
    Error::unsupported(message).hint("--syntax nt|nq|ttl|trig|rdf|jsonld")
}

/// Whether a text of RDF is at `location`: as its name says, or its first bytes.
///
/// # Errors
/// When there is nothing, or it cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    if location.scheme().has_listing() && isomorph_storage::Root::open(location).is_ok() {
        return Ok(false);
    }
    let blob = Blob::open(location)?;
    if Syntax::of_name(blob.name()).is_some() {
        return Ok(true);
    }
    let packing = packing_of(&blob)?;
    // What cannot be unpacked is something else.
    Ok(begin(&blob, packing).is_ok_and(|begin| Syntax::of_bytes(&begin).is_some()))
}

/// How a file is packed: as its name says, or else its first bytes, with which no text of any syntax begins.
fn packing_of(blob: &Blob) -> Result<Packing> {
    match Packing::of_name(blob.name()) {
        Packing::None => Ok(Packing::of_bytes(&blob.read(0..blob.size().min(4))?)),
        packing => Ok(packing),
    }
}

fn begin(blob: &Blob, packing: Packing) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = packing.reader(blob)?.take(LOOK).read_to_end(&mut bytes);
    read.map_err(|error| Error::from(error).at(blob.place()))?;
    Ok(bytes)
}

/// Reads a text from its first byte to its last and hands it over, quad by quad.
///
/// Labels of blank nodes are kept. Nodes without a label are called `anon0`, `anon1` and so on as they come, also where
/// the text has such labels: then these get a dash.
///
/// # Errors
/// As [`Text::read`].
pub fn read(input: &mut dyn Read, syntax: Syntax, options: &ReadOptions, take: &mut Take<'_>) -> Result<Reading> {
    read_of(input, syntax, options, &Place::default(), take)
}

/// The same of a text at `file`.
fn read_of(
    input: &mut dyn Read,
    syntax: Syntax,
    options: &ReadOptions,
    file: &Place,
    take: &mut Take<'_>,
) -> Result<Reading> {
    let mut first = Vec::with_capacity(MARK.len());
    Read::take(&mut *input, MARK.len() as u64).read_to_end(&mut first)?;
    let before = if first == MARK { first.len() as u64 } else { 0 };
    first.drain(..if before > 0 { MARK.len() } else { 0 });
    let mut input = Cursor::new(first).chain(input);
    match options.lenient {
        true if lines::is_of_lines(syntax) => {
            let (mut taker, part) = (take, lines::Part { file, lines: 0, offset: before });
            let all = |_: &mut &mut Take<'_>, _| Ok(());
            let read = lines::read_here(&mut input, syntax, options, &part, &mut taker, &|take, quad| take(quad), &all);
            read.map(|(reading, _)| reading)
        }
        true => lenient::read(&mut input, before, syntax, options, file, take),
        false => read_through(&mut input, before, syntax, options, file, take),
    }
}

/// Reads a line of a text of N-Triples or N-Quads that is not as lines mostly are.
pub(crate) fn read_line(line: &[u8], syntax: Syntax, options: &ReadOptions, take: &mut Take<'_>) -> Result<Reading> {
    read_through(&mut &*line, 0, syntax, options, &Place::default(), take)
}

/// Where leniency ends.
fn end_of(syntax: Syntax, read: u64) -> String {
    format!("nothing behind this mistake in {syntax} can be read, leniently neither; statements before it: {read}")
}

/// Reads a text by one parser from its beginning, which is `before` bytes behind that of the file, to its end.
fn read_through(
    input: &mut dyn Read,
    before: u64,
    syntax: Syntax,
    options: &ReadOptions,
    file: &Place,
    take: &mut Take<'_>,
) -> Result<Reading> {
    let mut watch = Watch { before, ..Watch::default() };
    if !matches!(syntax, Syntax::NTriples | Syntax::NQuads) {
        watch.seen = Some(RefCell::new(Seen::new(&options.budget)?));
    }
    let mut of_lines;
    let input: &mut dyn Read = match lines::is_of_lines(syntax) {
        true => {
            of_lines = Unversioned::new(input);
            &mut of_lines
        }
        false => input,
    };
    let guarded = Guarded::new(input, syntax, &watch, options.budget.limit() / 4);
    let mut parser = Parser::new(syntax, guarded, options)?;
    let mut terms = Terms::new(Labels::new(options)?, &watch);
    let mut reading = Reading { findings: Findings::keeping(KEPT), ..Reading::default() };
    let mut first = Vec::new();
    loop {
        let quad = match fenced(&rules::SYNTAX, || Ok(parser.next()))? {
            None => break,
            Some(Ok(quad)) => quad,
            Some(Err(fault)) => {
                let (message, place) = match fault {
                    Fault::Input(error) => {
                        return Err(watch.failed.take().unwrap_or_else(|| Error::from(error)));
                    }
                    Fault::Syntax(message, Where::At(place)) => (message, watch.in_file(place)),
                    Fault::Syntax(message, Where::Before(end)) => (message, watch.place(Some(end))),
                    Fault::Syntax(message, Where::Here) => (message, watch.place(None)),
                };
                if !options.lenient {
                    return Err(Error::broken(&rules::SYNTAX, message).at(place));
                }
                if !syntax.recovers() {
                    return Err(Error::broken(&rules::SYNTAX, message).at(place).hint(end_of(syntax, reading.quads)));
                }
                reading.skipped += 1;
                reading.findings.push(&rules::SKIPPED, message, Place { file: file.file.clone(), ..place });
                continue;
            }
        };
        if reading.quads == 0 && syntax.has_prefixes() {
            first = parser.prefixes();
        }
        reading.quads += 1;
        terms.with(&quad, take)?;
    }
    reading.base = parser.base();
    // XML forgets prefixes at the end of the element that has them.
    keep_prefixes(&mut reading.prefixes, parser.prefixes(), first);
    Ok(reading)
}

/// Adds prefixes, each name once.
fn keep_prefixes(kept: &mut Vec<(String, String)>, more: Vec<(String, String)>, others: Vec<(String, String)>) {
    kept.extend(more);
    kept.extend(others);
    kept.sort();
    kept.dedup_by(|next, before| next.0 == before.0);
}
