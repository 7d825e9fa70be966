//! Tokens of GML: keys, numbers, texts and brackets. Bytes that are not ASCII are UTF-8, or else ISO 8859-1; in texts, HTML's
//! entities of ISO 8859-1 stand for other characters.

use std::io::Read;

use isomorph_error::{Error, Place, Result};
use isomorph_tables::PackedFile;

use super::rules;

/// Maximum length of one token, in bytes.
const LONGEST: usize = 64 << 20;

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// What was read; its text is in [`Lexer::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Key,
    Integer,
    Float,
    Text,
    Open,
    Close,
    End,
}

pub(crate) struct Lexer {
    input: Box<dyn Read + Send>,
    place: Place,
    buffer: Vec<u8>,
    at: usize,
    before: u64,
    is_over: bool,
    bytes: Vec<u8>,
    pub text: String,
}

impl Lexer {
    pub fn new(file: &PackedFile) -> Result<Lexer> {
        Ok(Lexer::of(file.reader()?, file.blob.place()))
    }

    pub fn of(input: Box<dyn Read + Send>, place: Place) -> Lexer {
        let (buffer, bytes, text) = (Vec::new(), Vec::new(), String::new());
        Lexer { input, place, buffer, at: 0, before: 0, is_over: false, bytes, text }
    }

    pub fn place(&self) -> Place {
        self.place.clone().offset(self.offset())
    }

    /// Returns the number of bytes before the current position.
    pub fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    pub fn syntax(&self, message: impl Into<String>) -> Error {
        Error::broken(&rules::SYNTAX, message).at(self.place())
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        if self.at >= self.buffer.len() && !self.is_over {
            self.before += self.buffer.len() as u64;
            self.at = 0;
            self.buffer.resize(BLOCK, 0);
            let read = loop {
                match self.input.read(&mut self.buffer) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    other => break other.map_err(|error| Error::from(error).at(self.place.clone()))?,
                }
            };
            self.buffer.truncate(read);
            self.is_over = read == 0;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    fn push(&mut self, byte: u8) -> Result<()> {
        if self.bytes.len() >= LONGEST {
            return Err(Error::broken(&rules::LIMIT, "a value is longer than 64 MiB").at(self.place()));
        }
        self.bytes.push(byte);
        self.at += 1;
        Ok(())
    }

    /// Reads the next token.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or there is none.
    pub fn next(&mut self) -> Result<Token> {
        loop {
            match self.byte()? {
                None => return Ok(Token::End),
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'#') => {
                    while self.byte()?.is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                // A byte order mark.
                Some(0xef | 0xbb | 0xbf) if self.before == 0 && self.at < 3 => self.at += 1,
                Some(_) => break,
            }
        }
        self.bytes.clear();
        self.text.clear();
        match self.byte()? {
            Some(b'[') => {
                self.at += 1;
                Ok(Token::Open)
            }
            Some(b']') => {
                self.at += 1;
                Ok(Token::Close)
            }
            Some(b'"') => {
                self.at += 1;
                loop {
                    match self.byte()? {
                        None => return Err(self.syntax("the file ends in a text")),
                        Some(b'"') => break,
                        Some(byte) => self.push(byte)?,
                    }
                }
                self.at += 1;
                self.decode();
                Ok(Token::Text)
            }
            Some(first) => {
                while let Some(byte) = self.byte()?
                    && !byte.is_ascii_whitespace()
                    && !matches!(byte, b'[' | b']' | b'"')
                {
                    self.push(byte)?;
                }
                self.text.push_str(&String::from_utf8_lossy(&self.bytes));
                if first.is_ascii_alphabetic() || first == b'_' {
                    // Also NAN and INF, which are numbers only where a value stands.
                    return Ok(Token::Key);
                }
                self.number()
            }
            None => Ok(Token::End),
        }
    }

    fn number(&mut self) -> Result<Token> {
        let text = self.text.as_str();
        let digits = text.trim_start_matches(['+', '-']);
        let is_number = text.len() - digits.len() <= 1
            && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
        if is_number && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Token::Integer);
        }
        let is_word = ["inf", "nan", "infinity"].iter().any(|word| digits.eq_ignore_ascii_case(word));
        if is_number && text.parse::<f64>().is_ok() || is_word && text.len() - digits.len() <= 1 {
            return Ok(Token::Float);
        }
        let cut: String = text.chars().take(40).collect();
        Err(self.syntax(format!("{cut:?} is not a key, a number or a text")))
    }

    /// Decodes the bytes of a text.
    fn decode(&mut self) {
        let decoded = match std::str::from_utf8(&self.bytes) {
            Ok(text) => std::borrow::Cow::Borrowed(text),
            // ISO 8859-1: each byte is a character.
            Err(_) => std::borrow::Cow::Owned(self.bytes.iter().map(|byte| char::from(*byte)).collect()),
        };
        unescape(&decoded, &mut self.text);
    }
}

/// Appends a text with the characters that its entities stand for. What is none stays as it is.
pub(crate) fn unescape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let entity = rest.find(';').filter(|end| *end <= 12).and_then(|end| Some((rest.get(1..end)?, end)));
        match entity.and_then(|(name, end)| Some((character(name)?, end))) {
            Some((character, end)) => {
                out.push(character);
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
}

/// Names of the characters U+00A0 to U+00FF in HTML.
const LATIN: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// Returns the character of an entity, without `&` and `;`.
fn character(name: &str) -> Option<char> {
    if let Some(digits) = name.strip_prefix('#') {
        let hexadecimal = digits.strip_prefix(['x', 'X']);
        let radix = if hexadecimal.is_some() { 16 } else { 10 };
        let digits = hexadecimal.unwrap_or(digits);
        let code = u32::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))?;
        return char::from_u32(code);
    }
    Some(match name {
        "quot" => '"',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "apos" => '\'',
        name => {
            let at = LATIN.iter().position(|own| *own == name)?;
            char::from(u8::try_from(0xa0 + at).ok()?)
        }
    })
}

/// Returns whether a text begins like GML: pairs, one of which is a graph.
pub(crate) fn begins(begin: &[u8]) -> bool {
    let mut lexer = Lexer::of(Box::new(std::io::Cursor::new(begin.to_vec())), Place::default());
    for _ in 0..64 {
        match lexer.next() {
            Ok(Token::Key) if lexer.text == "graph" => {
                // TriG also has the word, and brackets: `graph [] { … }`.
                return matches!(lexer.next(), Ok(Token::Open))
                    && match lexer.next() {
                        Ok(Token::Close) => matches!(lexer.next(), Ok(Token::End)),
                        next => matches!(next, Ok(Token::Key)),
                    };
            }
            Ok(Token::Key) => {}
            _ => return false,
        }
        // The value of a key before the graph: Creator, Version, comment.
        match lexer.next() {
            Ok(Token::Text | Token::Integer | Token::Float) => {}
            _ => return false,
        }
    }
    false
}
