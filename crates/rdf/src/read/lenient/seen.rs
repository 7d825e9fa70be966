//! The observations about a piece of Turtle or TriG, token by token.

use isomorph_error::Place;

use super::Doubt;
use super::known::Says;
use super::token::Token;

/// The kind of the last token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Other,
    /// A string that starts there, and whether it may contain line ends.
    Text(usize, bool),
    /// A word that can be followed by a string before anything else.
    Version,
}

/// The observations about a piece.
pub(super) struct Seen {
    /// Number of tokens, without space.
    pub(super) tokens: usize,
    pub(super) opened: Vec<u8>,
    pub(super) last: Last,
    /// Whether the line has ended after the last token.
    pub(super) lines: bool,
    /// A directive without a full stop: the token that ends it.
    pub(super) until: Option<Token>,
    /// Whether the name of a prefix comes next.
    naming: bool,
    /// Whether the last token may be the name of a prefix.
    prefix: bool,
    pub(super) says: Says,
    pub(super) broken: Option<(String, Place)>,
    /// A full stop inside brackets.
    pub(super) dot: Option<Place>,
    pub(super) doubt: Option<Doubt>,
    /// The position of a node without a label and without properties.
    pub(super) node: Option<(usize, usize)>,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            tokens: 0,
            opened: Vec::new(),
            last: Last::Other,
            lines: false,
            until: None,
            naming: false,
            prefix: false,
            says: Says::default(),
            broken: None,
            dot: None,
            doubt: None,
            node: None,
        }
    }
}

impl Seen {
    /// Records a token that starts `from` bytes after the beginning of the piece.
    pub(super) fn note(&mut self, token: Token, text: &[u8], from: usize) {
        let name = if token == Token::Word { std::str::from_utf8(text).ok() } else { None };
        let lower = name.unwrap_or_default().to_ascii_lowercase();
        let word = lower.as_bytes();
        let naming = std::mem::take(&mut self.naming);
        if naming {
            match name.and_then(|name| name.split_once(':')) {
                Some((name, "")) if !name.contains(['\\', '%', '+', '@']) => self.says.names.push(name.to_owned()),
                _ => self.says.all = true,
            }
        }
        // A prefix and its IRI, whatever comes before.
        self.says.all |= std::mem::replace(&mut self.prefix, !naming && word.ends_with(b":")) && token == Token::Iri;
        let keyword = word.strip_prefix(b"@").unwrap_or(word);
        match keyword {
            b"prefix" => self.naming = true,
            b"base" => self.says.base = true,
            _ => self.says.all |= is_like_directive(word),
        }
        if self.tokens == 0 {
            self.until = match word {
                b"prefix" | b"base" => Some(Token::Iri),
                b"version" => Some(Token::Short),
                _ => None,
            };
            // Perhaps a directive whose first word is misspelled: names have a colon.
            let is_known = matches!(keyword, b"prefix" | b"base" | b"version" | b"graph");
            self.says.all |= token == Token::Word && !is_known && (!word.contains(&b':') || word.starts_with(b"@"));
        }
        match token {
            Token::Open(bracket) => {
                self.node = (bracket == b'[').then_some((from, self.tokens));
                self.opened.push(bracket);
            }
            Token::Close => {
                self.opened.pop();
                // A node with something in it is not a node without properties.
                self.node = match self.node {
                    Some((begin, number)) if number + 1 == self.tokens => Some((begin, from + 1)),
                    _ => None,
                };
            }
            _ => {}
        }
        self.last = match token {
            Token::Short | Token::Long if self.last != Last::Version => Last::Text(from, token == Token::Long),
            _ if keyword == b"version" => Last::Version,
            _ => Last::Other,
        };
        (self.tokens, self.lines) = (self.tokens + 1, false);
    }
}

/// Whether a word may be part of a directive, with superfluous characters.
fn is_like_directive(word: &[u8]) -> bool {
    let letters: Vec<u8> = word.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    letters == b"base" || letters.starts_with(b"prefix") || letters.ends_with(b"prefix")
}
