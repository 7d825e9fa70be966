//! Reads nodes and edges one after another.

mod values;

use isomorph_error::{Error, Findings, Result, Rule};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Document, json};
use isomorph_records::xml::{self, Event, XmlRules, XmlStream};
use isomorph_records::{Head, Item, Reader, Record, Slot, Slots, Tag};
use isomorph_tables::PackedFile;

use super::attributes::{Attributes, Kind, TYPE, default_values};
use super::rules;
use super::times::{TIMES, Times};
use crate::OF_GRAPH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Root,
    Graph,
    Nodes,
    Edges,
    Done,
}

pub(crate) struct GexfReader {
    xml: XmlStream,
    within: Within,
    nodes: Attributes,
    edges: Attributes,
    directed: bool,
    name: Option<String>,
    has_graph: bool,
    /// Content of `meta`, and attributes of the graph: names and values.
    meta: Vec<(String, String)>,
    head: Vec<(String, String)>,
    version: String,
    mutual: u64,
    /// Elements and attributes that are not read: the first of them, and their number.
    unread: [Option<(String, u64)>; 2],
    times: Times,
    findings: Findings,
    text: String,
    value: String,
    time: String,
}

/// Returns a name of an element without its prefix.
fn local<'t>(tag: &'t xml::Tag<'_>) -> &'t [u8] {
    tag.local_name()
}

impl GexfReader {
    pub fn new(file: &PackedFile) -> Result<GexfReader> {
        Ok(GexfReader {
            xml: XmlStream::new(file, XmlRules { syntax: &rules::SYNTAX, limit: &rules::LIMIT })?,
            within: Within::Nothing,
            nodes: Attributes::default(),
            edges: Attributes::default(),
            directed: false,
            name: None,
            has_graph: false,
            meta: Vec::new(),
            head: Vec::new(),
            version: String::new(),
            mutual: 0,
            unread: [None, None],
            times: Times::default(),
            findings: Findings::keeping(8),
            text: String::new(),
            value: String::new(),
            time: String::new(),
        })
    }

    fn wrong(&self, rule: &'static Rule, message: impl Into<String>) -> Error {
        self.xml.wrong(rule, message)
    }

    fn pass_over(&mut self, tag: &xml::Tag<'_>, is_empty: bool) -> Result<()> {
        let name = || (String::from_utf8_lossy(tag.name().into_inner()).into_owned(), 0);
        self.unread[0].get_or_insert_with(name).1 += 1;
        if is_empty { Ok(()) } else { self.xml.skip() }
    }

    /// Passes over the content of the current element, unless it is empty.
    fn pass_over_content(&mut self, is_empty: bool) -> Result<()> {
        if is_empty { Ok(()) } else { self.children(|own, tag, is_empty| own.pass_over(tag, is_empty)) }
    }

    /// Counts an attribute that is not read, unless it declares a namespace.
    fn pass_over_attribute(&mut self, name: &str) {
        if !name.starts_with("xmlns") {
            self.unread[1].get_or_insert_with(|| (name.to_owned(), 0)).1 += 1;
        }
    }

    fn pass_over_attributes(&mut self, tag: &xml::Tag<'_>, except: &[&str]) {
        tag.attributes().filter(|name| !except.contains(name)).for_each(|name| self.pass_over_attribute(name));
    }

