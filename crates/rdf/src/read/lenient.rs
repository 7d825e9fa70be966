//! Lenient reading of syntaxes that are no syntaxes of lines.
//!
//! The text is cut where the grammar is sure to begin anew: RDF/XML between the elements inside `rdf:RDF`, JSON-LD between the
//! members of the array that is the text or its `@graph`, Turtle and TriG between statements. Each piece is read in the frame of the text,
//! which has the prefixes, entities and contexts, or the graph; what a broken piece says is left out as a whole, because a part of it may say
//! something else than was meant. Many pieces are read at once, and one by one only where one of them is broken. The parsers of Turtle
//! and TriG go on behind a mistake themselves, but at the next full stop, wherever that stands, and without the graph.

mod json;
mod known;
mod seen;
mod source;
mod token;
mod turtle;
mod xml;

use std::cell::RefCell;
use std::io::Read;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::Reservation;
use isomorph_tables::fenced;

use self::known::{Known, Says};
use super::guard::{Guarded, Start, Watch};
use super::labels::{Labels, Seen};
use super::parser::{Fault, Parser, Where};
use super::terms::Terms;
use super::{KEPT, ReadOptions, Reading, Take, keep_prefixes};
use crate::{Syntax, rules};

/// Bytes of pieces that are read at once.
const AT_ONCE: u64 = 128 << 10;

/// Memory for a piece, its quads included, by its length.
const EXPANSION: u64 = 8;

/// A part of a text that can be read in its frame.
struct Piece {
    text: Vec<u8>,
    start: Start,
    says: Says,
    doubt: Option<Doubt>,
}

/// Why it is not known where a piece ends, if it is broken.
struct Doubt {
    what: &'static str,
    place: Place,
}

impl Piece {
    /// One that others do not depend on.
    fn new(text: Vec<u8>, start: Start) -> Self {
        Piece { text, start, says: Says::default(), doubt: None }
    }
}

/// What stands around all pieces.
#[derive(Default)]
struct Frame {
    before: Vec<u8>,
    between: &'static [u8],
    after: Vec<u8>,
}

/// How a text was cut.
enum Cut<'a> {
    /// It has a frame; pieces follow, or have followed.
    Framed,
    /// It is one piece: here it is from its beginning.
    Whole(Box<dyn Read + 'a>),
}

/// Reads a text that begins `before` bytes behind the beginning of its file; hands over what its sound pieces say.
///
/// # Errors
/// Where nobody can say where the next piece begins, because the text is not well-formed, with what was read before; and as
/// [`super::read`].
pub(super) fn read(
    input: &mut dyn Read,
    before: u64,
    syntax: Syntax,
    options: &ReadOptions,
    file: &Place,
    take: &mut Take<'_>,
) -> Result<Reading> {
    let watch = Watch { seen: Some(RefCell::new(Seen::new(&options.budget)?)), before, ..Watch::default() };
    let mut pieces = Pieces {
        syntax,
        options,
        file,
        before,
        frame: None,
        known: syntax.recovers().then(|| Known { base: options.base.clone(), ..Known::default() }),
        skipped_last: false,
        first: None,
        waiting: Vec::new(),
        held: options.budget.reserve(0)?,
        terms: Terms::new(Labels::new(options)?, &watch),
        reading: Reading { findings: Findings::keeping(KEPT), ..Reading::default() },
        take,
    };
    let memory = options.budget.limit();
    let cut = match syntax {
        Syntax::JsonLd => json::cut(input, &watch, memory / 4, &mut pieces),
        Syntax::Turtle | Syntax::TriG => turtle::cut(input, &watch, memory / (2 * EXPANSION), &mut pieces),
        _ => xml::cut(input, &watch, memory / (2 * EXPANSION), &mut pieces),
    };
    // What waits stands before the place where it could not be cut.
    let cut = pieces.read_waiting().and(cut).map_err(|error| {
        let read = pieces.reading.quads;
        match error.broken_rule() {
            Some(rule) if *rule == rules::SYNTAX => error.hint(super::end_of(syntax, read)),
            _ => error,
        }
    })?;
    match cut {
        Cut::Framed => {
            let known = pieces.known.map(|known| known.prefixes).unwrap_or_default();
            keep_prefixes(&mut pieces.reading.prefixes, known, pieces.first.unwrap_or_default());
            Ok(pieces.reading)
        }
        Cut::Whole(mut whole) => {
            let take = pieces.take;
            super::read_through(&mut whole, before, syntax, options, file, take)
        }
    }
}

/// Pieces that are read.
struct Pieces<'a, 't> {
    syntax: Syntax,
    options: &'a ReadOptions,
    file: &'a Place,
    /// Bytes of the file before the text.
    before: u64,
    frame: Option<Frame>,
    /// What the pieces depend on that stand before them, in syntaxes where these may say it.
    known: Option<Known>,
    /// Whether the last piece was left out.
    skipped_last: bool,
    /// Prefixes where the first quad stands.
    first: Option<Vec<(String, String)>>,
    /// Pieces that will be read at once, and memory for them.
    waiting: Vec<Piece>,
    held: Reservation,
    terms: Terms<'a>,
    reading: Reading,
    take: &'a mut Take<'t>,
}

impl Pieces<'_, '_> {
    /// Tells what stands around the pieces. It has to be sound by itself.
    fn begin(&mut self, frame: Frame) -> Result<()> {
        self.frame = Some(frame);
        match self.attempt(&[])? {
            None => Ok(()),
            Some((message, place)) => Err(Error::broken(&rules::SYNTAX, message).at(place)),
        }
    }

    /// Tells what stands around the next pieces.
    fn frame(&mut self, frame: Frame) -> Result<()> {
        self.read_waiting()?;
        self.frame = Some(frame);
        Ok(())
    }

