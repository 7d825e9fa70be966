//! Reads nodes and edges one after another.

use isomorph_error::{Error, Result};
use isomorph_model::Document;
use isomorph_model::json::{self, Members, Value};
use isomorph_model::schema::DocumentBody;
use isomorph_records::json::{JsonRules, JsonStream};
use isomorph_records::values::{put, put_id};
use isomorph_records::{Head, Item, Reader, Record, Slots, Tag};
use isomorph_tables::PackedFile;

use super::{OF_EDGES, OF_NODES, PREFIX, rules};
use crate::OF_GRAPH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Top,
    Graphs,
    Graph,
    NodeMembers,
    NodeItems,
    Edges,
    Done,
}

pub(crate) struct JgfReader {
    json: JsonStream,
    members: Members,
    inner: Members,
    raw: String,
    name: String,
    state: State,
    /// Whether the graph is in a list of graphs.
    in_list: bool,
    has_graph: bool,
    start: u64,
    directed: Option<bool>,
    label: Option<String>,
    /// Other members of the graph, as the text of a JSON object without its end.
    others: String,
}

const RULES: JsonRules = JsonRules { syntax: &rules::SYNTAX, limit: &rules::LIMIT };

fn put_member(slots: &mut Slots, name: &str, raw: &str) -> Result<()> {
    let Some((slot, _)) = slots.slot(name) else {
        return Err(Error::broken(&rules::LIMIT, "there are more than 10,000 different attributes"));
    };
    put(slot, raw)
}

/// Puts the members of metadata into slots.
fn put_metadata(inner: &mut Members, slots: &mut Slots, own: &[&str], raw: &str) -> Result<()> {
    inner.read(raw, |name, raw| match own.contains(&name) || name.starts_with(PREFIX) {
        true => put_member(slots, &format!("{PREFIX}{name}"), raw),
        false => put_member(slots, name, raw),
    })
}

impl JgfReader {
    pub fn new(file: &PackedFile) -> Result<JgfReader> {
        Ok(JgfReader {
            json: JsonStream::new(file, RULES)?,
            members: Members::default(),
            inner: Members::default(),
            raw: String::new(),
            name: String::new(),
            state: State::Start,
            in_list: false,
            has_graph: false,
            start: 0,
            directed: None,
            label: None,
            others: String::new(),
        })
    }

    fn wrong(&self, message: impl Into<String>) -> Error {
        Error::broken(&rules::SYNTAX, message).at(self.json.place_at(self.start))
    }

    fn nested(&self, message: &str) -> Error {
        Error::broken(&rules::NESTED, message).at(self.json.place())
    }

