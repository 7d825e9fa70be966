//! Checks depth, attributes and entities of XML, and that the text is complete.
//!
//! The XML parser compares each attribute of an element with those before it, keeps a list of namespaces for each
//! level, and replaces entities by texts that may contain further entities: all three can make a short text expensive.
//! It also accepts a truncated text, and characters and tags that XML does not allow.

use isomorph_error::Error;

use super::entities::{Entities, Extent, NAME};
use super::wellformed::{Characters, DECLARATION, InTag, character, encoding, is_ascii, mistake_of_instruction};
use super::{DEPTH, TooMuch};
use crate::rules::{LIMIT, SYNTAX};
use crate::xml::LONGEST;

/// Maximum number of attributes of an element, including namespaces.
const ATTRIBUTES: usize = 256;

/// Maximum length of a tag, and of a document type declaration, in bytes.
const TAG: usize = 16 << 20;
const DOCUMENT_TYPE: usize = 64 << 10;

/// Maximum length of the text of all entities, as a multiple of the text, and in addition to that, in bytes.
const RATIO: u64 = 16;
const SLACK: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After `<`: it is not yet known what it starts.
    Opened,
    Tag {
        quote: Option<u8>,
        closing: bool,
    },
    Comment,
    Data,
    Instruction,
    DocumentType,
}

/// Checks XML.
pub(in crate::read) struct XmlGuard {
    state: State,
    depth: usize,
    /// Whether there was an element, or a document type.
    begun: bool,
    typed: bool,
    attributes: usize,
    /// Number of bytes so far of the tag, or of the text between two tags with what entities stand for in it.
    length: usize,
    /// The last bytes, newest last, where they determine what starts or ends.
    last: Vec<u8>,
    declared: Vec<u8>,
    extent: Extent,
    entities: Entities,
    /// The name of an entity that is being read.
    name: Option<Vec<u8>>,
    seen: u64,
    expanded: u64,
    /// The decoder, if characters and tags are checked as well.
    characters: Option<Characters>,
    in_tag: InTag,
    /// How many of the last characters of a text were `]`, at most two.
    brackets: u8,
    /// Whether an instruction is the first thing in the text.
    first: bool,
}

impl Default for XmlGuard {
    fn default() -> Self {
        XmlGuard {
            state: State::Text,
            depth: 0,
            begun: false,
            typed: false,
            attributes: 0,
            length: 0,
            last: Vec::new(),
            declared: Vec::new(),
            extent: Extent::default(),
            entities: Entities::default(),
            name: None,
            seen: 0,
            expanded: 0,
            characters: None,
            in_tag: InTag::default(),
            brackets: 0,
            first: false,
        }
    }
}

pub(super) fn malformed(message: impl Into<String>) -> Error {
    Error::broken(&SYNTAX, message)
}

pub(super) fn too_much(message: impl Into<String>) -> Error {
    Error::broken(&LIMIT, message)
}

impl XmlGuard {
    /// A guard that also refuses violations of XML's syntax.
    pub(in crate::read) fn strict() -> Self {
        XmlGuard { characters: Some(Characters::default()), ..XmlGuard::default() }
    }

    pub(in crate::read) fn look(&mut self, bytes: &[u8]) -> Result<(), TooMuch> {
        for (at, byte) in bytes.iter().enumerate() {
            self.seen += 1;
            self.step(*byte).map_err(|error| (at, error))?;
        }
        Ok(())
    }

    /// Checks the end of the text, which must not be inside anything (XML 1.0, production 1).
    pub(in crate::read) fn end(&self) -> Result<(), Error> {
        let inside = match (self.state, self.depth) {
            (State::Text, 0) if self.begun => return Ok(()),
            (State::Text, 0) => "without an element".to_owned(),
            (State::Text, 1) => "inside an element: it has no end tag".to_owned(),
            (State::Text, depth) => format!("inside {depth} elements: they have no end tags"),
            (State::Opened | State::Tag { .. }, _) => "inside a tag".to_owned(),
            (State::Comment, _) => "inside a comment".to_owned(),
            (State::Data, _) => "inside a CDATA section".to_owned(),
            (State::Instruction, _) => "inside an instruction".to_owned(),
            (State::DocumentType, _) => "inside the document type".to_owned(),
        };
        Err(malformed(format!("the text ends {inside}")))
    }

