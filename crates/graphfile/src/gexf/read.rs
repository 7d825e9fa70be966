//! Reads nodes and edges one after another.

use isomorph_error::{Error, Findings, Result, Rule};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Document, json};
use isomorph_records::xml::{self, Event, XmlRules, XmlStream};
use isomorph_records::{Head, Item, Reader, Record, Slot, Slots, Tag};
use isomorph_tables::PackedFile;

use super::attributes::{Attributes, Kind, push_spell};
use super::rules;
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
    unknown: Option<(String, u64)>,
    findings: Findings,
    text: String,
    value: String,
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
            unknown: None,
            findings: Findings::keeping(8),
            text: String::new(),
            value: String::new(),
        })
    }

    fn wrong(&self, rule: &'static Rule, message: impl Into<String>) -> Error {
        self.xml.wrong(rule, message)
    }

    fn pass_over(&mut self, tag: &xml::Tag<'_>, is_empty: bool) -> Result<()> {
        let name = || (String::from_utf8_lossy(tag.name().into_inner()).into_owned(), 0);
        self.unknown.get_or_insert_with(name).1 += 1;
        if is_empty { Ok(()) } else { self.xml.skip() }
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

    fn declarations(&mut self, tag: &xml::Tag<'_>, record: &mut Record) -> Result<()> {
        let class = self.xml.attribute(tag, "class")?.unwrap_or_default();
        let is_dynamic = self.xml.attribute(tag, "mode")?.is_some_and(|mode| mode == "dynamic");
        let of_nodes = match class.as_str() {
            "node" => true,
            "edge" => false,
            other => {
                return Err(self.wrong(&rules::ATTRIBUTE, format!("attributes are for node or edge, not {other:?}")));
            }
        };
        self.children(|own, tag, is_empty| {
            if local(tag) != b"attribute" {
                return own.pass_over(tag, is_empty);
            }
            let mut id = String::new();
            own.xml.required(tag, "id", &mut id)?;
            let title = own.xml.attribute(tag, "title")?.unwrap_or_else(|| id.clone());
            let word = own.xml.attribute(tag, "type")?.unwrap_or_else(|| "string".to_owned());
            let mut default = None;
            if !is_empty {
                own.children(|own, tag, is_empty| match local(tag) {
                    b"default" if is_empty => Ok(()),
                    b"default" => {
                        default = Some(own.content()?);
                        Ok(())
                    }
                    _ => own.pass_over(tag, is_empty),
                })?;
            }
            let slots = if of_nodes { &mut record.nodes } else { &mut record.edges };
            if !Kind::of(&word).1 {
                let message = format!("{title} has type {word:?}, whose values are read as text");
                own.findings.push(&rules::TYPE, message, own.xml.place());
            }
            let attributes = if of_nodes { &mut own.nodes } else { &mut own.edges };
            if attributes.by_id.contains_key(&id) {
                return Err(own.wrong(&rules::ATTRIBUTE, format!("the attribute {id:?} is declared twice")));
            }
            let Some(name) = attributes.declare(slots, (&id, &title, &word), is_dynamic) else {
                return Err(own.xml.limit("there are more than 10,000 attributes"));
            };
            if name != title {
                let message = format!("two attributes have the title {title:?}; the values of this one become {name}");
                own.findings.push(&rules::NAME, message, own.xml.place());
            }
            if let Some(default) = default
                && let Some(attribute) = attributes.by_id.get_mut(&id)
            {
                attribute.default = Some(default);
                let attribute = attribute.clone();
                attributes.defaults.push(attribute);
            }
            Ok(())
        })
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

    /// Reads the values of an element.
    fn values(&mut self, slots: &mut Slots, of_nodes: bool) -> Result<()> {
        self.children(|own, tag, is_empty| {
            if local(tag) != b"attvalue" {
                return own.pass_over(tag, is_empty);
            }
            let mut id = std::mem::take(&mut own.text);
            if !own.xml.attribute_into(tag, "for", &mut id)? {
                own.xml.required(tag, "id", &mut id)?;
            }
            let mut value = std::mem::take(&mut own.value);
            own.xml.attribute_into(tag, "value", &mut value)?;
            let attributes = if of_nodes { &own.nodes } else { &own.edges };
            let Some(attribute) = attributes.by_id.get(&id) else {
                return Err(own.wrong(&rules::ATTRIBUTE, format!("the attribute {id:?} is not declared")));
            };
            let (slot, was_set) = slots.slot_at(attribute.at);
            let is_value = if attribute.is_dynamic {
                let times = ["start", "end"].map(|name| own.xml.attribute(tag, name));
                let [start, end] = times;
                let (start, end) = (start?, end?);
                push_spell(slot, attribute.kind, &value, [start.as_deref(), end.as_deref()])
            } else if was_set {
                return Err(own.wrong(&rules::ATTRIBUTE, format!("the attribute {id:?} has two values here")));
            } else {
                attribute.kind.put(slot, &value)
            };
            if !is_value {
                let cut: String = value.chars().take(40).collect();
                return Err(own.wrong(&rules::VALUE, format!("{cut:?} does not have the type of attribute {id:?}")));
            }
            (own.text, own.value) = (id, value);
            if is_empty { Ok(()) } else { own.xml.skip() }
        })
    }

    /// Returns spells as a JSON list.
    fn spells(&mut self) -> Result<String> {
        let mut out = String::from("[");
        self.children(|own, tag, is_empty| {
            let all = own.rest(tag, &[])?;
            out.push_str(if out.len() > 1 { "," } else { "" });
            push_object(&mut out, &all);
            if is_empty { Ok(()) } else { own.xml.skip() }
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
            b"spells" | b"slices" => {
                spells = Some(if is_empty { "[]".to_owned() } else { own.spells()? });
                Ok(())
            }
            b"nodes" | b"edges" | b"parents" => Err(own.wrong(&rules::NESTED, "a node contains nodes, or has parents")),
            name @ (b"color" | b"position" | b"size" | b"shape" | b"thickness") => {
                viz.push((String::from_utf8_lossy(name).into_owned(), own.rest(tag, &[])?));
                if is_empty { Ok(()) } else { own.xml.skip() }
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
        for attribute in attributes.defaults.iter().filter(|own| !own.is_dynamic) {
            if slots.get(attribute.at).is_none_or(|slot| slot.tag() == Tag::Null)
                && let Some(default) = &attribute.default
                && !attribute.kind.put(slots.slot_at(attribute.at).0, default)
            {
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
        for name in ["label", "start", "end"] {
            if self.xml.attribute_into(tag, name, &mut text)? {
                self.put(&mut record.nodes, true, name, Tag::Text, &text)?;
            }
        }
        self.text = text;
        if tag.has_attribute("pid") {
            return Err(self.wrong(&rules::NESTED, "a node has a parent (pid)"));
        }
        if !is_empty {
            self.inside(&mut record.nodes, true)?;
        }
        self.apply_defaults(&mut record.nodes, true)
    }

    fn edge(&mut self, tag: &xml::Tag<'_>, is_empty: bool, record: &mut Record) -> Result<()> {
        record.begin_edge();
        let mut text = std::mem::take(&mut self.text);
        for (name, id) in [("source", &mut record.source), ("target", &mut record.target)] {
            if self.xml.attribute_into(tag, name, &mut text)? {
                id.put(Tag::Text, &text);
            }
        }
        for name in ["id", "label", "kind", "start", "end"] {
            if self.xml.attribute_into(tag, name, &mut text)? {
                self.put(&mut record.edges, false, name, Tag::Text, &text)?;
            }
        }
        if self.xml.attribute_into(tag, "weight", &mut text)? {
            let slot = self.slot(&mut record.edges, false, "weight", Tag::Float)?;
            if !Kind::Float.put(slot, &text) {
                return Err(self.wrong(&rules::VALUE, format!("the weight {text:?} is not a number")));
            }
        }
        record.directed = match self.xml.attribute_into(tag, "type", &mut text)? {
            false => None,
            true => Some(self.direction(&text)?),
        };
        self.text = text;
        if !is_empty {
            self.inside(&mut record.edges, false)?;
        }
        self.apply_defaults(&mut record.edges, false)
    }

    fn direction(&mut self, word: &str) -> Result<bool> {
        match word {
            "directed" => Ok(true),
            "undirected" => Ok(false),
            "mutual" => {
                self.mutual += 1;
                Ok(false)
            }
            other => Err(self.xml.syntax(format!("an edge is directed, undirected or mutual, not {other:?}"))),
        }
    }

    fn begin_graph(&mut self, tag: &xml::Tag<'_>) -> Result<()> {
        if std::mem::replace(&mut self.has_graph, true) {
            return Err(self.wrong(&rules::NESTED, "the file has a second graph"));
        }
        let word = self.xml.attribute(tag, "defaultedgetype")?;
        self.directed = match word {
            None => false,
            Some(word) => self.direction(&word)?,
        };
        self.mutual = 0;
        self.name = self.xml.attribute(tag, "name")?.filter(|name| !name.is_empty());
        self.head = self.rest(tag, &["defaultedgetype", "name"])?;
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
        if let Some((name, count)) = &self.unknown {
            let message = format!("{count} elements are not read; the first is {name}");
            head.findings.push(&rules::ELEMENT, message, self.xml.place());
        }
        if !self.meta.is_empty() || !self.head.is_empty() {
            let mut out = String::new();
            let mut all = self.head.clone();
            all.retain(|(name, _)| name != "meta");
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
