//! Reads nodes and edges one after another.

use isomorph_error::{Error, Findings, Result};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Document, json};
use isomorph_records::values::push_float;
use isomorph_records::{Head, Id, Item, Reader, Record, Slots, Tag};
use isomorph_tables::PackedFile;

use super::lexer::{Lexer, Token};
use super::{LIST_START, MULTIGRAPH, rules};
use crate::OF_GRAPH;

/// Maximum nesting of lists.
const DEPTH: usize = 128;

/// Maximum length of a node or an edge, as JSON.
const LONGEST: usize = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Top,
    Graph,
}

pub(crate) struct GmlReader {
    lexer: Lexer,
    within: Within,
    key: String,
    has_graph: bool,
    directed: Option<bool>,
    multigraph: Option<bool>,
    name: Option<String>,
    creator: Option<String>,
    /// Attributes of the graph: the members of a JSON object.
    graph: String,
}

/// Puts a value that was read into a form of records.
fn classified(lexer: &Lexer, token: Token, out: &mut String) -> Result<Tag> {
    out.clear();
    match token {
        Token::Text => {
            out.push_str(&lexer.text);
            Ok(Tag::Text)
        }
        Token::Integer => {
            let text = lexer.text.trim_start_matches('+');
            match text
                .parse::<i128>()
                .ok()
                .filter(|value| i64::try_from(*value).is_ok() || u64::try_from(*value).is_ok())
            {
                Some(value) => {
                    out.push_str(&value.to_string());
                    Ok(Tag::Integer)
                }
                None => {
                    // JSON has no zeros in front.
                    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
                    out.push_str(sign);
                    out.push_str(digits.trim_start_matches('0'));
                    Ok(Tag::Json)
                }
            }
        }
        Token::Float => {
            let value = match lexer.text.trim_start_matches('+').to_ascii_lowercase().as_str() {
                "inf" | "infinity" => f64::INFINITY,
                "-inf" | "-infinity" => f64::NEG_INFINITY,
                "nan" | "-nan" => f64::NAN,
                text => text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
                    Error::broken(&rules::VALUE, format!("{text} is beyond the range of doubles")).at(lexer.place())
                })?,
            };
            push_float(out, value);
            Ok(Tag::Float)
        }
        // NetworkX writes +INF and NAN; igraph writes NaN and Infinity.
        Token::Key => {
            let value = match lexer.text.to_ascii_lowercase().as_str() {
                "nan" => f64::NAN,
                "inf" | "infinity" => f64::INFINITY,
                word => return Err(lexer.syntax(format!("expected a value, found the word {word:?}"))),
            };
            push_float(out, value);
            Ok(Tag::Float)
        }
        Token::Open | Token::Close | Token::End => Err(lexer.syntax("expected a value")),
    }
}

impl GmlReader {
    pub fn new(file: &PackedFile) -> Result<GmlReader> {
        Ok(GmlReader {
            lexer: Lexer::new(file)?,
            within: Within::Top,
            key: String::new(),
            has_graph: false,
            directed: None,
            multigraph: None,
            name: None,
            creator: None,
            graph: String::new(),
        })
    }

    fn limit(&self, message: &str) -> Error {
        Error::broken(&rules::LIMIT, message).at(self.lexer.place())
    }

