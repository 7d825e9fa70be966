//! XML in UTF-16, which every XML processor must read: decoded before it is parsed.

use std::io::{self, Read};

/// Bytes that are decoded at a time.
const BLOCK: usize = 1 << 16;

/// How a text is encoded, as far as its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or another one in which ASCII has its own bytes.
    Bytes,
    /// UTF-16, and whether the more significant byte comes first.
    Utf16(bool),
}

impl Encoding {
    /// Returns the encoding of a text that begins like this: with a byte order mark, or with `<` and another character of ASCII.
    pub fn of(begin: &[u8]) -> Encoding {
        match begin {
            // The mark of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => Encoding::Bytes,
            [0xff, 0xfe, ..] | [b'<', 0, 1..=127, 0, ..] => Encoding::Utf16(false),
            [0xfe, 0xff, ..] | [0, b'<', 0, 1..=127, ..] => Encoding::Utf16(true),
            _ => Encoding::Bytes,
        }
    }
}

/// Finds how a text is encoded, and returns it in UTF-8.
///
/// # Errors
/// Returns an error if the first bytes cannot be read.
pub(super) fn decoded(mut input: Box<dyn Read + Send>) -> io::Result<(Box<dyn Read + Send>, Encoding)> {
    let mut begin = Vec::new();
    (&mut input).take(4).read_to_end(&mut begin)?;
    let encoding = Encoding::of(&begin);
    let input = io::Cursor::new(begin).chain(input);
    Ok(match encoding {
        Encoding::Bytes => (Box::new(input), encoding),
        Encoding::Utf16(big_endian) => (Box::new(Utf16::new(input, big_endian)), encoding),
    })
}

/// Decodes UTF-16. The byte order mark is part of the text.
struct Utf16<R> {
    input: R,
    big_endian: bool,
    /// Bytes that are not decoded: of half a character.
    bytes: Vec<u8>,
    text: String,
    /// The bytes of the text that were returned.
    returned: usize,
}

impl<R: Read> Utf16<R> {
    fn new(input: R, big_endian: bool) -> Self {
        Utf16 { input, big_endian, bytes: Vec::new(), text: String::new(), returned: 0 }
    }

    /// Decodes the next block; returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.text.clear();
        self.returned = 0;
        while self.text.is_empty() {
            if (&mut self.input).take(BLOCK as u64).read_to_end(&mut self.bytes)? == 0 {
                return match self.bytes.is_empty() {
                    true => Ok(false),
                    false => Err(invalid("the text in UTF-16 ends within a character")),
                };
            }
            self.decode()?;
        }
        Ok(true)
    }

    fn decode(&mut self) -> io::Result<()> {
        let unit = |pair: &[u8]| match pair {
            [first, second] if self.big_endian => u16::from_be_bytes([*first, *second]),
            [first, second] => u16::from_le_bytes([*first, *second]),
            _ => 0,
        };
        let mut whole = self.bytes.len() & !1;
        // The second half of the last character may be in the next block.
        let last = whole.checked_sub(2).and_then(|at| self.bytes.get(at..whole)).map(unit);
        if last.is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) {
            whole -= 2;
        }
        for decoded in char::decode_utf16(self.bytes.get(..whole).unwrap_or_default().chunks_exact(2).map(unit)) {
            self.text.push(decoded.map_err(|_| invalid("the text is not UTF-16: half a character stands alone"))?);
        }
        self.bytes.drain(..whole);
        Ok(())
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.text.len() && !self.fill()? {
            return Ok(0);
        }
        let read = self.text.as_bytes().get(self.returned..).unwrap_or_default().read(buffer)?;
        self.returned += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        decoded(Box::new(io::Cursor::new(bytes)))?.0.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn texts_of_any_length_are_decoded() {
        for length in [0, 1, BLOCK / 4 - 2, BLOCK / 4 - 1, BLOCK / 2, BLOCK] {
            for mark in ["", "\u{feff}"] {
                let text = format!("{mark}<?{}é\u{1f600}{}", "\u{1f600}".repeat(length), "x".repeat(length));
                let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
                for bytes in [little, big, text.clone().into_bytes()] {
                    assert_eq!(read(bytes).unwrap(), text);
                }
            }
        }
    }

    #[test]
    fn halves_of_characters_are_refused() {
        for bytes in ["<\0?\0\u{0}", "<\0?\0x"] {
            assert_eq!(read(bytes.as_bytes().to_vec()).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        for unit in [[0u8, 0xd8], [0, 0xdc]] {
            let bytes = [b"<\0?\0".as_slice(), &unit, b"x\0"].concat();
            assert_eq!(read(bytes).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
