//! Depth and length of JSON.

use isomorph_error::{Error, Kind};

use super::{DEPTH, TooMuch};
use crate::rules::LIMIT;

/// Maximum length of a string or number, in bytes as spelled: the parser fails when it refills a buffer that has grown
/// beyond 8 MiB.
pub(crate) const LONGEST: usize = 8_000_000;

/// Counts brackets outside of strings, and bytes inside. JSON-LD is also refused if it is longer than memory allows:
/// the parser holds objects whose context or id comes last.
pub(in crate::read) struct JsonGuard {
    depth: usize,
    string: bool,
    /// Number of bytes of the string, number or word so far.
    length: usize,
    escaped: bool,
    left: u64,
    largest: u64,
}

impl JsonGuard {
    pub(in crate::read) fn new(largest: u64) -> Self {
        JsonGuard { depth: 0, string: false, length: 0, escaped: false, left: largest, largest }
    }

    pub(in crate::read) fn look(&mut self, bytes: &[u8]) -> Result<(), TooMuch> {
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) => self.left = left,
            None => {
                let message =
                    format!("JSON-LD of more than {} bytes, which may have to be held in memory", self.largest);
                return Err((0, Error::new(Kind::TooLarge, message).hint("--memory 8GiB    allow a quarter of that")));
            }
        }
        for (at, byte) in bytes.iter().enumerate() {
            if self.string {
                self.length += 1;
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.string = false,
                    _ => {}
                }
                if self.string && self.length > LONGEST {
                    return Err((at, too_long("string")));
                }
                continue;
            }
            match byte {
                b'"' => (self.string, self.length) = (true, 0),
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        return Err((at, Error::broken(&LIMIT, format!("JSON nests more than {DEPTH} deep"))));
                    }
                }
                b'}' | b']' => (self.depth, self.length) = (self.depth.saturating_sub(1), 0),
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => self.length = 0,
                _ => {
                    self.length += 1;
                    if self.length > LONGEST {
                        return Err((at, too_long("number")));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The error for something longer than [`LONGEST`].
fn too_long(what: &str) -> Error {
    Error::broken(&LIMIT, format!("a {what} of JSON-LD has more than {LONGEST} bytes"))
        .hint("use another syntax, which allows longer literals: .nq, .trig, .ttl, .nt or .rdf")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn depth_and_length_are_bounded() {
        let look =
            |text: &str, largest| JsonGuard::new(largest).look(text.as_bytes()).map_err(|(_, error)| error.kind());
        assert_eq!(look(&"[".repeat(DEPTH), 1_000), Ok(()));
        assert_eq!(look(&"[".repeat(DEPTH + 1), 1_000), Err(Kind::Malformed));
        assert_eq!(look(&"[]".repeat(1_000), 2_000), Ok(()));
        assert_eq!(look(&"[]".repeat(1_000), 1_999), Err(Kind::TooLarge));
        assert_eq!(look(&format!("\"\\\"{}\"", "{".repeat(500)), 1_000), Ok(()));
    }
}