    /// Calls `each` with every child of the current element, and whether it is empty; it must read what is not.
    fn children(&mut self, mut each: impl FnMut(&mut Self, &xml::Tag<'_>, bool) -> Result<()>) -> Result<()> {
        let mut buffer = self.xml.take_buffer();
        loop {
            match self.xml.event(&mut buffer)? {
                Event::Start(tag) => each(self, &tag, false)?,
                Event::Empty(tag) => each(self, &tag, true)?,
                Event::End(_) => break,
                Event::Eof => return Err(self.xml.truncated()),
                _ => {}
            }
        }
        self.xml.give_buffer(buffer);
        Ok(())
    }

    /// Returns the text of the current element.
    fn content(&mut self) -> Result<String> {
        let (mut buffer, mut out) = (self.xml.take_buffer(), String::new());
        loop {
            match self.xml.event(&mut buffer)? {
                Event::End(_) => break,
                Event::Eof => return Err(self.xml.truncated()),
                Event::Start(_) => self.xml.skip()?,
                event => {
                    self.xml.push_text(&event, &mut out)?;
                }
            }
            if out.len() > xml::LONGEST {
                return Err(self.xml.limit("a text is longer than 64 MiB"));
            }
        }
        self.xml.give_buffer(buffer);
        self.xml.check_characters(&out)?;
        Ok(out)
    }

    /// Returns the attributes of a tag, except those with these names and those of namespaces.
    fn rest(&self, tag: &xml::Tag<'_>, except: &[&str]) -> Result<Vec<(String, String)>> {
        let mut all = Vec::new();
        for name in tag.attributes() {
            if !except.contains(&name) && !name.contains(':') && name != "xmlns" {
                let value = self.xml.attribute(tag, name)?.unwrap_or_default();
                all.push((name.to_owned(), value));
            }
        }
        Ok(all)
    }

    /// Returns the slot of what an element has beside attributes.
    fn slot<'s>(&mut self, slots: &'s mut Slots, of_nodes: bool, name: &str, tag: Tag) -> Result<&'s mut Slot> {
        let attributes = if of_nodes { &mut self.nodes } else { &mut self.edges };
        let Some((at, is_renamed)) = attributes.own(slots, name, tag) else {
            return Err(self.xml.limit("there are more than 10,000 attributes"));
        };
        if is_renamed {
            let message =
                format!("an attribute has the title {name:?}; what elements call so becomes {}", slots.names()[at]);
            self.findings.push(&rules::NAME, message, self.xml.place());
        }
        Ok(slots.slot_at(at).0)
    }

    /// Puts what an element has beside attributes into a slot.
    fn put(&mut self, slots: &mut Slots, of_nodes: bool, name: &str, tag: Tag, text: &str) -> Result<()> {
        self.slot(slots, of_nodes, name, tag)?.put(tag, text);
        Ok(())
    }

    /// Returns spells as a JSON list.
    fn spells(&mut self) -> Result<String> {
        let mut out = String::from("[");
        self.children(|own, tag, is_empty| {
            let all = own.rest(tag, &[])?;
            for name in ["start", "end"] {
                match all.iter().find(|(own, _)| own == name) {
                    Some((_, time)) => own.times.see(time),
                    None => own.times.see_open(),
                }
            }
            out.push_str(if out.len() > 1 { "," } else { "" });
            push_object(&mut out, &all);
            own.pass_over_content(is_empty)
        })?;
        out.push(']');
        Ok(out)
    }

    /// Reads the content of an element.
    fn inside(&mut self, slots: &mut Slots, of_nodes: bool) -> Result<()> {
        let mut viz: Vec<(String, Vec<(String, String)>)> = Vec::new();
        let mut spells = None;
        self.children(|own, tag, is_empty| match local(tag) {
            b"attvalues" if is_empty => Ok(()),
            b"attvalues" => own.values(slots, of_nodes),
            b"spells" | b"slices" if spells.is_none() => {
                spells = Some(if is_empty { "[]".to_owned() } else { own.spells()? });
                Ok(())
            }
            b"nodes" | b"edges" | b"parents" => Err(own.wrong(&rules::NESTED, "a node contains nodes, or has parents")),
            name @ (b"color" | b"position" | b"size" | b"shape" | b"thickness")
                if !viz.iter().any(|(other, _)| other.as_bytes() == name) =>
            {
                viz.push((String::from_utf8_lossy(name).into_owned(), own.rest(tag, &[])?));
                own.pass_over_content(is_empty)
            }
            _ => own.pass_over(tag, is_empty),
        })?;
        if let Some(spells) = spells {
            self.put(slots, of_nodes, "spells", Tag::Json, &spells)?;
        }
        if !viz.is_empty() {
            let mut out = String::from("{");
            for (name, values) in &viz {
                out.push_str(if out.len() > 1 { "," } else { "" });
                json::push_string(&mut out, name);
                out.push(':');
                push_object(&mut out, values);
            }
            out.push('}');
            self.put(slots, of_nodes, "viz", Tag::Json, &out)?;
        }
        Ok(())
    }

    fn apply_defaults(&self, slots: &mut Slots, of_nodes: bool) -> Result<()> {
        let attributes = if of_nodes { &self.nodes } else { &self.edges };
        for attribute in &attributes.defaults {
            if slots.get(attribute.at).is_some_and(|slot| slot.tag() != Tag::Null) {
                continue;
            }
            let Some(default) = &attribute.default else { continue };
            let slot = slots.slot_at(attribute.at).0;
            let is_value = match attribute.is_dynamic {
                true => default_values(attribute.kind, default).map(|values| slot.put(Tag::Json, &values)).is_some(),
                false => attribute.kind.put(slot, default),
            };
            if !is_value {
                let cut: String = default.chars().take(40).collect();
                return Err(
                    self.wrong(&rules::VALUE, format!("the default {cut:?} does not have the type of its attribute"))
                );
            }
        }
        Ok(())
    }

    fn node(&mut self, tag: &xml::Tag<'_>, is_empty: bool, record: &mut Record) -> Result<()> {
        record.begin_node();
        let mut text = std::mem::take(&mut self.text);
        if self.xml.attribute_into(tag, "id", &mut text)? {
            record.id.put(Tag::Text, &text);
        }
        self.own_texts(tag, &mut record.nodes, true, &mut text)?;
        self.text = text;
        if !is_empty {
            self.inside(&mut record.nodes, true)?;
        }
        self.apply_defaults(&mut record.nodes, true)
    }

    /// Puts the attributes of an element that are texts into slots, and counts those that are not read.
    fn own_texts(&mut self, tag: &xml::Tag<'_>, slots: &mut Slots, of_nodes: bool, text: &mut String) -> Result<()> {
        for name in tag.attributes() {
            let is_time = TIMES.contains(&name);
            match name {
                "id" if of_nodes => continue,
                "pid" if of_nodes => return Err(self.wrong(&rules::NESTED, "a node has a parent (pid)")),
                "label" => {}
                "id" | "kind" if !of_nodes => {}
                "source" | "target" | "weight" | "type" if !of_nodes => continue,
                _ if is_time => {}
                _ => {
                    self.pass_over_attribute(name);
                    continue;
                }
            }
            self.xml.attribute_into(tag, name, text)?;
            if is_time {
                self.times.see(text);
            }
            self.put(slots, of_nodes, name, Tag::Text, text)?;
        }
        Ok(())
    }

    fn edge(&mut self, tag: &xml::Tag<'_>, is_empty: bool, record: &mut Record) -> Result<()> {
        record.begin_edge();
        let mut text = std::mem::take(&mut self.text);
        for (name, id) in [("source", &mut record.source), ("target", &mut record.target)] {
            if self.xml.attribute_into(tag, name, &mut text)? {
                id.put(Tag::Text, &text);
            }
        }
        self.own_texts(tag, &mut record.edges, false, &mut text)?;
        if self.xml.attribute_into(tag, "weight", &mut text)? {
            let slot = self.slot(&mut record.edges, false, "weight", Tag::Float)?;
            if !Kind::Float.put(slot, &text) {
                return Err(self.wrong(&rules::VALUE, format!("the weight {text:?} is not a number")));
            }
        }
        record.directed = None;
        if self.xml.attribute_into(tag, "type", &mut text)? {
            record.directed = self.direction(&text);
            // NetworkX writes a property of this name so, whatever it says.
            if record.directed.is_none() {
                self.put(&mut record.edges, false, TYPE, Tag::Text, &text)?;
            }
        }
        self.text = text;
        if !is_empty {
            self.inside(&mut record.edges, false)?;
        }
        self.apply_defaults(&mut record.edges, false)
    }

    /// Returns the direction that a word says, if it says any.
    fn direction(&mut self, word: &str) -> Option<bool> {
        match word {
            "directed" => Some(true),
            "undirected" => Some(false),
            "mutual" => {
                self.mutual += 1;
                Some(false)
            }
            _ => None,
        }
    }

    fn begin_graph(&mut self, tag: &xml::Tag<'_>) -> Result<()> {
        if std::mem::replace(&mut self.has_graph, true) {
            return Err(self.wrong(&rules::NESTED, "the file has a second graph"));
        }
        let word = self.xml.attribute(tag, "defaultedgetype")?;
        self.directed = match word {
            None => false,
            Some(word) => self.direction(&word).ok_or_else(|| {
                self.xml.syntax(format!("edges are directed, undirected or mutual by default, not {word:?}"))
            })?,
        };
        self.mutual = 0;
        self.name = self.xml.attribute(tag, "name")?.filter(|name| !name.is_empty());
        self.head = self.rest(tag, &["defaultedgetype", "name"])?;
        // In GEXF 1.1, the mode is called a type.
        self.head.iter_mut().filter(|(name, _)| name == "type").for_each(|(name, _)| "mode".clone_into(name));
        self.head.retain(|(name, value)| !(name == "mode" && value == "static"));
        Ok(())
    }
}