    /// Reads the rest of a list, after its bracket, as a JSON object; keys that occur several times have a list of values.
    fn list(&mut self, depth: usize) -> Result<String> {
        if depth > DEPTH {
            return Err(self.limit("lists are nested more than 128 deep"));
        }
        let mut members: Vec<(String, Vec<String>)> = Vec::new();
        let mut size = 0usize;
        loop {
            let key = match self.lexer.next()? {
                Token::Close => break,
                Token::Key => self.lexer.text.clone(),
                Token::End => return Err(self.lexer.syntax("the file ends in a list")),
                _ => return Err(self.lexer.syntax("expected a key")),
            };
            let value = match self.lexer.next()? {
                Token::Open => self.list(depth + 1)?,
                token => {
                    let mut text = String::new();
                    match classified(&self.lexer, token, &mut text)? {
                        Tag::Text => {
                            let mut quoted = String::new();
                            json::push_string(&mut quoted, &text);
                            quoted
                        }
                        _ => text,
                    }
                }
            };
            size += key.len() + value.len();
            if size > LONGEST {
                return Err(self.limit("a list is longer than 64 MiB"));
            }
            // Points of a polyline: the same key many times, in a row.
            let last = members.last().is_some_and(|(own, _)| *own == key).then(|| members.len() - 1);
            match last.or_else(|| members.iter().position(|(own, _)| *own == key)) {
                Some(at) => members[at].1.push(value),
                None if members.len() >= 10_000 => return Err(self.limit("a list has more than 10,000 different keys")),
                None => members.push((key, vec![value])),
            }
        }
        let mut out = String::from("{");
        for (at, (key, values)) in members.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            json::push_string(&mut out, key);
            out.push(':');
            match values.as_slice() {
                [value] => out.push_str(value),
                [first, value] if first.strip_prefix('"').and_then(|own| own.strip_suffix('"')) == Some(LIST_START) => {
                    out.push_str(&format!("[{value}]"));
                }
                values => {
                    out.push('[');
                    out.push_str(&values.join(","));
                    out.push(']');
                }
            }
        }
        out.push('}');
        Ok(out)
    }

    /// Puts a value into a slot; one that occurs again makes the value a list.
    fn put(&self, slots: &mut Slots, key: &str, tag: Tag, text: &str) -> Result<()> {
        let Some((slot, was_set)) = slots.slot(key) else {
            return Err(self.limit("there are more than 10,000 different attributes"));
        };
        if !was_set {
            slot.put(tag, text);
            return Ok(());
        }
        let quoted = |tag: Tag, text: &str| {
            let mut out = String::new();
            if tag == Tag::Text {
                json::push_string(&mut out, text)
            } else {
                out.push_str(text)
            }
            out
        };
        // Only what this function joined ends in a blank.
        let is_start = slot.tag() == Tag::Text && slot.text() == LIST_START;
        let joined = match slot.text().strip_suffix("] ").filter(|_| slot.tag() == Tag::Json) {
            Some(list) => format!("{list},{}] ", quoted(tag, text)),
            None if is_start => format!("[{}] ", quoted(tag, text)),
            None => format!("[{},{}] ", quoted(slot.tag(), slot.text()), quoted(tag, text)),
        };
        if joined.len() > LONGEST {
            return Err(self.limit("a node or an edge is longer than 64 MiB"));
        }
        slot.put(Tag::Json, &joined);
        Ok(())
    }

    /// Reads the rest of a node or an edge.
    fn record(&mut self, record: &mut Record, item: Item) -> Result<()> {
        let mut value = String::new();
        let mut size = 0;
        loop {
            let mut key = std::mem::take(&mut self.key);
            key.clear();
            match self.lexer.next()? {
                Token::Close => break,
                Token::Key => key.push_str(&self.lexer.text),
                Token::End => return Err(self.lexer.syntax("the file is truncated")),
                _ => return Err(self.lexer.syntax("expected a key")),
            }
            let tag = match self.lexer.next()? {
                Token::Open if key == "node" || key == "edge" || key == "graph" => {
                    return Err(
                        Error::broken(&rules::NESTED, "a graph is inside a node or an edge").at(self.lexer.place())
                    );
                }
                Token::Open => {
                    value = self.list(1)?;
                    Tag::Json
                }
                token => classified(&self.lexer, token, &mut value)?,
            };
            size += value.len();
            if size > LONGEST {
                return Err(self.limit("a node or an edge is longer than 64 MiB"));
            }
            let id: Option<&mut Id> = match (item, key.as_str()) {
                (Item::Node, "id") => Some(&mut record.id),
                (Item::Edge, "source") => Some(&mut record.source),
                (Item::Edge, "target") => Some(&mut record.target),
                _ => None,
            };
            match id {
                Some(id) if id.is_set() => return Err(self.lexer.syntax(format!("{key} occurs twice"))),
                Some(id) => id.put(tag, &value),
                None => {
                    let slots = if item == Item::Node { &mut record.nodes } else { &mut record.edges };
                    self.put(slots, &key, tag, &value)?;
                }
            }
            self.key = key;
        }
        Ok(())
    }

    fn truth(&self, tag: Tag, text: &str, key: &str) -> Result<bool> {
        match (tag, text) {
            (Tag::Integer, "1") => Ok(true),
            (Tag::Integer, "0") => Ok(false),
            _ => Err(self.lexer.syntax(format!("{key} must be 0 or 1"))),
        }
    }

    /// Reads an attribute of the graph.
    fn of_graph(&mut self, key: &str, token: Token) -> Result<()> {
        let mut value = String::new();
        let tag = match token {
            Token::Open => {
                value = self.list(1)?;
                Tag::Json
            }
            token => classified(&self.lexer, token, &mut value)?,
        };
        match key {
            "directed" => self.directed = Some(self.truth(tag, &value, key)?),
            "multigraph" => self.multigraph = Some(self.truth(tag, &value, key)?),
            "name" if tag == Tag::Text && self.name.is_none() => self.name = Some(value),
            _ => {
                if self.graph.len() + value.len() > LONGEST {
                    return Err(self.limit("the attributes of the graph are longer than 64 MiB"));
                }
                self.graph.push_str(if self.graph.is_empty() { "" } else { "," });
                json::push_string(&mut self.graph, key);
                self.graph.push(':');
                if tag == Tag::Text { json::push_string(&mut self.graph, &value) } else { self.graph.push_str(&value) }
            }
        }
        Ok(())
    }
}

