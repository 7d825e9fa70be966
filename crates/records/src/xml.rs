//! Events of an XML file, within limits. XML is hostile input: only the predefined entities are allowed, no document type with
//! declarations, and nothing that is too long or nested too deep.

mod guard;
mod tags;
mod text;
mod utf16;

use std::io::{BufReader, Read};

use isomorph_error::{Error, Place, Result, Rule};
use isomorph_tables::PackedFile;
use quick_xml::Reader;
use quick_xml::events::{self, BytesCData, BytesEnd, BytesRef, BytesStart, BytesText};
use quick_xml::name::{NamespaceResolver, QName};

use self::guard::Guard;
use self::tags::{check_prefixes, find_attributes};
use self::utf16::Encoding;

pub use self::guard::LONGEST;
pub use self::tags::{Attribute, check_reference, check_tag};
pub use self::text::{check_text, entity, is_foreign, push_escaped};

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

/// The bytes of an event, and the attributes of a tag.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    attributes: Vec<Attribute>,
}

/// A tag that begins an element. Its attributes are well-formed.
#[derive(Debug)]
pub struct Tag<'b> {
    start: BytesStart<'b>,
    attributes: &'b [Attribute],
}

impl Tag<'_> {
    /// Returns the name.
    pub fn name(&self) -> QName<'_> {
        self.start.name()
    }

    /// Returns the name without its prefix.
    pub fn local_name(&self) -> &[u8] {
        self.start.local_name().into_inner()
    }

    /// Returns the bytes between `<` and `>`, or `/>`.
    pub fn bytes(&self) -> &[u8] {
        &self.start
    }

    /// Returns whether there is an attribute of this name.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the names of the attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter_map(|own| std::str::from_utf8(own.name(&self.start)).ok())
    }

    fn find(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|own| own.name(&self.start) == name.as_bytes())
    }
}

