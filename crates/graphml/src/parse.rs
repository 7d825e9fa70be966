//! Parses GraphML as a stream of graph elements.

use isomorph_error::{Error, Place, Result, Rule};
use isomorph_records::xml::{self, XmlRules, XmlStream, check_reference};
use isomorph_tables::PackedFile;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, ResolveResult};

use crate::fragment::{DECLARED, declare};
use crate::keys::{Domain, Key, Keys, data_type};
use crate::rules;

/// Beginning of the namespaces of GraphML's versions.
const GRAPHML: &[u8] = b"http://graphml.graphdrawing.org/xmlns";

/// Maximum number of keys.
const KEYS: usize = 10_000;

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

/// Reads a file.
pub(crate) struct Parser {
    xml: XmlStream,
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
    /// Elements with several values for one key: the name and the place of the first, and their number.
    pub repeated: Option<(String, Place, u64)>,
    /// The namespace of the first element.
    namespace: Option<Vec<u8>>,
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
        Ok(Parser {
            xml: XmlStream::new(file, XmlRules { syntax: &rules::SYNTAX, limit: &rules::LIMIT })?,
            keys: Keys::default(),
            data: Vec::new(),
            graph_data: Vec::new(),
            element: Element::default(),
            directed: true,
            graph_id: None,
            passed_over: 0,
            unknown: None,
            lacks_default: false,
            repeated: None,
            namespace: None,
            within: Within::Nothing,
            id: String::new(),
        })
    }

    /// Creates an error at the current position.
    pub fn wrong(&self, rule: &'static Rule, message: impl Into<String>) -> Error {
        self.xml.wrong(rule, message)
    }

    fn syntax(&self, message: impl Into<String>) -> Error {
        self.wrong(&rules::SYNTAX, message)
    }

    /// Calls `work` with an event buffer.
    fn buffered<T>(&mut self, work: impl FnOnce(&mut Self, &mut Vec<u8>) -> Result<T>) -> Result<T> {
        let mut buffer = self.xml.take_buffer();
        let done = work(self, &mut buffer);
        self.xml.give_buffer(buffer);
        done
    }

    /// Returns the name of an element without its prefix, if it belongs to GraphML: in its namespace, in that of the
    /// first element, or in none.
    fn own_name<'t>(&self, tag: &'t BytesStart<'_>) -> Option<&'t [u8]> {
        let is_own = match self.xml.namespaces().resolve_element(tag.name()).0 {
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
        if is_empty { Ok(()) } else { self.xml.skip() }
    }

    /// Appends the text inside the current element, with inner elements as XML.
    fn text(&mut self, out: &mut String) -> Result<()> {
        self.buffered(|parser, buffer| parser.text_in(buffer, out))?;
        self.xml.check_characters(out)
    }

    fn text_in(&mut self, buffer: &mut Vec<u8>, out: &mut String) -> Result<()> {
        let (mut depth, mut has_elements) = (1, false);
        // Positions at which elements of the outermost level can declare prefixes, and the prefixes that they inherit.
        let mut inherited: Vec<(usize, String, String)> = Vec::new();
        loop {
            match self.xml.event(buffer)? {
                event @ (Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)) if !has_elements => {
                    self.xml.push_text(&event, out)?;
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
                    self.xml.check_depth(depth)?;
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
            if out.len() > xml::LONGEST {
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
        for (prefix, uri) in self.xml.namespaces().bindings() {
            let PrefixDeclaration::Named(prefix) = prefix else { continue };
            let (prefix, uri) = (String::from_utf8_lossy(prefix), String::from_utf8_lossy(uri.0));
            let is_known = DECLARED.iter().any(|(own, known)| *own == prefix && *known == uri);
            if !is_known
                && !matches!(prefix.as_ref(), "xml" | "xmlns")
                && !self.xml.has_attribute(tag, &format!("xmlns:{prefix}"))
            {
                all.push((prefix.into_owned(), uri.replace('"', "&quot;")));
            }
        }
        all.into_iter()
    }

    fn key(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> Result<()> {
        let mut id = String::new();
        self.xml.required(tag, "id", &mut id)?;
        let yfiles = self.xml.attribute(tag, "yfiles.type")?;
        let name = self.xml.attribute(tag, "attr.name")?.or_else(|| yfiles.clone()).unwrap_or_else(|| id.clone());
        let domain = Domain::of(&self.xml.attribute(tag, "for")?.unwrap_or_default());
        let word = self.xml.attribute(tag, "attr.type")?;
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
            match self.xml.event(buffer)? {
                Event::Start(tag) if self.own_name(&tag) == Some(b"default") => {
                    let mut text = String::new();
                    self.text(&mut text)?;
                    default = Some(text);
                }
                Event::Empty(tag) if self.own_name(&tag) == Some(b"default") => default = Some(String::new()),
                Event::Start(_) => self.xml.skip()?,
                Event::End(_) => return Ok(default),
                Event::Eof => return Err(self.syntax("the file is truncated")),
                _ => {}
            }
        }
    }

    /// Reads data, of the graph or of the current element.
    fn datum(&mut self, tag: &BytesStart<'_>, is_empty: bool, of: Domain) -> Result<()> {
        let mut id = std::mem::take(&mut self.id);
        self.xml.required(tag, "key", &mut id)?;
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
        if of != Domain::Graph && self.data[at].is_set {
            let (name, place) = (&self.keys.all[at].name, self.xml.place());
            self.repeated.get_or_insert_with(|| (name.clone(), place, 0)).2 += 1;
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
        element.has_id = self.xml.attribute_into(tag, "id", &mut element.id)?;
        element.directed = None;
        match item {
            Item::Node if !element.has_id => return Err(self.syntax("a node has no id")),
            Item::Edge => {
                self.xml.required(tag, "source", &mut element.source)?;
                self.xml.required(tag, "target", &mut element.target)?;
                for port in ["sourceport", "targetport"] {
                    self.passed_over += u64::from(self.xml.has_attribute(tag, port));
                }
                element.directed = match self.xml.attribute(tag, "directed")? {
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
            let (tag, is_empty) = match self.xml.event(buffer)? {
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
                    self.xml.required(&tag, "node", &mut node)?;
                    let kind = self.xml.attribute(&tag, "type")?.unwrap_or_default();
                    self.element.endpoints.push(Endpoint { node, kind });
                    if self.element.endpoints.len() > 1 << 24 {
                        return Err(self.wrong(&rules::LIMIT, "a hyperedge has more than 16,777,216 ends"));
                    }
                    if !is_empty {
                        self.xml.skip()?;
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
            let event = self.xml.event(buffer)?;
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
                && let ResolveResult::Bound(found) = self.xml.namespaces().resolve_element(tag.name()).0
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
                    self.graph_id = Some(self.xml.attribute(&tag, "id")?.unwrap_or_default());
                    self.directed = match self.xml.attribute(&tag, "edgedefault")?.as_deref() {
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

/// Returns whether a text begins like GraphML.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    xml::begins_with(bytes, "graphml")
}
