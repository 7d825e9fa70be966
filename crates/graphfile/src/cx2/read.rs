//! Reads nodes and edges one after another.

use std::collections::HashMap;

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::json::{self, Members, Value};
use isomorph_model::schema::DocumentBody;
use isomorph_model::type_name::list_of;
use isomorph_model::{Cardinality, Document, Property};
use isomorph_records::json::{JsonRules, JsonStream, LONGEST};
use isomorph_records::values::{put, put_id};
use isomorph_records::{Head, Id, Item, Reader, Record, Slots};
use isomorph_tables::PackedFile;

use super::{ASPECTS, COORDINATES, EDGE_ID, NAME, rules};
use crate::OF_GRAPH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// Between aspects.
    Items,
    /// Inside an item.
    Aspects,
    Nodes,
    Edges,
    Done,
}

/// Attributes of nodes or of edges: names by alias, and values of those that a record does not have.
#[derive(Debug, Clone, Default)]
struct Attributes {
    aliases: HashMap<String, String>,
    defaults: Vec<(usize, String)>,
    declared: HashMap<String, ()>,
}

pub(crate) struct Cx2Reader {
    json: JsonStream,
    members: Members,
    inner: Members,
    raw: String,
    name: String,
    state: State,
    start: u64,
    nodes: Attributes,
    edges: Attributes,
    has_version: bool,
    network: Option<String>,
    /// Other aspects, as the text of a JSON list without its end.
    aspects: String,
}

const RULES: JsonRules = JsonRules { syntax: &rules::SYNTAX, limit: &rules::LIMIT };

/// Returns the type of a word.
fn data_type(word: &str) -> DataType {
    match word {
        "boolean" => DataType::Boolean,
        "long" | "integer" => DataType::Int64,
        "double" => DataType::Float64,
        word => word.strip_prefix("list_of_").map_or(DataType::Utf8, |item| list_of(data_type(item))),
    }
}

fn too_many() -> Error {
    Error::broken(&rules::LIMIT, "there are more than 10,000 different attributes")
}

impl Cx2Reader {
    pub fn new(file: &PackedFile) -> Result<Cx2Reader> {
        Ok(Cx2Reader {
            json: JsonStream::new(file, RULES)?,
            members: Members::default(),
            inner: Members::default(),
            raw: String::new(),
            name: String::new(),
            state: State::Start,
            start: 0,
            nodes: Attributes::default(),
            edges: Attributes::default(),
            has_version: false,
            network: None,
            aspects: String::new(),
        })
    }

    fn wrong(&self, message: impl Into<String>) -> Error {
        Error::broken(&rules::SYNTAX, message).at(self.json.place_at(self.start))
    }

    fn located(&self, error: Error) -> Error {
        match error.broken_rule() {
            Some(_) => error.at(self.json.place_at(self.start)),
            None => self.wrong(error.message()),
        }
    }

    /// Reads declarations: a list with an object of nodes, edges and the network.
    fn declarations(&mut self, record: &mut Record) -> Result<()> {
        let raw = std::mem::take(&mut self.raw);
        let (nodes, edges) = (&mut self.nodes, &mut self.edges);
        let read = json::items(&raw, |item| {
            Members::default().read(item, |of, raw| {
                let (attributes, slots) = match of {
                    "nodes" => (&mut *nodes, &mut record.nodes),
                    "edges" => (&mut *edges, &mut record.edges),
                    _ => return Ok(()),
                };
                Members::default().read(raw, |name, raw| {
                    let (mut ty, mut default) = (DataType::Utf8, None);
                    Members::default().read(raw, |key, raw| {
                        match (key, json::value(raw)?) {
                            ("d", Value::Text(word)) => ty = data_type(&word),
                            ("a", Value::Text(alias)) => {
                                attributes.aliases.insert(alias.into_owned(), name.to_owned());
                            }
                            ("v", _) => default = Some(raw.to_owned()),
                            _ => {}
                        }
                        Ok(())
                    })?;
                    let is_list = matches!(ty, DataType::List(_));
                    let cardinality = if is_list { Cardinality::List } else { Cardinality::Single };
                    let at =
                        slots.declare(Property::new(name, ty).with_cardinality(cardinality)).ok_or_else(too_many)?;
                    attributes.declared.insert(name.to_owned(), ());
                    attributes.defaults.extend(default.map(|default| (at, default)));
                    Ok(())
                })
            })
        });
        self.raw = raw;
        read.map_err(|error| self.located(error))
    }

    /// Reads an aspect that is neither nodes nor edges.
    fn aspect(&mut self, record: &mut Record) -> Result<()> {
        self.json.peek()?;
        self.start = self.json.offset();
        self.json.raw(&mut self.raw)?;
        json::check(&self.raw).map_err(|error| self.wrong(error.message()))?;
        match self.name.as_str() {
            "CXVersion" => match json::value(&self.raw)? {
                Value::Text(version) if version.starts_with("2.") => self.has_version = true,
                _ => return Err(self.wrong(format!("the version of CX is {}, not 2.0", self.raw))),
            },
            _ if !self.has_version => return Err(self.wrong("the first member is not CXVersion")),
            "hasFragments" | "metaData" => {}
            "status" => {
                let mut failed = false;
                json::items(&self.raw, |item| {
                    Members::default().read(item, |name, raw| {
                        failed |= name == "success" && raw == "false";
                        Ok(())
                    })
                })
                .map_err(|error| self.located(error))?;
                if failed {
                    return Err(self.wrong("the file states that writing it has failed"));
                }
            }
            "attributeDeclarations" => self.declarations(record)?,
            "networkAttributes" if self.network.is_none() => {
                let mut network = None;
                json::items(&self.raw, |item| {
                    network.get_or_insert_with(|| item.to_owned());
                    Ok(())
                })
                .map_err(|error| self.located(error))?;
                self.network = network;
            }
            name => {
                if self.aspects.len() + self.raw.len() > LONGEST {
                    return Err(self.json.limit("the aspects beside nodes and edges are longer than 64 MiB"));
                }
                self.aspects.push(if self.aspects.is_empty() { '[' } else { ',' });
                self.aspects.push('{');
                json::push_string(&mut self.aspects, name);
                self.aspects.push(':');
                self.aspects.push_str(&self.raw);
                self.aspects.push('}');
            }
        }
        Ok(())
    }

