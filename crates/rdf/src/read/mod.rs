//! Reading a text of any syntax as a stream of quads.

mod corrections;
mod feed;
mod guard;
mod labels;
mod lenient;
mod parser;
mod plain;
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

/// Number of bytes of a file that are examined to determine its syntax.
const LOOK: u64 = 64 << 10;

/// A byte order mark, which is not part of the text after it (Unicode, section 23.8).
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Number of findings for each rule that are kept when malformed statements are skipped.
const KEPT: usize = 8;

/// How a text is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The base of relative IRIs, if the text does not set it.
    pub base: Option<String>,
    /// Skip malformed parts, and count them: lines; statements and directives, with those that depend on them; in
    /// RDF/XML elements inside `rdf:RDF`; in JSON-LD members of the array that is the text or its `@graph`. A text of
    /// the last two without this structure, or one that is not well-formed, still ends at the first error; so does
    /// Turtle or TriG if the end of the malformed statement is unknown. The error states how much was read before.
    pub lenient: bool,
    /// Memory for labels of blank nodes. A text of JSON-LD can be as long as a quarter of it; with lenient reading, an
    /// element of RDF/XML or a statement of Turtle or TriG as long as a sixteenth.
    pub budget: Budget,
    /// What to do with nodes without a label.
    pub unlabelled: Unlabelled,
}

/// What to do with blank nodes that have no label in the text: `[]` in Turtle, objects without `@id` in JSON-LD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Unlabelled {
    /// Label them `anon0`, `anon1` and so on.
    #[default]
    Numbered,
    /// Label them with this prefix and a number, so that they are not nodes of anything else. The caller ensures that
    /// no other label has this prefix; labels of the text are unchanged.
    Called(String),
    /// Refuse them: the text refers to existing nodes, and a node without a label cannot be one of them.
    Refused,
}

/// The result of reading.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Number of quads that were passed on, including duplicates.
    pub quads: u64,
    /// Number of errors that were skipped.
    pub skipped: u64,
    /// Prefixes of the text and their IRIs, sorted by name.
    pub prefixes: Vec<(String, String)>,
    /// The base of relative IRIs at the end of the text.
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
    /// Opens a file. Without a `syntax`, its name or its first bytes determine it.
    ///
    /// # Errors
    /// If the file does not exist, or the syntax cannot be determined.
    pub fn open(location: &Location, syntax: Option<Syntax>) -> Result<Text> {
        Text::open_as(location, syntax, None)
    }

    /// The same for a file whose name does not show its compression.
    ///
    /// # Errors
    /// As [`Text::open`].
    pub fn open_as(location: &Location, syntax: Option<Syntax>, packing: Option<Packing>) -> Result<Text> {
        let blob = Blob::open(location)?;
        let packing = packing.map_or_else(|| packing_of(&blob), Ok)?;
        let syntax = match syntax.or_else(|| Syntax::of_name(blob.name())) {
            Some(syntax) => syntax,
            None => Syntax::of_bytes(&begin(&blob, packing)?).ok_or_else(|| {
                untold("the RDF syntax cannot be determined from the name or the beginning").at(blob.place())
            })?,
        };
        Ok(Text { blob, syntax, packing })
    }

    /// Its syntax.
    pub fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// Its compression.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The file.
    pub fn blob(&self) -> &Blob {
        &self.blob
    }

    /// Reads the whole text and passes it on, quad by quad, in the order of the text.
    ///
    /// # Errors
    /// Returns [`rules::SYNTAX`] with line and column if the text is malformed, [`rules::LIMIT`] if it exceeds a limit,
    /// [`isomorph_error::Kind::Conflict`] if the file changes during reading, and the errors of `take`.
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

    /// Reads the whole text and passes it to `takers`: if the syntax is line-based and the budget is large enough, each
    /// runs on a separate thread and gets parts of the text in an arbitrary distribution, each part in order. Otherwise
    /// the first taker gets everything.
    ///
    /// # Errors
    /// As [`Text::read`]; of several errors, the first in the text is returned.
    pub fn read_shared<T: Send>(
        &self,
        options: &ReadOptions,
        takers: &mut [T],
        take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
    ) -> Result<Reading> {
        self.read_pieces(options, &[], takers, take, &|_, _| Ok(()))
    }

    /// Adds a more precise place to an error: the parser of JSON-LD reports places only for errors of JSON itself. The
    /// text is read again, piece by piece, up to the malformed one.
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
        // If the second reading fails, it adds nothing: the first error is kept.
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

/// The error if the syntax cannot be determined.
fn untold(message: &str) -> Error {
    Error::unsupported(message).hint("--syntax nt|nq|ttl|trig|rdf|jsonld")
}

/// Whether `location` is an RDF text, judged by its name or its first bytes.
///
/// # Errors
/// If it does not exist, or cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    if location.scheme().has_listing() && isomorph_storage::Root::open(location).is_ok() {
        return Ok(false);
    }
    let blob = Blob::open(location)?;
    if Syntax::of_name(blob.name()).is_some() {
        return Ok(true);
    }
    let packing = packing_of(&blob)?;
    // Data that cannot be decompressed is something else.
    Ok(begin(&blob, packing).is_ok_and(|begin| Syntax::of_bytes(&begin).is_some()))
}

/// The compression of a file, from its name or its first bytes, with which no text of any syntax starts.
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

/// Reads a text from its first to its last byte and passes it on, quad by quad.
///
/// Labels of blank nodes are kept. Nodes without a label are called `anon0`, `anon1` and so on in the order of the
/// text; if the text itself has such labels, these get a dash.
///
/// # Errors
/// As [`Text::read`].
pub fn read(input: &mut dyn Read, syntax: Syntax, options: &ReadOptions, take: &mut Take<'_>) -> Result<Reading> {
    read_of(input, syntax, options, &Place::default(), take)
}

/// The same for a text at `file`.
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

/// Reads a line of a text of N-Triples or N-Quads that is not in the common form.
pub(crate) fn read_line(line: &[u8], syntax: Syntax, options: &ReadOptions, take: &mut Take<'_>) -> Result<Reading> {
    read_through(&mut &*line, 0, syntax, options, &Place::default(), take)
}

/// The message where lenient reading ends.
fn end_of(syntax: Syntax, read: u64) -> String {
    format!("reading {syntax} cannot continue after this error, not even leniently; statements before it: {read}")
}

/// Reads a text by one parser from its beginning, which is `before` bytes after that of the file, to its end.
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
    // XML discards prefixes at the end of the element that declares them.
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