impl Reader for GmlReader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>> {
        loop {
            match self.lexer.next()? {
                Token::Key => {}
                Token::Close if self.within == Within::Graph => {
                    self.within = Within::Top;
                    continue;
                }
                Token::End if self.within == Within::Graph => return Err(self.lexer.syntax("the file is truncated")),
                Token::End if !self.has_graph => return Err(self.lexer.syntax("there is no graph in this file")),
                Token::End => return Ok(None),
                _ => return Err(self.lexer.syntax("expected a key")),
            }
            let key = self.lexer.text.clone();
            let token = self.lexer.next()?;
            match (self.within, key.as_str(), token) {
                (Within::Top, "graph", Token::Open) => {
                    if std::mem::replace(&mut self.has_graph, true) {
                        return Err(Error::broken(&rules::NESTED, "the file has a second graph").at(self.lexer.place()));
                    }
                    self.within = Within::Graph;
                }
                (Within::Top, _, Token::Open) => {
                    self.list(1)?;
                }
                (Within::Top, "Creator" | "creator", Token::Text) => self.creator = Some(self.lexer.text.clone()),
                (Within::Top, _, token) => {
                    classified(&self.lexer, token, &mut String::new())?;
                }
                (Within::Graph, "node", Token::Open) => {
                    record.begin_node();
                    self.record(record, Item::Node)?;
                    record.id.keep_integer();
                    return Ok(Some(Item::Node));
                }
                (Within::Graph, "edge", Token::Open) => {
                    record.begin_edge();
                    self.record(record, Item::Edge)?;
                    record.source.keep_integer();
                    record.target.keep_integer();
                    return Ok(Some(Item::Edge));
                }
                (Within::Graph, "graph", Token::Open) => {
                    return Err(Error::broken(&rules::NESTED, "a graph is inside the graph").at(self.lexer.place()));
                }
                (Within::Graph, key, token) => self.of_graph(key, token)?,
            }
        }
    }

    fn offset(&self) -> u64 {
        self.lexer.offset()
    }

    fn head(&mut self) -> Head {
        let mut head =
            Head { directed: self.directed == Some(true), findings: Findings::keeping(8), ..Head::default() };
        head.name.clone_from(&self.name);
        if !self.graph.is_empty() {
            let text = format!("{{{}}}", self.graph);
            head.documents.push(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(text) });
        }
        if let Some(multigraph) = self.multigraph {
            head.metadata.insert(MULTIGRAPH.to_owned(), multigraph.to_string());
        }
        if let Some(creator) = &self.creator {
            head.recognised.push(("creator".to_owned(), creator.clone()));
        }
        let direction = match self.directed {
            Some(true) => "directed 1",
            Some(false) => "directed 0",
            None => "undirected, as GML says of a graph without the key directed",
        };
        head.recognised.push(("direction".to_owned(), direction.to_owned()));
        head
    }
}
