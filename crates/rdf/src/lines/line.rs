//! Parses one line of N-Triples or N-Quads in its common form.
//!
//! It accepts only lines that are certainly valid: IRIs of letters, digits and characters that need no check, labels
//! and languages of ASCII, literals with or without escapes, and triple terms of these without literals. Any other line
//! goes to the full parser. So errors are determined in one place, and not here.

use std::ops::Range;

use isomorph_model::faces::{Object, Quad};
use isomorph_model::xsd;

/// The namespace of RDF, whose datatypes have special rules.
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// The datatype of literals with a language.
const LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/// The result for a line.
pub(super) enum Line<'l> {
    /// A quad.
    Quad(Quad<'l>),
    /// An empty line, or a comment.
    Empty,
    /// A line for the full parser.
    Unusual,
}

/// The position of a text: in the line, or in the buffer of unescaped text.
#[derive(Clone)]
enum Text {
    There(Range<usize>),
    Made(Range<usize>),
}

enum ObjectText {
    Term(Text),
    Plain(Text),
    Typed(Text, Text),
    Language(Text, Text),
}

/// Reads lines, with a buffer that is reused.
#[derive(Default)]
pub(super) struct Lines {
    buffer: String,
}

/// Bytes of IRIs after scheme and authority that need no check.
const PLAIN: u8 = 1;
/// Bytes of schemes after the first, which is a letter.
const SCHEME: u8 = 2;
/// Bytes of authorities that need no check: no user, no port, no address in brackets.
const AUTHORITY: u8 = 4;
/// Bytes of labels and languages.
const LABEL: u8 = 8;
const TAG: u8 = 16;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut c = 0u8;
    while c < 128 {
        let name = c.is_ascii_alphanumeric();
        let mut class = 0;
        if name
            || matches!(
                c,
                b'-' | b'.'
                    | b'_'
                    | b'~'
                    | b'!'
                    | b'$'
                    | b'&'
                    | b'\''
                    | b'('
                    | b')'
                    | b'*'
                    | b'+'
                    | b','
                    | b';'
                    | b'='
                    | b':'
                    | b'@'
                    | b'/'
                    | b'?'
            )
        {
            class |= PLAIN;
        }
        if name || matches!(c, b'+' | b'-' | b'.') {
            class |= SCHEME;
        }
        if name || matches!(c, b'-' | b'.' | b'_' | b'~') {
            class |= AUTHORITY;
        }
        if name || matches!(c, b'_' | b'-' | b'.') {
            class |= LABEL;
        }
        if name || c == b'-' {
            class |= TAG;
        }
        classes[c as usize] = class;
        c += 1;
    }
    classes
}

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Number of bytes from `at` that are of a class.
fn run(bytes: &[u8], at: usize, class: u8) -> usize {
    bytes.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| is(**byte, class)).count())
}

/// Skips blanks.
fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// An IRI, starting at its `<`: the range between the brackets, and the position after it.
fn iri(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let start = at + 1;
    if !bytes.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let mut at = start + run(bytes, start, SCHEME);
    if bytes.get(at) != Some(&b':') {
        return None;
    }
    at += 1;
    if bytes.get(at..at + 2) == Some(b"//") {
        at += 2;
        let authority = run(bytes, at, AUTHORITY);
        at += authority;
        if authority == 0 || !matches!(bytes.get(at), Some(b'/' | b'?' | b'#' | b'>')) {
            return None;
        }
    }
    let mut fragment = false;
    loop {
        at += run(bytes, at, PLAIN);
        match bytes.get(at)? {
            b'>' => return Some((start..at, at + 1)),
            b'#' if !fragment => {
                fragment = true;
                at += 1;
            }
            b'%' if bytes.get(at + 1..at + 3)?.iter().all(u8::is_ascii_hexdigit) => at += 3,
            _ => return None,
        }
    }
}

