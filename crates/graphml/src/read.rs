//! Reads nodes, edges and hyperedges one after another.

mod data;
mod text;

use isomorph_error::{Error, Findings, Place, Result, Rule};
use isomorph_model::Document;
use isomorph_records::xml::{Buffer, Event, Tag as Element, XmlRules, XmlStream};
use isomorph_records::{Endpoint, Head, Id, Item, Reader, Record, Role, Slots, Tag};
use isomorph_tables::PackedFile;
use quick_xml::name::ResolveResult;

use crate::bind::Binding;
use crate::document::{Datum, document};
use crate::keys::{Domain, Keys, says};
use crate::rules;

/// Beginning of the namespaces of GraphML's versions.
const GRAPHML: &[u8] = b"http://graphml.graphdrawing.org/xmlns";

/// Reads a file.
pub(crate) struct GraphMlReader {
    xml: XmlStream,
    place: Place,
    keys: Keys,
    nodes: Binding,
    edges: Binding,
    hyperedges: Binding,
    /// The number of the current element, and for each key the last element that had its data.
    element: u64,
    last: Vec<u64>,
    /// Data of the graph, by key.
    graph_data: Vec<Option<String>>,
    document: Option<Document>,
    /// `edgedefault`.
    directed: bool,
    graph_id: Option<String>,
    /// Number of elements and attributes that are not read: ports, locators, descriptions.
    passed_over: u64,
    /// Elements that GraphML does not have: the name of the first one, and their number.
    unknown: Option<(String, u64)>,
    /// Whether the graph has no `edgedefault`.
    lacks_default: bool,
    /// Elements with several values for one key: the name and the place of the first, and their number.
    repeated: Option<(String, Place, u64)>,
    /// The namespace of the first element.
    namespace: Option<Vec<u8>>,
    within: Within,
    /// Buffers for the id of a key, and for a value.
    id: String,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Root,
    Graph,
    Done,
}