    /// Number of open elements.
    pub(in crate::read) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the last byte was part of a text, or ended something else: a tag, a comment, an instruction.
    pub(in crate::read) fn is_text(&self) -> bool {
        self.state == State::Text
    }

    fn step(&mut self, byte: u8) -> Result<(), Error> {
        // A multi-byte character is complete with its last byte.
        let sign = match &mut self.characters {
            Some(characters) => characters.step(byte).map_err(malformed)?,
            None => None,
        };
        match self.state {
            State::Text if byte == b'<' => {
                self.no_reference()?;
                self.begin(State::Opened);
                self.last.push(byte);
            }
            State::Text => {
                if self.depth == 0 && self.characters.is_some() && !byte.is_ascii_whitespace() {
                    return Err(malformed("text outside of the element"));
                }
                self.reference(byte)?;
                self.bracket(byte)?;
                self.lengthen(LONGEST, "a text between two tags")?;
            }
            State::Opened => {
                self.last.push(byte);
                self.opened(byte, sign)?;
            }
            State::Tag { quote, closing } => self.tag(byte, sign, quote, closing)?,
            State::Comment => {
                if self.characters.is_some() && self.last.ends_with(b"--") && byte != b'>' {
                    return Err(malformed("-- inside a comment"));
                }
                self.until(byte, b"-->");
            }
            State::Data => {
                self.lengthen(LONGEST, "a text between two tags")?;
                self.until(byte, b"]]>");
            }
            State::Instruction => {
                if self.declared.len() <= DECLARATION {
                    self.declared.push(byte);
                }
                self.until(byte, b"?>");
                if self.state == State::Text && self.characters.is_some() {
                    let content = self.declared.strip_suffix(b"?>").unwrap_or(&self.declared);
                    mistake_of_instruction(content, self.first).map_or(Ok(()), |mistake| Err(malformed(mistake)))?;
                    if let Some(characters) = &mut self.characters
                        && self.first
                    {
                        characters.ascii = encoding(content).is_some_and(is_ascii);
                    }
                }
            }
            State::DocumentType => self.document_type(byte)?,
        }
        Ok(())
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.name = None;
        self.brackets = 0;
        self.last.clear();
    }

    fn lengthen(&mut self, most: usize, what: &str) -> Result<(), Error> {
        self.length += 1;
        if self.length > most { Err(too_much(format!("{what} of more than {most} bytes"))) } else { Ok(()) }
    }

    /// Determines what `<` starts, as soon as it is clear.
    fn opened(&mut self, byte: u8, sign: Option<char>) -> Result<(), Error> {
        let is_begun = |what: &[u8]| what.starts_with(&self.last) && what.len() > self.last.len();
        match self.last.as_slice() {
            b"<?" => {
                self.first = self.seen == 2;
                self.declared.clear();
                self.begin(State::Instruction);
            }
            b"</" => {
                self.begin(State::Tag { quote: None, closing: true });
                self.length = 0;
                self.in_tag = InTag::default();
            }
            b"<!--" => self.begin(State::Comment),
            b"<![CDATA[" => self.begin(State::Data),
            begun if begun.starts_with(b"<!") => {
                if !is_begun(b"<!--") && !is_begun(b"<![CDATA[") {
                    if (self.begun || self.typed) && self.characters.is_some() {
                        return Err(malformed("a document type that is not before the element, or a second one"));
                    }
                    self.typed = true;
                    let begun = std::mem::take(&mut self.last);
                    self.begin(State::DocumentType);
                    self.extent = Extent::default();
                    self.declared.clear();
                    return begun.get(2..).unwrap_or_default().iter().try_for_each(|byte| self.step(*byte));
                }
            }
            _ => {
                self.begin(State::Tag { quote: None, closing: false });
                self.length = 0;
                self.attributes = 0;
                self.in_tag = InTag::default();
                self.tag(byte, sign, None, false)?;
            }
        }
        Ok(())
    }

