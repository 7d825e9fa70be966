//! Parses GraphML as a stream of graph elements.

use std::io::{BufReader, Read};

use isomorph_error::{Error, Place, Result, Rule};
use isomorph_tables::PackedFile;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, ResolveResult};
use quick_xml::{NsReader, Reader};

use crate::capability::is_foreign;
use crate::fragment::{DECLARED, check_reference, check_tag, declare};
use crate::guard::Guard;
use crate::keys::{Domain, Key, Keys, data_type};
use crate::rules;

/// Maximum nesting of elements.
pub(crate) const DEPTH: usize = 128;

/// Beginning of the namespaces of GraphML's versions.
const GRAPHML: &[u8] = b"http://graphml.graphdrawing.org/xmlns";

/// Maximum number of namespaces declared at one place.
const NAMESPACES: usize = 256;

/// Maximum number of keys.
const KEYS: usize = 10_000;

/// Maximum length of a tag, in bytes.
const TAG: usize = 1 << 20;

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Data of the current element for a key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    pub is_set: bool,
    pub text: String,
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// The graph begins.
    Graph,
    Node,
    Edge,
    Hyperedge,
    /// The graph has ended; its data has been read.
    End,
}

/// An end of a hyperedge.
#[derive(Debug, Clone, Default)]
pub(crate) struct Endpoint {
    pub node: String,
    /// `in`, `out`, or another text.
    pub kind: String,
}

/// Attributes of the current element.
#[derive(Debug, Clone, Default)]
pub(crate) struct Element {
    pub has_id: bool,
    pub id: String,
    pub source: String,
    pub target: String,
    pub directed: Option<bool>,
    pub endpoints: Vec<Endpoint>,
}

type Input = Guard<BufReader<Box<dyn Read + Send>>>;

/// Reads a file.
pub(crate) struct Parser {
    reader: NsReader<Input>,
    place: Place,
    /// Event buffers, one per nesting level.
    buffers: Vec<Vec<u8>>,
    pub keys: Keys,
    /// Data of the current element, by key.
    pub data: Vec<Slot>,
    /// Data of the graph, by key.
    pub graph_data: Vec<Slot>,
    pub element: Element,
    /// `edgedefault`.
    pub directed: bool,
    pub graph_id: Option<String>,
    /// Number of elements and attributes that are not read: ports, locators, descriptions.
    pub passed_over: u64,
    /// Elements that GraphML does not have: the name of the first one, and their number.
    pub unknown: Option<(String, u64)>,
    /// Whether the graph has no `edgedefault`.
    pub lacks_default: bool,
    /// The namespace of the first element.
    namespace: Option<Vec<u8>>,
    /// Whether something has been read.
    has_begun: bool,
    within: Within,
    /// Buffer for the id of a key.
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Root,
    Graph,
    Done,
}

