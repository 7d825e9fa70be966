//! Depth of triple terms in N-Triples, N-Quads, Turtle and TriG.

use isomorph_error::Error;

use super::{DEPTH, TooMuch};
use crate::rules::LIMIT;

/// Counts ends of triple terms, `)>>`, that follow each other with only white space and comments between them.
///
/// A term of depth `n` ends with `n` of them. Strings and comments may contain some too, so a text is refused for a
/// string with more than a hundred in a row; but no term that nests too deep is accepted, wherever the parser assumes
/// the end of a string.
#[derive(Default)]
pub(in super::super) struct TripleGuard {
    ends: usize,
    /// Bytes of the next end that were seen.
    begun: usize,
    comment: bool,
}

impl TripleGuard {
    pub(in super::super) fn look(&mut self, bytes: &[u8]) -> Result<(), TooMuch> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            if self.ends == 0 && self.begun == 0 {
                match memchr::memchr(b')', &bytes[at..]) {
                    Some(next) => at += next + 1,
                    None => return Ok(()),
                }
                self.begun = 1;
                continue;
            }
            at += 1;
            match (self.begun, byte) {
                (1, b'>') => self.begun = 2,
                (2, b'>') => {
                    self.begun = 0;
                    self.ends += 1;
                    if self.ends > DEPTH {
                        let message = format!("triple terms nest more than {DEPTH} deep");
                        return Err((at, Error::broken(&LIMIT, message)));
                    }
                }
                (_, b')') => self.begun = 1,
                (_, b'\n') => (self.begun, self.comment) = (0, false),
                (_, b' ' | b'\t' | b'\r') => self.begun = 0,
                (_, b'#') if self.ends > 0 => (self.begun, self.comment) = (0, true),
                _ => {
                    self.begun = 0;
                    if !self.comment {
                        self.ends = 0;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, step: usize) -> bool {
        let mut guard = TripleGuard::default();
        text.as_bytes().chunks(step).any(|bytes| guard.look(bytes).is_err())
    }

    #[test]
    fn depth_is_bounded_wherever_chunks_end() {
        let nested = |depth: usize, between: &str| format!("<a> <b> {}.\n", format!(")>>{between}").repeat(depth));
        for step in [1, 2, 3, 7, 1_000] {
            for between in ["", " ", "\n\t", " # x )\n", "#\n"] {
                assert!(!refused(&nested(DEPTH, between).repeat(3), step), "{between:?} {step}");
                assert!(refused(&nested(DEPTH + 1, between), step), "{between:?} {step}");
            }
            assert!(!refused(&")>> x ".repeat(1_000), step));
            assert!(!refused(&") >>".repeat(1_000), step));
            // A hash inside a string does not hide what follows it.
            assert!(refused(&format!("\")>> #\" {}", ")>>".repeat(DEPTH + 1)), step));
        }
    }
}
