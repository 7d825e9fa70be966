//! RDF/XML in pieces: the elements inside `rdf:RDF`.

use std::io::{Cursor, Read};

use isomorph_error::{Error, Kind, Result};

use super::super::guard::{CHUNK, Start, Watch, XmlGuard};
use super::{Cut, Frame, Piece, Pieces};
use crate::rules;

/// Local name of the element that contains the pieces.
const ROOT: &[u8] = b"RDF";

/// The part that is being read.
enum Phase {
    /// Everything up to and including the first tag. The position of its `<`.
    Before(usize),
    /// The elements.
    Inside,
    /// The part after the root, which should be empty.
    Behind,
}

struct Cutter {
    guard: XmlGuard,
    phase: Phase,
    current: Vec<u8>,
    /// The start of the current part, and the position of the next byte.
    start: Start,
    here: Start,
    name: Vec<u8>,
}

/// Splits a text; if its first element is another one, it is one piece.
///
/// # Errors
/// If it is not well-formed, a piece is longer than `largest`, or a piece cannot be read.
pub(super) fn cut<'a>(
    input: &'a mut dyn Read,
    watch: &Watch,
    largest: u64,
    pieces: &mut Pieces<'_, '_>,
) -> Result<Cut<'a>> {
    let mut cutter = Cutter {
        guard: XmlGuard::default(),
        phase: Phase::Before(0),
        current: Vec::new(),
        start: Start::of_text(watch.before),
        here: Start::of_text(watch.before),
        name: Vec::new(),
    };
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = input.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if let Some(seen) = &watch.seen {
            seen.borrow_mut().look(bytes)?;
        }
        for (at, byte) in bytes.iter().enumerate() {
            let tag_began = cutter.pass(*byte, pieces)?;
            if tag_began && !cutter.name.ends_with(ROOT) {
                let rest = bytes.get(at + 1..).unwrap_or_default().to_vec();
                return Ok(Cut::Whole(Box::new(Cursor::new(cutter.current).chain(Cursor::new(rest)).chain(input))));
            }
            if tag_began {
                cutter.begin(pieces)?;
            }
        }
        if cutter.current.len() as u64 > largest {
            let what = format!("an element of more than {largest} bytes, which may have to be held in memory");
            return Err(Error::new(Kind::TooLarge, what)
                .at(cutter.start.place())
                .hint("--memory 8GiB    allow a sixteenth of that"));
        }
        if read == 0 {
            break;
        }
    }
    match cutter.phase {
        Phase::Before(_) => Ok(Cut::Whole(Box::new(Cursor::new(cutter.current)))),
        Phase::Inside => {
            let what = "the text ends inside this element, or more elements are opened than closed in it";
            Err(Error::broken(&rules::SYNTAX, what).at(cutter.start.place()))
        }
        Phase::Behind => {
            cutter.close(pieces)?;
            Ok(Cut::Framed)
        }
    }
}

impl Cutter {
    /// Processes the next byte; returns whether it ends the first tag.
    fn pass(&mut self, byte: u8, pieces: &mut Pieces<'_, '_>) -> Result<bool> {
        let (was_text, at) = (self.guard.is_text(), self.here);
        self.guard.look(&[byte]).map_err(|(_, error)| error.at(at.place()))?;
        self.here.pass(&[byte]);
        let (is_text, depth) = (self.guard.is_text(), self.guard.depth());
        match self.phase {
            Phase::Before(_) => {
                if was_text && !is_text {
                    self.phase = Phase::Before(self.current.len());
                }
                self.current.push(byte);
                if depth == 1 {
                    self.name = self.first_name();
                    return Ok(true);
                }
            }
            Phase::Inside => {
                // Text where none is allowed is a separate error.
                if was_text && !is_text && depth == 1 && !self.current.trim_ascii().is_empty() {
                    self.close(pieces)?;
                    self.start = at;
                }
                if self.current.is_empty() && byte.is_ascii_whitespace() {
                    self.start = self.here;
                    return Ok(false);
                }
                self.current.push(byte);
                if is_text && !was_text && depth == 0 {
                    self.end()?;
                } else if is_text && !was_text && depth == 1 {
                    self.close(pieces)?;
                }
            }
            Phase::Behind => self.current.push(byte),
        }
        Ok(false)
    }

    /// The name in the first tag.
    fn first_name(&self) -> Vec<u8> {
        let Phase::Before(from) = self.phase else { return Vec::new() };
        let tag = self.current.get(from + 1..).unwrap_or_default();
        let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
        tag.get(..end.unwrap_or(tag.len())).unwrap_or_default().to_vec()
    }

    /// Sets the frame, which is now known.
    fn begin(&mut self, pieces: &mut Pieces<'_, '_>) -> Result<()> {
        let before = std::mem::take(&mut self.current);
        let after = [b"</", self.name.as_slice(), b">"].concat();
        (self.phase, self.start) = (Phase::Inside, self.here);
        pieces.begin(Frame { before, between: b"", after })
    }

    /// Processes the last tag.
    fn end(&mut self) -> Result<()> {
        let tag = std::mem::take(&mut self.current);
        let name = tag.trim_ascii().strip_prefix(b"</").and_then(|rest| rest.strip_suffix(b">")).unwrap_or_default();
        if name.trim_ascii() != self.name {
            let (found, known) = (String::from_utf8_lossy(name), String::from_utf8_lossy(&self.name));
            return Err(Error::broken(&rules::SYNTAX, format!("found </{found}>, but expected the end of <{known}>"))
                .at(self.start.place()));
        }
        (self.phase, self.start) = (Phase::Behind, self.here);
        Ok(())
    }

    /// Ends the piece.
    fn close(&mut self, pieces: &mut Pieces<'_, '_>) -> Result<()> {
        let text = std::mem::take(&mut self.current);
        let start = std::mem::replace(&mut self.start, self.here);
        if text.trim_ascii().is_empty() { Ok(()) } else { pieces.push(Piece::new(text, start)) }
    }
}