/// A blank node, starting at its `_:`, which is included.
fn blank(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    if bytes.get(at + 1) != Some(&b':') {
        return None;
    }
    let start = at + 2;
    let end = start + run(bytes, start, LABEL);
    let first = *bytes.get(start)?;
    let sound = end > start && first != b'-' && first != b'.' && bytes.get(end - 1) != Some(&b'.');
    (sound && matches!(bytes.get(end), Some(b' ' | b'\t'))).then_some((at..end, end))
}

/// An IRI or a blank node.
fn resource(bytes: &[u8], at: usize) -> Option<(Text, usize)> {
    let (range, at) = match bytes.get(at)? {
        b'<' => iri(bytes, at)?,
        b'_' => blank(bytes, at)?,
        _ => return None,
    };
    Some((Text::There(range), at))
}

/// A triple term of IRIs and blank nodes, starting at its `<<(`, in canonical form: with one blank between its parts.
fn triple(bytes: &[u8], at: usize) -> Option<(ObjectText, usize)> {
    let blank = |at: usize| (bytes.get(at) == Some(&b' ')).then_some(at + 1);
    if bytes.get(at..at + 4)? != b"<<( " {
        return None;
    }
    let (_, end) = resource(bytes, at + 4)?;
    let predicate = blank(end)?;
    if bytes.get(predicate) != Some(&b'<') {
        return None;
    }
    let (_, end) = iri(bytes, predicate)?;
    let (_, end) = resource(bytes, blank(end)?)?;
    let close = blank(end)?;
    (bytes.get(close..close + 3)? == b")>>").then_some((ObjectText::Term(Text::There(at..close + 3)), close + 3))
}

impl Lines {
    /// Reads `line`, which has no line feed. `graphs` states whether graphs can be named.
    pub(super) fn read<'l>(&'l mut self, line: &'l str, graphs: bool) -> Line<'l> {
        let bytes = line.as_bytes();
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let at = blanks(bytes, 0);
        match bytes.get(at) {
            None => return Line::Empty,
            Some(b'#') if memchr::memchr(b'\r', bytes).is_none() => return Line::Empty,
            _ => {}
        }
        self.buffer.clear();
        match self.parts(line, bytes, at, graphs) {
            None => Line::Unusual,
            Some((subject, predicate, object, graph)) => {
                let text = |text: &Text| match text {
                    Text::There(range) => line.get(range.clone()).unwrap_or_default(),
                    Text::Made(range) => self.buffer.get(range.clone()).unwrap_or_default(),
                };
                let literal = |lexical: &Text, datatype| Object::Literal {
                    lexical: text(lexical),
                    datatype,
                    language: None,
                    direction: None,
                };
                let object = match &object {
                    ObjectText::Term(term) => Object::Term(text(term)),
                    ObjectText::Plain(lexical) => literal(lexical, xsd::STRING),
                    ObjectText::Typed(lexical, datatype) => literal(lexical, text(datatype)),
                    ObjectText::Language(lexical, language) => Object::Literal {
                        lexical: text(lexical),
                        datatype: LANG_STRING,
                        language: Some(text(language)),
                        direction: None,
                    },
                };
                let graph = graph.as_ref().map(text);
                Line::Quad(Quad { subject: text(&subject), predicate: text(&predicate), object, graph })
            }
        }
    }

    fn parts(
        &mut self,
        line: &str,
        bytes: &[u8],
        at: usize,
        graphs: bool,
    ) -> Option<(Text, Text, ObjectText, Option<Text>)> {
        let (subject, at) = resource(bytes, at)?;
        let at = blanks(bytes, at);
        if bytes.get(at) != Some(&b'<') {
            return None;
        }
        let (predicate, at) = iri(bytes, at)?;
        let at = blanks(bytes, at);
        let (object, at) = match bytes.get(at)? {
            b'"' => self.literal(line, bytes, at + 1)?,
            b'<' if bytes.get(at + 1) == Some(&b'<') => triple(bytes, at)?,
            _ => {
                let (term, at) = resource(bytes, at)?;
                (ObjectText::Term(term), at)
            }
        };
        let mut at = blanks(bytes, at);
        let mut graph = None;
        if graphs && bytes.get(at) != Some(&b'.') {
            let (name, behind) = resource(bytes, at)?;
            graph = Some(name);
            at = blanks(bytes, behind);
        }
        if bytes.get(at) != Some(&b'.') {
            return None;
        }
        let at = blanks(bytes, at + 1);
        let ended = match bytes.get(at) {
            None => true,
            Some(b'#') => memchr::memchr(b'\r', &bytes[at..]).is_none(),
            Some(_) => false,
        };
        ended.then_some((subject, Text::There(predicate), object, graph))
    }