    fn tag(&mut self, byte: u8, sign: Option<char>, quote: Option<u8>, closing: bool) -> Result<(), Error> {
        self.lengthen(TAG, "a tag")?;
        if let Some(sign) = sign {
            self.in_tag = self.in_tag.step(sign, closing).map_err(malformed)?;
        }
        match (quote, byte) {
            (Some(open), _) if open == byte => {
                self.no_reference()?;
                self.state = State::Tag { quote: None, closing };
            }
            (Some(_), _) => self.reference(byte)?,
            (None, b'"' | b'\'') => self.state = State::Tag { quote: Some(byte), closing },
            (None, b'=') => {
                self.attributes += 1;
                if self.attributes > ATTRIBUTES {
                    return Err(too_much(format!("an element with more than {ATTRIBUTES} attributes")));
                }
            }
            (None, b'>') => {
                self.begun = true;
                match (closing, self.last.last()) {
                    (true, _) => self.depth = self.depth.saturating_sub(1),
                    (false, Some(b'/')) => {}
                    (false, _) => {
                        self.depth += 1;
                        if self.depth > DEPTH {
                            return Err(too_much(format!("elements nest more than {DEPTH} deep")));
                        }
                    }
                }
                self.begin(State::Text);
                self.length = 0;
                return Ok(());
            }
            (None, _) => {}
        }
        self.last.clear();
        self.last.push(byte);
        Ok(())
    }

    /// Processes a byte of a document type.
    fn document_type(&mut self, byte: u8) -> Result<(), Error> {
        if self.declared.len() == DOCUMENT_TYPE {
            return Err(too_much(format!("a document type of more than {DOCUMENT_TYPE} bytes")));
        }
        self.declared.push(byte);
        if self.extent.step(byte) {
            self.declare()?;
            self.begin(State::Text);
        }
        Ok(())
    }

    /// Waits for the end of a comment, a CDATA section, or an instruction.
    fn until(&mut self, byte: u8, end: &[u8]) {
        if self.last.len() == end.len() {
            self.last.remove(0);
        }
        self.last.push(byte);
        if self.last == end {
            self.begin(State::Text);
        }
    }

    /// Processes a byte of a text between tags, where `]]>` is not allowed (production 14).
    fn bracket(&mut self, byte: u8) -> Result<(), Error> {
        if byte == b'>' && self.brackets == 2 && self.characters.is_some() {
            return Err(malformed("]]> outside of a CDATA section; write ]]&gt;"));
        }
        self.brackets = if byte == b']' { (self.brackets + 1).min(2) } else { 0 };
        Ok(())
    }

    /// Processes a byte of a text in which entities are replaced.
    fn reference(&mut self, byte: u8) -> Result<(), Error> {
        match (&mut self.name, byte) {
            (_, b'&') => {
                self.no_reference()?;
                self.name = Some(Vec::new());
            }
            (Some(name), b';') => {
                if self.characters.is_some() && names_no_character(name) {
                    let message = format!("&{}; is not a character that XML allows", String::from_utf8_lossy(name));
                    return Err(malformed(message));
                }
                let name = String::from_utf8_lossy(name);
                let more = match self.entities.length(&name) {
                    _ if name.starts_with('#') => 0,
                    Ok(length) => length,
                    // Without a check of the syntax, what stands for nothing is what it is.
                    Err(reason) if self.characters.is_some() => return Err(malformed(reason)),
                    Err(_) => 0,
                };
                self.name = None;
                self.length += more;
                self.expanded = self.expanded.saturating_add(more as u64);
                if self.expanded > SLACK.saturating_add(self.seen.saturating_mul(RATIO)) {
                    return Err(too_much(format!("entities stand for more than {RATIO} times the text")));
                }
            }
            (Some(name), _) if name.len() < NAME && is_of_reference(byte) => name.push(byte),
            _ => {
                self.no_reference()?;
                self.name = None;
            }
        }
        Ok(())
    }

    /// The error for a reference that is not complete.
    fn no_reference(&self) -> Result<(), Error> {
        let begun = self.name.is_some() && self.characters.is_some();
        if begun { Err(malformed("& does not start a reference; write &amp;")) } else { Ok(()) }
    }

