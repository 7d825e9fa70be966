//! Reads nodes and edges one after another.

use isomorph_error::{Error, Result};
use isomorph_model::Document;
use isomorph_model::json::{self, Members, Value};
use isomorph_model::schema::DocumentBody;
use isomorph_records::json::{JsonRules, JsonStream};
use isomorph_records::values::{put, put_id};
use isomorph_records::{Head, Item, Reader, Record, Slots, Tag};
use isomorph_tables::PackedFile;

use super::{EDGES, MEMBERS, MULTIGRAPH, OF_NETWORKX, Vocabulary, rules};
use crate::OF_GRAPH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Top,
    Nodes,
    Edges,
    Done,
}

/// Something that is counted, and where it is first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub count: u64,
    pub first: u64,
}

impl Seen {
    pub fn see(&mut self, times: u64, at: u64) {
        if self.count == 0 && times > 0 {
            self.first = at;
        }
        self.count += times;
    }
}

/// Reads a file with a list of nodes and a list of edges.
pub(crate) struct PairsReader {
    json: JsonStream,
    vocabulary: Vocabulary,
    members: Members,
    raw: String,
    name: String,
    state: State,
    /// Where the current record begins.
    start: u64,
    has_nodes: bool,
    edges: Option<String>,
    directed: Option<bool>,
    multigraph: Option<bool>,
    graph: Option<String>,
    /// Other members, as the text of a JSON object without its end.
    others: String,
    repeated: Seen,
    nulls: Seen,
}

pub(crate) const JSON_RULES: JsonRules = JsonRules { syntax: &rules::SYNTAX, limit: &rules::LIMIT };

impl PairsReader {
    pub fn new(file: &PackedFile, vocabulary: Vocabulary) -> Result<PairsReader> {
        Ok(PairsReader {
            json: JsonStream::new(file, JSON_RULES)?,
            vocabulary,
            members: Members::default(),
            raw: String::new(),
            name: String::new(),
            state: State::Start,
            start: 0,
            has_nodes: false,
            edges: None,
            directed: None,
            multigraph: None,
            graph: None,
            others: String::new(),
            repeated: Seen::default(),
            nulls: Seen::default(),
        })
    }

    fn wrong(&self, message: impl Into<String>) -> Error {
        Error::broken(&rules::SYNTAX, message).at(self.json.place_at(self.start))
    }

    fn truth(&self) -> Result<bool> {
        match json::value(&self.raw) {
            Ok(Value::Bool(value)) => Ok(value),
            _ => Err(self.wrong(format!("{} must be true or false", self.name))),
        }
    }

    /// Reads a member that is neither nodes nor edges.
    fn other(&mut self) -> Result<()> {
        self.json.peek()?;
        self.start = self.json.offset();
        self.json.raw(&mut self.raw)?;
        json::check(&self.raw).map_err(|error| self.wrong(error.message()))?;
        let repeated = || self.wrong(format!("the member {} occurs twice", self.name));
        match self.name.as_str() {
            "directed" if self.vocabulary.has_head => {
                if self.directed.is_some() {
                    return Err(repeated());
                }
                self.directed = Some(self.truth()?);
            }
            "multigraph" if self.vocabulary.has_head => {
                if self.multigraph.is_some() {
                    return Err(repeated());
                }
                self.multigraph = Some(self.truth()?);
            }
            "graph" if self.vocabulary.has_head => {
                if self.graph.is_some() {
                    return Err(repeated());
                }
                self.graph = Some(self.raw.clone());
            }
            _ => {
                if self.others.len() + self.raw.len() > isomorph_records::json::LONGEST {
                    return Err(self.json.limit("the members beside nodes and edges are longer than 64 MiB"));
                }
                self.others.push(if self.others.is_empty() { '{' } else { ',' });
                json::push_string(&mut self.others, &self.name);
                self.others.push(':');
                self.others.push_str(&self.raw);
            }
        }
        Ok(())
    }

    /// Goes to the next record; `None` at the end.
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
                        if !self.has_nodes {
                            return Err(self.json.syntax("there is no list of nodes"));
                        }
                        return Ok(None);
                    }
                    match self.name.as_str() {
                        "nodes" => {
                            if std::mem::replace(&mut self.has_nodes, true) {
                                return Err(self.json.syntax("there are two lists of nodes"));
                            }
                            self.json.enter(b'[')?;
                            self.state = State::Nodes;
                        }
                        name @ ("edges" | "links") if name == "edges" || self.vocabulary.has_head => {
                            if let Some(first) = &self.edges {
                                return Err(self
                                    .json
                                    .syntax(format!("there are two lists of edges, {first} and {name}")));
                            }
                            self.edges = Some(name.to_owned());
                            self.json.enter(b'[')?;
                            self.state = State::Edges;
                        }
                        _ => self.other()?,
                    }
                }
                State::Nodes | State::Edges => {
                    if self.json.item()? {
                        return Ok(Some(if self.state == State::Nodes { Item::Node } else { Item::Edge }));
                    }
                    self.state = State::Top;
                }
                State::Done => return Ok(None),
            }
        }
    }
}