    fn begin_graph(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.has_graph, true) {
            return Err(self.nested("the file has a second graph"));
        }
        self.json.enter(b'{')?;
        self.state = State::Graph;
        Ok(())
    }

    /// Reads a member of the graph that is neither nodes nor edges.
    fn other(&mut self) -> Result<()> {
        self.json.peek()?;
        self.start = self.json.offset();
        let items = self.json.raw(&mut self.raw)?;
        json::check(&self.raw).map_err(|error| self.wrong(error.message()))?;
        match (self.name.as_str(), json::value(&self.raw)?) {
            ("directed", Value::Bool(directed)) if self.directed.is_none() => self.directed = Some(directed),
            ("directed", _) => return Err(self.wrong("directed must be true or false, once")),
            ("label", Value::Text(label)) if self.label.is_none() => self.label = Some(label.into_owned()),
            ("hyperedges", _) if items > 0 => return Err(self.nested("the graph has hyperedges")),
            ("hyperedges", _) => {}
            (name, _) => {
                if self.others.len() + self.raw.len() > isomorph_records::json::LONGEST {
                    return Err(self.json.limit("the members beside nodes and edges are longer than 64 MiB"));
                }
                self.others.push(if self.others.is_empty() { '{' } else { ',' });
                json::push_string(&mut self.others, name);
                self.others.push(':');
                self.others.push_str(&self.raw);
            }
        }
        Ok(())
    }

    /// Goes to the next record; `None` at the end. The id of a node that is a member is in `self.name`.
    fn advance(&mut self) -> Result<Option<Item>> {
        loop {
            match self.state {
                State::Start => {
                    self.json.enter(b'{')?;
                    self.state = State::Top;
                }
                State::Top => {
                    if !self.json.member(&mut self.name)? {
                        self.json.end()?;
                        self.state = State::Done;
                        if !self.has_graph {
                            return Err(self.json.syntax("there is no graph in this file"));
                        }
                        return Ok(None);
                    }
                    match self.name.as_str() {
                        "graph" => self.begin_graph()?,
                        "graphs" => {
                            self.json.enter(b'[')?;
                            self.in_list = true;
                            self.state = State::Graphs;
                        }
                        // What follows from other standards, as `$schema`.
                        _ => {
                            self.json.raw(&mut self.raw)?;
                        }
                    }
                }
                State::Graphs => match self.json.item()? {
                    true => self.begin_graph()?,
                    false => {
                        self.in_list = false;
                        self.state = State::Top;
                    }
                },
                State::Graph => {
                    if !self.json.member(&mut self.name)? {
                        self.state = if self.in_list { State::Graphs } else { State::Top };
                        continue;
                    }
                    match self.name.as_str() {
                        "nodes" if self.json.peek()? == Some(b'[') => {
                            self.json.enter(b'[')?;
                            self.state = State::NodeItems;
                        }
                        "nodes" => {
                            self.json.enter(b'{')?;
                            self.state = State::NodeMembers;
                        }
                        "edges" => {
                            self.json.enter(b'[')?;
                            self.state = State::Edges;
                        }
                        _ => self.other()?,
                    }
                }
                State::NodeMembers => {
                    if self.json.member(&mut self.name)? {
                        return Ok(Some(Item::Node));
                    }
                    self.state = State::Graph;
                }
                State::NodeItems | State::Edges => {
                    if self.json.item()? {
                        return Ok(Some(if self.state == State::Edges { Item::Edge } else { Item::Node }));
                    }
                    self.state = State::Graph;
                }
                State::Done => return Ok(None),
            }
        }
    }
}

impl Reader for JgfReader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>> {
        let Some(item) = self.advance()? else { return Ok(None) };
        if self.json.peek()? != Some(b'{') {
            return Err(self.json.syntax("nodes and edges must be objects"));
        }
        self.start = self.json.offset();
        self.json.raw(&mut self.raw)?;
        let (inner, is_named) = (&mut self.inner, self.state == State::NodeMembers);
        let read = if item == Item::Node {
            record.begin_node();
            if is_named {
                record.id.put(Tag::Text, &self.name);
            }
            self.members.read(&self.raw, |name, raw| match name {
                "id" if !is_named => put_id(&mut record.id, raw),
                "metadata" => put_metadata(inner, &mut record.nodes, OF_NODES, raw),
                _ => put_member(&mut record.nodes, name, raw),
            })
        } else {
            record.begin_edge();
            let directed = &mut record.directed;
            self.members.read(&self.raw, |name, raw| match name {
                "source" => put_id(&mut record.source, raw),
                "target" => put_id(&mut record.target, raw),
                "directed" => match json::value(raw)? {
                    Value::Bool(value) => {
                        *directed = Some(value);
                        Ok(())
                    }
                    _ => Err(Error::malformed("directed must be true or false")),
                },
                "metadata" => put_metadata(inner, &mut record.edges, OF_EDGES, raw),
                _ => put_member(&mut record.edges, name, raw),
            })
        };
        read.map_err(|error| match error.broken_rule() {
            Some(_) => error.at(self.json.place_at(self.start)),
            None => self.wrong(error.message()),
        })?;
        Ok(Some(item))
    }

    fn offset(&self) -> u64 {
        self.start
    }

    fn head(&mut self) -> Head {
        let mut head = Head { directed: self.directed != Some(false), name: self.label.take(), ..Head::default() };
        if !self.others.is_empty() {
            let text = format!("{}}}", std::mem::take(&mut self.others));
            head.documents.push(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(text) });
        }
        let default = if head.directed { "directed" } else { "undirected" };
        head.recognised.push(("direction".to_owned(), format!("{default}, unless an edge says otherwise")));
        head
    }
}