impl Parser {
    /// Starts to read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    pub fn new(file: &PackedFile) -> Result<Parser> {
        let input = Guard::new(BufReader::with_capacity(BLOCK, file.reader()?));
        let mut reader = NsReader::from_reader(input);
        reader.config_mut().check_end_names = true;
        reader.config_mut().check_comments = true;
        Ok(Parser {
            reader,
            place: file.blob.place(),
            buffers: Vec::new(),
            keys: Keys::default(),
            data: Vec::new(),
            graph_data: Vec::new(),
            element: Element::default(),
            directed: true,
            graph_id: None,
            passed_over: 0,
            unknown: None,
            lacks_default: false,
            namespace: None,
            has_begun: false,
            within: Within::Nothing,
            id: String::new(),
        })
    }

    /// Creates an error at the current position.
    pub fn wrong(&self, rule: &'static Rule, message: impl Into<String>) -> Error {
        Error::broken(rule, message).at(self.place.clone().offset(self.reader.buffer_position()))
    }

    fn syntax(&self, message: impl Into<String>) -> Error {
        self.wrong(&rules::SYNTAX, message)
    }

    /// Calls `work` with an event buffer.
    fn buffered<T>(&mut self, work: impl FnOnce(&mut Self, &mut Vec<u8>) -> Result<T>) -> Result<T> {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        let done = work(self, &mut buffer);
        if buffer.capacity() <= BLOCK {
            self.buffers.push(buffer);
        }
        done
    }

    /// Returns the next event.
    fn event<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<Event<'b>> {
        self.reader.get_mut().begin();
        buffer.clear();
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let read = self.reader.read_event_into(buffer);
        match read {
            Ok(Event::Decl(_)) if has_begun => Err(self.syntax("the XML declaration is not at the beginning")),
            Ok(Event::DocType(_)) if self.within != Within::Nothing => {
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
                Err(self.wrong(&rules::LIMIT, "a tag is longer than 1 MiB"))
            }
            Ok(event @ (Event::Start(_) | Event::Empty(_))) => {
                if let Event::Start(tag) | Event::Empty(tag) = &event {
                    if self.reader.resolver().bindings().nth(NAMESPACES).is_some() {
                        return Err(self.wrong(&rules::LIMIT, format!("more than {NAMESPACES} namespaces")));
                    }
                    check_tag(tag, self.reader.resolver()).map_err(|message| self.syntax(message))?;
                }
                Ok(event)
            }
            Ok(event) => Ok(event),
            Err(_) if self.reader.get_ref().is_over() => {
                Err(self.wrong(&rules::LIMIT, "a tag or a text is longer than 64 MiB"))
            }
            Err(quick_xml::Error::Io(error)) => {
                Err(Error::from(std::io::Error::new(error.kind(), error.to_string())).at(self.place.clone()))
            }
            Err(error) => Err(self.syntax(error.to_string())),
        }
    }

    /// Writes the value of an attribute to `out`; returns false if there is none.
    fn attribute_into(&self, tag: &BytesStart<'_>, name: &str, out: &mut String) -> Result<bool> {
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

    fn check_characters(&self, text: &str) -> Result<()> {
        match text.chars().find(|character| is_foreign(*character)) {
            None => Ok(()),
            Some(character) => {
                let code = u32::from(character);
                Err(self.syntax(format!("XML does not allow the character U+{code:04X}")))
            }
        }
    }

    /// Returns the name of an element without its prefix, if it belongs to GraphML: in its namespace, in that of the
    /// first element, or in none.
    fn own_name<'t>(&self, tag: &'t BytesStart<'_>) -> Option<&'t [u8]> {
        let is_own = match self.reader.resolver().resolve_element(tag.name()).0 {
            ResolveResult::Bound(found) => {
                found.0.starts_with(GRAPHML) || self.namespace.as_deref().is_some_and(|first| first == found.0)
            }
            _ => true,
        };
        is_own.then(|| tag.local_name().into_inner())
    }

    /// Skips an element that is not read.
    fn pass_over(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> Result<()> {
        match self.own_name(tag) {
            Some(b"desc" | b"port" | b"locator" | b"endpoint") => self.passed_over += 1,
            _ => {
                let name = || (String::from_utf8_lossy(tag.name().into_inner()).into_owned(), 0);
                self.unknown.get_or_insert_with(name).1 += 1;
            }
        }
        if is_empty { Ok(()) } else { self.skip() }
    }

    /// Returns the value of an attribute.
    fn attribute(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
        let mut out = String::new();
        Ok(self.attribute_into(tag, name, &mut out)?.then_some(out))
    }

    fn has_attribute(&self, tag: &BytesStart<'_>, name: &str) -> bool {
        let mut attributes = tag.attributes();
        attributes.with_checks(false).flatten().any(|attribute| attribute.key.as_ref() == name.as_bytes())
    }

    fn required(&self, tag: &BytesStart<'_>, name: &str, out: &mut String) -> Result<()> {
        match self.attribute_into(tag, name, out)? {
            true => Ok(()),
            false => Err(self.syntax(format!("{} without {name}", String::from_utf8_lossy(tag.local_name().as_ref())))),
        }
    }

    /// Skips the content of the current element.
    fn skip(&mut self) -> Result<()> {
        self.buffered(Self::skip_in)
    }

    fn skip_in(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        let mut depth = 1;
        while depth > 0 {
            match self.event(buffer)? {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.syntax("the file is truncated")),
                _ => {}
            }
            if depth > DEPTH {
                return Err(self.wrong(&rules::LIMIT, format!("elements are nested more than {DEPTH} deep")));
            }
        }
        Ok(())
    }

    /// Appends the text inside the current element, with inner elements as XML.
    fn text(&mut self, out: &mut String) -> Result<()> {
        self.buffered(|parser, buffer| parser.text_in(buffer, out))?;
        self.check_characters(out)
    }

    fn text_in(&mut self, buffer: &mut Vec<u8>, out: &mut String) -> Result<()> {
        let (mut depth, mut has_elements) = (1, false);
        // Positions at which elements of the outermost level can declare prefixes, and the prefixes that they inherit.
        let mut inherited: Vec<(usize, String, String)> = Vec::new();
        loop {
            match self.event(buffer)? {
                Event::Text(text) if !has_elements => {
                    let text = text.xml10_content().map_err(|error| self.syntax(error.to_string()))?;
                    out.push_str(&text);
                }
                Event::CData(text) if !has_elements => {
                    let text = text.xml10_content().map_err(|error| self.syntax(error.to_string()))?;
                    out.push_str(&text);
                }
                Event::GeneralRef(name) if !has_elements => {
                    let character = name.resolve_char_ref().map_err(|error| self.syntax(error.to_string()))?;
                    let name = name.decode().map_err(|error| self.syntax(error.to_string()))?;
                    match character.or_else(|| entity(&name)) {
                        Some(character) => out.push(character),
                        None => return Err(self.syntax(format!("the entity &{name}; is not one of XML's"))),
                    }
                }
                Event::Text(text) => self.raw(out, "", &text, "")?,
                Event::CData(text) => self.raw(out, "<![CDATA[", &text, "]]>")?,
                Event::GeneralRef(name) => {
                    check_reference(&name).map_err(|message| self.syntax(message))?;
                    self.raw(out, "&", &name, ";")?;
                }
                event @ (Event::Start(_) | Event::Empty(_)) => {
                    if !std::mem::replace(&mut has_elements, true) && out.trim().is_empty() {
                        out.clear();
                    }
                    if let (1, Event::Start(tag) | Event::Empty(tag)) = (depth, &event) {
                        let at = out.len() + 1 + tag.name().into_inner().len();
                        inherited.extend(self.inherited(tag).map(|(prefix, uri)| (at, prefix, uri)));
                        if inherited.len() > 1 << 16 {
                            return Err(self.wrong(&rules::LIMIT, "too many elements with prefixes in one value"));
                        }
                    }
                    match event {
                        Event::Start(tag) => {
                            depth += 1;
                            self.raw(out, "<", &tag, ">")?;
                        }
                        Event::Empty(tag) => self.raw(out, "<", &tag, "/>")?,
                        _ => {}
                    }
                    if depth > DEPTH {
                        return Err(self.wrong(&rules::LIMIT, format!("elements are nested more than {DEPTH} deep")));
                    }
                }
                Event::End(tag) => {
                    depth -= 1;
                    if depth == 0 {
                        if has_elements {
                            out.truncate(out.trim_end().len());
                        }
                        declare(out, &inherited);
                        return Ok(());
                    }
                    self.raw(out, "</", &tag, ">")?;
                }
                Event::Eof => return Err(self.syntax("the file is truncated")),
                _ => {}
            }
            if out.len() > crate::guard::LONGEST {
                return Err(self.wrong(&rules::LIMIT, "a text is longer than 64 MiB"));
            }
        }
    }

    fn raw(&self, out: &mut String, before: &str, bytes: &[u8], after: &str) -> Result<()> {
        let text = std::str::from_utf8(bytes).map_err(|_| self.syntax("the text is not UTF-8"))?;
        out.push_str(before);
        match text.contains('\r') {
            // XML 1.0, section 2.11.
            true => out.push_str(&text.replace("\r\n", "\n").replace('\r', "\n")),
            false => out.push_str(text),
        }
        out.push_str(after);
        Ok(())
    }

    /// Returns the prefixes that an element inside data inherits, except those that are declared in the output.
    fn inherited(&self, tag: &BytesStart<'_>) -> impl Iterator<Item = (String, String)> {
        let mut all = Vec::new();
        for (prefix, uri) in self.reader.resolver().bindings() {
            let PrefixDeclaration::Named(prefix) = prefix else { continue };
            let (prefix, uri) = (String::from_utf8_lossy(prefix), String::from_utf8_lossy(uri.0));
            let is_known = DECLARED.iter().any(|(own, known)| *own == prefix && *known == uri);
            if !is_known
                && !matches!(prefix.as_ref(), "xml" | "xmlns")
                && !self.has_attribute(tag, &format!("xmlns:{prefix}"))
            {
                all.push((prefix.into_owned(), uri.replace('"', "&quot;")));
            }
        }
        all.into_iter()
    }

    fn key(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> Result<()> {
        let mut id = String::new();
        self.required(tag, "id", &mut id)?;
        let yfiles = self.attribute(tag, "yfiles.type")?;
        let name = self.attribute(tag, "attr.name")?.or_else(|| yfiles.clone()).unwrap_or_else(|| id.clone());
        let domain = Domain::of(&self.attribute(tag, "for")?.unwrap_or_default());
        let word = self.attribute(tag, "attr.type")?;
        let (data_type, is_known) = word.as_deref().map_or((arrow_schema::DataType::Utf8, true), data_type);
        let foreign = word.filter(|_| !is_known);
        let default = if is_empty { None } else { self.buffered(Self::default_in)? };
        if self.keys.all.len() >= KEYS {
            return Err(self.wrong(&rules::LIMIT, format!("more than {KEYS} keys")));
        }
        let message = format!("the key {id:?} is declared twice");
        if !self.keys.add(Key { id, name, domain, data_type, yfiles, default, foreign }) {
            return Err(self.wrong(&rules::KEY, message));
        }
        self.data.push(Slot::default());
        self.graph_data.push(Slot::default());
        Ok(())
    }

    /// Returns the default value of a key.
    fn default_in(&mut self, buffer: &mut Vec<u8>) -> Result<Option<String>> {
        let mut default = None;
        loop {
            match self.event(buffer)? {
                Event::Start(tag) if self.own_name(&tag) == Some(b"default") => {
                    let mut text = String::new();
                    self.text(&mut text)?;
                    default = Some(text);
                }
                Event::Empty(tag) if self.own_name(&tag) == Some(b"default") => default = Some(String::new()),
                Event::Start(_) => self.skip()?,
                Event::End(_) => return Ok(default),
                Event::Eof => return Err(self.syntax("the file is truncated")),
                _ => {}
            }
        }
    }

    /// Reads data, of the graph or of the current element.
    fn datum(&mut self, tag: &BytesStart<'_>, is_empty: bool, of: Domain) -> Result<()> {
        let mut id = std::mem::take(&mut self.id);
        self.required(tag, "key", &mut id)?;
        let found = self.keys.find(&id, of);
        self.id = id;
        let Some(at) = found else {
            let id = &self.id;
            return Err(self.wrong(&rules::KEY, format!("the key {id:?} is not declared before it is used")));
        };
        let key = &self.keys.all[at];
        if !key.domain.includes(of) {
            let (name, domain) = (&key.name, key.domain.word());
            let message = format!("{name} is declared for {domain}, but is used in {}", of.word());
            return Err(self.wrong(&rules::KEY, message));
        }
        if of == Domain::Graph && self.graph_data[at].is_set {
            return Err(self.wrong(&rules::KEY, format!("the graph has two values of {:?}", key.name)));
        }
        let slots = if of == Domain::Graph { &mut self.graph_data } else { &mut self.data };
        let mut slot = std::mem::take(&mut slots[at]);
        slot.text.clear();
        slot.is_set = true;
        if !is_empty {
            self.text(&mut slot.text)?;
        }
        let slots = if of == Domain::Graph { &mut self.graph_data } else { &mut self.data };
        slots[at] = slot;
        Ok(())
    }

    fn begin(&mut self, tag: &BytesStart<'_>, item: Item) -> Result<()> {
        self.data.iter_mut().for_each(|slot| slot.is_set = false);
        self.element.endpoints.clear();
        let mut element = std::mem::take(&mut self.element);
        element.has_id = self.attribute_into(tag, "id", &mut element.id)?;
        element.directed = None;
        match item {
            Item::Node if !element.has_id => return Err(self.syntax("a node has no id")),
            Item::Edge => {
                self.required(tag, "source", &mut element.source)?;
                self.required(tag, "target", &mut element.target)?;
                for port in ["sourceport", "targetport"] {
                    self.passed_over += u64::from(self.has_attribute(tag, port));
                }
                element.directed = match self.attribute(tag, "directed")? {
                    None => None,
                    Some(word) => match crate::keys::truth(&word) {
                        Some(directed) => Some(directed),
                        None => return Err(self.syntax(format!("directed must be true or false, found {word:?}"))),
                    },
                };
            }
            _ => {}
        }
        self.element = element;
        Ok(())
    }

    /// Reads the content of a graph element.
    fn inside(&mut self, of: Domain) -> Result<()> {
        self.buffered(|parser, buffer| parser.inside_in(buffer, of))
    }

    fn inside_in(&mut self, buffer: &mut Vec<u8>, of: Domain) -> Result<()> {
        loop {
            let (tag, is_empty) = match self.event(buffer)? {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => return Ok(()),
                Event::Eof => return Err(self.syntax("the file is truncated")),
                _ => continue,
            };
            match self.own_name(&tag).unwrap_or_default() {
                b"data" => self.datum(&tag, is_empty, of)?,
                b"graph" => return Err(self.wrong(&rules::NESTED, "a graph is inside a node or an edge")),
                b"endpoint" if of == Domain::Hyperedge => {
                    let mut node = String::new();
                    self.required(&tag, "node", &mut node)?;
                    let kind = self.attribute(&tag, "type")?.unwrap_or_default();
                    self.element.endpoints.push(Endpoint { node, kind });
                    if self.element.endpoints.len() > 1 << 24 {
                        return Err(self.wrong(&rules::LIMIT, "a hyperedge has more than 16,777,216 ends"));
                    }
                    if !is_empty {
                        self.skip()?;
                    }
                }
                _ => self.pass_over(&tag, is_empty)?,
            }
        }
    }

    /// Reads the next element of the graph into [`Parser::element`] and [`Parser::data`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is not GraphML with a single graph.
    pub fn next(&mut self) -> Result<Option<Item>> {
        self.buffered(Self::next_in)
    }

    fn next_in(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Item>> {
        loop {
            let event = self.event(buffer)?;
            let (tag, is_empty) = match event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => match self.within {
                    Within::Graph => {
                        self.within = Within::Root;
                        return Ok(Some(Item::End));
                    }
                    _ => {
                        self.within = Within::Done;
                        continue;
                    }
                },
                Event::Text(text) if !text.iter().all(u8::is_ascii_whitespace) => {
                    return Err(self.syntax("expected an element, found text"));
                }
                Event::CData(_) | Event::GeneralRef(_) => return Err(self.syntax("expected an element, found text")),
                Event::Eof => {
                    return match (self.within, &self.graph_id) {
                        (Within::Done, Some(_)) => Ok(None),
                        (Within::Done, None) => Err(self.syntax("there is no graph in this file")),
                        _ => Err(self.syntax("the file is truncated")),
                    };
                }
                _ => continue,
            };
            if self.within == Within::Nothing
                && let ResolveResult::Bound(found) = self.reader.resolver().resolve_element(tag.name()).0
            {
                self.namespace = Some(found.0.to_vec());
            }
            match (self.within, self.own_name(&tag).unwrap_or_default()) {
                (Within::Nothing, b"graphml") => self.within = if is_empty { Within::Done } else { Within::Root },
                (Within::Nothing, _) => return Err(self.syntax("the first element is not graphml")),
                (Within::Done, _) => return Err(self.syntax("there is an element after the end")),
                (Within::Root, b"key") => self.key(&tag, is_empty)?,
                (Within::Root, b"graph") => {
                    if self.graph_id.is_some() {
                        return Err(self.wrong(&rules::NESTED, "the file has a second graph"));
                    }
                    self.graph_id = Some(self.attribute(&tag, "id")?.unwrap_or_default());
                    self.directed = match self.attribute(&tag, "edgedefault")?.as_deref() {
                        Some("directed") => true,
                        Some("undirected") => false,
                        None => {
                            self.lacks_default = true;
                            false
                        }
                        Some(other) => {
                            return Err(
                                self.syntax(format!("edgedefault must be directed or undirected, found {other:?}"))
                            );
                        }
                    };
                    if !is_empty {
                        self.within = Within::Graph;
                    }
                    return Ok(Some(Item::Graph));
                }
                (Within::Root | Within::Graph, b"data") => self.datum(&tag, is_empty, Domain::Graph)?,
                (Within::Graph, b"graph") => return Err(self.wrong(&rules::NESTED, "a graph is inside a graph")),
                (Within::Graph, local @ (b"node" | b"edge" | b"hyperedge")) => {
                    let (item, of) = match local {
                        b"node" => (Item::Node, Domain::Node),
                        b"edge" => (Item::Edge, Domain::Edge),
                        _ => (Item::Hyperedge, Domain::Hyperedge),
                    };
                    self.begin(&tag, item)?;
                    if !is_empty {
                        self.inside(of)?;
                    }
                    return Ok(Some(item));
                }
                _ => self.pass_over(&tag, is_empty)?,
            }
        }
    }
}

/// Returns the character of a predefined XML entity.
pub(crate) fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
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

/// Returns whether a text begins like GraphML.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    let mut reader = Reader::from_reader(bytes);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => return tag.local_name().as_ref() == b"graphml",
            Ok(Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Text(text))
                if text.iter().all(|byte| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte)) => {}
            _ => return false,
        }
    }
}