impl GraphMlReader {
    /// Starts to read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    pub fn new(file: &PackedFile) -> Result<GraphMlReader> {
        Ok(GraphMlReader {
            xml: XmlStream::new(file, XmlRules { syntax: &rules::SYNTAX, limit: &rules::LIMIT })?,
            place: file.blob.place(),
            keys: Keys::default(),
            nodes: Binding::default(),
            edges: Binding::default(),
            hyperedges: Binding::default(),
            element: 0,
            last: Vec::new(),
            graph_data: Vec::new(),
            document: None,
            directed: true,
            graph_id: None,
            passed_over: 0,
            unknown: None,
            lacks_default: false,
            repeated: None,
            namespace: None,
            within: Within::Nothing,
            id: String::new(),
            value: String::new(),
        })
    }

    /// Creates an error at the current position.
    fn wrong(&self, rule: &'static Rule, message: impl Into<String>) -> Error {
        self.xml.wrong(rule, message)
    }

    fn syntax(&self, message: impl Into<String>) -> Error {
        self.wrong(&rules::SYNTAX, message)
    }

    /// Calls `work` with an event buffer.
    fn buffered<T>(&mut self, work: impl FnOnce(&mut Self, &mut Buffer) -> Result<T>) -> Result<T> {
        let mut buffer = self.xml.take_buffer();
        let done = work(self, &mut buffer);
        self.xml.give_buffer(buffer);
        done
    }

    /// Returns the name of an element without its prefix, if it belongs to GraphML: in its namespace, in that of the
    /// first element, or in none.
    fn own_name<'t>(&self, tag: &'t Element<'_>) -> Option<&'t [u8]> {
        let is_own = match self.xml.namespaces().resolve_element(tag.name()).0 {
            ResolveResult::Bound(found) => {
                found.0.starts_with(GRAPHML) || self.namespace.as_deref().is_some_and(|first| first == found.0)
            }
            _ => true,
        };
        is_own.then(|| tag.local_name())
    }

    /// Skips an element that is not read.
    fn pass_over(&mut self, tag: &Element<'_>, is_empty: bool) -> Result<()> {
        match self.own_name(tag) {
            Some(b"desc" | b"port" | b"locator" | b"endpoint") => self.passed_over += 1,
            _ => {
                let name = || (String::from_utf8_lossy(tag.name().into_inner()).into_owned(), 0);
                self.unknown.get_or_insert_with(name).1 += 1;
            }
        }
        if is_empty { Ok(()) } else { self.xml.skip() }
    }

    /// Reads an id, if there is one.
    fn id(&self, tag: &Element<'_>, name: &str, id: &mut Id) -> Result<()> {
        if !self.xml.attribute_into(tag, name, id.text_mut(Tag::Text))? {
            id.clear();
        }
        Ok(())
    }

    fn node(&mut self, tag: &Element<'_>, is_empty: bool, record: &mut Record) -> Result<()> {
        record.begin_node();
        self.id(tag, "id", &mut record.id)?;
        if !is_empty {
            self.inside(Domain::Node, &mut record.nodes, &mut Vec::new())?;
        }
        self.put_defaults(&self.nodes, &mut record.nodes)
    }

    fn edge(&mut self, tag: &Element<'_>, is_empty: bool, record: &mut Record) -> Result<()> {
        record.begin_edge();
        self.id(tag, "source", &mut record.source)?;
        self.id(tag, "target", &mut record.target)?;
        for port in ["sourceport", "targetport"] {
            self.passed_over += u64::from(tag.has_attribute(port));
        }
        let mut value = std::mem::take(&mut self.value);
        if self.xml.attribute_into(tag, "directed", &mut value)? {
            record.directed = crate::keys::truth(&value);
            if record.directed.is_none() {
                return Err(self.syntax(format!("directed must be true or false, found {value:?}")));
            }
        }
        self.value = value;
        if tag.has_attribute("id") {
            let Some(slot) = self.edges.id(&mut record.edges) else { return Err(self.too_many()) };
            self.xml.attribute_into(tag, "id", record.edges.slot_at(slot).0.text_mut(Tag::Text))?;
        }
        if !is_empty {
            self.inside(Domain::Edge, &mut record.edges, &mut Vec::new())?;
        }
        self.put_defaults(&self.edges, &mut record.edges)
    }

    fn hyperedge(&mut self, tag: &Element<'_>, is_empty: bool, record: &mut Record) -> Result<()> {
        record.begin_hyperedge();
        self.id(tag, "id", &mut record.id)?;
        if !is_empty {
            self.inside(Domain::Hyperedge, &mut record.hyperedges, &mut record.endpoints)?;
        }
        self.put_defaults(&self.hyperedges, &mut record.hyperedges)
    }

    fn too_many(&self) -> Error {
        self.wrong(&rules::LIMIT, "there are more than 10,000 properties")
    }

    /// Reads the content of a graph element.
    fn inside(&mut self, of: Domain, slots: &mut Slots, ends: &mut Vec<Endpoint>) -> Result<()> {
        self.buffered(|parser, buffer| parser.inside_in(buffer, of, slots, ends))
    }

    fn inside_in(
        &mut self,
        buffer: &mut Buffer,
        of: Domain,
        slots: &mut Slots,
        ends: &mut Vec<Endpoint>,
    ) -> Result<()> {
        loop {
            let (tag, is_empty) = match self.xml.event(buffer)? {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => return Ok(()),
                Event::Eof => return Err(self.xml.truncated()),
                _ => continue,
            };
            match self.own_name(&tag).unwrap_or_default() {
                b"data" => self.datum(&tag, is_empty, of, slots)?,
                b"graph" => return Err(self.wrong(&rules::NESTED, "a graph is inside a node or an edge")),
                b"endpoint" if of == Domain::Hyperedge => {
                    let mut node = String::new();
                    self.xml.required(&tag, "node", &mut node)?;
                    // An end that goes into a hyperedge is its head, one that comes out is its tail.
                    let role = match self.xml.attribute(&tag, "type")?.as_deref() {
                        Some("in") => Role::Head,
                        Some("out") => Role::Tail,
                        _ => Role::Member,
                    };
                    ends.push(Endpoint { node, role });
                    if ends.len() > 1 << 24 {
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

    /// Makes the keys that are new properties.
    fn bind(&mut self, record: &mut Record) -> Result<()> {
        let all = [
            (&mut self.nodes, Domain::Node, &mut record.nodes),
            (&mut self.edges, Domain::Edge, &mut record.edges),
            (&mut self.hyperedges, Domain::Hyperedge, &mut record.hyperedges),
        ];
        let mut fits = true;
        for (binding, of, slots) in all {
            fits &= binding.bind(&self.keys, of, slots);
        }
        if fits { Ok(()) } else { Err(self.too_many()) }
    }

    /// Completes what is known at the end of the file.
    fn end(&mut self, record: &mut Record) -> Result<()> {
        match (self.within, &self.graph_id) {
            (Within::Done, Some(_)) => {}
            (Within::Done, None) => return Err(self.syntax("there is no graph in this file")),
            _ => return Err(self.xml.truncated()),
        }
        self.bind(record)?;
        let mut all: Vec<Datum<'_>> = Vec::new();
        for (text, key) in self.graph_data.iter().zip(&self.keys.all) {
            let own = text.as_deref().filter(|text| says(&key.data_type, text));
            let default = || key.default.as_deref().filter(|text| says(&key.data_type, text));
            let is_of_graph = text.is_some() || key.domain == Domain::Graph;
            let Some(text) = own.or_else(default).filter(|_| is_of_graph) else { continue };
            if all.iter().any(|other| other.name == key.name) {
                return Err(self.wrong(&rules::KEY, format!("the graph has two values of {:?}", key.name)));
            }
            all.push(Datum { name: &key.name, data_type: &key.data_type, text });
        }
        self.document = document(&all);
        Ok(())
    }

    fn begin_graph(&mut self, tag: &Element<'_>, is_empty: bool) -> Result<()> {
        if self.graph_id.is_some() {
            return Err(self.wrong(&rules::NESTED, "the file has a second graph"));
        }
        self.graph_id = Some(self.xml.attribute(tag, "id")?.unwrap_or_default());
        self.directed = match self.xml.attribute(tag, "edgedefault")?.as_deref() {
            Some("directed") => true,
            Some("undirected") => false,
            None => {
                self.lacks_default = true;
                false
            }
            Some(other) => {
                return Err(self.syntax(format!("edgedefault must be directed or undirected, found {other:?}")));
            }
        };
        if !is_empty {
            self.within = Within::Graph;
        }
        Ok(())
    }

    fn next_in(&mut self, buffer: &mut Buffer, record: &mut Record) -> Result<Option<Item>> {
        loop {
            let event = self.xml.event(buffer)?;
            let (tag, is_empty) = match event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => {
                    self.within = if self.within == Within::Graph { Within::Root } else { Within::Done };
                    continue;
                }
                Event::Text(text) if !text.iter().all(u8::is_ascii_whitespace) => {
                    return Err(self.syntax("expected an element, found text"));
                }
                Event::CData(_) | Event::GeneralRef(_) => return Err(self.syntax("expected an element, found text")),
                Event::Eof => return self.end(record).map(|()| None),
                _ => continue,
            };
            if self.within == Within::Nothing
                && let ResolveResult::Bound(found) = self.xml.namespaces().resolve_element(tag.name()).0
            {
                self.namespace = Some(found.0.to_vec());
            }
            let item = match (self.within, self.own_name(&tag).unwrap_or_default()) {
                (Within::Nothing, b"graphml") => {
                    self.within = if is_empty { Within::Done } else { Within::Root };
                    continue;
                }
                (Within::Nothing, _) => return Err(self.syntax("the first element is not graphml")),
                (Within::Done, _) => return Err(self.syntax("there is an element after the end")),
                (Within::Root, b"key") => {
                    self.key(&tag, is_empty)?;
                    continue;
                }
                (Within::Root, b"graph") => {
                    self.begin_graph(&tag, is_empty)?;
                    self.bind(record)?;
                    continue;
                }
                (Within::Root | Within::Graph, b"data") => {
                    self.datum_of_graph(&tag, is_empty)?;
                    continue;
                }
                (Within::Graph, b"graph") => return Err(self.wrong(&rules::NESTED, "a graph is inside a graph")),
                (Within::Graph, b"node") => Item::Node,
                (Within::Graph, b"edge") => Item::Edge,
                (Within::Graph, b"hyperedge") => Item::Hyperedge,
                _ => {
                    self.pass_over(&tag, is_empty)?;
                    continue;
                }
            };
            self.element += 1;
            match item {
                Item::Node => self.node(&tag, is_empty, record)?,
                Item::Edge => self.edge(&tag, is_empty, record)?,
                Item::Hyperedge => self.hyperedge(&tag, is_empty, record)?,
            }
            return Ok(Some(item));
        }
    }

    fn findings(&self) -> Findings {
        let mut findings = Findings::keeping(8);
        for key in &self.keys.all {
            if let Some(word) = &key.foreign {
                let message = format!("{} has type {word:?}, which is not one of GraphML's", key.name);
                findings.push(&rules::TYPE, message, self.place.clone());
            }
        }
        if self.passed_over > 0 {
            let message = format!("{} ports, locators and descriptions are not read", self.passed_over);
            findings.push(&rules::PORT, message, self.place.clone());
        }
        if let Some((name, count)) = &self.unknown {
            let message = format!("{count} elements are not part of GraphML and are not read; the first is {name}");
            findings.push(&rules::ELEMENT, message, self.place.clone());
        }
        if let Some((name, place, count)) = &self.repeated {
            let message = format!("{count} values are followed by another for the same key; the first is of {name:?}");
            findings.push(&rules::REPEATED, message, place.clone());
        }
        if self.lacks_default {
            let message = "the graph has no edgedefault: its edges are undirected";
            findings.push(&rules::DIRECTION, message, self.place.clone());
        }
        for (of, own) in [("node", &self.nodes), ("edge", &self.edges), ("hyperedge", &self.hyperedges)] {
            for (name, own) in &own.renamed {
                let message = format!(
                    "two keys for {of} have the name {name:?}; the values of the second become the property {own}"
                );
                findings.push(&rules::NAME, message, self.place.clone());
            }
        }
        findings
    }
}

impl Reader for GraphMlReader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>> {
        self.buffered(|own, buffer| own.next_in(buffer, record))
    }

    fn offset(&self) -> u64 {
        self.xml.offset()
    }

    fn head(&mut self) -> Head {
        let default = if self.directed { "directed" } else { "undirected" };
        let keys = self.keys.all.len();
        Head {
            directed: self.directed,
            name: self.graph_id.take().filter(|id| !id.is_empty()),
            documents: self.document.take().into_iter().collect(),
            recognised: vec![
                ("direction".to_owned(), format!("{default}, unless an edge says otherwise")),
                ("keys".to_owned(), keys.to_string()),
            ],
            findings: self.findings(),
            ..Head::default()
        }
    }
}
