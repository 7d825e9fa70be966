//! Lenient reading of syntaxes that are not line-based.
//!
//! The text is split where the grammar certainly starts anew: RDF/XML between the elements inside `rdf:RDF`, JSON-LD
//! between the members of the array that is the text or its `@graph`, Turtle and TriG between statements. Each piece is
//! read in the frame of the text, which has the prefixes, entities and contexts, or the graph; a malformed piece is
//! skipped as a whole, because a part of it may have another meaning than intended. Many pieces are read at once, and
//! one by one only if one of them is malformed. The parsers of Turtle and TriG continue after an error themselves, but
//! at the next full stop, wherever it is, and outside the graph.

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

/// Number of bytes of pieces that are read at once.
const AT_ONCE: u64 = 128 << 10;

/// Memory for a piece, including its quads, as a multiple of its length.
const EXPANSION: u64 = 8;

/// A part of a text that can be read in its frame.
struct Piece {
    text: Vec<u8>,
    start: Start,
    says: Says,
    doubt: Option<Doubt>,
}

/// The reason why the end of a piece is unknown, if it is malformed.
struct Doubt {
    what: &'static str,
    place: Place,
}

impl Piece {
    /// A piece that others do not depend on.
    fn new(text: Vec<u8>, start: Start) -> Self {
        Piece { text, start, says: Says::default(), doubt: None }
    }
}

/// The text around all pieces.
#[derive(Default)]
struct Frame {
    before: Vec<u8>,
    between: &'static [u8],
    after: Vec<u8>,
}

/// The result of splitting a text.
enum Cut<'a> {
    /// It has a frame; the pieces were passed on.
    Framed,
    /// It is one piece: here it is from its beginning.
    Whole(Box<dyn Read + 'a>),
}

/// Reads a text that starts `before` bytes after the beginning of its file; passes on the quads of its valid pieces.
///
/// # Errors
/// If the start of the next piece is unknown because the text is not well-formed, with the amount that was read before;
/// otherwise as [`super::read`].
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
    // The waiting pieces are before the position at which the text could not be split.
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

/// Pieces that are being read.
struct Pieces<'a, 't> {
    syntax: Syntax,
    options: &'a ReadOptions,
    file: &'a Place,
    /// Bytes of the file before the text.
    before: u64,
    frame: Option<Frame>,
    /// What later pieces depend on, in syntaxes where pieces can set it.
    known: Option<Known>,
    /// Whether the last piece was skipped.
    skipped_last: bool,
    /// The prefixes at the position of the first quad.
    first: Option<Vec<(String, String)>>,
    /// Pieces that will be read at once, and memory for them.
    waiting: Vec<Piece>,
    held: Reservation,
    terms: Terms<'a>,
    reading: Reading,
    take: &'a mut Take<'t>,
}

impl Pieces<'_, '_> {
    /// Sets the text around the pieces. It must be valid by itself.
    fn begin(&mut self, frame: Frame) -> Result<()> {
        self.frame = Some(frame);
        match self.attempt(&[])? {
            None => Ok(()),
            Some((message, place)) => Err(Error::broken(&rules::SYNTAX, message).at(place)),
        }
    }

    /// Sets the text around the next pieces.
    fn frame(&mut self, frame: Frame) -> Result<()> {
        self.read_waiting()?;
        self.frame = Some(frame);
        Ok(())
    }

    /// Reads the text before a graph; returns whether it is valid.
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

    /// Skips a malformed piece, and counts it.
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

    /// Whatever a skipped piece may have set is unknown from now on.
    fn forget(&mut self, says: &Says) {
        if let Some(known) = &mut self.known {
            known.forget(says);
            if known.base.is_none() {
                self.reading.base = None;
            }
        }
    }

    /// Reads pieces in their frame, and passes on their quads if they are valid. Otherwise returns the first error,
    /// with its place in the text if there is one piece.
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

/// The last character before the byte `end` of a text that has `before` bytes before the piece.
fn place_in(piece: &Piece, before: usize, end: u64) -> Place {
    let end = usize::try_from(end).unwrap_or(usize::MAX).saturating_sub(before);
    piece.start.behind(&piece.text, end.saturating_sub(1)).place()
}