/// Appends pairs as a JSON object.
fn push_object(out: &mut String, pairs: &[(String, String)]) {
    out.push('{');
    for (at, (name, value)) in pairs.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        json::push_string(out, name);
        out.push(':');
        json::push_string(out, value);
    }
    out.push('}');
}

impl Reader for GexfReader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>> {
        let mut buffer = self.xml.take_buffer();
        loop {
            let (tag, is_empty) = match self.xml.event(&mut buffer)? {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => {
                    self.within = match self.within {
                        Within::Nodes | Within::Edges => Within::Graph,
                        Within::Graph => Within::Root,
                        _ => Within::Done,
                    };
                    continue;
                }
                Event::Text(text) if !text.iter().all(u8::is_ascii_whitespace) => {
                    return Err(self.xml.syntax("expected an element, found text"));
                }
                Event::CData(_) | Event::GeneralRef(_) => {
                    return Err(self.xml.syntax("expected an element, found text"));
                }
                Event::Eof => {
                    return match (self.within, self.has_graph) {
                        (Within::Done, true) => Ok(None),
                        (Within::Done, false) => Err(self.xml.syntax("there is no graph in this file")),
                        _ => Err(self.xml.truncated()),
                    };
                }
                _ => continue,
            };
            match (self.within, local(&tag)) {
                (Within::Nothing, b"gexf") => {
                    self.version = self.xml.attribute(&tag, "version")?.unwrap_or_default();
                    self.within = if is_empty { Within::Done } else { Within::Root };
                }
                (Within::Nothing, _) => return Err(self.xml.syntax("the first element is not gexf")),
                (Within::Done, _) => return Err(self.xml.syntax("there is an element after the end")),
                (Within::Root, b"meta") => {
                    self.meta = self.rest(&tag, &[])?;
                    if !is_empty {
                        self.children(|own, tag, is_empty| {
                            let name = String::from_utf8_lossy(local(tag)).into_owned();
                            let text = if is_empty { String::new() } else { own.content()? };
                            own.meta.push((name, text));
                            if own.meta.len() > 1_000 {
                                return Err(own.xml.limit("meta has more than 1,000 entries"));
                            }
                            Ok(())
                        })?;
                    }
                }
                (Within::Root, b"graph") => {
                    self.begin_graph(&tag)?;
                    if !is_empty {
                        self.within = Within::Graph;
                    }
                }
                (Within::Graph, b"attributes") if is_empty => {}
                (Within::Graph, b"attributes") => self.declarations(&tag, record)?,
                (Within::Graph, b"nodes") if !is_empty => self.within = Within::Nodes,
                (Within::Graph, b"edges") if !is_empty => self.within = Within::Edges,
                (Within::Graph, b"nodes" | b"edges") => {}
                (Within::Nodes, b"node") => {
                    self.node(&tag, is_empty, record)?;
                    self.xml.give_buffer(buffer);
                    return Ok(Some(Item::Node));
                }
                (Within::Edges, b"edge") => {
                    self.edge(&tag, is_empty, record)?;
                    self.xml.give_buffer(buffer);
                    return Ok(Some(Item::Edge));
                }
                _ => self.pass_over(&tag, is_empty)?,
            }
        }
    }

    fn offset(&self) -> u64 {
        self.xml.offset()
    }

    fn head(&mut self) -> Head {
        let mut head = Head { directed: self.directed, name: self.name.clone(), ..Head::default() };
        head.findings = std::mem::take(&mut self.findings);
        if self.mutual > 0 {
            let message = format!("{} mutual edges are read as undirected edges", self.mutual);
            head.findings.push(&rules::MUTUAL, message, self.xml.place());
        }
        for (what, unread) in ["elements", "attributes of elements"].into_iter().zip(&self.unread) {
            if let Some((name, count)) = unread {
                let message = format!("{count} {what} are not read; the first is {name}");
                head.findings.push(&rules::ELEMENT, message, self.xml.place());
            }
        }
        let mut all = self.head.clone();
        all.retain(|(name, _)| name != "meta");
        self.times.complete(&mut all);
        if !self.meta.is_empty() || !all.is_empty() {
            let mut out = String::new();
            push_object(&mut out, &all);
            if !self.meta.is_empty() {
                out.pop();
                out.push_str(if all.is_empty() { "\"meta\":" } else { ",\"meta\":" });
                push_object(&mut out, &self.meta);
                out.push('}');
            }
            head.documents.push(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(out) });
        }
        let default = if self.directed { "directed" } else { "undirected" };
        head.recognised.push(("version".to_owned(), format!("GEXF {}", self.version)));
        head.recognised.push(("direction".to_owned(), format!("{default}, unless an edge says otherwise")));
        head
    }
}
