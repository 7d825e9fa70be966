//! A fault in a text and its position.

use isomorph_error::{Error, Place, Rule};

use crate::number::Wrong;
use crate::rules;

/// A broken rule at an offset of a piece of text. Kept small: the offset becomes a line and a column when it is
/// reported.
#[derive(Debug)]
pub(crate) struct Fault {
    pub rule: &'static Rule,
    pub message: String,
    pub at: usize,
    /// What to do, if that is more than the rule says.
    pub hint: Option<&'static str>,
}

pub(crate) type Parsed<T = ()> = Result<T, Box<Fault>>;

impl Fault {
    pub fn new(rule: &'static Rule, message: impl Into<String>, at: usize) -> Box<Fault> {
        Box::new(Fault { rule, message: message.into(), at, hint: None })
    }

    /// Adds what to do.
    pub fn hinting(mut self: Box<Self>, hint: &'static str) -> Box<Fault> {
        self.hint = Some(hint);
        self
    }

    /// Returns the fault of a text that is not a number of the kind `what`.
    pub fn number(wrong: Wrong, what: &str, text: &[u8], at: usize) -> Box<Fault> {
        let text = shown(text);
        let message = match wrong {
            Wrong::NotNumber => format!("{text} is not a valid {what}"),
            Wrong::Range => format!("{text} is out of range for {what}"),
            Wrong::Fraction => {
                return Fault::new(&rules::NUMBER, format!("{text} is not a valid {what}: it has a fraction"), at).hinting(
                    "write an integer, or use a float type; --compat deepgnn drops the fraction as the published converter does",
                );
            }
        };
        Fault::new(&rules::NUMBER, message, at)
    }

    /// Returns the error, in a text whose first line is line `line` of its file.
    pub fn in_text(self, text: &[u8], line: u64) -> Error {
        let error = Error::broken(self.rule, self.message).at(Fault::place_in(text, line, self.at));
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// Returns line and column of the offset `at`, in a text whose first line is line `line` of its file.
    pub fn place_in(text: &[u8], line: u64, at: usize) -> Place {
        let before = &text[..at.min(text.len())];
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        Place::default().line(line + lines).in_field(format!("column {}", before.len() - start + 1))
    }
}

/// Returns a few characters of a text, for a message.
pub(crate) fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