    /// A literal, after its first quotation mark.
    fn literal(&mut self, line: &str, bytes: &[u8], start: usize) -> Option<(ObjectText, usize)> {
        let mut at = start;
        let mut made: Option<usize> = None;
        let mut kept = start;
        let end = loop {
            let found = at + memchr::memchr3(b'"', b'\\', b'\r', bytes.get(at..)?)?;
            match bytes.get(found)? {
                b'"' => break found,
                b'\\' => {
                    made.get_or_insert(self.buffer.len());
                    self.buffer.push_str(line.get(kept..found)?);
                    let (c, behind) = escaped(bytes, found + 1)?;
                    self.buffer.push(c);
                    (at, kept) = (behind, behind);
                }
                _ => return None,
            }
        };
        let lexical = match made {
            None => Text::There(start..end),
            Some(begin) => {
                self.buffer.push_str(line.get(kept..end)?);
                Text::Made(begin..self.buffer.len())
            }
        };
        let at = end + 1;
        match bytes.get(at) {
            Some(b'^') if bytes.get(at + 1..at + 3) == Some(b"^<") => {
                let (datatype, at) = iri(bytes, at + 2)?;
                // Some datatypes of RDF need more than a text.
                if line.get(datatype.clone())?.starts_with(RDF) {
                    return None;
                }
                Some((ObjectText::Typed(lexical, Text::There(datatype)), at))
            }
            Some(b'^') => None,
            Some(b'@') => {
                let start = at + 1;
                let end = start + run(bytes, start, TAG);
                if !is_usual(bytes.get(start..end)?) || !matches!(bytes.get(end)?, b' ' | b'\t') {
                    return None;
                }
                let tag = line.get(start..end)?;
                let language = if tag.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    let begin = self.buffer.len();
                    self.buffer.extend(tag.chars().map(|c| c.to_ascii_lowercase()));
                    Text::Made(begin..self.buffer.len())
                } else {
                    Text::There(start..end)
                };
                Some((ObjectText::Language(lexical, language), end))
            }
            _ => Some((ObjectText::Plain(lexical), at)),
        }
    }
}

/// Whether a tag is a language of two or three letters, alone or with a country of two.
fn is_usual(tag: &[u8]) -> bool {
    let (language, country) = match memchr::memchr(b'-', tag) {
        Some(at) => (&tag[..at], Some(&tag[at + 1..])),
        None => (tag, None),
    };
    let letters = |part: &[u8]| part.iter().all(u8::is_ascii_alphabetic);
    matches!(language.len(), 2 | 3) && letters(language) && country.is_none_or(|part| part.len() == 2 && letters(part))
}

/// The character of an escape, after its backslash, and the position after it.
fn escaped(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let (digits, at) = match bytes.get(at)? {
        b't' => return Some(('\t', at + 1)),
        b'b' => return Some(('\x08', at + 1)),
        b'n' => return Some(('\n', at + 1)),
        b'r' => return Some(('\r', at + 1)),
        b'f' => return Some(('\x0c', at + 1)),
        b'"' => return Some(('"', at + 1)),
        b'\'' => return Some(('\'', at + 1)),
        b'\\' => return Some(('\\', at + 1)),
        b'u' => (bytes.get(at + 1..at + 5)?, at + 5),
        b'U' => (bytes.get(at + 1..at + 9)?, at + 9),
        _ => return None,
    };
    let code = digits.iter().try_fold(0u32, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))?;
    Some((char::from_u32(code)?, at))
}