    /// Reads the entities of a document type.
    fn declare(&mut self) -> Result<(), Error> {
        let declared = std::mem::take(&mut self.declared);
        let text = format!("<!{}", String::from_utf8_lossy(&declared));
        match Entities::of(&text) {
            Ok(entities) => self.entities = entities,
            // Only the strict guard checks the syntax.
            Err(error) if self.characters.is_none() && error.broken_rule() == Some(&SYNTAX) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Whether a byte can be in a reference, between `&` and `;`.
fn is_of_reference(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'#' | b'_' | b'.' | b'-' | b':')
}

/// Whether a name is a number that is not a character, including numbers that are too large. Names that are not UTF-8
/// are not numbers; the parser refuses them.
fn names_no_character(name: &[u8]) -> bool {
    let number = name.strip_prefix(b"#").and_then(|number| std::str::from_utf8(number).ok());
    number.is_some_and(|number| character(number).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<String> {
        let whole = XmlGuard::strict().look(text.as_bytes()).err().map(|(_, error)| error.message().to_owned());
        let mut guard = XmlGuard::strict();
        let bytewise = text.as_bytes().chunks(1).find_map(|byte| guard.look(byte).err());
        assert_eq!(whole, bytewise.map(|(_, error)| error.message().to_owned()));
        whole
    }

    #[test]
    fn numbers_of_characters_have_no_sign() {
        assert!(!names_no_character(b"#xE9") && !names_no_character(b"#233"));
        assert!(names_no_character(b"#x+E9") && names_no_character(b"#+233"));
    }

    #[test]
    fn what_is_usual_passes() {
        let usual = "<?xml version=\"1.0\"?><!DOCTYPE rdf:RDF [<!ENTITY x \"http://www.w3.org/2001/XMLSchema#\">]>\
            <!-- > <a> --><a b='>' c=\"/\"><b/><![CDATA[<<<<]]></a>";
        assert_eq!(refused(usual), None);
        // Elements next to each other are not nested.
        assert_eq!(refused(&"<a x='1'/><b></b><!--<c>-->".repeat(1_000)), None);
        let many = format!("<!DOCTYPE r [<!ENTITY x \"{}\">]>{}", "u".repeat(33), "<a b='&x;string'/>".repeat(100_000));
        assert_eq!(refused(&many), None);
    }

    #[test]
    fn a_text_ends_behind_its_element() {
        let whole = "<?xml version='1.0'?><!DOCTYPE r [<!-- it's < and > --><!ENTITY x \"a>b\"><!ENTITY y \"b<\"><?p > ?>]>\
            <!-- a --><r a='>'><b/><![CDATA[<]]><c>&x;</c></r>";
        let ends = |text: &str| {
            let mut guard = XmlGuard::strict();
            guard.look(text.as_bytes()).map_err(|(_, error)| error).and_then(|()| guard.end())
        };
        for behind in ["", "\n", "<!-- b -->", "<?p?>"] {
            assert!(ends(&format!("{whole}{behind}")).is_ok(), "{behind}");
        }
        for end in 0..whole.len() {
            let error = ends(&whole[..end]).err();
            let told = error.is_some_and(|error| error.broken_rule() == Some(&SYNTAX));
            assert!(told, "{}", &whole[..end]);
        }
    }

    #[test]
    fn what_costs_too_much_does_not() {
        assert_eq!(refused(&"<a>".repeat(DEPTH)), None);
        assert!(refused(&"<a>".repeat(DEPTH + 1)).is_some_and(|why| why.contains("nest")));
        let attributes = |count: usize| format!("<a {}>", "b='1' ".repeat(count));
        assert_eq!(refused(&attributes(ATTRIBUTES)), None);
        assert!(refused(&attributes(ATTRIBUTES + 1)).is_some_and(|why| why.contains("attributes")));
        let laughs: String =
            (1..20).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
        let laughs = format!("<!DOCTYPE r [<!ENTITY e0 \"ha\">{laughs}]><a>&e19;</a>");
        assert!(refused(&laughs).is_some_and(|why| why.contains("stands for more")));
        let long = format!("<!DOCTYPE r [<!ENTITY e \"{}\">]><a>{}</a>", "x".repeat(60_000), "&e;".repeat(10_000));
        assert!(refused(&long).is_some_and(|why| why.contains("times the text")));
    }
}