    /// Reads what stands in front of a graph; whether it is sound.
    fn header(&mut self, piece: Piece) -> Result<bool> {
        self.frame(Frame { after: b"{}".to_vec(), ..Frame::default() })?;
        let broken = self.attempt(std::slice::from_ref(&piece))?;
        let is_sound = broken.is_none();
        broken.map_or(Ok(()), |mistake| self.skip(&piece, mistake))?;
        Ok(is_sound)
    }

    /// Adds the next piece.
    fn push(&mut self, piece: Piece) -> Result<()> {
        self.held.grow(piece.text.len() as u64 * EXPANSION)?;
        self.waiting.push(piece);
        if self.held.bytes() >= AT_ONCE * EXPANSION { self.read_waiting() } else { Ok(()) }
    }

    fn read_waiting(&mut self) -> Result<()> {
        let pieces = std::mem::take(&mut self.waiting);
        let broken = if pieces.is_empty() { None } else { self.attempt(&pieces)? };
        match (broken, pieces.as_slice()) {
            (None, _) => {}
            (Some(mistake), [piece]) => self.skip(piece, mistake)?,
            (Some(_), several) => {
                for piece in several {
                    if let Some(mistake) = self.attempt(std::slice::from_ref(piece))? {
                        self.skip(piece, mistake)?;
                    }
                }
            }
        }
        self.held.shrink(self.held.bytes());
        Ok(())
    }

    /// Leaves out a broken piece, and counts it.
    fn skip(&mut self, piece: &Piece, (message, place): (String, Place)) -> Result<()> {
        if let Some(doubt) = &piece.doubt {
            return Err(Error::broken(&rules::SYNTAX, doubt.what).at(doubt.place.clone()));
        }
        self.skipped_last = true;
        self.reading.skipped += 1;
        self.reading.findings.push(&rules::SKIPPED, message, Place { file: self.file.file.clone(), ..place });
        self.forget(&piece.says);
        Ok(())
    }

    /// What a piece may have said that is left out is not known any more.
    fn forget(&mut self, says: &Says) {
        if let Some(known) = &mut self.known {
            known.forget(says);
            if known.base.is_none() {
                self.reading.base = None;
            }
        }
    }

    /// Reads pieces in their frame, and hands over what they say if they are sound. Else it is the first mistake that is returned, with
    /// its place in the text if there is one piece.
    fn attempt(&mut self, pieces: &[Piece]) -> Result<Option<(String, Place)>> {
        let Some(frame) = &self.frame else { return Ok(None) };
        let texts: Vec<&[u8]> = pieces.iter().map(|piece| piece.text.as_slice()).collect();
        let known = self.known.as_ref();
        let directives = known.map(|known| known.text.as_slice()).unwrap_or_default();
        let text = [directives, &frame.before, &texts.join(frame.between), &frame.after].concat();
        let before = directives.len() + frame.before.len();
        let based = known.map(|known| ReadOptions { base: known.base.clone(), ..self.options.clone() });
        let watch = Watch { before: self.before, ..Watch::default() };
        let mut input = text.as_slice();
        let guarded = Guarded::new(&mut input, self.syntax, &watch, u64::MAX);
        let mut parser = Parser::new(self.syntax, guarded, based.as_ref().unwrap_or(self.options))?;
        let base = parser.own_base();
        let (mut quads, mut first) = (Vec::new(), Vec::new());
        loop {
            match fenced(&rules::SYNTAX, || Ok(parser.next()))? {
                None => break,
                Some(Ok(quad)) => {
                    if quads.is_empty() {
                        first = parser.prefixes();
                    }
                    quads.push(quad);
                }
                Some(Err(Fault::Input(error))) => {
                    let error = watch.failed.take().unwrap_or_else(|| Error::from(error));
                    if error.broken_rule() != Some(&rules::SYNTAX) {
                        return Err(error);
                    }
                    let place = match (pieces, error.place().offset) {
                        ([piece], Some(at)) => place_in(piece, before, at.saturating_sub(self.before) + 1),
                        ([piece], None) => piece.start.place(),
                        ([], _) => error.place().clone(),
                        _ => Place::default(),
                    };
                    return Ok(Some((error.message().to_owned(), place)));
                }
                Some(Err(Fault::Syntax(message, place))) => {
                    let place = match (pieces, place) {
                        ([piece], Where::Before(end)) => place_in(piece, before, end),
                        ([piece], Where::At(Place { offset: Some(at), .. })) if self.syntax.recovers() => {
                            place_in(piece, before, at + 1)
                        }
                        ([piece], _) => piece.start.place(),
                        ([], Where::At(place)) => watch.in_file(place),
                        ([], Where::Before(end)) => watch.place(Some(end)),
                        _ => Place::default(),
                    };
                    return Ok(Some((message, place)));
                }
            }
        }
        self.skipped_last = false;
        self.reading.base = parser.base();
        match &mut self.known {
            Some(known) => {
                let now = parser.own_base();
                let base = if now == base { known.base.take() } else { now };
                known.learn(parser.prefixes(), base);
                if self.first.is_none() && !quads.is_empty() {
                    self.first = Some(first);
                }
            }
            None if !quads.is_empty() => keep_prefixes(&mut self.reading.prefixes, first, parser.prefixes()),
            None => {}
        }
        for quad in &quads {
            self.reading.quads += 1;
            self.terms.with(quad, self.take)?;
        }
        Ok(None)
    }
}

/// The last sign before the byte `end` of a text that has `before` bytes in front of the piece.
fn place_in(piece: &Piece, before: usize, end: u64) -> Place {
    let end = usize::try_from(end).unwrap_or(usize::MAX).saturating_sub(before);
    piece.start.behind(&piece.text, end.saturating_sub(1)).place()
}
