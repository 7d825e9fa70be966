//! The triples of a text, for callers that do not know how it is stored.

use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Quad, QuadTaker, Triples};

use super::RdfText;
use crate::{ReadOptions, Reading, Text};

/// The statements of a text, which is not read before they are wanted; duplicates are passed on, too. [`RdfText`] knows
/// the duplicates, because it reads the text once when it is opened.
#[derive(Debug)]
pub struct Statements {
    text: Text,
    options: ReadOptions,
    reading: Mutex<Reading>,
}

impl Statements {
    /// Prepares to read the statements of `text`.
    pub fn new(text: Text, options: ReadOptions) -> Self {
        Statements { text, options, reading: Mutex::default() }
    }

    /// The text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The result of the last reading; of one that ended early, only if malformed statements are skipped.
    pub fn reading(&self) -> Reading {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, reading: Reading) {
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = reading;
    }
}

impl Triples for Statements {
    fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()> {
        let reading = self.text.read_shared(&self.options, takers, &|taker, quad| taker.quad(&quad))?;
        self.note(reading);
        Ok(())
    }

    fn are_distinct(&self) -> bool {
        false
    }

    /// A text of which malformed statements are skipped is always read to its end, so that all of them are reported.
    fn each(&self, take: &mut (dyn FnMut(&Quad<'_>) -> Result<bool> + Send)) -> Result<()> {
        let mut ended = false;
        let read = self.text.read(&self.options, &mut |quad| {
            ended = ended || !take(&quad)?;
            if ended && !self.options.lenient { Err(enough()) } else { Ok(()) }
        });
        match read {
            Err(_) if ended && !self.options.lenient => Ok(()),
            read => read.map(|reading| self.note(reading)),
        }
    }
}

impl Triples for RdfText {
    fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()> {
        self.quads_shared(takers, &|taker, quad| taker.quad(&quad))
    }

    fn are_distinct(&self) -> bool {
        true
    }

    fn each(&self, take: &mut (dyn FnMut(&Quad<'_>) -> Result<bool> + Send)) -> Result<()> {
        let mut ended = false;
        let read = self.quads(&mut |quad| {
            ended = !take(&quad)?;
            if ended { Err(enough()) } else { Ok(()) }
        });
        if ended { Ok(()) } else { read }
    }
}

/// The error that ends reading; nobody sees it.
fn enough() -> Error {
    Error::new(Kind::Cancelled, "no more triples are wanted")
}