    fn advance(&mut self, record: &mut Record) -> Result<Option<Item>> {
        loop {
            match self.state {
                State::Start => {
                    self.json.enter(b'[')?;
                    self.state = State::Items;
                }
                State::Items => {
                    if !self.json.item()? {
                        self.json.end()?;
                        self.state = State::Done;
                        if !self.has_version {
                            return Err(self.json.syntax("the first member is not CXVersion"));
                        }
                        return Ok(None);
                    }
                    self.json.enter(b'{')?;
                    self.state = State::Aspects;
                }
                State::Aspects => {
                    if !self.json.member(&mut self.name)? {
                        self.state = State::Items;
                        continue;
                    }
                    match self.name.as_str() {
                        "nodes" | "edges" if self.has_version => {
                            self.state = if self.name == "nodes" { State::Nodes } else { State::Edges };
                            self.json.enter(b'[')?;
                        }
                        _ => self.aspect(record)?,
                    }
                }
                State::Nodes | State::Edges => {
                    if self.json.item()? {
                        return Ok(Some(if self.state == State::Nodes { Item::Node } else { Item::Edge }));
                    }
                    self.state = State::Aspects;
                }
                State::Done => return Ok(None),
            }
        }
    }
}

fn put_member(slots: &mut Slots, name: &str, raw: &str) -> Result<()> {
    let (slot, was_set) = slots.slot(name).ok_or_else(too_many)?;
    if was_set {
        return Err(Error::broken(&rules::ATTRIBUTE, format!("{name} has two values here")));
    }
    put(slot, raw)
}

/// Puts values of attributes into slots, and defaults of those that are not there.
fn put_values(inner: &mut Members, slots: &mut Slots, attributes: &Attributes, raw: &str) -> Result<()> {
    inner.read(raw, |name, raw| {
        let name = attributes.aliases.get(name).map_or(name, String::as_str);
        if !attributes.declared.contains_key(name) {
            return Err(Error::broken(&rules::ATTRIBUTE, format!("the attribute {name:?} is not declared")));
        }
        put_member(slots, name, raw)
    })
}

impl Reader for Cx2Reader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>> {
        let Some(item) = self.advance(record)? else { return Ok(None) };
        if self.json.peek()? != Some(b'{') {
            return Err(self.json.syntax("nodes and edges must be objects"));
        }
        self.start = self.json.offset();
        self.json.raw(&mut self.raw)?;
        let inner = &mut self.inner;
        let read = if item == Item::Node {
            record.begin_node();
            let attributes = &self.nodes;
            self.members.read(&self.raw, |name, raw| match name {
                "id" => put_id(&mut record.id, raw),
                "v" => put_values(inner, &mut record.nodes, attributes, raw),
                _ => match COORDINATES.iter().find(|(own, _)| *own == name) {
                    Some((_, property)) => put_member(&mut record.nodes, property, raw),
                    None => put_member(&mut record.nodes, name, raw),
                },
            })
        } else {
            record.begin_edge();
            let attributes = &self.edges;
            self.members.read(&self.raw, |name, raw| match name {
                "s" => put_id(&mut record.source, raw),
                "t" => put_id(&mut record.target, raw),
                "id" => put_member(&mut record.edges, EDGE_ID, raw),
                "v" => put_values(inner, &mut record.edges, attributes, raw),
                _ => put_member(&mut record.edges, name, raw),
            })
        };
        read.map_err(|error| self.located(error))?;
        let (slots, attributes) =
            if item == Item::Node { (&mut record.nodes, &self.nodes) } else { (&mut record.edges, &self.edges) };
        for (at, default) in &attributes.defaults {
            if slots.get(*at).is_none() {
                put(slots.slot_at(*at).0, default)?;
            }
        }
        let ids = if item == Item::Node {
            [&mut record.id, &mut Id::default()]
        } else {
            [&mut record.source, &mut record.target]
        };
        ids.into_iter().for_each(Id::keep_integer);
        Ok(Some(item))
    }

    fn offset(&self) -> u64 {
        self.start
    }

    fn head(&mut self) -> Head {
        let mut head = Head { directed: true, ..Head::default() };
        if let Some(network) = self.network.take() {
            let name = Members::default().read(&network, |name, raw| {
                if name == NAME
                    && let Value::Text(text) = json::value(raw)?
                {
                    head.name = Some(text.into_owned());
                }
                Ok(())
            });
            if name.is_ok() && network.trim() != "{}" {
                head.documents.push(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(network) });
            }
        }
        if !self.aspects.is_empty() {
            let text = format!("{}]", std::mem::take(&mut self.aspects));
            head.documents.push(Document { name: ASPECTS.to_owned(), body: DocumentBody::Json(text) });
        }
        head.recognised.push(("direction".to_owned(), "from s to t: CX2 has no undirected edges".to_owned()));
        head
    }
}
