//! Events of an XML file, within limits. XML is hostile input: only the predefined entities are allowed, no document type with
//! declarations, and nothing that is too long or nested too deep.

mod guard;
mod tags;

use std::io::{BufReader, Read};

use isomorph_error::{Error, Place, Result, Rule};
use isomorph_tables::PackedFile;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::NamespaceResolver;
use quick_xml::{NsReader, Reader};

use self::guard::Guard;

pub use self::guard::LONGEST;
pub use self::tags::{check_reference, check_tag, check_text, entity, is_foreign, push_escaped};

/// Maximum nesting of elements.
pub const DEPTH: usize = 128;

/// Maximum number of namespaces declared at one place.
const NAMESPACES: usize = 256;

/// Maximum length of a tag, in bytes.
const TAG: usize = 1 << 20;

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// The rules of XML in a format.
#[derive(Debug, Clone, Copy)]
pub struct XmlRules {
    /// The file is well-formed XML.
    pub syntax: &'static Rule,
    /// Nothing is too long or nested too deep.
    pub limit: &'static Rule,
}

type Input = Guard<BufReader<Box<dyn Read + Send>>>;

/// Reads an XML file.
pub struct XmlStream {
    reader: NsReader<Input>,
    place: Place,
    rules: XmlRules,
    /// Event buffers that are not used, one per nesting level.
    buffers: Vec<Vec<u8>>,
    /// Whether something has been read, and whether an element has.
    has_begun: bool,
    has_root: bool,
}