/// What one record shows beside its values.
#[derive(Default)]
pub(crate) struct Counted {
    pub members: usize,
    pub nulls: u64,
}

/// Puts a member into the slot of its name.
pub(crate) fn put_member(slots: &mut Slots, name: &str, raw: &str, counted: &mut Counted) -> Result<()> {
    let Some((slot, _)) = slots.slot(name) else {
        return Err(Error::broken(&rules::LIMIT, "there are more than 10,000 different attributes"));
    };
    put(slot, raw)?;
    counted.nulls += u64::from(slot.tag() == Tag::Null);
    Ok(())
}

impl Reader for PairsReader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>> {
        let Some(item) = self.advance()? else { return Ok(None) };
        if self.json.peek()? != Some(b'{') {
            return Err(self.json.syntax("nodes and edges must be objects"));
        }
        self.start = self.json.offset();
        let items = self.json.raw(&mut self.raw)?;
        let mut counted = Counted::default();
        let vocabulary = self.vocabulary;
        let read = if item == Item::Node {
            record.begin_node();
            self.members.read(&self.raw, |name, raw| {
                counted.members += 1;
                match name {
                    "id" => put_id(&mut record.id, raw),
                    _ => put_member(&mut record.nodes, name, raw, &mut counted),
                }
            })
        } else {
            record.begin_edge();
            self.members.read(&self.raw, |name, raw| {
                counted.members += 1;
                match name {
                    _ if name == vocabulary.source => put_id(&mut record.source, raw),
                    _ if name == vocabulary.target => put_id(&mut record.target, raw),
                    _ => put_member(&mut record.edges, name, raw, &mut counted),
                }
            })
        };
        read.map_err(|error| match error.broken_rule() {
            Some(_) => error.at(self.json.place_at(self.start)),
            None => self.wrong(error.message()),
        })?;
        if item == Item::Edge && !(record.source.is_set() && record.target.is_set()) {
            // With other names for both ends, no record is wrong: the file is of the other vocabulary.
            let (other, name) = match vocabulary == OF_NETWORKX {
                true => ("--from kgx", "subject"),
                false => ("--from nodelink", "source"),
            };
            if record.edges.position(name).is_some_and(|at| record.edges.get(at).is_some()) {
                let message = format!("an edge has no {} or no {}", vocabulary.source, vocabulary.target);
                let hint = format!("{other}    read the ends of edges by their other names");
                return Err(Error::broken(&rules::END, message).at(self.json.place_at(self.start)).hint(hint));
            }
        }
        self.repeated.see((items.saturating_sub(counted.members)) as u64, self.start);
        self.nulls.see(counted.nulls, self.start);
        Ok(Some(item))
    }

    fn offset(&self) -> u64 {
        self.start
    }

    fn head(&mut self) -> Head {
        let mut head = Head { directed: !self.vocabulary.has_head || self.directed == Some(true), ..Head::default() };
        if self.vocabulary.has_head && self.directed.is_none() {
            let message = "the file does not state whether edges are directed: they are undirected";
            head.findings.push(&rules::DIRECTION, message, self.json.place_at(0));
        }
        if self.repeated.count > 0 {
            let message = format!("{} members have the name of another one in their record", self.repeated.count);
            head.findings.push(&rules::REPEATED, message, self.json.place_at(self.repeated.first));
        }
        if self.nulls.count > 0 {
            let message = format!("{} values are null", self.nulls.count);
            head.findings.push(&rules::NULL, message, self.json.place_at(self.nulls.first));
        }
        let is_empty = |text: &str| matches!(text.trim(), "{}" | "[]" | "null");
        if let Some(graph) = self.graph.take().filter(|graph| !is_empty(graph)) {
            head.documents.push(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(graph) });
        }
        if !self.others.is_empty() {
            let text = format!("{}}}", std::mem::take(&mut self.others));
            head.documents.push(Document { name: MEMBERS.to_owned(), body: DocumentBody::Json(text) });
        }
        if self.vocabulary.has_head {
            let edges = self.edges.as_deref().unwrap_or("edges");
            let who =
                if edges == "links" { "as D3 and NetworkX before 3.4 name them" } else { "as NetworkX names them" };
            head.recognised.push(("edges".to_owned(), format!("the list {edges}, {who}")));
            head.metadata.insert(EDGES.to_owned(), edges.to_owned());
            if let Some(multigraph) = self.multigraph {
                head.metadata.insert(MULTIGRAPH.to_owned(), multigraph.to_string());
            }
            let direction = match self.directed {
                Some(true) => "directed, as the file says",
                Some(false) => "undirected, as the file says",
                None => "undirected: the file does not say it",
            };
            head.recognised.push(("direction".to_owned(), direction.to_owned()));
        } else {
            head.recognised.push(("edges".to_owned(), "from subject to object, as KGX names them".to_owned()));
        }
        head
    }
}