/// What is read.
#[derive(Debug)]
pub enum Event<'b> {
    /// The beginning of an element.
    Start(Tag<'b>),
    /// An element without content.
    Empty(Tag<'b>),
    /// The end of an element.
    End(BytesEnd<'b>),
    /// Text without references.
    Text(BytesText<'b>),
    /// A CDATA section.
    CData(BytesCData<'b>),
    /// A reference to a character or an entity.
    GeneralRef(BytesRef<'b>),
    /// A comment, a declaration or a processing instruction.
    Other,
    /// The end of the file.
    Eof,
}

/// Reads an XML file.
pub struct XmlStream {
    reader: Reader<Input>,
    namespaces: NamespaceResolver,
    /// The number of elements that are open, and an upper bound of the level of the last declaration of a namespace: most elements declare
    /// none, and the resolver need not hear of them.
    level: u16,
    declared: u16,
    /// Whether the namespaces of the last element end before the next event.
    has_ended: bool,
    place: Place,
    rules: XmlRules,
    encoding: Encoding,
    /// Event buffers that are not used, one per nesting level.
    buffers: Vec<Buffer>,
    /// Whether something has been read, and whether an element has.
    has_begun: bool,
    has_root: bool,
}

impl XmlStream {
    /// Starts to read. Positions in a text in UTF-16 are those of the same text in UTF-8.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or decompressed.
    pub fn new(file: &PackedFile, rules: XmlRules) -> Result<XmlStream> {
        let decoded = utf16::decoded(file.reader()?);
        let (input, encoding) = decoded.map_err(|error| Error::from(error).at(file.blob.place()))?;
        let input = Guard::new(BufReader::with_capacity(BLOCK, input));
        let mut reader = Reader::from_reader(input);
        reader.config_mut().check_end_names = true;
        reader.config_mut().check_comments = true;
        Ok(XmlStream {
            reader,
            namespaces: NamespaceResolver::default(),
            level: 0,
            declared: 0,
            has_ended: false,
            place: file.blob.place(),
            rules,
            encoding,
            buffers: Vec::new(),
            has_begun: false,
            has_root: false,
        })
    }

    /// Returns the current position in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.reader.buffer_position()
    }

    /// Returns the current position in the file.
    pub fn place(&self) -> Place {
        self.place.clone().offset(self.offset())
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
        &self.namespaces
    }

    /// Returns an event buffer.
    pub fn take_buffer(&mut self) -> Buffer {
        self.buffers.pop().unwrap_or_default()
    }

    /// Takes an event buffer back.
    pub fn give_buffer(&mut self, buffer: Buffer) {
        if buffer.bytes.capacity() <= BLOCK {
            self.buffers.push(buffer);
        }
    }

    /// Returns the next event.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not well-formed, or is beyond a limit.
    pub fn event<'b>(&mut self, buffer: &'b mut Buffer) -> Result<Event<'b>> {
        self.reader.get_mut().begin();
        let Buffer { bytes, attributes } = buffer;
        bytes.clear();
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        if std::mem::take(&mut self.has_ended) {
            self.level = self.level.saturating_sub(1);
            if self.level < self.declared {
                self.namespaces.set_level(self.level);
                self.declared = self.level;
            }
        }
        let read = self.reader.read_event_into(bytes);
        Ok(match read {
            Ok(events::Event::Start(start)) => Event::Start(self.begin(start, attributes)?),
            Ok(events::Event::Empty(start)) => {
                self.has_ended = true;
                Event::Empty(self.begin(start, attributes)?)
            }
            Ok(events::Event::End(end)) => {
                self.has_ended = true;
                Event::End(end)
            }
            Ok(events::Event::Text(text)) => Event::Text(text),
            Ok(events::Event::CData(text)) => Event::CData(text),
            Ok(events::Event::GeneralRef(name)) => Event::GeneralRef(name),
            Ok(events::Event::Eof) => Event::Eof,
            Ok(events::Event::Comment(_) | events::Event::PI(_)) => Event::Other,
            Ok(events::Event::Decl(_)) if has_begun => {
                return Err(self.syntax("the XML declaration is not at the beginning"));
            }
            Ok(events::Event::Decl(declaration)) => {
                let encoding = declaration.encoding().and_then(std::result::Result::ok).unwrap_or_default();
                let encoding = String::from_utf8_lossy(&encoding).to_ascii_lowercase();
                match (self.encoding, encoding.as_str()) {
                    (_, "") | (Encoding::Bytes, "utf-8" | "utf8" | "us-ascii" | "ascii") => Event::Other,
                    (Encoding::Utf16(_), "utf-16" | "utf16") => Event::Other,
                    (Encoding::Utf16(true), "utf-16be") | (Encoding::Utf16(false), "utf-16le") => Event::Other,
                    (own, _) => {
                        let is = if own == Encoding::Bytes { "" } else { ", but its bytes are UTF-16" };
                        let message = format!("the declared encoding is {encoding}{is}");
                        return Err(self.syntax(message).hint("save the file as UTF-8"));
                    }
                }
            }
            Ok(events::Event::DocType(_)) if self.has_root => {
                return Err(self.syntax("the document type is not before the first element"));
            }
            Ok(events::Event::DocType(text)) if text.contains(&b'[') => {
                return Err(self.syntax("a document type with its own declarations is not supported"));
            }
            Ok(events::Event::DocType(_)) => Event::Other,
            Err(_) if self.reader.get_ref().is_over() => {
                return Err(self.limit("a tag or a text is longer than 64 MiB"));
            }
            Err(quick_xml::Error::Io(error)) => {
                let own = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
                let error = match own {
                    Some(own) => Error::new(own.kind(), own.message()),
                    None if error.kind() == std::io::ErrorKind::InvalidData => self.syntax(error.to_string()),
                    None => std::io::Error::new(error.kind(), error.to_string()).into(),
                };
                return Err(error.at(self.place.clone()));
            }
            Err(error) => return Err(self.syntax(error.to_string())),
        })
    }

    /// Checks a tag, and follows the namespaces that it declares.
    fn begin<'b>(&mut self, start: BytesStart<'b>, attributes: &'b mut Vec<Attribute>) -> Result<Tag<'b>> {
        if start.len() > TAG {
            return Err(self.limit("a tag is longer than 1 MiB"));
        }
        self.has_root = true;
        let names = find_attributes(&start, attributes).map_err(|message| self.syntax(message))?;
        if names.declares {
            self.namespaces.set_level(self.level);
            self.namespaces.push(&start).map_err(|error| self.syntax(error.to_string()))?;
            self.declared = self.level.saturating_add(1);
            if self.namespaces.bindings().nth(NAMESPACES).is_some() {
                return Err(self.limit(format!("more than {NAMESPACES} namespaces")));
            }
        }
        self.level = self.level.saturating_add(1);
        if names.has_prefixes {
            check_prefixes(&start, &self.namespaces, attributes).map_err(|message| self.syntax(message))?;
        }
        Ok(Tag { start, attributes })
    }

    /// Writes the value of an attribute to `out`; returns false if there is none.
    ///
    /// # Errors
    /// Returns an error if it is not well-formed.
    pub fn attribute_into(&self, tag: &Tag<'_>, name: &str, out: &mut String) -> Result<bool> {
        out.clear();
        match tag.find(name) {
            None => Ok(false),
            Some(own) => own.push_value(&tag.start, out).map(|()| true).map_err(|message| self.syntax(message)),
        }
    }

    /// Returns the value of an attribute.
    ///
    /// # Errors
    /// As [`XmlStream::attribute_into`].
    pub fn attribute(&self, tag: &Tag<'_>, name: &str) -> Result<Option<String>> {
        let mut out = String::new();
        Ok(self.attribute_into(tag, name, &mut out)?.then_some(out))
    }

    /// Writes the value of an attribute that must be there to `out`.
    ///
    /// # Errors
    /// Returns an error if it is not.
    pub fn required(&self, tag: &Tag<'_>, name: &str, out: &mut String) -> Result<()> {
        match self.attribute_into(tag, name, out)? {
            true => Ok(()),
            false => Err(self.syntax(format!("{} without {name}", String::from_utf8_lossy(tag.local_name())))),
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
        match text::first_foreign(text) {
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
            Event::Text(text) => self.push_lines(text, out)?,
            Event::CData(text) => self.push_lines(text, out)?,
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

    /// Appends text with ends of lines as XML 1.0, section 2.11, has them.
    fn push_lines(&self, text: &[u8], out: &mut String) -> Result<()> {
        let text = std::str::from_utf8(text).map_err(|_| self.syntax("the text is not UTF-8"))?;
        match memchr::memchr(b'\r', text.as_bytes()) {
            None => out.push_str(text),
            Some(_) => out.push_str(&text.replace("\r\n", "\n").replace('\r', "\n")),
        }
        Ok(())
    }
}

/// Returns whether the first element of a text has this name.
pub fn begins_with(bytes: &[u8], name: &str) -> bool {
    // What was cut off inside a character does not matter.
    let mut text = Vec::new();
    let decoded = utf16::decoded(Box::new(std::io::Cursor::new(bytes.to_vec())));
    let _ = decoded.and_then(|(mut input, _)| input.read_to_end(&mut text));
    let mut reader = Reader::from_reader(text.as_slice());
    loop {
        match reader.read_event() {
            Ok(events::Event::Start(tag) | events::Event::Empty(tag)) => {
                return tag.local_name().as_ref() == name.as_bytes();
            }
            Ok(
                events::Event::Decl(_) | events::Event::Comment(_) | events::Event::PI(_) | events::Event::DocType(_),
            ) => {}
            Ok(events::Event::Text(text))
                if text.iter().all(|byte| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte)) => {}
            _ => return false,
        }
    }
}