impl XmlStream {
    /// Starts to read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    pub fn new(file: &PackedFile, rules: XmlRules) -> Result<XmlStream> {
        let input = Guard::new(BufReader::with_capacity(BLOCK, file.reader()?));
        let mut reader = NsReader::from_reader(input);
        reader.config_mut().check_end_names = true;
        reader.config_mut().check_comments = true;
        let place = file.blob.place();
        Ok(XmlStream { reader, place, rules, buffers: Vec::new(), has_begun: false, has_root: false })
    }

    /// Returns the current position in the file.
    pub fn place(&self) -> Place {
        self.place.clone().offset(self.reader.buffer_position())
    }

    /// Creates an error at the current position.
    pub fn wrong(&self, rule: &'static Rule, message: impl Into<String>) -> Error {
        Error::broken(rule, message).at(self.place())
    }

    /// Creates an error of the syntax at the current position.
    pub fn syntax(&self, message: impl Into<String>) -> Error {
        self.wrong(self.rules.syntax, message)
    }

    /// Creates an error of a limit at the current position.
    pub fn limit(&self, message: impl Into<String>) -> Error {
        self.wrong(self.rules.limit, message)
    }

    /// Creates the error of a file that ends too early.
    pub fn truncated(&self) -> Error {
        self.syntax("the file is truncated")
    }

    /// Returns the namespaces at the current position.
    pub fn namespaces(&self) -> &NamespaceResolver {
        self.reader.resolver()
    }

    /// Returns an event buffer.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    /// Takes an event buffer back.
    pub fn give_buffer(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= BLOCK {
            self.buffers.push(buffer);
        }
    }

    /// Returns the next event.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not well-formed, or is beyond a limit.
    pub fn event<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<Event<'b>> {
        self.reader.get_mut().begin();
        buffer.clear();
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let read = self.reader.read_event_into(buffer);
        match read {
            Ok(Event::Decl(_)) if has_begun => Err(self.syntax("the XML declaration is not at the beginning")),
            Ok(Event::DocType(_)) if self.has_root => {
                Err(self.syntax("the document type is not before the first element"))
            }
            Ok(Event::DocType(text)) if text.contains(&b'[') => {
                Err(self.syntax("a document type with its own declarations is not supported"))
            }
            Ok(Event::Decl(declaration)) => {
                let encoding = declaration.encoding().and_then(std::result::Result::ok).unwrap_or_default();
                let encoding = String::from_utf8_lossy(&encoding).to_ascii_lowercase();
                match encoding.as_str() {
                    "" | "utf-8" | "utf8" | "us-ascii" | "ascii" => Ok(Event::Decl(declaration)),
                    _ => Err(self.syntax(format!("the encoding is {encoding}")).hint("save the file as UTF-8")),
                }
            }
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.len() > TAG => {
                Err(self.limit("a tag is longer than 1 MiB"))
            }
            Ok(event @ (Event::Start(_) | Event::Empty(_))) => {
                if let Event::Start(tag) | Event::Empty(tag) = &event {
                    self.has_root = true;
                    if self.reader.resolver().bindings().nth(NAMESPACES).is_some() {
                        return Err(self.limit(format!("more than {NAMESPACES} namespaces")));
                    }
                    check_tag(tag, self.reader.resolver()).map_err(|message| self.syntax(message))?;
                }
                Ok(event)
            }
            Ok(event) => Ok(event),
            Err(_) if self.reader.get_ref().is_over() => Err(self.limit("a tag or a text is longer than 64 MiB")),
            Err(quick_xml::Error::Io(error)) => {
                Err(Error::from(std::io::Error::new(error.kind(), error.to_string())).at(self.place.clone()))
            }
            Err(error) => Err(self.syntax(error.to_string())),
        }
    }

    /// Writes the value of an attribute to `out`; returns false if there is none.
    ///
    /// # Errors
    /// Returns an error if it is not well-formed.
    pub fn attribute_into(&self, tag: &BytesStart<'_>, name: &str, out: &mut String) -> Result<bool> {
        out.clear();
        for attribute in tag.attributes().with_checks(false) {
            let mut attribute = attribute.map_err(|error| self.syntax(error.to_string()))?;
            if attribute.key.as_ref() == name.as_bytes() {
                if attribute.value.iter().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) {
                    attribute.value = blanks_as_spaces(&attribute.value).into();
                }
                let value = attribute.decode_and_unescape_value(self.reader.decoder());
                out.push_str(&value.map_err(|error| self.syntax(error.to_string()))?);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the value of an attribute.
    ///
    /// # Errors
    /// As [`XmlStream::attribute_into`].
    pub fn attribute(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
        let mut out = String::new();
        Ok(self.attribute_into(tag, name, &mut out)?.then_some(out))
    }

    /// Returns whether a tag has an attribute.
    pub fn has_attribute(&self, tag: &BytesStart<'_>, name: &str) -> bool {
        let mut attributes = tag.attributes();
        attributes.with_checks(false).flatten().any(|attribute| attribute.key.as_ref() == name.as_bytes())
    }

    /// Writes the value of an attribute that must be there to `out`.
    ///
    /// # Errors
    /// Returns an error if it is not.
    pub fn required(&self, tag: &BytesStart<'_>, name: &str, out: &mut String) -> Result<()> {
        match self.attribute_into(tag, name, out)? {
            true => Ok(()),
            false => Err(self.syntax(format!("{} without {name}", String::from_utf8_lossy(tag.local_name().as_ref())))),
        }
    }

    /// Skips the content of the current element.
    ///
    /// # Errors
    /// As [`XmlStream::event`].
    pub fn skip(&mut self) -> Result<()> {
        let mut buffer = self.take_buffer();
        let mut depth = 1;
        while depth > 0 {
            match self.event(&mut buffer)? {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.truncated()),
                _ => {}
            }
            self.check_depth(depth)?;
        }
        self.give_buffer(buffer);
        Ok(())
    }

    /// Checks that elements are not nested too deep.
    ///
    /// # Errors
    /// Returns an error if they are.
    pub fn check_depth(&self, depth: usize) -> Result<()> {
        match depth > DEPTH {
            true => Err(self.limit(format!("elements are nested more than {DEPTH} deep"))),
            false => Ok(()),
        }
    }

    /// Checks that a text has only characters that XML allows.
    ///
    /// # Errors
    /// Returns an error if it has others.
    pub fn check_characters(&self, text: &str) -> Result<()> {
        match text.chars().find(|character| is_foreign(*character)) {
            None => Ok(()),
            Some(character) => {
                let code = u32::from(character);
                Err(self.syntax(format!("XML does not allow the character U+{code:04X}")))
            }
        }
    }

    /// Appends the text of an event of text, of a CDATA section, or of a reference; returns false for every other event.
    ///
    /// # Errors
    /// Returns an error if it is not well-formed.
    pub fn push_text(&self, event: &Event<'_>, out: &mut String) -> Result<bool> {
        match event {
            Event::Text(text) => {
                out.push_str(&text.xml10_content().map_err(|error| self.syntax(error.to_string()))?);
            }
            Event::CData(text) => {
                out.push_str(&text.xml10_content().map_err(|error| self.syntax(error.to_string()))?);
            }
            Event::GeneralRef(name) => {
                let character = name.resolve_char_ref().map_err(|error| self.syntax(error.to_string()))?;
                let name = name.decode().map_err(|error| self.syntax(error.to_string()))?;
                match character.or_else(|| entity(&name)) {
                    Some(character) => out.push(character),
                    None => return Err(self.syntax(format!("the entity &{name}; is not one of XML's"))),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the text of an attribute with all blanks replaced by spaces (XML 1.0, section 3.3.3).
fn blanks_as_spaces(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for (at, byte) in value.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && value[at - 1] == b'\r' => {}
            b'\t' | b'\n' | b'\r' => out.push(b' '),
            _ => out.push(*byte),
        }
    }
    out
}

/// Returns whether the first element of a text has this name.
pub fn begins_with(bytes: &[u8], name: &str) -> bool {
    let mut reader = Reader::from_reader(bytes);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => return tag.local_name().as_ref() == name.as_bytes(),
            Ok(Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Text(text))
                if text.iter().all(|byte| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte)) => {}
            _ => return false,
        }
    }
}
